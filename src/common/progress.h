/* A line of progress for long work: "reading 42%", at most ten times a second, wiped at the end.
 * The verb chooses the stream; NULL, or a stream that is no terminal, shows nothing. Steps may come
 * from any thread. */
#ifndef CTS_COMMON_PROGRESS_H
#define CTS_COMMON_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct cts_progress {
    FILE *file; /* NULL: silent */
    const char *label;
    uint64_t total;
    _Atomic uint64_t done;
    _Atomic uint64_t next_ns; /* when to draw again */
    atomic_flag drawing;
    bool drawn;
};

/* Shows nothing before 0.3 s; `label` is borrowed until the end, `total` is how much there is to
 * do, in whatever unit cts_progress_add() is told of. */
void cts_progress_begin(struct cts_progress *progress, FILE *file, const char *label,
                        uint64_t total);
void cts_progress_add(struct cts_progress *progress, uint64_t amount);
void cts_progress_end(struct cts_progress *progress);

/* Whether to use colours on a stream: a terminal that can, and no NO_COLOR. */
bool cts_colours_wanted(FILE *file);

#endif
