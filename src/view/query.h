/* What a request asks for, out of the texts of its URL; private to view/. docs/view-protocol.md
 * names every key. All texts are hostile; a question that makes no sense is CTS_USAGE, with a
 * sentence that names the key. */
#ifndef CTS_VIEW_QUERY_H
#define CTS_VIEW_QUERY_H

#include "view/selection/selection.h"

enum { CTS_VIEW_LIST_MAX = 10000 }; /* items of a list in a filter */

/* The text of a key, or NULL. */
struct cts_view_query {
    const char *(*get)(void *state, const char *key);
    void *state;
};

/* A whole decimal number of at most `most`. *value holds the default, which stays when the key is
 * not there; UINT64_MAX: the key must be there. */
CTS_MUST_CHECK enum cts_status cts_view_query_number(const struct cts_view_query *query,
                                                     const char *key, uint64_t most,
                                                     uint64_t *value, struct cts_error *error);
/* "global", "shared" or "local". */
CTS_MUST_CHECK enum cts_status cts_view_query_space(const struct cts_view_query *query,
                                                    const char *key, uint8_t *space,
                                                    struct cts_error *error);
/* One of `words`, ended by NULL; its place. */
CTS_MUST_CHECK enum cts_status cts_view_query_word(const struct cts_view_query *query,
                                                   const char *key, const char *const *words,
                                                   unsigned *place, struct cts_error *error);

/* A filter with what it owns. */
struct cts_view_filter {
    struct cts_selection_filter filter;
    struct cts_selection_range *ctas, *warps;
    uint32_t *sites;
    struct cts_selection_line *lines;
};
CTS_MUST_CHECK enum cts_status cts_view_query_filter(const struct cts_view_query *query,
                                                     struct cts_view_filter *filter,
                                                     struct cts_error *error);
void cts_view_filter_release(struct cts_view_filter *filter);

#endif
