/* Feeds lines "KEY=VALUE" to the reader of the view's questions. What it accepts must be what it
 * was given, as far as that can be seen. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "view/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PAIRS_MAX = 32 };
struct pairs {
    const char *keys[PAIRS_MAX], *values[PAIRS_MAX];
    size_t count;
};

static const char *get(void *state, const char *key)
{
    const struct pairs *const pairs = state;
    for (size_t i = 0; i < pairs->count; i++)
        if (!strcmp(pairs->keys[i], key)) return pairs->values[i];
    return NULL;
}

static void split(char *text, struct pairs *pairs)
{
    while (text && *text && pairs->count < PAIRS_MAX) {
        char *const line = text;
        text = strchr(line, '\n');
        if (text) *text++ = 0;
        char *const equals = strchr(line, '=');
        if (!equals) continue;
        *equals = 0;
        pairs->keys[pairs->count] = line;
        pairs->values[pairs->count++] = equals + 1;
    }
}

static void check(const struct cts_selection_filter *f)
{
    assert(f->cta_count <= CTS_VIEW_LIST_MAX && f->warp_count <= CTS_VIEW_LIST_MAX);
    assert(f->site_count <= CTS_VIEW_LIST_MAX && f->line_count <= CTS_VIEW_LIST_MAX);
    assert(!f->cta_count == !f->ctas && !f->line_count == !f->lines);
    assert(f->kinds < 8 && f->space <= CTS_SPACE_LAST && f->range_space <= CTS_SPACE_LAST);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *const text = malloc(size + 1);
    struct pairs pairs = {0};
    if (!text) return 0;
    if (size) memcpy(text, data, size);
    text[size] = 0;
    split(text, &pairs);
    const struct cts_view_query query = {get, &pairs};
    static const char *const words[] = {"line", "warp", NULL};
    struct cts_view_filter filter;
    struct cts_error error = {0};
    uint64_t number = 7;
    unsigned place = 0;
    uint8_t space = 0;
    if (!cts_view_query_filter(&query, &filter, &error)) {
        check(&filter.filter);
        cts_view_filter_release(&filter);
    } else {
        assert(*error.text);
    }
    if (!cts_view_query_number(&query, "count", 100, &number, &error)) assert(number <= 100);
    if (!cts_view_query_word(&query, "by", words, &place, &error)) assert(place < 2);
    if (!cts_view_query_space(&query, "space", &space, &error)) assert(space);
    free(text);
    return 0;
}
