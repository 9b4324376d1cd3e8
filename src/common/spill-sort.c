#include "common/spill-sort.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/array.h"

enum { BLOCK_ITEMS = 256, FIRST_ITEMS = 1024 };

void cts_spill_begin(struct cts_spill_sort *s, const struct cts_spill_options *options)
{
    assert(options->items_in_memory && options->item_bytes);
    *s = (struct cts_spill_sort){.options = *options, .file = -1};
}

/* ---- parts on disk ---- */

static enum cts_status open_file(struct cts_spill_sort *s, struct cts_error *error)
{
    const char *const path = s->options.path;
    s->file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (s->file < 0) return cts_fail_errno(error, errno, "cannot make '%s'", path);
    unlink(path);
    return CTS_OK;
}

static enum cts_status write_all(struct cts_spill_sort *s, struct cts_error *error)
{
    const char *bytes = s->items;
    size_t left = s->count * s->options.item_bytes;
    while (left) {
        const ssize_t done = write(s->file, bytes, left);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return cts_fail_errno(error, errno, "cannot write '%s'", s->options.path);
        bytes += done;
        left -= (size_t)done;
    }
    return CTS_OK;
}

static void sort_items(struct cts_spill_sort *s)
{
    if (s->count) qsort(s->items, s->count, s->options.item_bytes, s->options.compare);
}

static enum cts_status write_part(struct cts_spill_sort *s, struct cts_error *error)
{
    enum cts_status status = s->file < 0 ? open_file(s, error) : CTS_OK;
    void *parts = s->parts;
    if (!status && s->part_count == s->part_capacity)
        status =
            cts_array_grow(&parts, &s->part_capacity, s->part_count + 1, sizeof *s->parts, error);
    if (status) return status;
    s->parts = parts;
    sort_items(s);
    s->parts[s->part_count++] =
        (struct cts_spill_part){.at = s->written, .end = s->written + s->count};
    status = write_all(s, error);
    s->written += s->count;
    s->count = 0;
    return status;
}

static enum cts_status make_room(struct cts_spill_sort *s, struct cts_error *error)
{
    size_t wanted = s->capacity ? 2 * s->capacity : FIRST_ITEMS;
    if (wanted > s->options.items_in_memory) wanted = s->options.items_in_memory;
    char *const grown = realloc(s->items, wanted * s->options.item_bytes);
    if (!grown) return cts_fail(error, CTS_MEMORY, "no memory");
    s->items = grown;
    s->capacity = wanted;
    return CTS_OK;
}

enum cts_status cts_spill_add(struct cts_spill_sort *s, const void *item, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    if (s->count == s->options.items_in_memory)
        status = write_part(s, error);
    else if (s->count == s->capacity)
        status = make_room(s, error);
    if (status) return status;
    memcpy(s->items + s->count++ * s->options.item_bytes, item, s->options.item_bytes);
    return CTS_OK;
}

/* ---- merging ---- */

static enum cts_status load_block(struct cts_spill_sort *s, struct cts_spill_part *part,
                                  struct cts_error *error)
{
    const uint64_t left = part->end - part->at;
    const size_t wanted = left < BLOCK_ITEMS ? (size_t)left : BLOCK_ITEMS;
    const size_t bytes = wanted * s->options.item_bytes;
    part->block_at = 0;
    part->block_count = wanted;
    if (!wanted) return CTS_OK;
    const off_t offset = (off_t)(part->at * s->options.item_bytes);
    part->at += wanted;
    const ssize_t got = pread(s->file, part->block, bytes, offset);
    if (got == (ssize_t)bytes) return CTS_OK;
    return cts_fail_errno(error, got < 0 ? errno : EIO, "cannot read '%s'", s->options.path);
}

static const char *first_of(const struct cts_spill_sort *s, const struct cts_spill_part *part)
{
    return part->block + part->block_at * s->options.item_bytes;
}

/* A heap of parts by their first item. */
static void sift(struct cts_spill_sort *s, size_t at, size_t count)
{
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
            if (s->options.compare(first_of(s, &s->parts[child]), first_of(s, &s->parts[least])) <
                0)
                least = child;
        if (least == at) return;
        const struct cts_spill_part moved = s->parts[at];
        s->parts[at] = s->parts[least];
        s->parts[least] = moved;
        at = least;
    }
}

static enum cts_status merge(struct cts_spill_sort *s, cts_spill_visit *visit, void *state,
                             struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    size_t count = s->part_count;
    for (size_t i = 0; i < count && !status; i++) {
        s->parts[i].block = malloc(BLOCK_ITEMS * s->options.item_bytes);
        status = s->parts[i].block ? load_block(s, &s->parts[i], error)
                                   : cts_fail(error, CTS_MEMORY, "no memory");
    }
    for (size_t i = count; !status && i-- > 0;) sift(s, i, count);
    while (!status && count) {
        struct cts_spill_part *const first = &s->parts[0];
        status = visit(state, first_of(s, first), error);
        if (!status && ++first->block_at == first->block_count)
            status = load_block(s, first, error);
        if (!status && !first->block_count) {
            const struct cts_spill_part ended = *first;
            s->parts[0] = s->parts[--count];
            s->parts[count] = ended;
        }
        if (!status) sift(s, 0, count);
    }
    return status;
}

enum cts_status cts_spill_finish(struct cts_spill_sort *s, cts_spill_visit *visit, void *state,
                                 struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    if (s->part_count && s->count) {
        status = write_part(s, error);
        if (!status) { /* the blocks need the room */
            free(s->items);
            s->items = NULL;
            s->capacity = 0;
        }
    }
    if (status) return status;
    if (s->part_count) return merge(s, visit, state, error);
    sort_items(s);
    for (size_t i = 0; i < s->count && !status; i++)
        status = visit(state, s->items + i * s->options.item_bytes, error);
    return status;
}

void cts_spill_release(struct cts_spill_sort *s)
{
    if (!s->options.item_bytes) return;
    for (size_t i = 0; i < s->part_count; i++) free(s->parts[i].block);
    free(s->parts);
    free(s->items);
    if (s->file >= 0) close(s->file);
    *s = (struct cts_spill_sort){0};
}
