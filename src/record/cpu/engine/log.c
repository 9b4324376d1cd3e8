/* From lanes to warps: merging the log.
 *
 * The lanes of a warp run one after the other, so that the log holds 32 sequences of entries; a
 * warp record is one execution of a site by the warp, with the lanes that took part. On a GPU the
 * hardware decides which lanes execute together. Here a lane's next entry gets a *key* (struct
 * cts_log_key), its place in the program: the iterations of the loops around the site, then the
 * site. The keys of a lane's entries ascend; the merge always takes the smallest key that is next
 * in any lane, and the lanes that are exactly there form the record. So
 *
 *     loop { if (c) L; R; }        lane 0:  R  R       lane 1:  L R  L R
 *
 * gives L{1} R{0,1} L{1} R{0,1}. Iterations are not logged: going from site a to a site b that is
 * not behind a, in a loop around both, is one more iteration of the innermost such loop.
 *
 * Two phases. *Lock-step*: while row k of the log holds the same slot in all lanes that have one,
 * the row is a record as it stands, and no key is computed until somebody differs. *Diverged*:
 * lanes with the same key form a *group*; groups are kept in the order of their keys, the first one
 * is emitted, and its lanes go on to the groups of their next keys. Work is per group rather than
 * per lane.
 *
 * Meetings. Where lanes wait for each other (shuffles, votes, __syncwarp), the engine adds an entry
 * to the log of each: the slot CTS_SLOT_MEETING and the mask of the lanes. It gives no record. A
 * lane that comes to it stops until all lanes of the mask have come to theirs; then they go on
 * together, from the latest of their keys. So lanes that have counted different iterations, since
 * some of these left no entry, are together again as they are on a GPU.
 *
 * A lane that stopped because its log was full has a next entry that is not known ("open"). When
 * such a lane runs out, the merge stops: what the others have left waits until it has run on.
 *
 * The merge (log-merge.h) is compiled for any machine here, and for AVX-512 in log-avx512.c. */
#define CTS_LOG_MERGE cts_log_merge_generic
#include "record/cpu/engine/log-merge.h"

void cts_log_state_reset(struct cts_log_state *state)
{
    state->mixed = false;
    state->pending = 0;
    state->common.count = 0;
}

void cts_log_merge(struct cts_log_merge *merge, struct cts_log_state *state)
{
#ifdef CTS_LOG_AVX512
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
        cts_log_merge_avx512(merge, state);
        return;
    }
#endif
    cts_log_merge_generic(merge, state);
}
