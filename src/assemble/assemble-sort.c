/* What a device did, by start: recorders give it when they learn of it.
 *
 * A first pass over the log sees whether it is in order already (the rule where one stream's
 * records come from one buffer); then the second pass gives the records as they come. Else parts of
 * `items_in_memory` are sorted; one part is given at once, several go to a file that is deleted as
 * soon as it is open, and are merged from there, each read a block at a time. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assemble/assemble-private.h"

enum { ITEMS_IN_MEMORY = 64 << 10, BLOCK_ITEMS = 256 };

struct sorter {
    struct cts_log_reader reader;
    struct cts_stream_item *items;
    size_t capacity, count;
    uint64_t next_ordinal;
    int file; /* of sorted parts; -1: none yet */
    uint64_t written;
    struct part {
        uint64_t at, end; /* in the file, in items; what is not yet read */
        struct cts_stream_item *block;
        size_t block_at, block_count;
    } *parts;
    size_t part_count, part_capacity;
};

static int by_start(const void *left, const void *right)
{
    const struct cts_stream_item *const a = left, *const b = right;
    if (a->words[1] != b->words[1]) return a->words[1] < b->words[1] ? -1 : 1;
    return a->ordinal < b->ordinal ? -1 : a->ordinal > b->ordinal;
}

/* The next item of the log; false at its end. Other records are passed over. */
static bool next_item(struct sorter *s, struct cts_stream_item *item, enum cts_status *status,
                      struct cts_error *error)
{
    const uint64_t *words;
    uint32_t count;
    while ((words = cts_log_next(&s->reader, &count, status, error))) {
        const uint32_t type = words[0] & 0xff;
        const bool fits = (type == CTS_RECORD_ACTIVITY && (count == 5 || count == 9)) ||
                          (type == CTS_RECORD_COPY && count == 6);
        if (!fits) continue;
        memset(item->words, 0, sizeof item->words);
        memcpy(item->words, words, count * sizeof *words);
        item->ordinal = s->next_ordinal++;
        return true;
    }
    return false;
}

static enum cts_status is_in_order(struct sorter *s, bool *in_order, struct cts_error *error)
{
    struct cts_stream_item item;
    enum cts_status status;
    uint64_t last = 0;
    *in_order = true;
    while (*in_order && next_item(s, &item, &status, error)) {
        *in_order = cts_item_start_ns(&item) >= last;
        last = cts_item_start_ns(&item);
    }
    s->next_ordinal = 0;
    return cts_log_rewind(&s->reader, error);
}

/* ---- parts on disk ---- */

static enum cts_status open_file(struct sorter *s, struct cts_error *error)
{
    char *path = NULL;
    if (asprintf(&path, "%s.sort", s->reader.path) < 0)
        return cts_fail(error, CTS_MEMORY, "out of memory");
    s->file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    enum cts_status status = CTS_OK;
    if (s->file < 0)
        status = cts_fail_errno(error, errno, "cannot make '%s'", path);
    else
        unlink(path);
    free(path);
    return status;
}

static enum cts_status write_part(struct sorter *s, struct cts_error *error)
{
    enum cts_status status = s->file < 0 ? open_file(s, error) : CTS_OK;
    void *parts = s->parts;
    if (!status && s->part_count == s->part_capacity)
        status =
            cts_array_grow(&parts, &s->part_capacity, s->part_count + 1, sizeof *s->parts, error);
    if (status) return status;
    s->parts = parts;
    s->parts[s->part_count++] = (struct part){.at = s->written, .end = s->written + s->count};
    const char *bytes = (const char *)s->items;
    size_t left = s->count * sizeof *s->items;
    while (left) {
        const ssize_t done = write(s->file, bytes, left);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return cts_fail_errno(error, errno, "cannot sort '%s'", s->reader.path);
        bytes += done;
        left -= (size_t)done;
    }
    s->written += s->count;
    s->count = 0;
    return CTS_OK;
}

static enum cts_status load_block(struct sorter *s, struct part *part, struct cts_error *error)
{
    const uint64_t left = part->end - part->at;
    const size_t wanted = left < BLOCK_ITEMS ? (size_t)left : BLOCK_ITEMS;
    const size_t bytes = wanted * sizeof *part->block;
    part->block_at = 0;
    part->block_count = wanted;
    if (!wanted) return CTS_OK;
    const off_t offset = (off_t)(part->at * sizeof *part->block);
    part->at += wanted;
    const ssize_t got = pread(s->file, part->block, bytes, offset);
    if (got == (ssize_t)bytes) return CTS_OK;
    return cts_fail_errno(error, got < 0 ? errno : EIO, "cannot sort '%s'", s->reader.path);
}

/* A heap of parts by their first item. */
static void sift(struct sorter *s, size_t at, size_t count)
{
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
            if (by_start(&s->parts[child].block[s->parts[child].block_at],
                         &s->parts[least].block[s->parts[least].block_at]) < 0)
                least = child;
        if (least == at) return;
        const struct part moved = s->parts[at];
        s->parts[at] = s->parts[least];
        s->parts[least] = moved;
        at = least;
    }
}

static enum cts_status merge(struct sorter *s, const struct cts_stream_visitor *visitor,
                             struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    size_t count = s->part_count;
    for (size_t i = 0; i < count && !status; i++) {
        s->parts[i].block = malloc(BLOCK_ITEMS * sizeof *s->parts[i].block);
        status = s->parts[i].block ? load_block(s, &s->parts[i], error)
                                   : cts_fail(error, CTS_MEMORY, "out of memory");
    }
    for (size_t i = count; !status && i-- > 0;) sift(s, i, count);
    while (!status && count) {
        struct part *const first = &s->parts[0];
        status = visitor->visit(visitor->state, &first->block[first->block_at], error);
        if (!status && ++first->block_at == first->block_count)
            status = load_block(s, first, error);
        if (!status && !first->block_count) {
            const struct part ended = *first;
            s->parts[0] = s->parts[--count];
            s->parts[count] = ended;
        }
        if (!status) sift(s, 0, count);
    }
    return status;
}

static enum cts_status sort_parts(struct sorter *s, const struct cts_stream_visitor *visitor,
                                  bool *damage, struct cts_error *error)
{
    enum cts_status ended = CTS_OK, status = CTS_OK;
    s->items = malloc(s->capacity * sizeof *s->items);
    if (!s->items) return cts_fail(error, CTS_MEMORY, "out of memory");
    while (!status && next_item(s, &s->items[s->count], &ended, error)) {
        if (++s->count < s->capacity) continue;
        qsort(s->items, s->count, sizeof *s->items, by_start);
        status = write_part(s, error);
    }
    if (ended == CTS_IO) return ended;
    *damage = ended == CTS_FORMAT;
    if (!status && s->count) qsort(s->items, s->count, sizeof *s->items, by_start);
    if (!status && s->part_count && s->count) status = write_part(s, error);
    if (!status && s->part_count) return merge(s, visitor, error);
    for (size_t i = 0; i < s->count && !status; i++)
        status = visitor->visit(visitor->state, &s->items[i], error);
    return status;
}

enum cts_status cts_sort_stream(const char *path, size_t items_in_memory,
                                const struct cts_stream_visitor *visitor, bool *damage,
                                struct cts_error *error)
{
    struct sorter s = {.file = -1, .capacity = items_in_memory ? items_in_memory : ITEMS_IN_MEMORY};
    bool in_order = false;
    *damage = false;
    enum cts_status status = cts_log_open(path, &s.reader, error);
    if (status) return status;
    status = is_in_order(&s, &in_order, error);
    if (!status && in_order) {
        struct cts_stream_item item;
        enum cts_status ended = CTS_OK;
        while (!status && next_item(&s, &item, &ended, error))
            status = visitor->visit(visitor->state, &item, error);
        *damage = !status && ended == CTS_FORMAT;
        if (!status && ended == CTS_IO) status = ended;
    } else if (!status) {
        status = sort_parts(&s, visitor, damage, error);
    }
    for (size_t i = 0; i < s.part_count; i++) free(s.parts[i].block);
    free(s.parts);
    free(s.items);
    if (s.file >= 0) close(s.file);
    cts_log_reader_close(&s.reader);
    return status;
}
