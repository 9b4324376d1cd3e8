/* yajl, a streaming parser, gives keys and values; here they become the members of one event.
 *
 * What breaks the JSON is passed over. yajl cannot go on after an error, so a new one takes over,
 * which is first fed the brackets that were open ("primed"), and then the rest of the file:
 *   - a value that is no JSON (nan, inf, 1.2.3) is skipped, and the event lacks it;
 *   - anything else drops the event: the next one is found by the bytes  } , { "  between events.
 */
#include "import/kineto-read.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "common/array.h"
#include "import/kineto-input.h"

enum { CHUNK_BYTES = 256 << 10, LEVELS_MAX = 64, TEXT_BYTES_MAX = 16 << 10 };

enum kind { TEXT, TIME, NUMBER, TRIPLE, MAP };
static const struct {
    const char *key;
    uint8_t length, kind;
} fields[] = {
#define X(symbol, key, kind) {key, sizeof key - 1, kind},
    CTS_PROFILE_FIELDS(X) CTS_PROFILE_ARGUMENTS(X)
#undef X
};
enum { FIRST_ARGUMENT = CTS_PROFILE_FIRST_ARGUMENT, NO_FIELD = CTS_PROFILE_FIELD_COUNT };

enum outer_key { OUTER_OTHER, OUTER_EVENTS, OUTER_BASE, OUTER_DISTRIBUTED, OUTER_DEVICES };

struct reader {
    struct cts_kineto_input *input;
    struct cts_profile_file *file;
    cts_profile_take *take;
    void *state;
    struct cts_error *error;
    enum cts_status status; /* of `take` or memory; ends the parse */
    yajl_handle yajl;
    jmp_buf no_memory; /* where the parser's allocations end when there is no memory */
    bool is_too_long;  /* they ended because one was for a string beyond STRING_BYTES_MAX */
    bool priming;      /* what comes is not from the file */
    uint64_t chunk_at; /* in the file, of the bytes at hand */

    /* where we are */
    unsigned depth; /* open maps and arrays */
    bool is_map[LEVELS_MAX];
    unsigned events_depth; /* of the array of events; 0: not in it */
    enum outer_key outer;
    char inner_key[16];       /* of distributedInfo and deviceProperties */
    unsigned field, argument; /* whose value comes next */
    unsigned triple_at;
    bool in_event, is_over;

    /* after an error */
    bool skips_word;   /* the rest of a value that is no JSON */
    bool seeks_event;  /* the next event */
    unsigned seek_at;  /* of  } , { "  how many were met */
    bool seeks_events; /* the list of events */

    struct cts_profile_event event;
    struct {
        char *items;
        size_t count, capacity;
    } texts;
};

/* ---- values ---- */

static uint32_t keep_text(struct reader *r, const char *text, size_t length)
{
    if (length > TEXT_BYTES_MAX) length = TEXT_BYTES_MAX;
    if (CTS_ARRAY_RESERVE(&r->texts, r->texts.count + length + 1, r->error)) {
        r->status = CTS_MEMORY;
        return 0;
    }
    char *const place = r->texts.items + r->texts.count;
    memcpy(place, text, length);
    place[length] = 0;
    for (char *zero = memchr(place, 0, length); zero;
         zero = memchr(zero, 0, length - (size_t)(zero - place)))
        *zero = '?';
    r->texts.count += length + 1;
    return (uint32_t)(place - r->texts.items);
}

static bool in_range(__int128 value)
{
    return value >= INT64_MIN && value <= INT64_MAX;
}

/* "[128, 1, 1]", as early versions wrote it. */
static bool take_triple_text(uint32_t *triple, const char *text, size_t length)
{
    unsigned count = 0;
    for (size_t i = 0; i < length && count < 3;) {
        size_t end = i;
        while (end < length && text[end] >= '0' && text[end] <= '9') end++;
        __int128 number;
        if (end > i && cts_kineto_decimal(text + i, end - i, 0, &number) && number <= UINT32_MAX)
            triple[count++] = (uint32_t)number;
        i = end + 1;
    }
    return count == 3;
}

static void take_value(struct reader *r, unsigned field, const char *text, size_t length)
{
    struct cts_profile_value *const value = &r->event.values[field];
    const uint32_t bit = UINT32_C(1) << field;
    __int128 number = 0;
    bool sound = true;
    r->file->duplicate_keys += (r->event.present & bit) != 0;
    switch ((enum kind)fields[field].kind) {
    case TEXT:
        value->text_at = keep_text(r, text, length);
        break;
    case TIME:
        sound = cts_kineto_decimal(text, length, CTS_KINETO_US_SCALE, &value->time);
        break;
    case NUMBER:
        sound = cts_kineto_decimal(text, length, 0, &number) && in_range(number);
        value->number = (int64_t)number;
        break;
    case TRIPLE:
        sound = take_triple_text(value->triple, text, length);
        break;
    case MAP:
        sound = false;
        break;
    }
    r->event.present = sound ? r->event.present | bit : r->event.present & ~bit;
}

static void take_triple_part(struct reader *r, const char *text, size_t length)
{
    __int128 number;
    if (r->triple_at >= 3 || !cts_kineto_decimal(text, length, 0, &number) || number < 0 ||
        number > UINT32_MAX)
        return;
    r->event.values[r->argument].triple[r->triple_at++] = (uint32_t)number;
    if (r->triple_at == 3) r->event.present |= UINT32_C(1) << r->argument;
}

/* distributedInfo and deviceProperties */
static void take_inner(struct reader *r, const char *text, size_t length)
{
    struct cts_profile_file *const file = r->file;
    __int128 number = 0;
    const bool is_number = cts_kineto_decimal(text, length, 0, &number) && in_range(number);
    if (r->outer == OUTER_DISTRIBUTED && r->depth == 2 && is_number) {
        if (!strcmp(r->inner_key, "rank")) {
            file->rank = (int64_t)number;
            file->has_rank = true;
        }
        if (!strcmp(r->inner_key, "world_size")) file->world_size = (int64_t)number;
    }
    if (r->outer != OUTER_DEVICES || r->depth != 3) return;
    struct cts_profile_device *const device =
        file->device_count ? &file->devices[file->device_count - 1] : NULL;
    if (device && !strcmp(r->inner_key, "id") && is_number) device->number = (uint32_t)number;
    if (device && !strcmp(r->inner_key, "name") && !device->name)
        device->name = strndup(text, length);
}

static void take_outer(struct reader *r, const char *text, size_t length)
{
    __int128 number;
    if (r->depth == 1 && r->outer == OUTER_BASE) {
        if (cts_kineto_decimal(text, length, 0, &number) && in_range(number) && number >= 0 &&
            number < INT64_MAX / 2) { /* until the year 2116; the times of events are added */
            r->file->base_ns = (int64_t)number;
            r->file->has_base = true;
        }
    } else {
        take_inner(r, text, length);
    }
}

static int take_scalar(struct reader *r, const char *text, size_t length)
{
    if (r->priming) return 1;
    if (!r->events_depth) {
        take_outer(r, text, length);
        return !r->status;
    }
    if (!r->in_event) return 1;
    const unsigned level = r->depth - r->events_depth;
    if (level == 1 && r->field != NO_FIELD)
        take_value(r, r->field, text, length);
    else if (level == 2 && r->field == CTS_PROFILE_ARGS && r->argument != NO_FIELD)
        take_value(r, r->argument, text, length);
    else if (level == 3 && r->field == CTS_PROFILE_ARGS && r->argument != NO_FIELD &&
             fields[r->argument].kind == TRIPLE)
        take_triple_part(r, text, length);
    return !r->status;
}

static int on_null(void *state)
{
    (void)state;
    return 1; /* as if it were not there */
}

static int on_boolean(void *state, int value)
{
    (void)state, (void)value;
    return 1;
}

static int on_number(void *state, const char *text, size_t length)
{
    return take_scalar(state, text, length);
}

static int on_string(void *state, const unsigned char *text, size_t length)
{
    return take_scalar(state, (const char *)text, length);
}

/* ---- maps and arrays ---- */

static unsigned find_field(unsigned first, unsigned end, const char *key, size_t length)
{
    for (unsigned i = first; i < end; i++)
        if (fields[i].length == length && !memcmp(fields[i].key, key, length)) return i;
    return NO_FIELD;
}

static enum outer_key find_outer(const char *key, size_t length)
{
    static const struct {
        const char *key;
        enum outer_key outer;
    } keys[] = {{"traceEvents", OUTER_EVENTS},
                {"baseTimeNanoseconds", OUTER_BASE},
                {"distributedInfo", OUTER_DISTRIBUTED},
                {"deviceProperties", OUTER_DEVICES}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strlen(keys[i].key) == length && !memcmp(keys[i].key, key, length))
            return keys[i].outer;
    return OUTER_OTHER;
}

static int on_key(void *state, const unsigned char *text, size_t length)
{
    struct reader *const r = state;
    const char *const key = (const char *)text;
    if (r->priming) return 1;
    if (r->events_depth) {
        const unsigned level = r->depth - r->events_depth;
        if (level == 1)
            r->field = find_field(0, FIRST_ARGUMENT, key, length);
        else if (level == 2 && r->field == CTS_PROFILE_ARGS)
            r->argument = find_field(FIRST_ARGUMENT, NO_FIELD, key, length);
    } else if (r->depth == 1) {
        r->outer = find_outer(key, length);
    } else {
        const size_t kept = length < sizeof r->inner_key ? length : 0;
        memcpy(r->inner_key, key, kept);
        r->inner_key[kept] = 0;
    }
    return 1;
}

static void begin_event(struct reader *r)
{
    r->event.present = 0;
    r->texts.count = 0;
    r->field = r->argument = NO_FIELD;
    r->in_event = true;
}

static void add_device(struct reader *r)
{
    if (!cts_profile_file_add_device(r->file, r->error)) r->status = CTS_MEMORY;
}

static void descend(struct reader *r, bool is_map)
{
    if (r->depth < LEVELS_MAX) r->is_map[r->depth] = is_map;
    r->depth++;
}

static int on_start_map(void *state)
{
    struct reader *const r = state;
    if (r->priming) return 1;
    if (r->events_depth && r->depth == r->events_depth) begin_event(r);
    if (r->events_depth && r->depth == r->events_depth + 1) r->argument = NO_FIELD;
    descend(r, true);
    if (!r->events_depth && r->outer == OUTER_DEVICES && r->depth == 3) add_device(r);
    return !r->status;
}

static int on_end_map(void *state)
{
    struct reader *const r = state;
    if (r->priming) return 1;
    r->depth--;
    r->is_over = r->depth == 0;
    if (!r->events_depth || r->depth != r->events_depth || !r->in_event) return 1;
    r->in_event = false;
    r->event.texts = r->texts.items;
    r->status = r->take(r->state, &r->event, r->error);
    return !r->status;
}

static int on_start_array(void *state)
{
    struct reader *const r = state;
    if (r->priming) return 1;
    const bool is_list =
        !r->events_depth && (r->depth == 0 || (r->depth == 1 && r->outer == OUTER_EVENTS));
    descend(r, false);
    r->triple_at = 0;
    if (is_list) {
        r->events_depth = r->depth;
        r->file->has_events = true;
    }
    return 1;
}

static int on_end_array(void *state)
{
    struct reader *const r = state;
    if (r->priming) return 1;
    if (r->events_depth == r->depth) r->events_depth = 0;
    r->depth--;
    r->is_over = r->depth == 0;
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_start_map,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end_map,
    .yajl_start_array = on_start_array,
    .yajl_end_array = on_end_array,
};

/* ---- going on after an error ---- */

/* yajl looks at all of a string again with each piece of it that is read: quadratic work. */
enum { STRING_BYTES_MAX = 16 << 20, NO_MEMORY = 1, TOO_LONG = 2 }; /* the last: of longjmp() */

/* yajl uses what it is given unseen: without memory, the whole parse is left. */
static void *parser_malloc(void *state, size_t byte_count)
{
    struct reader *const r = state;
    void *const bytes = malloc(byte_count);
    if (!bytes) longjmp(r->no_memory, NO_MEMORY);
    return bytes;
}

static void *parser_realloc(void *state, void *before, size_t byte_count)
{
    struct reader *const r = state;
    r->is_too_long = byte_count > STRING_BYTES_MAX;
    void *const bytes = r->is_too_long ? NULL : realloc(before, byte_count);
    if (!bytes) longjmp(r->no_memory, r->is_too_long ? TOO_LONG : NO_MEMORY);
    return bytes;
}

static void parser_free(void *state, void *bytes)
{
    (void)state;
    free(bytes);
}

static bool new_parser(struct reader *r)
{
    yajl_alloc_funcs memory = {parser_malloc, parser_realloc, parser_free, r};
    if (r->yajl) yajl_free(r->yajl);
    r->yajl = NULL;
    r->yajl = yajl_alloc(&callbacks, &memory, r);
    return r->yajl && yajl_config(r->yajl, yajl_dont_validate_strings, 1) &&
           yajl_config(r->yajl, yajl_allow_trailing_garbage, 1);
}

/* A new parser that stands behind a value, with `depth` brackets open. */
static void prime(struct reader *r, unsigned depth)
{
    if (!new_parser(r)) {
        r->status = cts_fail(r->error, CTS_MEMORY, "no memory for a parser");
        return;
    }
    r->depth = depth;
    r->priming = true;
    for (unsigned i = 0; i < depth; i++) {
        static const unsigned char map[] = "{\"k\":", array[] = "[";
        (void)(r->is_map[i] ? yajl_parse(r->yajl, map, sizeof map - 1)
                            : yajl_parse(r->yajl, array, sizeof array - 1));
    }
    (void)yajl_parse(r->yajl, (const unsigned char *)"null", 4);
    r->priming = false;
}

static bool is_of_word(uint8_t byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z') || byte == '+' || byte == '-' || byte == '.';
}

static void tell_damage(struct reader *r, uint64_t at, const char *reason)
{
    if (*r->file->damage) return;
    const size_t length = strcspn(reason, "\n");
    snprintf(r->file->damage, sizeof r->file->damage, "byte %llu: %.*s", (unsigned long long)at,
             (int)(length < 120 ? length : 120), reason);
}

/* Of a list that ended while an event is sought the brackets are known as well. */
static void seek_event(struct reader *r)
{
    r->file->damaged_events += r->in_event;
    r->in_event = false;
    r->seeks_event = true;
    r->seek_at = 0;
}

/* What stood before the broken part of a value was perhaps taken for all of it. */
static void drop_value(struct reader *r)
{
    const unsigned level = r->in_event ? r->depth - r->events_depth : 0;
    const unsigned field = level == 1 ? r->field : level > 1 ? r->argument : NO_FIELD;
    if (field != NO_FIELD) r->event.present &= ~(UINT32_C(1) << field);
    r->file->broken_values++;
    r->skips_word = true;
}

/* yajl stopped at `at` of the chunk. */
static void recover(struct reader *r, const uint8_t *chunk, size_t at, size_t count)
{
    unsigned char *const text = yajl_get_error(r->yajl, 0, chunk, count);
    const char *const reason = text ? (const char *)text : "broken";
    const bool is_word = strstr(reason, "in json text") || strstr(reason, "malformed number");
    const bool at_word = (at < count && is_of_word(chunk[at])) || (at && is_of_word(chunk[at - 1]));
    tell_damage(r, r->chunk_at + at, reason);
    if (text) yajl_free_error(r->yajl, text);
    if (r->depth && r->depth < LEVELS_MAX && is_word && at_word) {
        drop_value(r);
        prime(r, r->depth);
    } else if (r->events_depth) {
        seek_event(r);
    } else {
        r->seeks_events = !r->file->has_events;
        r->seek_at = 0;
        r->is_over = r->file->has_events;
    }
}

/* Each returns how many bytes of the chunk are done with. */

static size_t skip_word(struct reader *r, const uint8_t *chunk, size_t count)
{
    size_t at = 0;
    while (at < count && is_of_word(chunk[at])) at++;
    r->skips_word = at == count;
    return at;
}

static size_t find_event(struct reader *r, const uint8_t *chunk, size_t count)
{
    static const char between[] = "},{\"";
    for (size_t i = 0; i < count; i++) {
        const uint8_t byte = chunk[i];
        if (byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r') continue;
        if (byte == between[r->seek_at])
            r->seek_at++;
        else
            r->seek_at = byte == '}';
        if (r->seek_at < sizeof between - 1) continue;
        r->seeks_event = false;
        prime(r, r->events_depth);
        if (!r->status) (void)yajl_parse(r->yajl, (const unsigned char *)",{", 2);
        return i; /* the quote is the event's first byte */
    }
    return count;
}

/* The list of events, where the JSON broke before it. */
static size_t find_events(struct reader *r, const uint8_t *chunk, size_t count)
{
    static const char name[] = "\"traceEvents\"";
    size_t at = 0;
    for (; at < count && r->seek_at < sizeof name - 1; at++)
        r->seek_at = chunk[at] == name[r->seek_at] ? r->seek_at + 1 : chunk[at] == name[0];
    if (r->seek_at < sizeof name - 1) return count;
    r->seeks_events = false;
    r->depth = 0;
    if (!new_parser(r)) {
        r->status = cts_fail(r->error, CTS_MEMORY, "no memory for a parser");
        return count;
    }
    (void)yajl_parse(r->yajl, (const unsigned char *)"{\"traceEvents\"", 14);
    return at;
}

static size_t parse_some(struct reader *r, const uint8_t *chunk, size_t count)
{
    if (r->skips_word) return skip_word(r, chunk, count);
    if (r->seeks_event) return find_event(r, chunk, count);
    if (r->seeks_events) return find_events(r, chunk, count);
    const yajl_status result = yajl_parse(r->yajl, chunk, count);
    if (result == yajl_status_ok && !r->is_over) return count;
    size_t at = yajl_get_bytes_consumed(r->yajl);
    if (at > count) at = count;
    if (result == yajl_status_error) recover(r, chunk, at, count);
    return at;
}

/* ---- the file ---- */

static void look_behind(struct reader *r, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!memchr(" \n\t\r", bytes[i], 4)) r->file->has_trailing = true;
}

static enum cts_status read_chunks(struct reader *r, uint8_t *chunk)
{
    size_t count = 1;
    while (count) {
        const enum cts_status status =
            cts_kineto_input_read(r->input, chunk, CHUNK_BYTES, &count, r->error);
        if (status) return status;
        r->chunk_at = r->file->bytes;
        r->file->bytes += count;
        size_t at = 0;
        while (at < count && !r->is_over && !r->status) {
            at += parse_some(r, chunk + at, count - at);
            r->chunk_at = r->file->bytes - (count - at);
        }
        if (r->status) return r->status;
        if (r->is_over) look_behind(r, chunk + at, count - at);
        if (r->file->has_trailing) return CTS_OK;
    }
    return CTS_OK;
}

static void judge_end(struct reader *r)
{
    const char *const packed = cts_kineto_input_damage(r->input);
    if (r->is_over && !packed) return;
    r->file->is_cut = true;
    r->file->damaged_events += r->in_event;
    if (packed) {
        char text[160];
        snprintf(text, sizeof text, "the packed data is damaged: %s", packed);
        tell_damage(r, r->file->bytes, text);
    }
    tell_damage(r, r->file->bytes, "the file ends early");
}

static enum cts_status parse(struct reader *r, uint8_t *chunk, struct cts_error *error)
{
    switch (setjmp(r->no_memory)) {
    case 0:
        break;
    case TOO_LONG:
        return cts_fail(error, CTS_FORMAT,
                        "byte %llu: a string is longer than 16 MiB, or brackets are nested as "
                        "deeply",
                        (unsigned long long)r->file->bytes);
    default:
        return cts_fail(error, CTS_MEMORY, "no memory for a parser");
    }
    if (!new_parser(r)) return cts_fail(error, CTS_MEMORY, "no memory for a parser");
    const enum cts_status status = read_chunks(r, chunk);
    if (!status) judge_end(r);
    return status;
}

enum cts_status cts_kineto_read(const char *path, struct cts_profile_file *file,
                                cts_profile_take *take, void *state, struct cts_error *error)
{
    struct reader *const r = calloc(1, sizeof *r);
    uint8_t *const chunk = malloc(CHUNK_BYTES);
    *file = (struct cts_profile_file){.program = "PyTorch"};
    enum cts_status status =
        r && chunk ? CTS_OK : cts_fail(error, CTS_MEMORY, "no memory to read '%s'", path);
    if (!status) {
        *r = (struct reader){.file = file, .take = take, .state = state, .error = error};
        status = cts_kineto_input_open(path, &r->input, error);
    }
    if (!status) status = parse(r, chunk, error);
    if (status && r && r->is_too_long) status = cts_context(error, "cannot import '%s'", path);
    if (!status && !file->has_events)
        status = cts_fail(error, CTS_FORMAT, "cannot import '%s': it has no list 'traceEvents'%s%s",
                          path, *file->damage ? ": " : "", file->damage);
    if (r) {
        if (r->yajl) yajl_free(r->yajl);
        cts_kineto_input_close(r->input);
        free(r->texts.items);
    }
    free(r);
    free(chunk);
    return status;
}
