/* What the operations of a stretch come after: their own stream's, and others' by events, by the
 * legacy default stream and by the waits of the host. Used with the streams' lock held. */
#ifndef CTS_CPU_TRY_ORDER_H
#define CTS_CPU_TRY_ORDER_H

#include "common/error.h"
#include "try-watch.h"

/* Operations, at most one of each stream: the latest, which follows the others. */
struct cts_try_places {
    struct cts_try_place {
        uint32_t stream, op; /* numbers of the stretch */
    } *items;
    size_t count, capacity;
};

/* The number of a stream in the stretch; CTS_TRIAL_NONE without memory. */
uint32_t cts_try_order_stream(const struct CUstream_st *stream);
/* The index of its next launch since the program began. */
uint32_t cts_try_order_next_launch(const struct CUstream_st *stream);

/* Something is queued in a stream, with its sequence number: adds what it comes after to `places`
 * (which the caller releases). `op`: the operation; CTS_TRIAL_NONE: it executes nothing, and what
 * follows in the stream comes after the places instead. */
enum cts_status cts_try_order_add(const struct cts_try_queued *queued, uint32_t op,
                                  struct cts_try_places *places);
/* What a point stands behind. */
enum cts_status cts_try_order_of_point(const struct cts_point *point,
                                       struct cts_try_places *places);
/* What who waits for a stream, or for all of a device, waits for. */
enum cts_status cts_try_order_of_stream(const struct CUstream_st *stream,
                                        struct cts_try_places *places);
enum cts_status cts_try_order_of_device(int device, struct cts_try_places *places);
void cts_try_places_release(struct cts_try_places *places);

/* A stretch begins: what came before does not count. */
void cts_try_order_clear(void);

#endif
