/* The second pass: one worker's part of it. Private to import/. */
#ifndef CTS_IMPORT_TRC_PACK_H
#define CTS_IMPORT_TRC_PACK_H

#include "common/progress.h"
#include "import/trc-scan.h"
#include "trace/write/collector.h"

/* What is written of a launch. */
struct cts_trc_output {
    uint32_t launch;  /* its id in the catalogue */
    uint32_t grid[3]; /* holds every CTA of the launch, and fewer than 2^32 */
    _Atomic uint64_t records, accesses, dropped;
};

struct cts_trc_packing {
    const struct cts_trc_scan *scan;
    struct cts_trc_output *outputs; /* per launch of the scan */
    uint32_t first_site;            /* the catalogue's id of site 0 of the scan */
    struct cts_collector *collector;
    unsigned worker_count;
    size_t worker_bytes; /* of addresses that a worker holds back */
    struct cts_progress *progress;
};

/* Packs what is the worker's: all of every worker_count-th small launch, and a range of CTAs of
 * each large one. */
CTS_MUST_CHECK enum cts_status cts_trc_pack(const struct cts_trc_packing *packing, unsigned worker,
                                            struct cts_stream *stream, struct cts_error *error);

#endif
