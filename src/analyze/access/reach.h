/* Into which allocations a launch may have stored what no record tells.
 *
 * A kernel knows memory from its arguments, from variables of its program, and from pointers in
 * memory that it knows. Where a run has the launch's arguments (table launch_pointers) and neither
 * those allocations nor the variables can hold pointers, it is the allocations that the arguments
 * point into; otherwise all. */
#ifndef CTS_ACCESS_REACH_H
#define CTS_ACCESS_REACH_H

#include <stdbool.h>

#include "analyze/places.h"
#include "common/error.h"
#include "trace/catalogue.h"

/* Zero-initialise. */
struct cts_access_reach {
    bool is_anywhere;                    /* all allocations */
    bool *is_reached;                    /* by allocation index */
    size_t *reached;                     /* indices of those */
    size_t reached_count;                /*   each once */
    struct cts_launch_pointer *pointers; /* of all launches, sorted by launch */
    size_t pointer_count;
    bool variables_point; /* some variable of the program may hold a pointer */
};

CTS_MUST_CHECK enum cts_status cts_access_reach_init(struct cts_access_reach *reach,
                                                     const struct cts_catalogue *catalogue,
                                                     struct cts_error *error);
void cts_access_reach_release(struct cts_access_reach *reach);
/* The launch at hand stores nothing unseen. */
void cts_access_reach_clear(struct cts_access_reach *reach);
/* What `launch` may store into; `places`: the allocations alive at it. After a clear. */
void cts_access_reach_find(struct cts_access_reach *reach, const struct cts_catalogue *catalogue,
                           const struct cts_launch *launch, const struct cts_places *places);

static inline bool cts_access_reaches(const struct cts_access_reach *reach, size_t allocation)
{
    return reach->is_anywhere || reach->is_reached[allocation];
}

/* Whether others write the allocation unseen: memory of another process (IPC, an exported pool) or
 * of a graphics library, and addresses that pages are mapped to, which may be mapped twice. */
bool cts_access_is_imported(const struct cts_allocation *allocation);

#endif
