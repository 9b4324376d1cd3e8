/* The reader of a run's access files: finds them, learns their chunks, hands chunks to the decoder.
 *
 * A file that was closed ends with a footer (the index) and a trailer (where the footer is). A file
 * that has neither, because its program was killed, is walked from chunk to chunk; a chunk or
 * footer that the end of the file cuts off ends the walk, and the file counts as incomplete.
 * Anything else that does not fit is damage, and an error. */
#include "trace/acc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buffer.h"
#include "common/cursor.h"
#include "common/read-file.h"
#include "common/search.h"
#include "trace/acc-decode.h"
#include "trace/numbered.h"

struct acc_file {
    char *path;
    int fd;                /* -1: in memory */
    const uint8_t *memory; /* borrowed */
    uint64_t size_bytes;
};

struct cts_acc_reader {
    struct cts_buffer files;  /* struct acc_file */
    struct cts_buffer chunks; /* struct cts_acc_chunk */
    size_t file_count, chunk_count, incomplete_count;
    void (*note)(void *state, const struct cts_error *error); /* NULL: damage is an error */
    void *note_state;
};

static struct acc_file *files_of(const struct cts_acc_reader *reader)
{
    return (struct acc_file *)reader->files.data;
}

static enum cts_status read_at(const struct acc_file *file, uint64_t offset, void *to,
                               size_t byte_count, struct cts_error *error)
{
    if (offset > file->size_bytes || byte_count > file->size_bytes - offset)
        return cts_fail(error, CTS_FORMAT, "byte %llu is after the end",
                        (unsigned long long)offset);
    if (file->memory) {
        memcpy(to, file->memory + offset, byte_count);
        return CTS_OK;
    }
    uint8_t *at = to;
    while (byte_count) {
        const ssize_t got = pread(file->fd, at, byte_count, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cts_fail_errno(error, errno, "byte %llu", (unsigned long long)offset);
        if (got == 0)
            return cts_fail(error, CTS_FORMAT, "truncated at byte %llu while it was being read",
                            (unsigned long long)offset);
        at += got;
        offset += (uint64_t)got;
        byte_count -= (size_t)got;
    }
    return CTS_OK;
}

static enum cts_status add_chunk(struct cts_acc_reader *reader, struct cts_acc_chunk chunk,
                                 struct cts_error *error)
{
    chunk.file = (uint32_t)(reader->file_count - 1);
    const enum cts_status status = cts_buffer_append(&reader->chunks, &chunk, sizeof chunk, error);
    if (!status) reader->chunk_count++;
    return status;
}

/* ---- a file with a footer ---- */

struct footer {
    uint64_t offset_bytes, size_bytes;
};

static enum cts_status read_trailer(const struct acc_file *file, bool *found, struct footer *footer,
                                    struct cts_error *error)
{
    uint8_t bytes[CTS_ACC_TRAILER_BYTES];
    *found = false;
    if (file->size_bytes < CTS_ACC_HEADER_BYTES + cts_acc_footer_bytes(0)) return CTS_OK;
    const uint64_t at = file->size_bytes - sizeof bytes;
    const enum cts_status status = read_at(file, at, bytes, sizeof bytes, error);
    if (status) return status;
    if (cts_get_u32(bytes + 20) != CTS_ACC_TRAILER_MAGIC) return CTS_OK;
    *found = true;
    *footer = (struct footer){cts_get_u64(bytes), cts_get_u64(bytes + 8)};
    if (cts_get_u32(bytes + 16) != cts_acc_crc32c(0, bytes, 16))
        return cts_fail(error, CTS_FORMAT, "trailer at byte %llu: checksum differs",
                        (unsigned long long)at);
    if (footer->offset_bytes < CTS_ACC_HEADER_BYTES || footer->offset_bytes > at ||
        footer->size_bytes != at - footer->offset_bytes ||
        footer->size_bytes < CTS_ACC_FOOTER_HEADER_BYTES)
        return cts_fail(error, CTS_FORMAT,
                        "trailer at byte %llu: footer of %llu bytes at byte %llu",
                        (unsigned long long)at, (unsigned long long)footer->size_bytes,
                        (unsigned long long)footer->offset_bytes);
    return CTS_OK;
}

static enum cts_status add_entries(struct cts_acc_reader *reader, struct cts_cursor *cursor,
                                   uint64_t end_bytes, struct cts_error *error)
{
    uint64_t expected = CTS_ACC_HEADER_BYTES;
    for (size_t i = 0; cts_cursor_left(cursor); i++) {
        struct cts_acc_chunk chunk = {.offset_bytes = cts_cursor_u64(cursor)};
        chunk.size_bytes = cts_cursor_u64(cursor);
        chunk.launch = cts_cursor_u32(cursor);
        chunk.first_cta = cts_cursor_u32(cursor);
        chunk.last_cta = cts_cursor_u32(cursor);
        chunk.record_count = cts_cursor_u32(cursor);
        chunk.first_address = cts_cursor_u64(cursor);
        chunk.last_address = cts_cursor_u64(cursor);
        chunk.access_count = cts_cursor_u64(cursor);
        const uint64_t barrier_count = cts_cursor_u64(cursor);
        chunk.barrier_count = (uint32_t)barrier_count;
        if (chunk.offset_bytes != expected || chunk.size_bytes <= CTS_ACC_CHUNK_HEADER_BYTES ||
            chunk.size_bytes > end_bytes - expected || barrier_count > CTS_ACC_CHUNK_RECORDS_MAX)
            return cts_fail(error, CTS_FORMAT, "index entry %zu: %llu bytes at byte %llu", i,
                            (unsigned long long)chunk.size_bytes,
                            (unsigned long long)chunk.offset_bytes);
        expected += chunk.size_bytes;
        const enum cts_status status = add_chunk(reader, chunk, error);
        if (status) return status;
    }
    if (expected != end_bytes)
        return cts_fail(error, CTS_FORMAT, "the index ends at byte %llu, the footer starts at %llu",
                        (unsigned long long)expected, (unsigned long long)end_bytes);
    return CTS_OK;
}

static enum cts_status read_footer(struct cts_acc_reader *reader, const struct acc_file *file,
                                   const struct footer *footer, struct cts_error *error)
{
    struct cts_buffer bytes = {.ceiling_bytes = file->size_bytes};
    enum cts_status status = cts_buffer_reserve(&bytes, footer->size_bytes, error);
    if (!status)
        status = read_at(file, footer->offset_bytes, bytes.data, footer->size_bytes, error);
    if (!status) {
        struct cts_cursor cursor = cts_cursor_of(bytes.data, footer->size_bytes);
        const uint32_t magic = cts_cursor_u32(&cursor);
        const uint32_t crc = cts_cursor_u32(&cursor);
        const uint64_t count = cts_cursor_u64(&cursor);
        const size_t entries_bytes = cts_cursor_left(&cursor);
        if (magic != CTS_ACC_FOOTER_MAGIC ||
            crc != cts_acc_crc32c(0, bytes.data + 8, footer->size_bytes - 8))
            status = cts_fail(error, CTS_FORMAT, "no footer, or its checksum differs");
        else if (entries_bytes % CTS_ACC_ENTRY_BYTES ||
                 count != entries_bytes / CTS_ACC_ENTRY_BYTES)
            status = cts_fail(error, CTS_FORMAT, "%llu chunks in a footer of %llu bytes",
                              (unsigned long long)count, (unsigned long long)footer->size_bytes);
        else
            status = add_entries(reader, &cursor, footer->offset_bytes, error);
        if (status)
            cts_context(error, "footer at byte %llu", (unsigned long long)footer->offset_bytes);
    }
    cts_buffer_release(&bytes);
    return status;
}

/* ---- a file without ---- */

enum found { FOUND_CHUNK, FOUND_END };

/* A footer that a walk meets: truncated, or it would have been found through its trailer. */
static enum cts_status check_cut_footer(const struct acc_file *file, uint64_t at,
                                        uint64_t chunk_count, struct cts_error *error)
{
    uint8_t bytes[CTS_ACC_FOOTER_HEADER_BYTES];
    if (file->size_bytes - at < sizeof bytes) return CTS_OK;
    const enum cts_status status = read_at(file, at, bytes, sizeof bytes, error);
    if (status) return status;
    if (cts_get_u64(bytes + 8) != chunk_count ||
        file->size_bytes - at >= cts_acc_footer_bytes(chunk_count))
        return cts_fail(error, CTS_FORMAT, "footer at byte %llu: damaged, or no trailer after it",
                        (unsigned long long)at);
    return CTS_OK;
}

static enum cts_status read_chunk_header(const struct acc_file *file, uint64_t at,
                                         struct cts_acc_chunk_header *header,
                                         struct cts_error *error)
{
    uint8_t bytes[CTS_ACC_CHUNK_HEADER_BYTES];
    enum cts_status status = read_at(file, at, bytes, sizeof bytes, error);
    if (!status) status = cts_acc_get_chunk_header(bytes, header, error);
    if (status) cts_context(error, "chunk at byte %llu", (unsigned long long)at);
    return status;
}

static enum cts_status walk_chunks(struct cts_acc_reader *reader, const struct acc_file *file,
                                   struct cts_error *error)
{
    uint64_t at = CTS_ACC_HEADER_BYTES;
    for (uint64_t count = 0;; count++) {
        const uint64_t left = file->size_bytes - at;
        uint8_t magic[4];
        if (left < sizeof magic) return CTS_OK;
        enum cts_status status = read_at(file, at, magic, sizeof magic, error);
        if (status) return status;
        if (cts_get_u32(magic) == 0) return CTS_OK; /* reserved, and not used */
        if (cts_get_u32(magic) == CTS_ACC_FOOTER_MAGIC)
            return check_cut_footer(file, at, count, error);
        if (left < CTS_ACC_CHUNK_HEADER_BYTES && cts_get_u32(magic) == CTS_ACC_CHUNK_MAGIC)
            return CTS_OK;
        struct cts_acc_chunk_header header;
        status = read_chunk_header(file, at, &header, error);
        if (status) return status;
        if (header.size_bytes > left) return CTS_OK;
        status = add_chunk(reader, cts_acc_chunk_of(&header, at), error);
        if (status) return status;
        at += header.size_bytes;
    }
}

static enum cts_status index_file(struct cts_acc_reader *reader, const struct acc_file *file,
                                  struct cts_error *error)
{
    uint8_t bytes[CTS_ACC_HEADER_BYTES] = {0};
    const bool cut = file->size_bytes < sizeof bytes;
    enum cts_status status =
        read_at(file, 0, bytes, cut ? (size_t)file->size_bytes : sizeof bytes, error);
    if (status) return status;
    if (cut) {
        const size_t seen = file->size_bytes < CTS_ACC_MAGIC_BYTES ? (size_t)file->size_bytes
                                                                   : (size_t)CTS_ACC_MAGIC_BYTES;
        if (memcmp(bytes, CTS_ACC_MAGIC, seen) != 0)
            return cts_fail(error, CTS_FORMAT, "not an access file (no magic at byte 0)");
        reader->incomplete_count++;
        return CTS_OK;
    }
    struct cts_acc_file_header header;
    struct footer footer;
    bool has_footer = false;
    status = cts_acc_get_file_header(bytes, &header, error);
    if (!status) status = read_trailer(file, &has_footer, &footer, error);
    if (status) return status;
    if (has_footer) return read_footer(reader, file, &footer, error);
    reader->incomplete_count++;
    return walk_chunks(reader, file, error);
}

/* ---- the files of a run ---- */

static enum cts_status add_file(struct cts_acc_reader *reader, const struct acc_file *file,
                                struct cts_error *error)
{
    const enum cts_status status = cts_buffer_append(&reader->files, file, sizeof *file, error);
    if (status) return status;
    reader->file_count++;
    return index_file(reader, file, error);
}

/* Of a damaged file: the chunks up to the damage, as if it had no footer. */
static void keep_readable(struct cts_acc_reader *reader, size_t chunk_count,
                          size_t incomplete_count)
{
    const struct acc_file *const file = &files_of(reader)[reader->file_count - 1];
    struct cts_error error;
    uint8_t bytes[CTS_ACC_HEADER_BYTES];
    struct cts_acc_file_header header;
    reader->chunk_count = chunk_count;
    reader->chunks.size_bytes = chunk_count * sizeof(struct cts_acc_chunk);
    reader->incomplete_count = incomplete_count; /* its note says what is wrong with it */
    if (!read_at(file, 0, bytes, sizeof bytes, &error) &&
        !cts_acc_get_file_header(bytes, &header, &error) && walk_chunks(reader, file, &error))
        return; /* what was walked before the damage stays */
}

static enum cts_status open_file(struct cts_acc_reader *reader, const char *path,
                                 struct cts_error *error)
{
    struct acc_file file = {.path = strdup(path),
                            .fd = cts_open_file(path, O_RDONLY | O_NONBLOCK, 0)};
    struct stat stat;
    enum cts_status status = CTS_OK;
    if (!file.path)
        status = cts_fail(error, CTS_MEMORY, "no memory");
    else if (file.fd < 0 || fstat(file.fd, &stat) != 0)
        status = cts_fail_errno(error, errno, "open");
    else if (!S_ISREG(stat.st_mode))
        status = cts_fail(error, CTS_FORMAT, "not a regular file");
    const size_t known = reader->file_count, chunk_count = reader->chunk_count;
    const size_t incomplete_count = reader->incomplete_count;
    if (!status) {
        file.size_bytes = (uint64_t)stat.st_size;
        status = add_file(reader, &file, error);
    }
    if (status) cts_context(error, "cannot read '%s'", path);
    if (status && reader->file_count == known) {
        free(file.path);
        if (file.fd >= 0) close(file.fd);
    }
    if (status && status != CTS_MEMORY && reader->note) {
        if (reader->file_count > known) keep_readable(reader, chunk_count, incomplete_count);
        reader->note(reader->note_state, error);
        status = CTS_OK;
    }
    return status;
}

/* A path of parts; malloc'd. */
__attribute__((format(printf, 1, 2))) static char *path_of(const char *format, ...)
{
    char *path = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&path, format, args) < 0) path = NULL;
    va_end(args);
    return path;
}

static enum cts_status open_rank(struct cts_acc_reader *reader, const char *rank_path,
                                 struct cts_error *error)
{
    struct cts_buffer numbers = {0};
    enum cts_status status = cts_list_numbers(rank_path, "", ".acc", &numbers, error);
    const size_t count = numbers.size_bytes / sizeof(uint32_t);
    for (size_t i = 0; i < count && !status; i++) {
        char *const path = path_of("%s/%u.acc", rank_path, ((const uint32_t *)numbers.data)[i]);
        status = path ? open_file(reader, path, error) : cts_fail(error, CTS_MEMORY, "no memory");
        free(path);
    }
    cts_buffer_release(&numbers);
    return status;
}

static int compare_chunks(const void *a, const void *b)
{
    const struct cts_acc_chunk *const x = a, *const y = b;
    if (x->launch != y->launch) return x->launch < y->launch ? -1 : 1;
    if (x->first_cta != y->first_cta) return x->first_cta < y->first_cta ? -1 : 1;
    if (x->file != y->file) return x->file < y->file ? -1 : 1;
    return (x->offset_bytes > y->offset_bytes) - (x->offset_bytes < y->offset_bytes);
}

static void sort_chunks(struct cts_acc_reader *reader)
{
    if (reader->chunk_count)
        qsort(reader->chunks.data, reader->chunk_count, sizeof(struct cts_acc_chunk),
              compare_chunks);
}

enum cts_status cts_acc_open(const char *run_path, struct cts_acc_reader **out,
                             struct cts_error *error)
{
    return cts_acc_open_readable(run_path, out, NULL, NULL, error);
}

enum cts_status cts_acc_open_readable(const char *run_path, struct cts_acc_reader **out,
                                      void (*note)(void *state, const struct cts_error *error),
                                      void *state, struct cts_error *error)
{
    struct cts_error own;
    if (!error) error = &own; /* `note` is told it all the same */
    *out = NULL;
    struct cts_acc_reader *const reader = calloc(1, sizeof *reader);
    if (!reader) return cts_fail(error, CTS_MEMORY, "no memory to read '%s'", run_path);
    reader->note = note;
    reader->note_state = state;
    struct cts_buffer ranks = {0};
    enum cts_status status = cts_list_numbers(run_path, "rank-", "", &ranks, error);
    const size_t count = ranks.size_bytes / sizeof(uint32_t);
    for (size_t i = 0; i < count && !status; i++) {
        char *const path = path_of("%s/rank-%u", run_path, ((const uint32_t *)ranks.data)[i]);
        status = path ? open_rank(reader, path, error) : cts_fail(error, CTS_MEMORY, "no memory");
        free(path);
    }
    cts_buffer_release(&ranks);
    if (status) {
        cts_acc_close(reader);
        return status;
    }
    sort_chunks(reader);
    *out = reader;
    return CTS_OK;
}

enum cts_status cts_acc_open_memory(const void *bytes, size_t size_bytes,
                                    struct cts_acc_reader **out, struct cts_error *error)
{
    *out = NULL;
    struct cts_acc_reader *const reader = calloc(1, sizeof *reader);
    if (!reader) return cts_fail(error, CTS_MEMORY, "no memory");
    const struct acc_file file = {.fd = -1, .memory = bytes, .size_bytes = size_bytes};
    const enum cts_status status = add_file(reader, &file, error);
    if (status) {
        cts_acc_close(reader);
        return status;
    }
    sort_chunks(reader);
    *out = reader;
    return CTS_OK;
}

void cts_acc_close(struct cts_acc_reader *reader)
{
    if (!reader) return;
    for (size_t i = 0; i < reader->file_count; i++) {
        const struct acc_file *const file = &files_of(reader)[i];
        free(file->path);
        if (file->fd >= 0) close(file->fd);
    }
    cts_buffer_release(&reader->files);
    cts_buffer_release(&reader->chunks);
    free(reader);
}

const struct cts_acc_chunk *cts_acc_chunks(const struct cts_acc_reader *reader, size_t *count)
{
    *count = reader->chunk_count;
    return (const struct cts_acc_chunk *)reader->chunks.data;
}

size_t cts_acc_incomplete_count(const struct cts_acc_reader *reader)
{
    return reader->incomplete_count;
}

size_t cts_acc_file_count(const struct cts_acc_reader *reader)
{
    return reader->file_count;
}

uint64_t cts_acc_file_size(const struct cts_acc_reader *reader, uint32_t file)
{
    return file < reader->file_count ? files_of(reader)[file].size_bytes : 0;
}

size_t cts_acc_leave_out(struct cts_acc_reader *reader,
                         bool (*is_out)(void *state, const struct cts_acc_chunk *chunk),
                         void *state)
{
    struct cts_acc_chunk *const chunks = (struct cts_acc_chunk *)reader->chunks.data;
    const size_t before = reader->chunk_count;
    size_t kept = 0;
    for (size_t i = 0; i < before; i++)
        if (!is_out(state, &chunks[i])) chunks[kept++] = chunks[i];
    reader->chunk_count = kept;
    reader->chunks.size_bytes = kept * sizeof *chunks;
    return before - kept;
}

const char *cts_acc_file_path(const struct cts_acc_reader *reader, uint32_t file)
{
    const char *const path = file < reader->file_count ? files_of(reader)[file].path : NULL;
    return path ? path : "memory";
}

/* Where the stored bytes of a chunk go. */
static enum cts_status make_room(const struct cts_acc_chunk *chunk, struct cts_acc_batch *batch,
                                 uint8_t **stored, struct cts_error *error)
{
    if (chunk->size_bytes < CTS_ACC_CHUNK_HEADER_BYTES ||
        chunk->size_bytes > (uint64_t)CTS_ACC_STORED_MAX_BYTES + CTS_ACC_CHUNK_HEADER_BYTES)
        return cts_fail(error, CTS_LIMIT, "size of %llu bytes",
                        (unsigned long long)chunk->size_bytes);
    *stored = cts_acc_batch_stored(batch, chunk->size_bytes);
    return *stored ? CTS_OK : cts_fail(error, CTS_MEMORY, "no memory");
}

/* Reads the chunk, and checks its header, which must say what the index said. */
static enum cts_status read_whole_chunk(const struct acc_file *file,
                                        const struct cts_acc_chunk *chunk, uint8_t *stored,
                                        struct cts_acc_chunk_header *header,
                                        struct cts_error *error)
{
    enum cts_status status = read_at(file, chunk->offset_bytes, stored, chunk->size_bytes, error);
    if (!status) status = cts_acc_get_chunk_header(stored, header, error);
    if (status) return status;
    struct cts_acc_chunk found = cts_acc_chunk_of(header, chunk->offset_bytes);
    uint8_t entries[2][CTS_ACC_ENTRY_BYTES];
    cts_acc_put_entry(entries[0], chunk);
    cts_acc_put_entry(entries[1], &found);
    if (memcmp(entries[0], entries[1], CTS_ACC_ENTRY_BYTES) != 0)
        return cts_fail(error, CTS_FORMAT, "its header and the index differ");
    return CTS_OK;
}

enum cts_status cts_acc_read(const struct cts_acc_reader *reader, const struct cts_acc_chunk *chunk,
                             struct cts_acc_batch *batch, struct cts_error *error)
{
    if (chunk->file >= reader->file_count)
        return cts_fail(error, CTS_USAGE, "a chunk of file %u of %zu", chunk->file,
                        reader->file_count);
    const struct acc_file *const file = &files_of(reader)[chunk->file];
    struct cts_acc_chunk_header header;
    uint8_t *stored = NULL;
    batch->record_count = batch->offset_count = batch->value_count = batch->barrier_count = 0;
    enum cts_status status = make_room(chunk, batch, &stored, error);
    if (!status) status = read_whole_chunk(file, chunk, stored, &header, error);
    if (!status) status = cts_acc_decode_chunk(&header, stored, batch, error);
    if (status)
        cts_context(error, "cannot read '%s': chunk at byte %llu",
                    cts_acc_file_path(reader, chunk->file),
                    (unsigned long long)chunk->offset_bytes);
    return status;
}

size_t cts_acc_first_chunk(const struct cts_acc_chunk *chunks, size_t count, uint32_t launch)
{
    return CTS_SEARCH(count, i, chunks[i].launch < launch);
}
