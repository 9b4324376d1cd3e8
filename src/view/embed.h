/* A page with a launch in it, to send to a colleague: the view without a server. */
#ifndef CTS_VIEW_EMBED_H
#define CTS_VIEW_EMBED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/error.h"

struct cts_view_embed_options {
    const char *run_path;
    uint32_t launch;         /* UINT32_MAX: the one with the most accesses */
    uint64_t max_size_bytes; /* of the page; 0: 20 MiB */
    unsigned threads;
};
/* What went into the page. */
struct cts_view_embedded {
    uint32_t launch;
    uint64_t cta_count, all_cta_count, record_count;
    uint32_t warp_count, all_warp_count; /* of each CTA */
    bool is_for_size; /* it is a part because of the page's size, not of its number of requests */
    uint64_t size_bytes; /* of the page */
};

/* Writes the page. When all records of the launch are too many for its size, or for a browser,
 * those of some CTAs evenly spread over the grid, or where one CTA is too much of some of its
 * warps; the page says so. CTS_USAGE: no such launch, or one without records; CTS_LIMIT: the size
 * does not even hold one warp. */
CTS_MUST_CHECK enum cts_status cts_view_embed(const struct cts_view_embed_options *options,
                                              FILE *file, struct cts_view_embedded *embedded,
                                              struct cts_error *error);

#endif
