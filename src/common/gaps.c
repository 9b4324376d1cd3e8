#include "common/gaps.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* A gap that cannot be named counts: it is never lost. */
void cts_gaps_add(struct cts_gaps *gaps, const char *format, ...)
{
    gaps->count++;
    if (gaps->named_count == CTS_GAPS_NAMED_MAX) return;
    if (!gaps->texts) gaps->texts = calloc(CTS_GAPS_NAMED_MAX, sizeof *gaps->texts);
    if (!gaps->texts) return;
    char *text = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) text = NULL;
    va_end(args);
    if (text) gaps->texts[gaps->named_count++] = text;
}

struct cts_gaps cts_gaps_since(const struct cts_gaps *gaps, const struct cts_gaps *before)
{
    return (struct cts_gaps){.texts = gaps->texts ? gaps->texts + before->named_count : NULL,
                             .named_count = gaps->named_count - before->named_count,
                             .launches = gaps->launches - before->launches,
                             .records = gaps->records - before->records,
                             .accesses = gaps->accesses - before->accesses,
                             .count = gaps->count - before->count};
}

void cts_gaps_release(struct cts_gaps *gaps)
{
    for (size_t i = 0; i < gaps->named_count; i++) free(gaps->texts[i]);
    free(gaps->texts);
    *gaps = (struct cts_gaps){0};
}
