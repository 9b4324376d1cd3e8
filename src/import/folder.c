/* Trace folders: a file's bytes, the memory of what is parsed, and the checks that both forms of a
 * trace share. */
#include "import/folder.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "common/read-file.h"

enum { BLOCK_THREADS_MAX = 1024, PIECE_BYTES = 1 << 18 };

static void release_texts(struct cts_folder_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) free(texts->items[i]);
    free(texts->items);
}

void cts_folder_trace_release(struct cts_folder_trace *trace)
{
    for (size_t i = 0; i < trace->allocations.count; i++) {
        free(trace->allocations.items[i].type);
        free(trace->allocations.items[i].name);
        free(trace->allocations.items[i].location);
    }
    free(trace->kernel);
    free(trace->allocations.items);
    free(trace->requests.items);
    free(trace->lanes.items);
    free(trace->words.items);
    *trace = (struct cts_folder_trace){0};
}

void cts_folder_metadata_release(struct cts_folder_metadata *metadata)
{
    for (size_t i = 0; i < metadata->places.count; i++) {
        free(metadata->places.items[i].file);
        free(metadata->places.items[i].variable);
    }
    free(metadata->places.items);
    release_texts(&metadata->types);
    release_texts(&metadata->names);
    free(metadata->kernel);
    free(metadata->source_path);
    free(metadata->source_text);
    *metadata = (struct cts_folder_metadata){0};
}

void cts_folder_run_release(struct cts_folder_run *run)
{
    release_texts(&run->traces);
    *run = (struct cts_folder_run){0};
}

bool cts_folder_number(const char *text, uint64_t *number)
{
    char *end;
    if (!isxdigit((unsigned char)*text)) return false; /* strtoull takes spaces and signs */
    errno = 0;
    *number = strtoull(text, &end, text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10);
    return !errno && !*end;
}

/* zlib hands on what is not packed. */
enum cts_status cts_folder_read(const char *path, size_t ceiling_bytes, struct cts_buffer *text,
                                struct cts_error *error)
{
    const int fd = cts_open_regular_file(path, error);
    if (fd < 0) return error->status;
    gzFile file = gzdopen(fd, "rb");
    if (!file) {
        close(fd);
        return cts_fail(error, CTS_MEMORY, "no memory to read '%s'", path);
    }
    (void)gzbuffer(file, PIECE_BYTES);
    enum cts_status status = CTS_OK;
    int count = 1;
    text->ceiling_bytes = ceiling_bytes;
    cts_buffer_clear(text);
    while (!status && count > 0) {
        status = cts_buffer_reserve(text, PIECE_BYTES, error);
        if (status) break;
        count = gzread(file, text->data + text->size_bytes, PIECE_BYTES);
        if (count > 0) text->size_bytes += (size_t)count;
    }
    if (status) status = cts_context(error, "cannot read '%s'", path);
    int problem = Z_OK;
    const char *const what = gzerror(file, &problem);
    if (!status && problem == Z_ERRNO)
        status = cts_fail_errno(error, errno, "cannot read '%s'", path);
    else if (!status && problem < 0)
        status = cts_fail(error, CTS_FORMAT, "cannot unpack '%s': %s after %zu bytes", path,
                          problem == Z_BUF_ERROR ? "it ends early" : what, text->size_bytes);
    (void)gzclose(file);
    return status;
}

/* ---- sense ---- */

static enum cts_status check_request(const struct cts_folder_trace *trace, size_t index,
                                     struct cts_error *error)
{
    const struct cts_folder_request *const request = &trace->requests.items[index];
    const uint32_t *const block = trace->block;
    if (request->kind > CTS_FOLDER_STORE || request->space > CTS_FOLDER_LOCAL ||
        request->operation > CTS_FOLDER_OPERATION_LAST)
        return cts_fail(error, CTS_FORMAT, "request %zu: kind %u, space %u", index, request->kind,
                        request->space);
    if (!request->width_bytes || request->width_bytes > CTS_FOLDER_WIDTH_MAX)
        return cts_fail(error, CTS_FORMAT, "request %zu: %u bytes per lane", index,
                        request->width_bytes);
    for (unsigned d = 0; d < 3; d++)
        if (request->cta[d] >= trace->grid[d])
            return cts_fail(error, CTS_FORMAT, "request %zu: block %c = %u in a grid of %u", index,
                            "xyz"[d], request -> cta[d], trace -> grid[d]);
    for (size_t i = 0; i < request->lane_count; i++) {
        const struct cts_folder_lane *const lane = &trace->lanes.items[request->first_lane + i];
        for (unsigned d = 0; d < 3; d++)
            if (lane->thread[d] >= block[d])
                return cts_fail(error, CTS_FORMAT, "request %zu: thread %c = %u in a block of %u",
                                index, "xyz"[d], lane -> thread[d], block[d]);
    }
    return CTS_OK;
}

enum cts_status cts_folder_check(const struct cts_folder_trace *trace, struct cts_error *error)
{
    uint64_t ctas = 1, threads = 1;
    if (!trace->kernel) return cts_fail(error, CTS_FORMAT, "it does not name its kernel");
    for (unsigned d = 0; d < 3; d++) {
        if (!trace->grid[d] || !trace->block[d])
            return cts_fail(error, CTS_FORMAT, "its grid or block is missing or empty");
        if (__builtin_mul_overflow(ctas, trace->grid[d], &ctas) || ctas > UINT32_MAX)
            return cts_fail(error, CTS_FORMAT, "a grid of more than 2^32 blocks");
        threads *= trace->block[d] <= BLOCK_THREADS_MAX ? trace->block[d] : BLOCK_THREADS_MAX + 1;
        if (threads > BLOCK_THREADS_MAX)
            return cts_fail(error, CTS_FORMAT, "a block of more than %d threads",
                            BLOCK_THREADS_MAX);
    }
    if (trace->warp_size && trace->warp_size != 32)
        return cts_fail(error, CTS_FORMAT, "warps of %u threads instead of 32", trace->warp_size);
    if (!isfinite(trace->start_ms) || !isfinite(trace->end_ms))
        return cts_fail(error, CTS_FORMAT, "its times are not numbers");
    for (size_t i = 0; i < trace->requests.count; i++) {
        const enum cts_status status = check_request(trace, i, error);
        if (status) return status;
    }
    for (size_t i = 0; i < trace->allocations.count; i++) {
        const struct cts_folder_allocation *const a = &trace->allocations.items[i];
        if (a->space > CTS_FOLDER_LOCAL || a->address + a->size_bytes < a->address)
            return cts_fail(error, CTS_FORMAT, "allocation %zu: space %u, %llu bytes at %#llx", i,
                            a->space, (unsigned long long)a->size_bytes,
                            (unsigned long long)a->address);
    }
    return CTS_OK;
}
