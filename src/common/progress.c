#include "common/progress.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"

enum { FIRST_NS = 300 * 1000 * 1000, INTERVAL_NS = 100 * 1000 * 1000 };

void cts_progress_begin(struct cts_progress *progress, FILE *file, const char *label,
                        uint64_t total)
{
    progress->file = file && isatty(fileno(file)) ? file : NULL;
    progress->label = label;
    progress->total = total;
    progress->drawn = false;
    atomic_init(&progress->done, 0);
    atomic_init(&progress->next_ns, cts_clock_ns() + FIRST_NS); /* short work shows nothing */
    atomic_flag_clear(&progress->drawing);
}

void cts_progress_add(struct cts_progress *progress, uint64_t amount)
{
    const uint64_t done = atomic_fetch_add(&progress->done, amount) + amount;
    if (!progress->file) return;
    const uint64_t now = cts_clock_ns();
    if (now < atomic_load(&progress->next_ns)) return;
    if (atomic_flag_test_and_set(&progress->drawing)) return;
    atomic_store(&progress->next_ns, now + INTERVAL_NS);
    const double percent = progress->total ? 100.0 * (double)done / (double)progress->total : 0;
    fprintf(progress->file, "\r%s %.0f%%\033[K", progress->label, percent);
    fflush(progress->file);
    progress->drawn = true;
    atomic_flag_clear(&progress->drawing);
}

void cts_progress_end(struct cts_progress *progress)
{
    if (!progress->file || !progress->drawn) return;
    fputs("\r\033[K", progress->file);
    fflush(progress->file);
}

bool cts_colours_wanted(FILE *file)
{
    const char *const no_colour = getenv("NO_COLOR");
    const char *const terminal = getenv("TERM");
    if (no_colour && *no_colour) return false;
    if (!terminal || strcmp(terminal, "dumb") == 0) return false;
    return isatty(fileno(file));
}
