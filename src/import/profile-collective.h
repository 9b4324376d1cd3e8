/* What events say of collectives of process groups. Private to import/. */
#ifndef CTS_IMPORT_PROFILE_COLLECTIVE_H
#define CTS_IMPORT_PROFILE_COLLECTIVE_H

#include "import/profile-rank.h"

/* Index + 1 in the rank's list; 0: the event says nothing of a collective. */
CTS_MUST_CHECK enum cts_status cts_profile_take_collective(struct cts_profile_rank *rank,
                                                           const struct cts_profile_event *event,
                                                           uint32_t *index,
                                                           struct cts_error *error);
/* The communicator: of a send or receive, the two ranks in this direction, `own_rank` being the
 * rank of the file (negative: not known). 0: not known. */
uint64_t cts_profile_communicator(const struct cts_profile_collective *collective,
                                  int64_t own_rank);

#endif
