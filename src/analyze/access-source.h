/* Where an analysis gets warp records from: the access files of a run, or a test's own batches. */
#ifndef CTS_ANALYZE_ACCESS_SOURCE_H
#define CTS_ANALYZE_ACCESS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "trace/acc.h"

struct cts_access_source {
    const struct cts_acc_chunk *chunks; /* ordered as cts_acc_chunks() orders them */
    size_t chunk_count;
    size_t incomplete_count; /* access files that end too early */
    const void *state;
    enum cts_status (*read)(const void *state, const struct cts_acc_chunk *chunk,
                            struct cts_acc_batch *batch, struct cts_error *error);
    const char *(*path)(const void *state, uint32_t file); /* for messages; may be NULL */
    void (*release)(struct cts_acc_batch *batch);          /* of a batch that read() filled */
    /* Whether nobody wants the answer any more; asked by any thread. NULL: somebody does. */
    bool (*is_given_up)(const void *state);
};

/* The access files of a run; the reader must outlive the source. */
struct cts_access_source cts_access_source_of(const struct cts_acc_reader *reader);

/* CTS_IO when nobody wants the answer any more. What takes long between two reads asks it now and
 * then: cts_access_source_pause() every CTS_ACCESS_SOURCE_PAUSE steps of about a microsecond. */
CTS_MUST_CHECK enum cts_status cts_access_source_go_on(const struct cts_access_source *source,
                                                       struct cts_error *error);
enum { CTS_ACCESS_SOURCE_PAUSE = 1 << 12 };
CTS_MUST_CHECK static inline enum cts_status
cts_access_source_pause(const struct cts_access_source *source, size_t step,
                        struct cts_error *error)
{
    return step % CTS_ACCESS_SOURCE_PAUSE ? CTS_OK : cts_access_source_go_on(source, error);
}

/* All thread accesses, as the chunks' index counts them. */
uint64_t cts_access_source_total(const struct cts_access_source *source);

#endif
