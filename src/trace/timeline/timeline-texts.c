/* The texts and warnings that a timeline keeps as long as it lives. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "trace/timeline/timeline-private.h"

const char *cts_timeline_keep(struct cts_timeline_private *private, const char *text)
{
    void *items = private->strings;
    if (!cts_timeline_grow(&items, private->string_count, &private->string_capacity,
                           sizeof *private->strings))
        return NULL;
    private->strings = items;
    char *const copy = strdup(text);
    if (copy) private->strings[private->string_count++] = copy;
    return copy;
}

void cts_timeline_warn(struct cts_timeline *timeline, uint64_t count, const char *format, ...)
{
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < timeline->warning_count; i++)
        if (strcmp(timeline->warnings[i].text, text) == 0) {
            timeline->warnings[i].count += count;
            return;
        }
    void *items = timeline->warnings;
    if (!cts_timeline_grow(&items, timeline->warning_count,
                           &timeline->private_data->warning_capacity, sizeof *timeline->warnings))
        return;
    timeline->warnings = items;
    const char *const kept = cts_timeline_keep(timeline->private_data, text);
    if (!kept) return;
    timeline->warnings[timeline->warning_count++] =
        (struct cts_timeline_warning){.text = kept, .count = count};
}
