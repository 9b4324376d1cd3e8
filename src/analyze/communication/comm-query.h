/* Operations on a range of addresses (paper 003, app. B): who read and wrote it, by launch, CTA and
 * instruction. Streams the chunks whose addresses meet the range; memory grows with the rows. */
#ifndef CTS_COMMUNICATION_QUERY_H
#define CTS_COMMUNICATION_QUERY_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/access-source.h"
#include "analyze/interval.h"
#include "trace/catalogue.h"

struct cts_query_row {
    uint32_t launch, cta, site; /* catalogue ids; the site has the operation */
    uint64_t accesses;          /* thread accesses that touch the range */
    uint64_t bytes;             /* their bytes inside it */
};

struct cts_query {
    struct cts_query_row *rows; /* by launch id, CTA, site */
    size_t row_count;
    uint64_t rows_left_out; /* beyond CTS_QUERY_ROWS_MAX: the last by that order in their chunk */
    uint64_t reads, read_bytes, writes, written_bytes; /* of all rows; atomics in both */
    uint64_t chunks_read, chunk_count;
};
enum { CTS_QUERY_ROWS_MAX = 1 << 22 };

/* Global memory only. */
CTS_MUST_CHECK enum cts_status cts_comm_query(const struct cts_catalogue *catalogue,
                                              const struct cts_access_source *source,
                                              struct cts_interval range, struct cts_query *query,
                                              struct cts_error *error);
void cts_query_release(struct cts_query *query);

#endif
