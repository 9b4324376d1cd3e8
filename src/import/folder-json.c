/* The JSON files of a trace folder. The members of the outermost object are walked one by one, and
 * the long lists in it element by element, so that no more than a request is a tree at a time;
 * Jansson parses each value. */
#include "import/folder.h"

#include <ctype.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"

enum { VALUE_BYTES_MAX = 1 << 30, PATH_BYTES = 64 };

struct walker {
    const uint8_t *at, *end, *begin;
    char where[PATH_BYTES]; /* "warps[17]", for messages */
    struct cts_error *error;
};

/* ---- walking ---- */

__attribute__((format(printf, 2, 3))) static enum cts_status bad(const struct walker *w,
                                                                 const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return cts_fail(w->error, CTS_FORMAT, "byte %zu: %s%s%s", (size_t)(w->at - w->begin), w->where,
                    *w->where ? ": " : "", text);
}

static void skip_space(struct walker *w)
{
    while (w->at < w->end && isspace(*w->at)) w->at++;
}

static bool take(struct walker *w, uint8_t byte)
{
    skip_space(w);
    if (w->at == w->end || *w->at != byte) return false;
    w->at++;
    return true;
}

/* The next value; NULL after an error. The caller owns it. */
static json_t *take_value(struct walker *w)
{
    json_error_t problem;
    skip_space(w);
    const size_t left = (size_t)(w->end - w->at);
    json_t *const value =
        json_loadb((const char *)w->at, left < VALUE_BYTES_MAX ? left : VALUE_BYTES_MAX,
                   JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK, &problem);
    if (!value) {
        w->at += problem.position > 0 && (size_t)problem.position <= left ? problem.position : 0;
        (void)bad(w, "%s", problem.text);
        return NULL;
    }
    w->at += problem.position;
    return value;
}

/* What takes the value of a member of the outermost object; it may leave w->at where it is for the
 * member to be skipped. */
typedef enum cts_status take_member(struct walker *w, void *to, const char *key);

static enum cts_status walk_object(struct walker *w, take_member *member, void *to)
{
    if (!take(w, '{')) return bad(w, "'{' expected");
    if (take(w, '}')) return CTS_OK;
    do {
        w->where[0] = '\0';
        json_t *const key = take_value(w);
        if (!key) return CTS_FORMAT;
        enum cts_status status = CTS_OK;
        if (!json_is_string(key) || !take(w, ':'))
            status = bad(w, "'\"name\":' expected");
        else {
            snprintf(w->where, sizeof w->where, "%.*s", PATH_BYTES / 2, json_string_value(key));
            skip_space(w);
            const uint8_t *const before = w->at;
            status = member(w, to, json_string_value(key));
            if (!status && w->at == before) {
                json_t *const skipped = take_value(w);
                if (!skipped) status = CTS_FORMAT;
                json_decref(skipped);
            }
        }
        json_decref(key);
        if (status) return status;
    } while (take(w, ','));
    w->where[0] = '\0';
    if (!take(w, '}')) return bad(w, "',' or '}' expected");
    skip_space(w);
    return w->at == w->end ? CTS_OK : bad(w, "unexpected text after the end");
}

typedef enum cts_status take_element(struct walker *w, void *to, const json_t *element);

static enum cts_status walk_array(struct walker *w, take_element *element, void *to)
{
    char name[PATH_BYTES / 2];
    snprintf(name, sizeof name, "%.*s", (int)sizeof name - 1, w->where);
    if (!take(w, '[')) return bad(w, "expected a list");
    if (take(w, ']')) return CTS_OK;
    size_t index = 0;
    do {
        snprintf(w->where, sizeof w->where, "%s[%zu]", name, index++);
        json_t *const value = take_value(w);
        if (!value) return CTS_FORMAT;
        const enum cts_status status = json_is_object(value) || json_is_string(value)
                                           ? element(w, to, value)
                                           : bad(w, "expected an object");
        json_decref(value);
        if (status) return status;
    } while (take(w, ','));
    return take(w, ']') ? CTS_OK : bad(w, "',' or ']' expected");
}

/* ---- members of a value ---- */

struct limits {
    int64_t least, most;
    int64_t otherwise; /* where the member is missing, if within the limits */
};

static enum cts_status integer(const struct walker *w, const json_t *object, const char *key,
                               struct limits limits, int64_t *number)
{
    const int64_t least = limits.least, most = limits.most, otherwise = limits.otherwise;
    const json_t *const value = json_object_get(object, key);
    *number = otherwise;
    if (!value)
        return otherwise >= least && otherwise <= most ? CTS_OK : bad(w, "'%s' is missing", key);
    const double real = json_number_value(value);
    if (!json_is_number(value) || !(real >= (double)least && real <= (double)most) ||
        real != (double)(int64_t)real)
        return bad(w, "'%s' is not an integer from %lld to %lld", key, (long long)least,
                   (long long)most);
    *number = json_is_integer(value) ? (int64_t)json_integer_value(value) : (int64_t)real;
    return CTS_OK;
}

static enum cts_status small(const struct walker *w, const json_t *object, const char *key,
                             uint32_t most, uint32_t *number)
{
    int64_t value;
    const enum cts_status status = integer(w, object, key, (struct limits){0, most, -1}, &value);
    *number = status ? 0 : (uint32_t)value;
    return status;
}

static enum cts_status indexed(const struct walker *w, const json_t *object, const char *key,
                               int32_t *index)
{
    int64_t value;
    const enum cts_status status =
        integer(w, object, key, (struct limits){INT32_MIN, INT32_MAX, CTS_FOLDER_NO_INDEX}, &value);
    *index = status || value < 0 ? CTS_FOLDER_NO_INDEX : (int32_t)value;
    return status;
}

/* A number that may be text. */
static enum cts_status wide(const struct walker *w, const json_t *object, const char *key,
                            uint64_t *number)
{
    const json_t *const value = json_object_get(object, key);
    if (!value) return bad(w, "'%s' is missing", key);
    if (json_is_string(value) && cts_folder_number(json_string_value(value), number)) return CTS_OK;
    const double real = json_number_value(value);
    if (!json_is_number(value) || !(real >= 0 && real < 0x1p63))
        return bad(w, "'%s' is not a number", key);
    *number = json_is_integer(value) ? (uint64_t)json_integer_value(value) : (uint64_t)real;
    return CTS_OK;
}

static enum cts_status extents(const struct walker *w, const json_t *object, uint32_t to[3])
{
    static const char *const names[] = {"x", "y", "z"};
    if (!json_is_object(object)) return bad(w, "expected an object with x, y and z");
    for (unsigned d = 0; d < 3; d++) {
        const enum cts_status status = small(w, object, names[d], INT32_MAX, &to[d]);
        if (status) return status;
    }
    return CTS_OK;
}

/* A copy of a text; *to stays NULL where there is none. */
static enum cts_status text(const struct walker *w, const json_t *value, char **to)
{
    if (!value || json_is_null(value)) return CTS_OK;
    if (!json_is_string(value)) return bad(w, "expected a text");
    free(*to);
    *to = strdup(json_string_value(value));
    return *to ? CTS_OK : cts_fail(w->error, CTS_MEMORY, "no memory for a text");
}

static enum cts_status take_text(struct walker *w, char **to)
{
    json_t *const value = take_value(w);
    const enum cts_status status = value ? text(w, value, to) : CTS_FORMAT;
    json_decref(value);
    return status;
}

static enum cts_status take_double(struct walker *w, double *to)
{
    json_t *const value = take_value(w);
    const enum cts_status status = !value                  ? CTS_FORMAT
                                   : json_is_number(value) ? CTS_OK
                                                           : bad(w, "expected a number");
    if (!status) *to = json_number_value(value);
    json_decref(value);
    return status;
}

/* ---- traces ---- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Our own member for a value of several words: "0x" and 16 digits for each, the lowest one last. */
static enum cts_status take_words(const struct walker *w, struct cts_folder_trace *trace,
                                  const json_t *value, struct cts_folder_lane *lane)
{
    const char *const text = json_is_string(value) ? json_string_value(value) : "";
    const size_t digits = strncmp(text, "0x", 2) ? 0 : strlen(text + 2), words = digits / 16;
    if (!words || digits % 16 || words > CTS_FOLDER_WORDS_MAX)
        return bad(w, "'values' is not 1 to 16 times 16 hexadecimal digits");
    if (CTS_ARRAY_RESERVE(&trace->words, trace->words.count + words, w->error)) return CTS_MEMORY;
    uint64_t *const to = trace->words.items + trace->words.count;
    memset(to, 0, words * sizeof *to);
    for (size_t i = 0; i < digits; i++) {
        const int digit = hex_digit(text[2 + i]);
        if (digit < 0) return bad(w, "'values' has a character that is not a hexadecimal digit");
        uint64_t *const word = &to[words - 1 - i / 16];
        *word = *word << 4 | (unsigned)digit;
    }
    lane->value_words = (uint8_t)words;
    lane->value = words == 1 ? *to : trace->words.count;
    trace->words.count += words;
    return CTS_OK;
}

static enum cts_status take_lane(const struct walker *w, struct cts_folder_trace *trace,
                                 const json_t *access)
{
    if (CTS_ARRAY_RESERVE(&trace->lanes, trace->lanes.count + 1, w->error)) return CTS_MEMORY;
    struct cts_folder_lane *const lane = &trace->lanes.items[trace->lanes.count];
    *lane = (struct cts_folder_lane){0};
    enum cts_status status = extents(w, json_object_get(access, "threadIdx"), lane->thread);
    if (!status) status = wide(w, access, "address", &lane->address);
    const json_t *const value = json_object_get(access, "value");
    if (!status && json_is_string(value) && *json_string_value(value)) {
        status = wide(w, access, "value", &lane->value);
        lane->value_words = 1;
    }
    const json_t *const words = json_object_get(access, "values");
    if (!status && words) status = take_words(w, trace, words, lane);
    if (!status) trace->lanes.count++;
    return status;
}

static enum cts_status take_request(struct walker *w, void *to, const json_t *element)
{
    struct cts_folder_trace *const trace = to;
    uint32_t kind, space, operation = 0;
    if (CTS_ARRAY_RESERVE(&trace->requests, trace->requests.count + 1, w->error)) return CTS_MEMORY;
    struct cts_folder_request *const request = &trace->requests.items[trace->requests.count];
    *request = (struct cts_folder_request){.first_lane = trace->lanes.count};
    enum cts_status status = extents(w, json_object_get(element, "blockIdx"), request->cta);
    if (!status) status = indexed(w, element, "debugId", &request->place);
    if (!status) status = indexed(w, element, "typeIndex", &request->type_index);
    if (!status) status = small(w, element, "size", CTS_FOLDER_WIDTH_MAX, &request->width_bytes);
    if (!status) status = small(w, element, "kind", UINT8_MAX, &kind);
    if (!status) status = small(w, element, "space", UINT8_MAX, &space);
    if (!status && json_object_get(element, "operation"))
        status = small(w, element, "operation", CTS_FOLDER_OPERATION_LAST, &operation);
    if (!status) status = wide(w, element, "timestamp", &request->timestamp);
    if (status) return status;
    request->kind = (uint8_t)kind;
    request->space = (uint8_t)space;
    request->operation = (uint8_t)operation;
    const json_t *const accesses = json_object_get(element, "accesses");
    if (trace->is_flat) {
        status = take_lane(w, trace, element);
    } else if (!json_is_array(accesses)) {
        status = bad(w, "'accesses' is missing");
    }
    for (size_t i = 0; !trace->is_flat && !status && i < json_array_size(accesses); i++)
        status = take_lane(w, trace, json_array_get(accesses, i));
    request->lane_count = trace->lanes.count - request->first_lane;
    if (!status && request->lane_count) trace->requests.count++;
    return status;
}

static enum cts_status take_allocation(struct walker *w, void *to, const json_t *element)
{
    struct cts_folder_trace *const trace = to;
    if (CTS_ARRAY_RESERVE(&trace->allocations, trace->allocations.count + 1, w->error))
        return CTS_MEMORY;
    struct cts_folder_allocation *const a = &trace->allocations.items[trace->allocations.count++];
    *a = (struct cts_folder_allocation){0};
    uint32_t space = 0;
    int64_t element_bytes = 0;
    enum cts_status status = wide(w, element, "address", &a->address);
    if (!status) status = wide(w, element, "size", &a->size_bytes);
    if (!status)
        status =
            integer(w, element, "elementSize", (struct limits){0, UINT32_MAX, 0}, &element_bytes);
    if (!status) status = small(w, element, "space", UINT8_MAX, &space);
    if (!status) status = indexed(w, element, "typeIndex", &a->type_index);
    if (!status) status = indexed(w, element, "nameIndex", &a->name_index);
    if (!status) status = text(w, json_object_get(element, "typeString"), &a->type);
    if (!status) status = text(w, json_object_get(element, "nameString"), &a->name);
    if (!status) status = text(w, json_object_get(element, "location"), &a->location);
    a->element_bytes = (uint32_t)element_bytes;
    a->space = (uint8_t)space;
    a->active = !json_is_false(json_object_get(element, "active"));
    return status;
}

static enum cts_status take_extents(struct walker *w, uint32_t to[3])
{
    json_t *const value = take_value(w);
    const enum cts_status status = value ? extents(w, value, to) : CTS_FORMAT;
    json_decref(value);
    return status;
}

static enum cts_status trace_member(struct walker *w, void *to, const char *key)
{
    struct cts_folder_trace *const trace = to;
    double number = 0;
    enum cts_status status;
    if (!strcmp(key, "kernel")) return take_text(w, &trace->kernel);
    if (!strcmp(key, "start")) return take_double(w, &trace->start_ms);
    if (!strcmp(key, "end")) return take_double(w, &trace->end_ms);
    if (!strcmp(key, "gridDim")) return take_extents(w, trace->grid);
    if (!strcmp(key, "blockDim")) return take_extents(w, trace->block);
    if (!strcmp(key, "allocations")) return walk_array(w, take_allocation, trace);
    if (!strcmp(key, "warps") || !strcmp(key, "accesses")) {
        if (trace->requests.count) return bad(w, "duplicate accesses");
        trace->is_flat = *key == 'a';
        return walk_array(w, take_request, trace);
    }
    if (!strcmp(key, "warpSize") || !strcmp(key, "bankSize")) {
        if ((status = take_double(w, &number))) return status;
        if (!(number >= 0 && number <= 1024))
            return bad(w, "%g is not an integer from 0 to 1024", number);
        *(*key == 'w' ? &trace->warp_size : &trace->bank_bytes) = (uint32_t)number;
        return CTS_OK;
    }
    if (!strcmp(key, "sharedBase")) {
        char *base = NULL;
        if ((status = take_text(w, &base))) return status;
        trace->has_shared_base = base && cts_folder_number(base, &trace->shared_base);
        free(base);
        return trace->has_shared_base ? CTS_OK : bad(w, "expected an address");
    }
    return CTS_OK;
}

enum cts_status cts_folder_parse_json(const uint8_t *bytes, size_t byte_count,
                                      struct cts_folder_trace *trace, struct cts_error *error)
{
    struct walker w = {.at = bytes, .begin = bytes, .end = bytes + byte_count, .error = error};
    *trace = (struct cts_folder_trace){0};
    enum cts_status status = walk_object(&w, trace_member, trace);
    if (!status) status = cts_folder_check(trace, error);
    if (status) cts_folder_trace_release(trace);
    return status;
}

/* ---- the other files ---- */

static enum cts_status take_one_text(struct walker *w, void *to, const json_t *element)
{
    struct cts_folder_texts *const texts = to;
    if (CTS_ARRAY_RESERVE(texts, texts->count + 1, w->error)) return CTS_MEMORY;
    char **const item = &texts->items[texts->count++];
    *item = NULL;
    return json_is_string(element) ? text(w, element, item) : bad(w, "expected a text");
}

static enum cts_status take_place(struct walker *w, void *to, const json_t *element)
{
    struct cts_folder_metadata *const metadata = to;
    int64_t line;
    if (CTS_ARRAY_RESERVE(&metadata->places, metadata->places.count + 1, w->error))
        return CTS_MEMORY;
    struct cts_folder_place *const place = &metadata->places.items[metadata->places.count++];
    *place = (struct cts_folder_place){0};
    enum cts_status status = text(w, json_object_get(element, "file"), &place->file);
    if (!status) status = text(w, json_object_get(element, "variable"), &place->variable);
    if (!status) status = integer(w, element, "line", (struct limits){-1, INT32_MAX, 0}, &line);
    if (!status && line > 0) place->line = (uint32_t)line;
    return status;
}

static enum cts_status take_source(struct walker *w, struct cts_folder_metadata *metadata)
{
    json_t *const value = take_value(w);
    int64_t line = 0;
    if (!value) return CTS_FORMAT;
    enum cts_status status = text(w, json_object_get(value, "file"), &metadata->source_path);
    if (!status) status = text(w, json_object_get(value, "content"), &metadata->source_text);
    if (!status) status = integer(w, value, "line", (struct limits){-1, INT32_MAX, 0}, &line);
    if (!status && line > 0) metadata->source_line = (uint32_t)line;
    json_decref(value);
    return status;
}

static enum cts_status metadata_member(struct walker *w, void *to, const char *key)
{
    struct cts_folder_metadata *const metadata = to;
    if (!strcmp(key, "kernel")) return take_text(w, &metadata->kernel);
    if (!strcmp(key, "locations")) return walk_array(w, take_place, metadata);
    if (!strcmp(key, "typeMap")) return walk_array(w, take_one_text, &metadata->types);
    if (!strcmp(key, "nameMap")) return walk_array(w, take_one_text, &metadata->names);
    if (!strcmp(key, "source")) return take_source(w, metadata);
    return CTS_OK;
}

enum cts_status cts_folder_parse_metadata(const uint8_t *bytes, size_t byte_count,
                                          struct cts_folder_metadata *metadata,
                                          struct cts_error *error)
{
    struct walker w = {.at = bytes, .begin = bytes, .end = bytes + byte_count, .error = error};
    *metadata = (struct cts_folder_metadata){0};
    enum cts_status status = walk_object(&w, metadata_member, metadata);
    if (!status && !metadata->kernel)
        status = cts_fail(error, CTS_FORMAT, "it does not name its kernel");
    if (status) cts_folder_metadata_release(metadata);
    return status;
}

static enum cts_status run_member(struct walker *w, void *to, const char *key)
{
    struct cts_folder_run *const run = to;
    if (!strcmp(key, "start")) return take_double(w, &run->start_ms);
    if (!strcmp(key, "end")) return take_double(w, &run->end_ms);
    if (!strcmp(key, "traces")) return walk_array(w, take_one_text, &run->traces);
    return CTS_OK;
}

enum cts_status cts_folder_parse_run(const uint8_t *bytes, size_t byte_count,
                                     struct cts_folder_run *run, struct cts_error *error)
{
    struct walker w = {.at = bytes, .begin = bytes, .end = bytes + byte_count, .error = error};
    *run = (struct cts_folder_run){0};
    const enum cts_status status = walk_object(&w, run_member, run);
    if (status) cts_folder_run_release(run);
    return status;
}
