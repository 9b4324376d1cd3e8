#include "analyze/access-source.h"

static enum cts_status read_chunk(const void *state, const struct cts_acc_chunk *chunk,
                                  struct cts_acc_batch *batch, struct cts_error *error)
{
    return cts_acc_read(state, chunk, batch, error);
}

static const char *file_path(const void *state, uint32_t file)
{
    return cts_acc_file_path(state, file);
}

struct cts_access_source cts_access_source_of(const struct cts_acc_reader *reader)
{
    struct cts_access_source source = {.state = reader,
                                       .read = read_chunk,
                                       .path = file_path,
                                       .release = cts_acc_batch_release,
                                       .incomplete_count = cts_acc_incomplete_count(reader)};
    source.chunks = cts_acc_chunks(reader, &source.chunk_count);
    return source;
}

enum cts_status cts_access_source_go_on(const struct cts_access_source *source,
                                        struct cts_error *error)
{
    if (!source->is_given_up || !source->is_given_up(source->state)) return CTS_OK;
    return cts_fail(error, CTS_IO, "the request was cancelled");
}

uint64_t cts_access_source_total(const struct cts_access_source *source)
{
    uint64_t access_count = 0;
    for (size_t i = 0; i < source->chunk_count; i++) access_count += source->chunks[i].access_count;
    return access_count;
}
