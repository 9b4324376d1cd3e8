/* What is missing in a run, and what was assumed instead: the same words for every verb. */
#ifndef CTS_REPORT_GAPS_H
#define CTS_REPORT_GAPS_H

#include <stdbool.h>
#include <stdio.h>

#include "common/json.h"
#include "common/gaps.h"

/* A line each, behind `prefix`; then how much is missing. Nothing when nothing is. */
void cts_print_gaps(const struct cts_gaps *gaps, const char *prefix, FILE *file);
/* What an analysis found missing in a run. */
struct cts_losses {
    bool is_lower_bound; /* its totals may be too small */
    bool hides_writers;  /* then last writers may be wrong, too */
    uint64_t unrecorded_launches, dropped_accesses, incomplete_files;
};
/* The notes on that, with those of cts_print_gaps(). */
void cts_print_losses(const struct cts_losses *losses, const struct cts_gaps *gaps, FILE *file);
/* How data is attributed that no kernel wrote: the paper's model, an imported trace. */
void cts_print_attribution(bool is_paper_model, bool knows_host, FILE *file);

/* The member "missing": the same lines as an array of strings. */
void cts_json_gaps(struct cts_json *json, const struct cts_gaps *gaps);

/* The same lines as elements of an array that is open. */
void cts_json_gap_lines(struct cts_json *json, const struct cts_gaps *gaps);

#endif
