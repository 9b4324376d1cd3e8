/* Rules of loops that poll. */
#ifndef CTS_ANALYZE_PATH_WHATIF_POLLS_H
#define CTS_ANALYZE_PATH_WHATIF_POLLS_H

#include "analyze/path/whatif-plan.h"

/* Behind the rules of the location's waits. */
CTS_MUST_CHECK enum cts_status cts_whatif_poll_rules(struct cts_whatif_plan *plan,
                                                     uint32_t location, struct cts_error *error);

#endif
