/* Lists are texts like "0-5,7": items at commas, and in an item numbers at '-' or ':'. */
#include "view/query.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"

/* ---- numbers ---- */

/* Reads digits at *at and goes on behind them. */
static bool read_number(const char **at, uint64_t most, uint64_t *value)
{
    const char *p = *at;
    uint64_t number = 0;
    if (*p < '0' || *p > '9') return false;
    for (; *p >= '0' && *p <= '9'; p++) {
        const uint64_t digit = (uint64_t)(*p - '0');
        if (number > (UINT64_MAX - digit) / 10) return false;
        number = number * 10 + digit;
    }
    *at = p;
    *value = number;
    return number <= most;
}

enum cts_status cts_view_query_number(const struct cts_view_query *query, const char *key,
                                      uint64_t most, uint64_t *value, struct cts_error *error)
{
    const char *const text = query->get(query->state, key);
    const char *at = text;
    if (!text && *value != UINT64_MAX) return CTS_OK;
    if (!text) return cts_fail(error, CTS_USAGE, "'%s' is missing", key);
    if (!read_number(&at, most, value) || *at)
        return cts_fail(error, CTS_USAGE, "'%s' must be a number of at most %llu, not '%.40s'", key,
                        (unsigned long long)most, text);
    return CTS_OK;
}

enum cts_status cts_view_query_word(const struct cts_view_query *query, const char *key,
                                    const char *const *words, unsigned *place,
                                    struct cts_error *error)
{
    const char *const text = query->get(query->state, key);
    if (!text) return cts_fail(error, CTS_USAGE, "'%s' is missing", key);
    for (*place = 0; words[*place]; ++*place)
        if (!strcmp(text, words[*place])) return CTS_OK;
    return cts_fail(error, CTS_USAGE, "'%s' cannot be '%.40s'", key, text);
}

static bool space_of(const char *text, size_t bytes, uint8_t *space)
{
    static const struct {
        const char *name;
        uint8_t space;
    } spaces[] = {
        {"global", CTS_SPACE_GLOBAL}, {"shared", CTS_SPACE_SHARED}, {"local", CTS_SPACE_LOCAL}};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        if (strlen(spaces[i].name) != bytes || memcmp(spaces[i].name, text, bytes) != 0) continue;
        *space = spaces[i].space;
        return true;
    }
    return false;
}

enum cts_status cts_view_query_space(const struct cts_view_query *query, const char *key,
                                     uint8_t *space, struct cts_error *error)
{
    const char *const text = query->get(query->state, key);
    if (!text) return cts_fail(error, CTS_USAGE, "'%s' is missing", key);
    if (!space_of(text, strlen(text), space))
        return cts_fail(error, CTS_USAGE, "'%s' must be global, shared or local, not '%.40s'", key,
                        text);
    return CTS_OK;
}

/* ---- lists ---- */

/* Pair i is items[2 * i] and items[2 * i + 1]; the caller frees items. */
struct pairs {
    uint32_t *items;
    size_t count;
};

/* Pairs of numbers with `separator` between them; with '-' a number alone is a range of one. */
static enum cts_status read_pairs(const struct cts_view_query *query, const char *key,
                                  char separator, struct pairs *pairs, struct cts_error *error)
{
    const char *const text = query->get(query->state, key);
    struct {
        uint32_t *items;
        size_t count, capacity;
    } list = {0};
    *pairs = (struct pairs){0};
    if (!text || !*text) return CTS_OK;
    for (const char *at = text;; at++) {
        uint64_t first, second;
        bool is_good = read_number(&at, UINT32_MAX, &first);
        second = first;
        if (is_good && *at == separator) {
            at++;
            is_good = read_number(&at, UINT32_MAX, &second);
        } else if (separator == ':') {
            is_good = false;
        }
        if (!is_good || (*at && *at != ',') || list.count >= 2 * CTS_VIEW_LIST_MAX) {
            free(list.items);
            return cts_fail(error, CTS_USAGE,
                            "'%s' must be a list of at most %d items, not '%.40s'", key,
                            CTS_VIEW_LIST_MAX, text);
        }
        if (CTS_ARRAY_RESERVE(&list, list.count + 2, error)) {
            free(list.items);
            return CTS_MEMORY;
        }
        list.items[list.count++] = (uint32_t)first;
        list.items[list.count++] = (uint32_t)second;
        if (!*at) break;
    }
    *pairs = (struct pairs){list.items, list.count / 2};
    return CTS_OK;
}

static enum cts_status read_ranges(const struct cts_view_query *query, const char *key,
                                   struct cts_selection_range **ranges, size_t *count,
                                   struct cts_error *error)
{
    struct pairs pairs;
    enum cts_status status = read_pairs(query, key, '-', &pairs, error);
    *count = pairs.count;
    if (status || !*count) return status;
    *ranges = cts_array_zeroed(*count, sizeof **ranges, error);
    for (size_t i = 0; *ranges && i < *count; i++)
        (*ranges)[i] = (struct cts_selection_range){pairs.items[2 * i], pairs.items[2 * i + 1]};
    free(pairs.items);
    return *ranges ? CTS_OK : CTS_MEMORY;
}

static enum cts_status read_lines(const struct cts_view_query *query,
                                  struct cts_view_filter *filter, struct cts_error *error)
{
    struct pairs pairs;
    size_t *const count = &filter->filter.line_count;
    enum cts_status status = read_pairs(query, "lines", ':', &pairs, error);
    *count = pairs.count;
    if (status || !*count) return status;
    filter->lines = cts_array_zeroed(*count, sizeof *filter->lines, error);
    for (size_t i = 0; filter->lines && i < *count; i++)
        filter->lines[i] = (struct cts_selection_line){pairs.items[2 * i], pairs.items[2 * i + 1]};
    free(pairs.items);
    return filter->lines ? CTS_OK : CTS_MEMORY;
}

static enum cts_status read_sites(const struct cts_view_query *query,
                                  struct cts_view_filter *filter, struct cts_error *error)
{
    struct pairs pairs;
    size_t *const count = &filter->filter.site_count;
    enum cts_status status = read_pairs(query, "sites", '-', &pairs, error);
    *count = pairs.count;
    if (status || !*count) return status;
    filter->sites = cts_array_zeroed(*count, sizeof *filter->sites, error);
    for (size_t i = 0; filter->sites && i < *count && !status; i++) {
        filter->sites[i] = pairs.items[2 * i];
        if (pairs.items[2 * i] != pairs.items[2 * i + 1])
            status = cts_fail(error, CTS_USAGE, "'sites' is a list of numbers, without ranges");
    }
    free(pairs.items);
    return filter->sites ? status : CTS_MEMORY;
}

static enum cts_status read_kinds(const struct cts_view_query *query,
                                  struct cts_view_filter *filter, struct cts_error *error)
{
    static const char *const names[] = {"load", "store", "atomic"};
    const char *at = query->get(query->state, "kinds");
    while (at && *at) {
        const size_t bytes = strcspn(at, ",");
        unsigned kind = 0;
        while (kind < 3 && (strlen(names[kind]) != bytes || memcmp(names[kind], at, bytes) != 0))
            kind++;
        if (kind == 3)
            return cts_fail(error, CTS_USAGE, "'kinds' lists load, store and atomic, not '%.40s'",
                            at);
        filter->filter.kinds |= 1u << kind;
        at += bytes;
        if (*at) at++;
    }
    return CTS_OK;
}

/* "global:4096-8191" */
static enum cts_status read_range(const struct cts_view_query *query,
                                  struct cts_view_filter *filter, struct cts_error *error)
{
    struct cts_selection_filter *const f = &filter->filter;
    const char *const text = query->get(query->state, "range");
    if (!text || !*text) return CTS_OK;
    const size_t name_bytes = strcspn(text, ":");
    const char *at = text + name_bytes;
    const bool is_good = *at == ':' && space_of(text, name_bytes, &f->range_space) &&
                         (at++, read_number(&at, UINT64_MAX, &f->range_first)) && *at == '-' &&
                         (at++, read_number(&at, UINT64_MAX, &f->range_last)) && !*at;
    if (!is_good)
        return cts_fail(error, CTS_USAGE, "'range' must be like global:0-4095, not '%.60s'", text);
    return CTS_OK;
}

enum cts_status cts_view_query_filter(const struct cts_view_query *query,
                                      struct cts_view_filter *filter, struct cts_error *error)
{
    struct cts_selection_filter *const f = &filter->filter;
    *filter = (struct cts_view_filter){0};
    uint64_t partial = 0;
    enum cts_status status = read_ranges(query, "ctas", &filter->ctas, &f->cta_count, error);
    if (!status) status = read_ranges(query, "warps", &filter->warps, &f->warp_count, error);
    if (!status) status = read_sites(query, filter, error);
    if (!status) status = read_lines(query, filter, error);
    if (!status) status = read_kinds(query, filter, error);
    if (!status) status = read_range(query, filter, error);
    if (!status) status = cts_view_query_number(query, "partial", 1, &partial, error);
    const char *const space = query->get(query->state, "only");
    if (!status && space && *space) status = cts_view_query_space(query, "only", &f->space, error);
    f->partial = partial;
    f->ctas = filter->ctas;
    f->warps = filter->warps;
    f->sites = filter->sites;
    f->lines = filter->lines;
    if (status) cts_view_filter_release(filter);
    return status;
}

void cts_view_filter_release(struct cts_view_filter *filter)
{
    free(filter->ctas);
    free(filter->warps);
    free(filter->sites);
    free(filter->lines);
    *filter = (struct cts_view_filter){0};
}
