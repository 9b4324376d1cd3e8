/* What is missing in a run, as text and as JSON: the same for every verb. */
#ifndef CTS_REPORT_GAPS_H
#define CTS_REPORT_GAPS_H

#include <stdio.h>

#include "common/json.h"
#include "common/gaps.h"

/* A line each, behind `prefix`; then how much is missing. Nothing when nothing is. */
void cts_print_gaps(const struct cts_gaps *gaps, const char *prefix, FILE *file);
/* The member "missing": the same lines as an array of strings. */
void cts_json_gaps(struct cts_json *json, const struct cts_gaps *gaps);

/* The same lines as elements of an array that is open. */
void cts_json_gap_lines(struct cts_json *json, const struct cts_gaps *gaps);

#endif
