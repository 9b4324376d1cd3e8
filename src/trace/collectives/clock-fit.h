/* The distance between two clocks, from events that both show at the same moment: the ends of
 * collectives. Private to those who align ranks. */
#ifndef CTS_TRACE_CLOCK_FIT_H
#define CTS_TRACE_CLOCK_FIT_H

#include <stddef.h>
#include <stdint.h>

struct cts_clock_pair {
    uint64_t own_ns;       /* by the clock that is corrected */
    int64_t difference_ns; /* to add, for the other clock's time of the same moment */
};

struct cts_clock_fit {
    uint64_t from_ns;   /* own time at which the offset is... */
    double offset_ns;   /* ... this, */
    double drift;       /* and this is added for each ns since; 0 where none shows */
    double residual_ns; /* 95% of the pairs are within so much */
    size_t pair_count;
};

/* Sorts the pairs; at least one. Medians, so that a few wrong pairs do not count. */
void cts_clock_fit(struct cts_clock_pair *pairs, size_t count, struct cts_clock_fit *fit);
/* What to add to an own time. */
double cts_clock_fit_at(const struct cts_clock_fit *fit, uint64_t own_ns);

#endif
