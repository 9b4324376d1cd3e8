/* What the accesses of a launch were: a fingerprint of sites, CTAs, addresses and values. */
#ifndef CTS_FLOW_VALUES_H
#define CTS_FLOW_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/flow/flow-reading.h"

/* Two launches with equal fingerprints made the same accesses to global memory: each CTA loaded
 * the same values from the same addresses at the same sites, and stored the same ones. The sum does
 * not depend on the order of the records, since CTAs have none. */
struct cts_flow_fingerprint {
    uint64_t sum;      /* of a hash of each thread access, modulo 2^64 */
    uint64_t accesses; /* thread accesses */
    bool is_known;     /* else: an access has no value, or is atomic or volatile */
};

struct cts_flow_fingerprinter; /* memory and threads, kept from launch to launch */

CTS_MUST_CHECK enum cts_status
cts_flow_fingerprinter_new(const struct cts_flow_touch_options *options,
                           struct cts_flow_fingerprinter **printer, struct cts_error *error);
void cts_flow_fingerprinter_free(struct cts_flow_fingerprinter *printer); /* NULL is fine */

/* Reads the records of a launch (index in the catalogue), up to the first without a value. */
CTS_MUST_CHECK enum cts_status cts_flow_fingerprint(struct cts_flow_fingerprinter *printer,
                                                    size_t launch,
                                                    struct cts_flow_fingerprint *print,
                                                    struct cts_error *error);

#endif
