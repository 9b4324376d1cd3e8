/* What a run directory knows of the kernels of a timeline: how much of a multiprocessor their
 * launches can fill, and how many of the bytes that they move they need. The two recordings are
 * joined here, since the analyses do not know each other. */
#ifndef CTS_REPORT_PATH_KERNELS_H
#define CTS_REPORT_PATH_KERNELS_H

#include "analyze/access/access-analysis.h"
#include "analyze/path/source.h"
#include "trace/catalogue.h"

struct cts_path_kernel {      /* NaN: unknown */
    double occupancy;         /* warps that fit over those that a multiprocessor holds, weighted by
                                 the time of launches */
    double memory_efficiency; /* ideal over actual sectors of global and local memory */
};

struct cts_path_kernels {
    struct cts_path_kernel *by_region; /* of the timeline; NULL: nothing is known */
    size_t region_count;
    uint64_t mismatches;      /* streams and ranks whose launches are not those of the timeline */
    char first_mismatch[512]; /* what the first of them is */
};

/* `catalogue`: of a run with the devices; its launches are joined by rank, stream with kernels (the
 * legacy default stream to its like, of the others the i-th created to the i-th), ordinal in it,
 * name and grid if `access` is there (else NULL). A kernel of which a launch does not fit has no
 * efficiency. */
CTS_MUST_CHECK enum cts_status cts_path_kernels_find(const struct cts_path_source *source,
                                                     const struct cts_catalogue *catalogue,
                                                     const struct cts_access_result *access,
                                                     struct cts_path_kernels *kernels,
                                                     struct cts_error *error);
/* How long each launch of the catalogue took in the timeline: launch_ns[launch], 0 where it is not
 * known. `kernels` gets the mismatches only. */
CTS_MUST_CHECK enum cts_status cts_path_launch_times(const struct cts_path_source *source,
                                                     const struct cts_catalogue *catalogue,
                                                     uint64_t *launch_ns,
                                                     struct cts_path_kernels *kernels,
                                                     struct cts_error *error);
void cts_path_kernels_release(struct cts_path_kernels *kernels);

/* Warps of such CTAs that fit into a multiprocessor over those that it can hold; NaN: the compute
 * capability is not known, or a CTA does not fit. */
double cts_occupancy(uint32_t compute_major, uint32_t compute_minor, uint32_t threads,
                     uint32_t registers, uint64_t shared_bytes);

#endif
