/* What is missing in a run: whoever opens it compares what is there with what the catalogue says
 * was written, and names each difference here. Totals that depend on it are a lower bound.
 *
 * Zero-initialise; cts_gaps_release() frees the texts. */
#ifndef CTS_COMMON_GAPS_H
#define CTS_COMMON_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CTS_GAPS_NAMED_MAX = 100 };

struct cts_gaps {
    char **texts; /* one line each, no full stop: "'rank-0/1.acc' is missing: 12 records" */
    size_t named_count;
    uint64_t launches, records, accesses; /* written, and in no file that can be read */
    size_t count; /* of texts, with those beyond CTS_GAPS_NAMED_MAX, or that there was no memory to
                     name */
};

void cts_gaps_add(struct cts_gaps *gaps, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline bool cts_gaps_any(const struct cts_gaps *gaps)
{
    return gaps->count || gaps->records || gaps->accesses;
}
/* What was added since `before` was copied from `gaps`, which keep the texts. */
struct cts_gaps cts_gaps_since(const struct cts_gaps *gaps, const struct cts_gaps *before);
void cts_gaps_release(struct cts_gaps *gaps);

#endif
