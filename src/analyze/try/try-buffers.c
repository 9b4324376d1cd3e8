/* Second buffers: an allocation whose content is rewritten several times gets memory for each
 * time, so that only what reads a content comes after what wrote it.
 *
 * The operations that use a region fall into *versions*: a version begins with an operation that
 * writes, where no operation from there on finds anything in the region that was there before (no
 * inflow crosses). Version 0 is what the region held before. Versions take turns: version 0 lies in
 * the region itself, the next one in the first buffer, and so on. What the last one leaves in a
 * buffer is compared as if it lay in the region. */
#include "analyze/try/try-buffers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"

struct renaming {
    const struct cts_stretch *stretch;
    const struct cts_try_needs *needs;
    uint32_t region, extra; /* buffers beside the region itself */
    uint32_t *version;      /* by operation; CTS_TRIAL_NONE: does not use the region */
    uint32_t version_count; /* with 0 */
};

static const char *region_name(const struct cts_stretch *stretch, uint32_t region, char text[64])
{
    const struct cts_trial_region *const r = &stretch->regions[region];
    if (r->variable && *r->variable)
        snprintf(text, 64, "'%.50s'", r->variable);
    else if (r->number != CTS_TRIAL_NONE)
        snprintf(text, 64, "allocation:%u", r->number);
    else
        snprintf(text, 64, "0x%llx", (unsigned long long)r->address);
    return text;
}

static const char *op_name(const struct cts_stretch *stretch, uint32_t op, char text[40])
{
    static const char *const words[] = {"launch", "copy", "memset", "wait"};
    snprintf(text, 40, "%s %u", words[stretch->ops[op].kind], stretch->ops[op].number);
    return text;
}

/* Whether something that the region held before an operation is found by it or a later one. */
static bool is_crossed(const struct renaming *r, uint32_t op)
{
    for (size_t i = 0; i < r->needs->inflows.count; i++) {
        const struct cts_try_inflow *const inflow = &r->needs->inflows.items[i];
        if (inflow->region == r->region && inflow->to >= op &&
            (inflow->from == CTS_TRIAL_NONE || inflow->from < op))
            return true;
    }
    return false;
}

static void find_versions(struct renaming *r)
{
    uint32_t version = 0;
    for (size_t i = 0; i < r->needs->touches.count; i++) {
        const struct cts_try_touch *const touch = &r->needs->touches.items[i];
        if (touch->region != r->region) continue;
        if (touch->writes && !is_crossed(r, touch->op)) version++;
        r->version[touch->op] = version;
    }
    r->version_count = version + 1;
}

/* 0: the region itself. */
static uint32_t buffer_of(const struct renaming *r, uint32_t version)
{
    return version % (r->extra + 1);
}

/* ---- what cannot be proved ---- */

static bool has_link(const struct renaming *r, uint32_t op)
{
    for (size_t i = 0; i < r->stretch->link_count; i++)
        if (r->stretch->links[i].op == op && r->stretch->links[i].region == r->region) return true;
    return false;
}

static enum cts_status check(const struct renaming *r, struct cts_error *error)
{
    char name[64];
    (void)region_name(r->stretch, r->region, name);
    if (r->version_count < 2)
        return cts_fail(
            error, CTS_USAGE,
            "--second-buffer: no operation of the stretch rewrites all of %s that is read "
            "afterwards",
            name);
    for (uint32_t op = 0; op < r->stretch->op_count; op++)
        if (r->version[op] != CTS_TRIAL_NONE && r->stretch->ops[op].kind == CTS_TRIAL_LAUNCH &&
            !has_link(r, op))
            return cts_fail(error, CTS_USAGE,
                            "--second-buffer: launch %u uses %s, but no argument points to it",
                            r->stretch->ops[op].number, name);
    return CTS_OK;
}

/* ---- the order that is left ---- */

static enum cts_status add_need(struct cts_try_needs *needs, const struct cts_try_need *need,
                                struct cts_error *error)
{
    if (CTS_ARRAY_RESERVE(needs, needs->count + 1, error)) return CTS_MEMORY;
    needs->items[needs->count++] = *need;
    return CTS_OK;
}

/* Whether a version is the next one in the same buffer. */
static bool follows_in_buffer(const struct renaming *r, uint32_t version, uint32_t next)
{
    if (next <= version || buffer_of(r, next) != buffer_of(r, version)) return false;
    for (uint32_t between = version + 1; between < next; between++)
        if (buffer_of(r, between) == buffer_of(r, version)) return false;
    return true;
}

/* WAR and WAW within the region: gone between buffers, and new where a buffer comes round again. */
static enum cts_status reorder(const struct renaming *r, struct cts_try_needs *made,
                               struct cts_error *error)
{
    const uint32_t count = (uint32_t)r->stretch->op_count;
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < r->needs->count && !status; i++) {
        const struct cts_try_need *const need = &r->needs->items[i];
        const bool goes =
            need->region == r->region && !need->raw_bytes &&
            buffer_of(r, r->version[need->from]) != buffer_of(r, r->version[need->to]);
        if (!goes) status = add_need(made, need, error);
    }
    for (uint32_t to = 0; to < count && !status; to++)
        for (uint32_t from = 0; from < to && !status; from++)
            if (r->version[from] != CTS_TRIAL_NONE && r->version[to] != CTS_TRIAL_NONE &&
                follows_in_buffer(r, r->version[from], r->version[to]))
                status = add_need(made,
                                  &(struct cts_try_need){from, to, r->region, 0, 0,
                                                         r->stretch->regions[r->region].size_bytes},
                                  error);
    return status;
}

static int by_to(const void *left, const void *right)
{
    const struct cts_try_need *const a = left, *const b = right;
    if (a->to != b->to) return a->to < b->to ? -1 : 1;
    return (a->from > b->from) - (a->from < b->from);
}

/* Touches and inflows stay as they are; names only change where the bytes lie. */
static enum cts_status copy_rest(const struct cts_try_needs *needs, struct cts_try_needs *made,
                                 struct cts_error *error)
{
    made->are_known = needs->are_known;
    made->unknown = needs->unknown;
    for (size_t i = 0; i < needs->touches.count; i++) {
        if (CTS_ARRAY_RESERVE(&made->touches, i + 1, error)) return CTS_MEMORY;
        made->touches.items[made->touches.count++] = needs->touches.items[i];
    }
    for (size_t i = 0; i < needs->inflows.count; i++) {
        if (CTS_ARRAY_RESERVE(&made->inflows, i + 1, error)) return CTS_MEMORY;
        made->inflows.items[made->inflows.count++] = needs->inflows.items[i];
    }
    return CTS_OK;
}

static enum cts_status add_places(const struct renaming *r, uint32_t first_buffer,
                                  struct cts_try_placings *places, struct cts_error *error)
{
    for (uint32_t op = 0; op < r->stretch->op_count; op++) {
        if (r->version[op] == CTS_TRIAL_NONE || !buffer_of(r, r->version[op])) continue;
        if (CTS_ARRAY_RESERVE(places, places->count + 1, error)) return CTS_MEMORY;
        places->items[places->count++] = (struct cts_try_placing){
            op, r->region, first_buffer + buffer_of(r, r->version[op]) - 1};
    }
    return CTS_OK;
}

static enum cts_status add_last(const struct renaming *r, uint32_t first_buffer,
                                struct cts_try_placings *places, struct cts_error *error)
{
    const uint32_t buffer = buffer_of(r, r->version_count - 1);
    if (!buffer) return CTS_OK;
    if (CTS_ARRAY_RESERVE(places, places->count + 1, error)) return CTS_MEMORY;
    places->items[places->count++] =
        (struct cts_try_placing){CTS_TRIAL_NONE, r->region, first_buffer + buffer - 1};
    return CTS_OK;
}

void cts_try_renamed_release(struct cts_try_renamed *renamed)
{
    cts_try_needs_release(&renamed->needs);
    free(renamed->placings.items);
    *renamed = (struct cts_try_renamed){0};
}

enum cts_status cts_try_rename(const struct cts_stretch *stretch, const struct cts_try_needs *needs,
                               const struct cts_try_second_buffer *wish,
                               struct cts_try_renamed *renamed, struct cts_error *error)
{
    struct renaming r = {
        .stretch = stretch, .needs = needs, .region = wish->region, .extra = wish->extra};
    struct cts_try_needs made = {0};
    r.version = cts_array_zeroed(stretch->op_count, sizeof *r.version, error);
    if (!r.version) return CTS_MEMORY;
    for (size_t i = 0; i < stretch->op_count; i++) r.version[i] = CTS_TRIAL_NONE;
    find_versions(&r);
    enum cts_status status = check(&r, error);
    if (!status) status = reorder(&r, &made, error);
    if (made.count) qsort(made.items, made.count, sizeof *made.items, by_to);
    if (!status) status = copy_rest(needs, &made, error);
    if (!status) status = add_places(&r, wish->first_buffer, &renamed->placings, error);
    if (!status) status = add_last(&r, wish->first_buffer, &renamed->placings, error);
    free(r.version);
    cts_try_needs_release(status ? &made : &renamed->needs);
    if (!status) renamed->needs = made;
    return status;
}

/* ---- order by true dependences alone ---- */

/* Whether RAW alone puts an operation behind another; `reached`: room for each operation. */
static bool is_implied(const struct cts_try_needs *needs, const struct cts_try_need *need,
                       bool *reached)
{
    memset(reached, 0, (size_t)need->to + 1);
    reached[need->from] = true;
    for (size_t i = 0; i < needs->count && needs->items[i].to <= need->to; i++)
        if (needs->items[i].raw_bytes && reached[needs->items[i].from])
            reached[needs->items[i].to] = true;
    return reached[need->to];
}

enum cts_status cts_try_check_true_order(const struct cts_stretch *stretch,
                                         const struct cts_try_needs *needs, struct cts_error *error)
{
    char name[64] = "memory that is allocated again", from[40], to[40];
    bool *const reached = cts_array_zeroed(stretch->op_count, sizeof *reached, error);
    const struct cts_try_need *left = NULL;
    if (!reached) return CTS_MEMORY;
    for (size_t i = 0; i < needs->count && !left; i++) {
        const struct cts_try_need *const need = &needs->items[i];
        if (!need->raw_bytes && !is_implied(needs, need, reached)) left = need;
    }
    free(reached);
    if (!left) return CTS_OK;
    if (left->region != CTS_TRIAL_NONE) (void)region_name(stretch, left->region, name);
    return cts_fail(error, CTS_USAGE,
                    "--order true: %s writes %s, which %s uses before; without that order it needs "
                    "memory of its own (--second-buffer, where it does not read what it changes)",
                    op_name(stretch, left->to, to), name, op_name(stretch, left->from, from));
}
