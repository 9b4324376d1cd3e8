#include "import/kineto-notes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/text-stream.h"
#include "common/text-table.h"

enum severity { NOTE, WARNING, PROBLEM };

struct noting {
    const struct cts_kineto_source *source;
    const char *name; /* the file's, without its directory */
    struct cts_kineto_notes *notes;
    struct cts_error *error;
    enum cts_status status;
};

/* "'trace.json': TEXT" */
__attribute__((format(printf, 3, 4))) static void note(struct noting *n, enum severity severity,
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
    n->notes->items[n->notes->count++] = (struct cts_kineto_message){severity, line};
}

/* ---- what there is ---- */

static int by_count(const void *left, const void *right)
{
    const struct cts_text_map_item *const a = left, *const b = right;
    if (a->value != b->value) return a->value < b->value ? 1 : -1;
    return strcmp(a->text, b->text);
}

static void note_counts(struct noting *n)
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
        note(n, NOTE, "rank %" PRIu32 ": %s:%s", n->source->rank,
             cts_counted_text(n->source->contents->event_count, "event", "events").text, text);
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

char *cts_kineto_left_out(const struct cts_kineto_file *f, const struct cts_kineto_rank *r)
{
    const struct part parts[] = {
        {f->damaged_events, "damaged event", "damaged events", ""},
        {r->untimed, "event", "events", " without a valid time"},
        {r->unplaced, "device activity", "device activities", " without a stream"},
        {r->unknown_phases, "event", "events", " of unknown phases"},
        {r->counts[CTS_KINETO_UNKNOWN], "event", "events", " of unknown categories"},
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

static void note_left_out(struct noting *n)
{
    const struct cts_kineto_rank *const r = n->source->contents;
    const struct cts_kineto_file *const f = n->source->file;
    char *const text = cts_kineto_left_out(f, r);
    if (!text)
        n->status = cts_fail(n->error, CTS_MEMORY, "no memory for a note");
    else if (*text)
        note(n, WARNING, "LEFT OUT %s", text);
    free(text);
    if (f->is_cut)
        note(n, PROBLEM, "the trace ends early, at byte %" PRIu64 ": what follows is missing",
             f->bytes);
    if (f->has_trailing) note(n, WARNING, "what follows the end of the JSON was not read");
    if (r->clipped)
        note(n, NOTE, "%s the end of another and lost an end, %" PRIu64 " ns at most%s",
             cts_counted_text(r->clipped, "event overlaps", "events overlap").text,
             r->clipped_most_ns, r->clipped_most_ns <= 2000 ? " (rounding)" : "");
}

/* ---- what is not there ---- */

static void note_missing_work(struct noting *n)
{
    const struct cts_kineto_rank *const r = n->source->contents;
    const uint64_t work =
        r->counts[CTS_KINETO_KERNEL] + r->counts[CTS_KINETO_COPY] + r->counts[CTS_KINETO_MEMSET];
    const uint64_t calls = r->counts[CTS_KINETO_RUNTIME] + r->counts[CTS_KINETO_DRIVER];
    if (!work)
        note(n, WARNING,
             "no kernels and copies (recorded without ProfilerActivity.CUDA): the answers are "
             "about the host alone");
    else if (!calls)
        note(n, WARNING,
             "no calls of the runtime or the driver: nothing ties kernels to the host, so neither "
             "launch latency nor the host's part in the critical path is known");
    else if (r->launched < work)
        note(n, WARNING,
             "%" PRIu64 " of %s without a call in the trace: why they start when they do is not "
             "known",
             work - r->launched,
             cts_counted_text(work, "device activity is", "device activities are").text);
    if (work && r->waits_unplaced && !r->counts[CTS_KINETO_SYNC])
        note(
            n, WARNING,
            "no synchronisation records (cuda_sync): %s which stream or event the host or a stream "
            "waits for, so these waits are missing",
            cts_counted_text(r->waits_unplaced, "call does not say", "calls do not say").text);
    else if (r->waits_without_record)
        note(n, WARNING, "%s not say which cudaEventRecord they wait for: these waits are missing",
             cts_counted_text(r->waits_without_record, "synchronisation record does",
                              "synchronisation records do")
                 .text);
}

static void note_missing_host(struct noting *n)
{
    const struct cts_kineto_rank *const r = n->source->contents;
    if (!r->counts[CTS_KINETO_PYTHON])
        note(n, NOTE,
             "no Python functions (recorded without with_stack=True): the host's time is named by "
             "operators and annotations");
    if (!r->counts[CTS_KINETO_OPERATOR])
        note(n, NOTE, "no operators (recorded without ProfilerActivity.CPU)");
    if (!r->flows)
        note(n, NOTE, "no flows: calls and device activities are tied by correlation ids");
    if (r->memory_events)
        note(n, NOTE, "%s counted, not kept",
             cts_counted_text(r->memory_events, "memory event is", "memory events are").text);
    if (r->counts[CTS_KINETO_GPU_ANNOTATION])
        note(n, NOTE, "%s left to the host's annotations of the same names",
             cts_counted_text(r->counts[CTS_KINETO_GPU_ANNOTATION], "annotation of a stream is",
                              "annotations of streams are")
                 .text);
    if (n->source->file->has_rank && n->source->file->rank != (int64_t)n->source->rank)
        note(n, WARNING, "it says that it is rank %" PRId64 ", which another file is",
             n->source->file->rank);
    if (n->source->file_count > 1)
        note(n, NOTE,
             "ranks keep their own clocks, and nothing ties their collectives: what a rank waits "
             "for in another is not known");
    if (n->source->file->world_size > (int64_t)n->source->file_count)
        note(n, NOTE, "one of %" PRId64 " ranks: the others' traces are not here",
             n->source->file->world_size);
}

enum cts_status cts_kineto_note(const struct cts_kineto_source *source,
                                struct cts_kineto_notes *notes, struct cts_error *error)
{
    const char *const slash = strrchr(source->path, '/');
    struct noting n = {
        .source = source, .name = slash ? slash + 1 : source->path, .notes = notes, .error = error};
    note_counts(&n);
    note_left_out(&n);
    note_missing_work(&n);
    note_missing_host(&n);
    return n.status;
}

enum cts_status cts_kineto_notes_tell(const struct cts_kineto_notes *notes,
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
