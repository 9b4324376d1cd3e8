/* The streams of a rank and what CUDA promises about their order.
 *
 * Each stream has a clock: what precedes the next work that is issued to it. Besides the order
 * within a stream, these rules hold (CUDA Programming Guide, 'Stream synchronization behavior'):
 *
 *     legacy default stream     its work follows all blocking streams of the device, and their next
 *                               work follows it; a per-thread default stream is a blocking stream
 *     non-blocking stream       neither
 *     event record              the event captures the stream's clock
 *     stream wait               the stream's clock joins the event's
 *     event, stream sync; a     the host joins the event's or the stream's clock
 *     query that says 'done'
 *     device sync               the host joins the clocks of the device's streams
 *
 * This file is the only one that knows them. Who asks numbers the chains, issues the works in the
 * order of the host's calls, and says what the host knows: order.c of supersteps, flow-order.c of
 * nodes. */
#ifndef CTS_ANALYZE_STREAM_CLOCKS_H
#define CTS_ANALYZE_STREAM_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/order/clocks.h"
#include "common/error.h"
#include "common/map.h"
#include "trace/catalogue.h"

struct cts_stream_clock {
    uint32_t id, device; /* device: of the stream's row, if is_known */
    bool is_known, is_legacy, is_blocking;
    bool has_new_work; /* blocking: used since the legacy default stream's last work */
    uint32_t *clock;
};

struct cts_stream_clocks {
    struct cts_stream_clock *items; /* ascending ids */
    uint32_t count;
    uint32_t width; /* of a clock */
    uint32_t *memory;
    struct cts_map events; /* handle -> place in event_clocks + 1 */
    struct cts_clock_list event_clocks;
};

/* The streams of a rank: those that have rows, and those that launches, copies, host functions and
 * calls name. Their clocks come with cts_stream_clocks_start(). */
CTS_MUST_CHECK enum cts_status cts_stream_clocks_collect(struct cts_stream_clocks *streams,
                                                         const struct cts_catalogue *catalogue,
                                                         uint32_t rank, struct cts_error *error);
/* All clocks at zero, `width` numbers wide. */
CTS_MUST_CHECK enum cts_status cts_stream_clocks_start(struct cts_stream_clocks *streams,
                                                       uint32_t width, struct cts_error *error);
void cts_stream_clocks_release(struct cts_stream_clocks *streams);

/* NULL: there is none of that id. */
struct cts_stream_clock *cts_stream_clocks_find(const struct cts_stream_clocks *streams,
                                                uint32_t id);

/* The stream is about to get something from a host thread that knows `host`. */
void cts_stream_clocks_use(const struct cts_stream_clocks *streams, struct cts_stream_clock *stream,
                           const uint32_t *host);

/* What a call that concerns events or one stream adds to clocks; nothing if it failed or said 'not
 * yet'. Not device synchronisations. */
CTS_MUST_CHECK enum cts_status cts_stream_clocks_synchronise(struct cts_stream_clocks *streams,
                                                             const struct cts_sync *sync,
                                                             uint32_t *host,
                                                             struct cts_error *error);

/* The host waited for *device; NULL: for an untold one, which is clear where only one has streams;
 * otherwise no order is claimed. */
void cts_stream_clocks_join_device(const struct cts_stream_clocks *streams, const uint32_t *device,
                                   uint32_t *host);

#endif
