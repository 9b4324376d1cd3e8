/* Which accesses of a run are exported, and the walk over them. Private to import/. */
#ifndef CTS_IMPORT_SELECT_H
#define CTS_IMPORT_SELECT_H

#include "import/export.h"

struct cts_export_visitor {
    void *state;
    struct cts_export_result *result;
    /* A launch of the selection begins and ends, also one without a record. */
    enum cts_status (*begin)(void *state, const struct cts_launch *launch, struct cts_error *error);
    enum cts_status (*record)(void *state, const struct cts_launch *launch,
                              const struct cts_access *access, const struct cts_site *site,
                              struct cts_error *error);
    enum cts_status (*end)(void *state, const struct cts_launch *launch, struct cts_error *error);
};

/* Launches by rank and call; each one's records in the order of the files. Fills launches,
 * accesses, unrecorded_launches and dropped_accesses of the result. CTS_USAGE if no launch is
 * selected; CTS_FORMAT for records that name what the catalogue does not have. */
CTS_MUST_CHECK enum cts_status cts_export_walk(const struct cts_catalogue *catalogue,
                                               const struct cts_acc_reader *reader,
                                               const struct cts_export_text_options *options,
                                               const struct cts_export_visitor *visitor,
                                               struct cts_error *error);

/* The rank that is meant: the one given, else the only one. */
CTS_MUST_CHECK enum cts_status cts_export_rank(const struct cts_catalogue *catalogue,
                                               uint32_t wanted, uint32_t *rank,
                                               struct cts_error *error);
/* Fails: there is no launch to export, since the run has none or the options select none. */
enum cts_status cts_export_no_launch(const struct cts_catalogue *catalogue,
                                     struct cts_error *error);

#endif
