#include "analyze/try/try-regions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"

void cts_try_name_regions(const struct cts_try_match *match, struct cts_stretch *stretch)
{
    const struct cts_catalogue *const c = match->flow->catalogue;
    for (uint32_t i = 0; i < c->allocation_count; i++) {
        const uint32_t index = cts_try_region_of(match, i);
        struct cts_trial_region *const region =
            index == CTS_TRIAL_NONE ? NULL : &stretch->regions[index];
        if (!region || *region->variable || !c->allocations[i].variable) continue;
        region->variable = c->allocations[i].variable;
        region->element_bytes = c->allocations[i].element_bytes;
    }
}

static bool is_memory(const struct cts_trial_region *region)
{
    return region->op == CTS_TRIAL_NONE;
}

static bool has_name(const struct cts_trial_region *region, const char *name, size_t length)
{
    char text[64];
    if (!is_memory(region) || !length) return false;
    if (strlen(region->variable) == length && strncmp(region->variable, name, length) == 0)
        return true;
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)region->address);
    if (strlen(text) == length && strncmp(text, name, length) == 0) return true;
    if (region->number == CTS_TRIAL_NONE) return false;
    snprintf(text, sizeof text, "allocation:%u", region->number);
    return strlen(text) == length && strncmp(text, name, length) == 0;
}

/* "x, y, allocation:3": what there is, as far as it fits. */
static void list_names(const struct cts_stretch *stretch, char *text, size_t bytes)
{
    size_t used = 0;
    *text = '\0';
    for (size_t i = 0; i < stretch->region_count && used + 80 < bytes; i++) {
        const struct cts_trial_region *const region = &stretch->regions[i];
        const char *const comma = used ? ", " : "";
        if (!is_memory(region)) continue;
        if (*region->variable)
            snprintf(text + used, bytes - used, "%s%.40s", comma, region->variable);
        else if (region->number != CTS_TRIAL_NONE)
            snprintf(text + used, bytes - used, "%sallocation:%u", comma, region->number);
        else
            snprintf(text + used, bytes - used, "%s0x%llx", comma,
                     (unsigned long long)region->address);
        used = strlen(text);
    }
}

static enum cts_status no_region(const struct cts_stretch *stretch, const char *name, int length,
                                 struct cts_error *error)
{
    char names[400];
    list_names(stretch, names, sizeof names);
    return cts_fail(error, CTS_USAGE, "the stretch has no memory '%.*s'; it has %s",
                    length < 100 ? length : 100, name, *names ? names : "none");
}

enum cts_status cts_try_find_region(const struct cts_stretch *stretch, const char *name,
                                    uint32_t *region, struct cts_error *error)
{
    uint32_t found = CTS_TRIAL_NONE;
    for (uint32_t i = 0; i < stretch->region_count; i++) {
        if (!has_name(&stretch->regions[i], name, strlen(name))) continue;
        if (found != CTS_TRIAL_NONE)
            return cts_fail(error, CTS_USAGE,
                            "several allocations are called '%.100s'; name one by its address, "
                            "0x%llx or 0x%llx",
                            name, (unsigned long long)stretch->regions[found].address,
                            (unsigned long long)stretch->regions[i].address);
        found = i;
    }
    if (found == CTS_TRIAL_NONE) return no_region(stretch, name, (int)strlen(name), error);
    *region = found;
    return CTS_OK;
}

static enum cts_status mark_live(const struct cts_stretch *stretch, const char *name, size_t length,
                                 bool *is_live, struct cts_error *error)
{
    bool found = false;
    for (size_t i = 0; i < stretch->region_count; i++) {
        if (!has_name(&stretch->regions[i], name, length)) continue;
        is_live[i] = found = true;
    }
    return found ? CTS_OK : no_region(stretch, name, (int)length, error);
}

static int by_address(const void *left, const void *right)
{
    const struct cts_trial_range *const a = left, *const b = right;
    return (a->address > b->address) - (a->address < b->address);
}

static enum cts_status add_dead(const struct cts_stretch *stretch, const bool *is_live,
                                struct cts_try_ranges *dead, struct cts_error *error)
{
    for (size_t i = 0; i < stretch->region_count; i++) {
        const struct cts_trial_region *const region = &stretch->regions[i];
        if (is_live[i] || !is_memory(region) || !region->size_bytes) continue;
        if (CTS_ARRAY_RESERVE(dead, dead->count + 1, error)) return CTS_MEMORY;
        dead->items[dead->count++] = (struct cts_trial_range){region->address, region->size_bytes};
    }
    if (dead->count) qsort(dead->items, dead->count, sizeof *dead->items, by_address);
    return CTS_OK;
}

enum cts_status cts_try_dead_but(const struct cts_stretch *stretch, const char *names,
                                 struct cts_try_ranges *dead, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    bool *const is_live = cts_array_zeroed(stretch->region_count, sizeof *is_live, error);
    *dead = (struct cts_try_ranges){0};
    if (!is_live) return CTS_MEMORY;
    for (const char *at = names; !status; at++) {
        const size_t length = strcspn(at, ",");
        status = mark_live(stretch, at, length, is_live, error);
        at += length;
        if (!*at) break;
    }
    if (!status) status = add_dead(stretch, is_live, dead, error);
    free(is_live);
    return status;
}
