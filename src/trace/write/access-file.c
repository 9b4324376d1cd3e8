/* Writing an access file through a mapping: a chunk is there whole, or not at all. Its magic is
 * stored last, so that a program that is killed meanwhile leaves zeros, which end the file for a
 * reader; and what was not used of the mapping is cut when the file is closed.
 *
 * Chunks stop a little before the disk is full. The rest is the catalogue's, which goes on:
 * accesses are worth nothing without the launches that they belong to. */
#include "trace/write/access-file.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC_BYTES = 4 };

/* The first four bytes last. */
static void store(uint8_t *to, const uint8_t *bytes, size_t byte_count)
{
    uint32_t magic;
    memcpy(&magic, bytes, MAGIC_BYTES);
    memcpy(to + MAGIC_BYTES, bytes + MAGIC_BYTES, byte_count - MAGIC_BYTES);
    if ((uintptr_t)to % _Alignof(uint32_t) == 0) {
        atomic_store_explicit((_Atomic uint32_t *)(void *)to, magic, memory_order_release);
    } else { /* chunks stand where the last one ended */
        atomic_thread_fence(memory_order_release);
        memcpy(to, bytes, MAGIC_BYTES);
    }
}

static enum cts_status append(struct cts_access_file *file, const void *bytes, size_t byte_count,
                              struct cts_error *error)
{
    uint8_t *to;
    const enum cts_status status = cts_mapped_file_room(&file->mapped, byte_count, &to, error);
    if (status) return status;
    store(to, bytes, byte_count);
    cts_mapped_file_commit(&file->mapped, byte_count);
    return CTS_OK;
}

static enum cts_status make(struct cts_access_file *file, struct cts_error *error)
{
    enum cts_status status = cts_mapped_file_create(&file->mapped, file->path, 0, false, error);
    if (status) return status;
    uint8_t bytes[CTS_ACC_HEADER_BYTES];
    cts_acc_put_file_header(bytes, &(struct cts_acc_file_header){.version = CTS_ACC_VERSION,
                                                                 .rank = file->rank,
                                                                 .stream = file->stream});
    file->mapped.leaves_room = true;
    status = append(file, bytes, sizeof bytes, error);
    if (status) cts_mapped_file_discard(&file->mapped);
    return status;
}

enum cts_status cts_access_file_create(struct cts_access_file *file, const char *path,
                                       uint32_t rank, uint32_t stream, struct cts_error *error)
{
    *file = (struct cts_access_file){.path = strdup(path), .rank = rank, .stream = stream};
    if (!file->path) return cts_fail(error, CTS_MEMORY, "no memory for '%s'", path);
    return make(file, error);
}

enum cts_status cts_access_file_append(struct cts_access_file *file, const void *bytes,
                                       const struct cts_acc_chunk_header *header,
                                       struct cts_error *error)
{
    enum cts_status status = file->mapped.path ? CTS_OK : make(file, error);
    const struct cts_acc_chunk chunk = cts_acc_chunk_of(header, file->mapped.size_bytes);
    if (!status) status = cts_buffer_reserve(&file->chunks, sizeof chunk, error);
    if (!status) status = append(file, bytes, header->size_bytes, error);
    if (status) return status;
    (void)!cts_buffer_append(&file->chunks, &chunk, sizeof chunk, NULL); /* there is room */
    file->chunk_count++;
    return CTS_OK;
}

static enum cts_status append_footer(struct cts_access_file *file, struct cts_error *error)
{
    struct cts_buffer bytes = {0};
    const size_t byte_count = cts_acc_footer_bytes(file->chunk_count);
    enum cts_status status = cts_buffer_reserve(&bytes, byte_count, error);
    if (!status) {
        cts_acc_put_footer(bytes.data, (const struct cts_acc_chunk *)file->chunks.data,
                           file->chunk_count, file->mapped.size_bytes);
        file->mapped.leaves_room = false; /* it was counted in when the chunks were */
        status = append(file, bytes.data, byte_count, error);
    }
    cts_buffer_release(&bytes);
    return status;
}

enum cts_status cts_access_file_close(struct cts_access_file *file, bool abandon,
                                      struct cts_error *error)
{
    enum cts_status status = CTS_OK, closed = CTS_OK;
    if (file->mapped.path) {
        if (!abandon) status = append_footer(file, error);
        closed = cts_mapped_file_close(&file->mapped, abandon, status ? NULL : error);
    }
    cts_buffer_release(&file->chunks);
    free(file->path);
    *file = (struct cts_access_file){0};
    return status ? status : closed;
}
