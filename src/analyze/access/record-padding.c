/* The catalogue's padded types as bits, and which of them an allocation or site has. */
#include "analyze/access/record-padding.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"

enum { SIZE_MAX_BYTES = 1 << 16 };

static enum cts_status bad_row(const struct cts_padded_type *row, struct cts_error *error)
{
    return cts_fail(error, CTS_FORMAT,
                    "the table padded_types has a row of type '%s' that is wrong",
                    row->type ? row->type : "?");
}

/* "1-3,18-23" */
static bool read_ranges(const char *text, uint64_t size_bytes, uint64_t *bits)
{
    while (text && *text) {
        char *end;
        const unsigned long long first = strtoull(text, &end, 10);
        if (end == text || *end != '-') return false;
        text = end + 1;
        const unsigned long long last = strtoull(text, &end, 10);
        if (end == text || (*end && *end != ',') || first > last || last >= size_bytes)
            return false;
        for (uint64_t at = first; at <= last; at++) bits[at / 64] |= UINT64_C(1) << at % 64;
        text = *end ? end + 1 : end;
    }
    return true;
}

static enum cts_status read_layout(const struct cts_padded_type *row,
                                   struct cts_access_layout *layout, struct cts_error *error)
{
    if (!row->type || !row->size_bytes || row->size_bytes > SIZE_MAX_BYTES)
        return bad_row(row, error);
    const size_t words = (row->size_bytes + 63) / 64;
    layout->module = row->module;
    layout->type = row->type;
    layout->size_bytes = row->size_bytes;
    layout->padding = cts_array_zeroed(words, sizeof *layout->padding, error);
    layout->alternatives = cts_array_zeroed(words, sizeof *layout->alternatives, error);
    if (!layout->padding || !layout->alternatives) return CTS_MEMORY;
    if (!read_ranges(row->padding, row->size_bytes, layout->padding) ||
        !read_ranges(row->alternatives, row->size_bytes, layout->alternatives))
        return bad_row(row, error);
    for (size_t w = 0; w < words; w++) layout->alternatives[w] |= layout->padding[w];
    return CTS_OK;
}

static bool are_equal(const struct cts_access_layout *a, const struct cts_access_layout *b)
{
    const size_t bytes = (a->size_bytes + 63) / 64 * sizeof *a->padding;
    return a->size_bytes == b->size_bytes && !memcmp(a->padding, b->padding, bytes) &&
           !memcmp(a->alternatives, b->alternatives, bytes);
}

/* The layout of a type, in a module or (CTS_NONE) in any; 0 if modules have different ones. */
static size_t layout_of(const struct cts_access_padding *padding, const char *type, uint32_t module)
{
    size_t found = 0;
    for (size_t i = 0; type && i < padding->layout_count; i++) {
        const struct cts_access_layout *const layout = &padding->layouts[i];
        if (strcmp(layout->type, type) || (module != CTS_NONE && layout->module != module))
            continue;
        if (found && !are_equal(layout, &padding->layouts[found - 1])) return 0;
        found = i + 1;
    }
    return found;
}

enum cts_status cts_access_padding_init(struct cts_access_padding *padding,
                                        const struct cts_catalogue *catalogue,
                                        struct cts_error *error)
{
    const size_t count = catalogue->padded_type_count;
    enum cts_status status = CTS_OK;
    *padding = (struct cts_access_padding){0};
    if (!count) return CTS_OK;
    padding->layouts = cts_array_zeroed(count, sizeof *padding->layouts, error);
    padding->of_allocation =
        cts_array_zeroed(catalogue->allocation_count, sizeof *padding->of_allocation, error);
    padding->of_site = cts_array_zeroed(catalogue->site_count, sizeof *padding->of_site, error);
    padding->of_variable =
        cts_array_zeroed(catalogue->variable_count, sizeof *padding->of_variable, error);
    if (!padding->layouts || !padding->of_allocation || !padding->of_site || !padding->of_variable)
        return CTS_MEMORY;
    for (size_t i = 0; i < count && !status; i++)
        status = read_layout(&catalogue->padded_types[i],
                             &padding->layouts[padding->layout_count++], error);
    for (size_t i = 0; i < catalogue->allocation_count && !status; i++)
        padding->of_allocation[i] = layout_of(padding, catalogue->allocations[i].type, CTS_NONE);
    for (size_t i = 0; i < catalogue->site_count && !status; i++)
        padding->of_site[i] =
            layout_of(padding, catalogue->sites[i].type, catalogue->sites[i].module);
    for (size_t i = 0; i < catalogue->variable_count && !status; i++)
        padding->of_variable[i] =
            layout_of(padding, catalogue->variables[i].type, catalogue->variables[i].module);
    return status;
}

void cts_access_padding_release(struct cts_access_padding *padding)
{
    for (size_t i = 0; i < padding->layout_count; i++) {
        free(padding->layouts[i].padding);
        free(padding->layouts[i].alternatives);
    }
    free(padding->layouts);
    free(padding->of_allocation);
    free(padding->of_site);
    free(padding->of_variable);
    *padding = (struct cts_access_padding){0};
}

const struct cts_access_layout *
cts_access_allocation_layout(const struct cts_access_padding *padding, size_t allocation)
{
    const size_t found = padding->of_allocation ? padding->of_allocation[allocation] : 0;
    return found ? &padding->layouts[found - 1] : NULL;
}

const struct cts_access_layout *cts_access_site_layout(const struct cts_access_padding *padding,
                                                       const struct cts_site *site)
{
    const size_t found = padding->of_site ? padding->of_site[site->site] : 0;
    return found ? &padding->layouts[found - 1] : NULL;
}

const struct cts_access_layout *cts_access_shared_layout(const struct cts_access_padding *padding,
                                                         const struct cts_catalogue *catalogue,
                                                         uint32_t module, uint64_t offset,
                                                         uint64_t *origin)
{
    size_t found = 0, count = 0;
    for (size_t i = 0; padding->of_variable && i < catalogue->variable_count; i++) {
        const struct cts_variable *const v = &catalogue->variables[i];
        if (v->module != module || !v->kind || strcmp(v->kind, "shared") || offset < v->address ||
            offset - v->address >= v->size_bytes)
            continue;
        found = padding->of_variable[i];
        *origin = v->address;
        count++;
    }
    return found && count == 1 ? &padding->layouts[found - 1] : NULL;
}

uint64_t cts_access_padding_mask(const struct cts_access_layout *layout, uint64_t origin,
                                 uint64_t start, bool alternatives)
{
    const uint64_t *const bits = alternatives ? layout->alternatives : layout->padding;
    uint64_t mask = 0;
    for (unsigned i = 0; i < 64; i++) {
        const uint64_t at = (start + i - origin) % layout->size_bytes;
        if (start + i >= origin) mask |= (bits[at / 64] >> at % 64 & 1) << i;
    }
    return mask;
}
