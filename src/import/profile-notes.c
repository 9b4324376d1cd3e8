#include "import/profile-notes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/text-stream.h"
#include "common/text-table.h"

void cts_profile_say(struct cts_profile_noting *n, enum cts_profile_severity severity,
                     const char *format, ...)
{
    char *text = NULL, *line = NULL;
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    const int line_length = length < 0 ? -1 : asprintf(&line, "'%s': %s", n->name, text);
    if (length >= 0) free(text);
    if (line_length < 0 || CTS_ARRAY_RESERVE(n->notes, n->notes->count + 1, n->error)) {
        if (line_length >= 0) free(line);
        n->status = cts_fail(n->error, CTS_MEMORY, "no memory for a note");
        return;
    }
    n->notes->items[n->notes->count++] = (struct cts_profile_message){severity, line};
}

/* ---- what there is ---- */

static int by_count(const void *left, const void *right)
{
    const struct cts_text_map_item *const a = left, *const b = right;
    if (a->value != b->value) return a->value < b->value ? 1 : -1;
    return strcmp(a->text, b->text);
}

static void note_counts(struct cts_profile_noting *n)
{
    const struct cts_text_map *const counts = &n->source->contents->count_of_category;
    struct cts_text_map_item *const items = malloc((counts->count + 1) * sizeof *items);
    struct cts_text_stream stream;
    FILE *const file = items ? cts_text_stream_open(&stream) : NULL;
    if (!file) {
        free(items);
        n->status = cts_fail(n->error, CTS_MEMORY, "no memory for a note");
        return;
    }
    if (counts->count) {
        memcpy(items, counts->items, counts->count * sizeof *items);
        qsort(items, counts->count, sizeof *items, by_count);
    }
    for (size_t i = 0; i < counts->count; i++)
        fprintf(file, "%s %" PRIu64 " %s", i ? "," : "", items[i].value, items[i].text);
    char *const text = cts_text_stream_close(&stream, NULL);
    if (text)
        cts_profile_say(n, CTS_PROFILE_NOTE, "rank %" PRIu32 ": %s:%s", n->source->rank,
                        cts_counted_text(n->source->contents->event_count, "event", "events").text,
                        text);
    else
        n->status = cts_fail(n->error, CTS_MEMORY, "no memory for a note");
    free(text);
    free(items);
}

/* ---- what is wrong ---- */

struct part {
    uint64_t count;
    const char *one, *many, *behind;
};

/* False: there is nothing to say. */
static bool put_parts(FILE *file, const struct part *parts, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (!parts[i].count) continue;
        fprintf(file, "%s%s%s", any ? ", " : "",
                cts_counted_text(parts[i].count, parts[i].one, parts[i].many).text,
                parts[i].behind);
        any = true;
    }
    return any;
}

char *cts_profile_left_out(const struct cts_profile_file *f, const struct cts_profile_rank *r)
{
    const struct part parts[] = {
        {f->damaged_events, "damaged event", "damaged events", ""},
        {r->untimed, "event", "events", " without a valid time"},
        {r->unplaced, "device activity", "device activities", " without a stream"},
        {r->unknown_phases, "event", "events", " of unknown phases"},
        {r->counts[CTS_PROFILE_UNKNOWN], "event", "events", " of unknown categories"},
        {f->broken_values, "broken value", "broken values", ""},
        {f->duplicate_keys, "value", "values", " of duplicate keys (the last one counts)"},
    };
    struct cts_text_stream stream;
    FILE *const file = cts_text_stream_open(&stream);
    if (!file) return NULL;
    const bool any = put_parts(file, parts, sizeof parts / sizeof *parts);
    if (*f->damage) fprintf(file, "%s%s%s", any ? " (" : "", f->damage, any ? ")" : "");
    return cts_text_stream_close(&stream, NULL);
}

static void note_left_out(struct cts_profile_noting *n)
{
    const struct cts_profile_rank *const r = n->source->contents;
    const struct cts_profile_file *const f = n->source->file;
    char *const text = cts_profile_left_out(f, r);
    if (!text)
        n->status = cts_fail(n->error, CTS_MEMORY, "no memory for a note");
    else if (*text)
        cts_profile_say(n, CTS_PROFILE_WARNING, "LEFT OUT %s", text);
    free(text);
    if (f->is_cut)
        cts_profile_say(n, CTS_PROFILE_PROBLEM,
                        "the trace ends early, at byte %" PRIu64 ": what follows is missing",
                        f->bytes);
    if (f->has_trailing)
        cts_profile_say(n, CTS_PROFILE_WARNING, "what follows the end of the JSON was not read");
    if (r->clipped)
        cts_profile_say(n, CTS_PROFILE_NOTE,
                        "%s the end of another and lost an end, %" PRIu64 " ns at most%s",
                        cts_counted_text(r->clipped, "event overlaps", "events overlap").text,
                        r->clipped_most_ns, r->clipped_most_ns <= 2000 ? " (rounding)" : "");
}

enum cts_status cts_profile_note(const struct cts_profile_source *source,
                                 struct cts_profile_notes *notes, struct cts_error *error)
{
    const char *const slash = strrchr(source->path, '/');
    struct cts_profile_noting n = {
        .source = source, .name = slash ? slash + 1 : source->path, .notes = notes, .error = error};
    note_counts(&n);
    note_left_out(&n);
    source->describe(&n);
    return n.status;
}

enum cts_status cts_profile_notes_tell(const struct cts_profile_notes *notes,
                                       struct cts_import_result *result, struct cts_error *error)
{
    for (size_t i = 0; i < notes->count; i++) {
        char **const grown =
            realloc(result->notes, (result->note_count + 1) * sizeof *result->notes);
        char *const copy = strdup(notes->items[i].text);
        if (grown) result->notes = grown;
        if (!grown || !copy) {
            free(copy);
            return cts_fail(error, CTS_MEMORY, "no memory for a note");
        }
        grown[result->note_count++] = copy;
    }
    return CTS_OK;
}
