/* The density map (paper 003, 6.2.6): transfers by writing CTA and reading CTA over the whole run,
 * whatever the kernels, as a square matrix of bins of equally many CTA ids. Exact sums: a bin holds
 * every transfer whose two CTAs lie in it. */
#ifndef CTS_COMMUNICATION_DENSITY_H
#define CTS_COMMUNICATION_DENSITY_H

#include <stdint.h>

#include "common/error.h"

struct cts_comm_density {
    uint64_t cta_count; /* of the launch with the most */
    uint64_t bin_ctas;  /* CTA ids a bin */
    uint32_t bin_count; /* per side */
    uint64_t *cells;    /* [writer bin][reader bin][2]: transfers, bytes. NULL: not wanted */
};

/* An empty map of at most `bin_max` bins a side over CTA ids below `cta_count`; bin_max 0: none. */
CTS_MUST_CHECK enum cts_status cts_comm_density_init(struct cts_comm_density *density,
                                                     uint64_t cta_count, uint32_t bin_max,
                                                     struct cts_error *error);
void cts_comm_density_release(struct cts_comm_density *density);

/* Adds a map of the same shape. */
void cts_comm_density_add(struct cts_comm_density *sum, const struct cts_comm_density *more);

static inline uint64_t *cts_comm_density_cell(const struct cts_comm_density *density,
                                              uint64_t writer_bin, uint64_t reader_bin)
{
    return density->cells + 2 * (writer_bin * density->bin_count + reader_bin);
}

static inline void cts_comm_density_count(struct cts_comm_density *density, uint32_t writer_cta,
                                          uint32_t reader_cta, uint64_t bytes)
{
    if (!density->cells) return;
    uint64_t *const cell = cts_comm_density_cell(density, writer_cta / density->bin_ctas,
                                                 reader_cta / density->bin_ctas);
    cell[0]++;
    cell[1] += bytes;
}

#endif
