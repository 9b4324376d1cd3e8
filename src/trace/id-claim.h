/* Ids that are unique over all processes of a run: run/.ids counts how many of each kind have been
 * given out. The file is there while the run is recorded. */
#ifndef CTS_TRACE_ID_CLAIM_H
#define CTS_TRACE_ID_CLAIM_H

#include "trace/catalogue.h"

/* Claims `count` consecutive ids. Opens a file: see common/private-files.h. CTS_IO, CTS_LIMIT. */
CTS_MUST_CHECK enum cts_status cts_ids_claim(const char *run_path, enum cts_id_kind kind,
                                             uint32_t count, uint32_t *first,
                                             struct cts_error *error);
void cts_ids_forget(const char *run_path);

#endif
