/* Grids that the user gives, since a trace has none: --grid. Private to import/. */
#ifndef CTS_IMPORT_GRID_H
#define CTS_IMPORT_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct cts_grid_rule {
    char *kernel; /* NULL: any */
    uint32_t extents[3];
    bool is_used;
};

struct cts_grids {
    struct cts_grid_rule *rules;
    size_t count;
    size_t inferred_launches; /* how often no rule was found */
};

/* "X[xY[xZ]]" or "KERNEL=X[xY[xZ]]", several with ';' between them; NULL: none. CTS_USAGE. */
CTS_MUST_CHECK enum cts_status cts_grids_parse(struct cts_grids *grids, const char *text,
                                               struct cts_error *error);
void cts_grids_release(struct cts_grids *grids);

/* The last rule for a kernel, or NULL. */
const struct cts_grid_rule *cts_grids_find(struct cts_grids *grids, const char *kernel);

/* A rule that was never found names a kernel that there is not. */
CTS_MUST_CHECK enum cts_status cts_grids_check_used(const struct cts_grids *grids,
                                                    struct cts_error *error);

#endif
