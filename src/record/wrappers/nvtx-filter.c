/* The choice is a list, CTASCOPE_NVTX_INCLUDE, a line each: [DOMAIN@]NAME[/], where NAME is that of
 * the range, or "regex:" and an extended regular expression that it holds. With a / at its end it
 * chooses ranges that are pushed and popped, else those that are started and ended, too. A range
 * inside a chosen one counts as chosen, since the thread is still in that. */
#include "record/wrappers/nvtx-filter.h"

#include <pthread.h>
#include <regex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define CTS_EXPORT __attribute__((visibility("default")))

struct choice {
    struct choice *next;
    char *domain; /* NULL: the default domain */
    char *name;   /* NULL: `expression` */
    regex_t expression;
    bool pushed_only;
};

static struct choice *choices;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void add_choice(const char *line, size_t length)
{
    static const char prefix[] = "regex:";
    struct choice *const choice = calloc(1, sizeof *choice);
    char *text = choice ? strndup(line, length) : NULL;
    if (!text) {
        free(choice);
        return;
    }
    if (length && text[length - 1] == '/') {
        choice->pushed_only = true;
        text[length - 1] = 0;
    }
    char *const at = strchr(text, '@');
    char *const name = at ? at + 1 : text;
    if (at) {
        *at = 0;
        choice->domain = strdup(text);
    }
    const bool is_expression = strncmp(name, prefix, sizeof prefix - 1) == 0;
    const bool good = is_expression ? regcomp(&choice->expression, name + sizeof prefix - 1,
                                              REG_EXTENDED | REG_NOSUB) == 0
                                    : (choice->name = strdup(name)) != NULL;
    free(text);
    if (good) {
        choice->next = choices;
        choices = choice;
    } else {
        free(choice->domain);
        free(choice);
    }
}

static void read_choices(void)
{
    const char *line = getenv("CTASCOPE_NVTX_INCLUDE");
    while (line && *line) {
        const size_t length = strcspn(line, "\n");
        if (length) add_choice(line, length);
        line += length;
        line += *line == '\n';
    }
}

static bool is_chosen(const char *domain, const char *text, bool pushed)
{
    for (const struct choice *c = choices; c; c = c->next) {
        if (c->pushed_only && !pushed) continue;
        if (c->domain ? !domain || strcmp(c->domain, domain) != 0 : domain != NULL) continue;
        if (c->name ? strcmp(c->name, text) == 0 : !regexec(&c->expression, text, 0, NULL, 0))
            return true;
    }
    return false;
}

bool cts_nvtx_filter_is_on(void)
{
    pthread_once(&once, read_choices);
    return choices != NULL;
}

/* ---- ranges of a thread ---- */

enum { RANGES_MAX = 1 << 16 };

struct range {
    const void *owner;
    bool is_chosen;
};
static __thread struct {
    struct range *items;
    uint32_t count, capacity;
    uint32_t chosen;
} open_ranges;

void cts_nvtx_filter_push(const char *domain, const char *text, const void *owner)
{
    if (open_ranges.count == open_ranges.capacity) {
        const uint32_t capacity = open_ranges.capacity ? 2 * open_ranges.capacity : 16;
        struct range *const items =
            capacity <= RANGES_MAX ? realloc(open_ranges.items, capacity * sizeof *items) : NULL;
        if (!items) return;
        open_ranges.items = items;
        open_ranges.capacity = capacity;
    }
    const bool chosen = is_chosen(domain, text, true);
    open_ranges.items[open_ranges.count++] = (struct range){owner, chosen};
    open_ranges.chosen += chosen;
}

void cts_nvtx_filter_pop(const void *owner)
{
    for (uint32_t i = open_ranges.count; i-- > 0;) {
        if (open_ranges.items[i].owner != owner) continue;
        open_ranges.chosen -= open_ranges.items[i].is_chosen;
        open_ranges.count--;
        memmove(open_ranges.items + i, open_ranges.items + i + 1,
                (open_ranges.count - i) * sizeof *open_ranges.items);
        return;
    }
}

/* ---- ranges of the process ---- */

/* The number of a range says whether it is chosen, so that nothing has to be kept. Far from the
 * numbers of other recorders' ranges. */
static const uint64_t id_mark = (uint64_t)0xC75C << 48;
static _Atomic uint64_t next_id = 1;
static _Atomic int64_t chosen_open;

uint64_t cts_nvtx_filter_start(const char *domain, const char *text)
{
    const bool chosen = is_chosen(domain, text, false);
    if (chosen) atomic_fetch_add(&chosen_open, 1);
    return id_mark | atomic_fetch_add(&next_id, 1) << 1 | chosen;
}

bool cts_nvtx_filter_end(uint64_t id)
{
    if ((id & (uint64_t)0xffff << 48) != id_mark) return false;
    if (id & 1) atomic_fetch_sub(&chosen_open, 1);
    return true;
}

/* ---- for recorders ---- */

/* Whether the calling thread is in a chosen range. */
CTS_EXPORT int ctascope_nvtx_included(void);
int ctascope_nvtx_included(void)
{
    return open_ranges.chosen > 0 || atomic_load_explicit(&chosen_open, memory_order_relaxed) > 0;
}
