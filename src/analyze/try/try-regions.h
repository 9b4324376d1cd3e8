/* Memory of a stretch by name: "out" (the variable that holds an allocation, or a __device__
 * variable), "allocation:3" (the third allocation of device memory), "0x7f0000". */
#ifndef CTS_ANALYZE_TRY_REGIONS_H
#define CTS_ANALYZE_TRY_REGIONS_H

#include "analyze/try/try-match.h"

/* Names that the recording knows and the stretch does not. They point into the catalogue. */
void cts_try_name_regions(const struct cts_try_match *match, struct cts_stretch *stretch);

/* The one region of that name. CTS_USAGE: there is none, or there are several. */
CTS_MUST_CHECK enum cts_status cts_try_find_region(const struct cts_stretch *stretch,
                                                   const char *name, uint32_t *region,
                                                   struct cts_error *error);

/* All memory but that of the names, a list with commas; each may have several regions. What copies
 * bring to the host is always compared. The caller frees dead->items. */
CTS_MUST_CHECK enum cts_status cts_try_dead_but(const struct cts_stretch *stretch,
                                                const char *names, struct cts_try_ranges *dead,
                                                struct cts_error *error);

#endif
