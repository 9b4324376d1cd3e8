/* Lanes: long lists of intervals of time in a page, small on disk and quick to look at.
 *
 * A lane is a list of intervals by start: the activities of a thread or stream, the stays of the
 * critical path there, its waits. It is written as chunks of up to CTS_LANE_CHUNK
 * intervals, each compressed by itself (zlib, which a browser undoes on its own), with an overview
 * of CTS_LANE_BINS bins: a page draws a chunk's overview while that is enough, and unpacks the
 * chunk when one looks closer. So a page opens at once and zooms into tens of millions of
 * intervals.
 *
 * In JSON a chunk is {start, end, count, bins: [kind, time, how many bins, kind, ...], data:
 * base64}; kind 0 is nothing, else 1 + the kind that fills most of the bin, counting at each
 * instant the innermost interval; time is how many ns of the bin lie in an interval. Bin b holds
 * the instants t with floor((t - start) * CTS_LANE_BINS / (end - start)) = b. Unpacked, `data` is
 * for each interval a row of LEB128 numbers:
 *
 *     start - start of the interval before | end - start | kind | place | zigzag(link)   (ns)
 *
 * `place` is the depth of an activity, or the location that a wait is for or that the path comes
 * from (plus one; 0: nobody); link is the time there less the start. web/src/lanes.ts reads it. */
#ifndef CTS_REPORT_LANES_H
#define CTS_REPORT_LANES_H

#include <stdint.h>

#include "common/error.h"
#include "common/json.h"

enum { CTS_LANE_CHUNK = 1 << 15, CTS_LANE_BINS = 1024 };
/* A chunk of fewer intervals has no bins: a page draws them one by one, however far away. */
enum { CTS_LANE_OVERVIEW_MIN = 2 * CTS_LANE_BINS };

struct cts_lane_interval {
    uint64_t start_ns, end_ns; /* from the beginning of the page's time */
    uint32_t kind;             /* below 2^32 - 1; of a region, a pattern */
    uint32_t place;
    int64_t link_ns;
};

struct cts_lane_writer;

/* Writes the member "chunks" of the open object as intervals come, by start and, of those that
 * start together, outer ones first. NULL without memory. */
struct cts_lane_writer *cts_lane_begin(struct cts_json *json, struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_lane_add(struct cts_lane_writer *lane,
                                            const struct cts_lane_interval *interval,
                                            struct cts_error *error);
/* Ends the list and frees the writer, also after an error. */
enum cts_status cts_lane_end(struct cts_lane_writer *lane, struct cts_error *error);

#endif
