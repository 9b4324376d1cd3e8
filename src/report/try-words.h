/* Words for operations, changes and verdicts of `try`. */
#ifndef CTS_REPORT_TRY_WORDS_H
#define CTS_REPORT_TRY_WORDS_H

#include "report/try-report.h"

enum { CTS_TRY_WORDS_BYTES = 400 };

/* "launch 3", "copy 1", "memset 2", "wait 0", "cudaFree" */
void cts_try_op_words(const struct cts_stretch *stretch, uint32_t op, char *text, size_t bytes);
/* "drop launch 3", "drop 4 launches", "delay copy 1 by 500 us" */
void cts_try_change_words(const struct cts_stretch *stretch, const struct cts_try_trial *trial,
                          char *text, size_t bytes);
/* "same result", "differs at out[17] (live), first written by launch 31" */
void cts_try_verdict_words(const struct cts_try_report *report, const struct cts_try_trial *trial,
                           char *text, size_t bytes);
/* "14.2% +- 0.4% faster", "no measurable gain (-0.5% to 0.3%)" */
void cts_try_gain_words(const struct cts_try_estimate *gain, char *text, size_t bytes);
/* "out[17]", "device memory 0x2000 + 68 B" */
void cts_try_place_words(const struct cts_stretch *stretch,
                         const struct cts_trial_difference *difference, char *text, size_t bytes);

#endif
