/* What a device did, by start: recorders give it when they learn of it.
 *
 * A first pass over the log sees whether it is in order already (the rule where one stream's
 * records come from one buffer); then the second pass gives the records as they come. Else they
 * are sorted, beside the log where there are many (common/spill-sort.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assemble/assemble-private.h"
#include "common/spill-sort.h"

enum { ITEMS_IN_MEMORY = 64 << 10 };

struct sorter {
    struct cts_log_reader reader;
    size_t capacity; /* items in memory */
    uint64_t next_ordinal;
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
        const bool fits = (type == CTS_RECORD_ACTIVITY &&
                           (count == CTS_ACTIVITY_PLAIN || count == CTS_ACTIVITY_SHAPED ||
                            count == CTS_ACTIVITY_OF_COLLECTIVE)) ||
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

/* ---- what is not in order ---- */

static enum cts_status give(void *state, const void *item, struct cts_error *error)
{
    const struct cts_stream_visitor *const visitor = state;
    return visitor->visit(visitor->state, item, error);
}

static enum cts_status sort_parts(struct sorter *s, const struct cts_stream_visitor *visitor,
                                  bool *damage, struct cts_error *error)
{
    struct cts_spill_sort sort;
    struct cts_stream_item item;
    enum cts_status ended = CTS_OK, status = CTS_OK;
    char *path = NULL;
    if (asprintf(&path, "%s.sort", s->reader.path) < 0)
        return cts_fail(error, CTS_MEMORY, "out of memory");
    const struct cts_spill_options options = {.item_bytes = sizeof item,
                                              .items_in_memory = s->capacity,
                                              .compare = by_start,
                                              .path = path};
    cts_spill_begin(&sort, &options);
    while (!status && next_item(s, &item, &ended, error))
        status = cts_spill_add(&sort, &item, error);
    if (!status && ended == CTS_IO) status = ended;
    *damage = ended == CTS_FORMAT;
    if (!status) status = cts_spill_finish(&sort, give, (void *)(uintptr_t)visitor, error);
    cts_spill_release(&sort);
    free(path);
    return status;
}

enum cts_status cts_sort_stream(const char *path, size_t items_in_memory,
                                const struct cts_stream_visitor *visitor, bool *damage,
                                struct cts_error *error)
{
    struct sorter s = {.capacity = items_in_memory ? items_in_memory : ITEMS_IN_MEMORY};
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
    cts_log_reader_close(&s.reader);
    return status;
}
