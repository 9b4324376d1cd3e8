#include "analyze/access/reach.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/search.h"

/* ---- types ---- */

static const char *const numbers[] = {"float",          "double", "int",    "unsigned int", "short",
                                      "unsigned short", "half",   "__half", "bool"};
/* CUDA vectors, followed by 1 to 4. Elements of 8 bytes that are no floating point may be pointers,
 * and bytes may be anything. */
static const char *const vectors[] = {"float", "double", "int", "uint", "short", "ushort"};

static bool is_vector(const char *type, const char *element)
{
    const size_t length = strlen(element);
    return !strncmp(type, element, length) && type[length] >= '1' && type[length] <= '4' &&
           !type[length + 1];
}

static bool holds_numbers(const char *type)
{
    if (!type) return false;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!strcmp(type, numbers[i])) return true;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (is_vector(type, vectors[i])) return true;
    return false;
}

static bool holds_pointers(const struct cts_variable *variable)
{
    const char *const kind = variable->kind ? variable->kind : "";
    const bool is_memory =
        !strcmp(kind, "device") || !strcmp(kind, "constant") || !strcmp(kind, "managed");
    return is_memory && !holds_numbers(variable->type);
}

bool cts_access_is_imported(const struct cts_allocation *allocation)
{
    static const char *const calls[] = {"IpcOpen", "cuMemMap", "ImportPointer", "GetMapped"};
    for (size_t i = 0; allocation->call && i < sizeof calls / sizeof *calls; i++)
        if (strstr(allocation->call, calls[i])) return true;
    return false;
}

/* ---- life ---- */

static int by_launch(const void *left, const void *right)
{
    const struct cts_launch_pointer *const a = left, *const b = right;
    return (a->launch > b->launch) - (a->launch < b->launch);
}

enum cts_status cts_access_reach_init(struct cts_access_reach *reach,
                                      const struct cts_catalogue *catalogue,
                                      struct cts_error *error)
{
    const size_t count = catalogue->launch_pointer_count;
    reach->is_reached = cts_array_zeroed(catalogue->allocation_count, sizeof(bool), error);
    reach->reached = cts_array_zeroed(catalogue->allocation_count, sizeof(size_t), error);
    reach->pointers = cts_array_zeroed(count, sizeof *reach->pointers, error);
    if (!reach->is_reached || !reach->reached || !reach->pointers) return CTS_MEMORY;
    if (count) {
        memcpy(reach->pointers, catalogue->launch_pointers, count * sizeof *reach->pointers);
        qsort(reach->pointers, count, sizeof *reach->pointers, by_launch);
    }
    reach->pointer_count = count;
    for (size_t i = 0; i < catalogue->variable_count; i++)
        reach->variables_point |= holds_pointers(&catalogue->variables[i]);
    return CTS_OK;
}

void cts_access_reach_release(struct cts_access_reach *reach)
{
    free(reach->is_reached);
    free(reach->reached);
    free(reach->pointers);
}

void cts_access_reach_clear(struct cts_access_reach *reach)
{
    for (size_t i = 0; i < reach->reached_count; i++) reach->is_reached[reach->reached[i]] = false;
    reach->reached_count = 0;
    reach->is_anywhere = false;
}

/* ---- one launch ---- */

static void reach_allocation(struct cts_access_reach *reach, size_t allocation)
{
    if (reach->is_reached[allocation]) return;
    reach->is_reached[allocation] = true;
    reach->reached[reach->reached_count++] = allocation;
}

/* Whether it is told where the pointer leads: into memory that holds no other pointers, or far from
 * all. A pointer beside an allocation, as that of an array that counts from 1, may mean it. */
static bool follow(struct cts_access_reach *reach, const struct cts_catalogue *catalogue,
                   const struct cts_places *places, uint64_t address)
{
    enum { NEAR_BYTES = 1 << 26 };
    const size_t at = CTS_SEARCH(places->count, i, places->items[i].end <= address);
    const struct cts_place *const after = at < places->count ? &places->items[at] : NULL;
    const struct cts_place *const before = at ? &places->items[at - 1] : NULL;
    if (after && after->start <= address) {
        reach_allocation(reach, after->allocation);
        if (before && before->end == address) reach_allocation(reach, before->allocation);
        return holds_numbers(catalogue->allocations[after->allocation].type);
    }
    if (before && before->end == address) {
        reach_allocation(reach, before->allocation);
        return holds_numbers(catalogue->allocations[before->allocation].type);
    }
    return (!after || after->start - address > NEAR_BYTES) &&
           (!before || address - before->end > NEAR_BYTES);
}

/* Surfaces are handles, not addresses; so are those of arrays. */
static void reach_arrays(struct cts_access_reach *reach, const struct cts_catalogue *catalogue,
                         const struct cts_places *places)
{
    for (size_t i = 0; i < places->count; i++) {
        const size_t allocation = places->items[i].allocation;
        const char *const kind = catalogue->allocations[allocation].kind;
        if (kind && !strcmp(kind, "array")) reach_allocation(reach, allocation);
    }
}

void cts_access_reach_find(struct cts_access_reach *reach, const struct cts_catalogue *catalogue,
                           const struct cts_launch *launch, const struct cts_places *places)
{
    const struct cts_launch_pointer *const pointers = reach->pointers;
    const size_t first = CTS_SEARCH(reach->pointer_count, i, pointers[i].launch < launch->launch);
    size_t i = first;
    bool is_told = !reach->variables_point;
    for (; is_told && i < reach->pointer_count && pointers[i].launch == launch->launch; i++)
        is_told = follow(reach, catalogue, places, pointers[i].address);
    reach->is_anywhere = !is_told || i == first;
    if (!reach->is_anywhere) reach_arrays(reach, catalogue, places);
}
