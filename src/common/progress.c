#include "common/progress.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/terminal.h"

enum { FIRST_NS = 300 * 1000 * 1000, INTERVAL_NS = 100 * 1000 * 1000 };

void cts_progress_begin(struct cts_progress *progress, FILE *file, const char *label,
                        uint64_t total)
{
    progress->file = file && cts_is_terminal(file) ? file : NULL;
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
    cts_terminal_control(progress->file, "\r");
    fprintf(progress->file, "%s %.0f%%", progress->label, percent);
    cts_terminal_control(progress->file, "\033[K");
    progress->drawn = true;
    atomic_flag_clear(&progress->drawing);
}

void cts_progress_end(struct cts_progress *progress)
{
    if (!progress->file || !progress->drawn) return;
    cts_terminal_control(progress->file, "\r\033[K");
}

bool cts_colours_wanted(FILE *file)
{
    const char *const no_colour = getenv("NO_COLOR");
    const char *const terminal = getenv("TERM");
    if (no_colour && *no_colour) return false;
    if (!terminal || strcmp(terminal, "dumb") == 0) return false;
    return cts_is_terminal(file);
}
