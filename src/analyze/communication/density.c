#include "analyze/communication/density.h"

#include <stdlib.h>

#include "common/array.h"
#include "common/promise.h"

enum cts_status cts_comm_density_init(struct cts_comm_density *density, uint64_t cta_count,
                                      uint32_t bin_max, struct cts_error *error)
{
    *density = (struct cts_comm_density){.cta_count = cta_count ? cta_count : 1};
    if (!bin_max) return CTS_OK;
    density->bin_ctas = (density->cta_count + bin_max - 1) / bin_max;
    density->bin_count =
        (uint32_t)((density->cta_count + density->bin_ctas - 1) / density->bin_ctas);
    density->cells = cts_array_zeroed((size_t)density->bin_count * density->bin_count,
                                      2 * sizeof *density->cells, error);
    return density->cells ? CTS_OK : CTS_MEMORY;
}

void cts_comm_density_release(struct cts_comm_density *density)
{
    free(density->cells);
    density->cells = NULL;
}

void cts_comm_density_add(struct cts_comm_density *sum, const struct cts_comm_density *more)
{
    assert(sum->bin_count == more->bin_count); /* maps of one launch */
    const size_t count = 2 * (size_t)sum->bin_count * sum->bin_count;
    for (size_t i = 0; sum->cells && more->cells && i < count; i++) sum->cells[i] += more->cells[i];
}
