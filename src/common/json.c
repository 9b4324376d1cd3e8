/* The writer knows three things: how deep it is, whether the open container has a member (so that
 * the next one needs a comma), and whether a key waits for its value. "Has a member" needs no
 * stack: when a container closes, the one around it has at least that member.
 *
 * A list of launches or transfers easily has 100 MB: whatever is written for each member goes to
 * the stream without its lock and without printf. */
#include "common/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/terminal.h"
#include "common/utf8.h"
#include "common/promise.h"

void cts_json_begin(struct cts_json *json, FILE *file)
{
    *json = (struct cts_json){.file = file};
}

enum cts_status cts_json_end(struct cts_json *json, struct cts_error *error)
{
    assert(!json->depth && !json->after_key);
    fputc('\n', json->file);
    if (fflush(json->file) || ferror(json->file))
        return cts_fail_errno(error, cts_terminal_errno(json->file),
                              "cannot write the JSON output");
    return CTS_OK;
}

enum cts_status cts_json_end_after(struct cts_json *json, enum cts_status status,
                                   struct cts_error *error)
{
    if (!status) return cts_json_end(json, error);
    fputc('\n', json->file);
    return status;
}

static inline void put(const struct cts_json *json, char c)
{
    putc_unlocked(c, json->file);
}

static void put_bytes(const struct cts_json *json, const char *bytes, size_t length)
{
    fwrite_unlocked(bytes, 1, length, json->file);
}

static bool on_one_line(const struct cts_json *json)
{
    return json->row_depth && json->depth >= json->row_depth;
}

static void line_break(const struct cts_json *json)
{
    put(json, '\n');
    for (unsigned i = 0; i < json->depth; i++) put_bytes(json, "  ", 2);
}

/* What stands in front of a value or key. */
static void lead(struct cts_json *json)
{
    if (json->after_key) {
        json->after_key = false;
        return;
    }
    if (json->has_member) put(json, ',');
    if (json->depth && !on_one_line(json))
        line_break(json);
    else if (json->has_member)
        put(json, ' ');
    json->has_member = true;
}

static void open_container(struct cts_json *json, char bracket, bool row)
{
    lead(json);
    put(json, bracket);
    json->depth++;
    json->has_member = false;
    if (row && !json->row_depth) json->row_depth = json->depth;
}

static void close_container(struct cts_json *json, char bracket)
{
    assert(json->depth && !json->after_key); /* opens and closes are balanced */
    const bool one_line = on_one_line(json);
    if (json->row_depth == json->depth) json->row_depth = 0;
    json->depth--;
    if (json->has_member && !one_line) line_break(json);
    put(json, bracket);
    json->has_member = true;
}

void cts_json_open_object(struct cts_json *json)
{
    open_container(json, '{', false);
}
void cts_json_open_array(struct cts_json *json)
{
    open_container(json, '[', false);
}
void cts_json_open_object_row(struct cts_json *json)
{
    open_container(json, '{', true);
}
void cts_json_open_array_row(struct cts_json *json)
{
    open_container(json, '[', true);
}
void cts_json_close_object(struct cts_json *json)
{
    close_container(json, '}');
}
void cts_json_close_array(struct cts_json *json)
{
    close_container(json, ']');
}

/* A character of one byte, escaped where JSON or a terminal needs it. */
static void write_ascii(FILE *file, unsigned char c)
{
    static const char short_escapes[] = {['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
                                         ['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't'};
    if (c < sizeof short_escapes && short_escapes[c]) {
        fputc('\\', file);
        fputc(short_escapes[c], file);
    } else if (c < 0x20 || c == 0x7f) {
        fprintf(file, "\\u%04x", c);
    } else {
        fputc(c, file);
    }
}

/* A character of two bytes or more; one that a terminal would obey as an escape. All of those lie
 * below U+10000. */
static void write_character(FILE *file, const char *text, size_t length)
{
    const unsigned char *const t = (const unsigned char *)text;
    if (cts_utf8_is_plain(text))
        fwrite(text, 1, length, file);
    else if (length == 2)
        fprintf(file, "\\u%04x", (t[0] & 0x1fu) << 6 | (t[1] & 0x3fu));
    else
        fprintf(file, "\\u%04x", (t[0] & 0x0fu) << 12 | (t[1] & 0x3fu) << 6 | (t[2] & 0x3fu));
}

/* As many characters as are written as they are, and have one byte each. */
static size_t simple_length(const char *text)
{
    const char *at = text;
    while (*at >= 0x20 && *at < 0x7f && *at != '"' && *at != '\\') at++;
    return (size_t)(at - text);
}

static void write_text(const struct cts_json *json, const char *text)
{
    put(json, '"');
    while (*text) {
        const size_t simple = simple_length(text);
        put_bytes(json, text, simple);
        text += simple;
        if (!*text) break;
        const size_t length = cts_utf8_length(text);
        if (length == 0) {
            fputs("\\ufffd", json->file);
            text++;
        } else if (length == 1) {
            write_ascii(json->file, (unsigned char)*text++);
        } else {
            write_character(json->file, text, length);
            text += length;
        }
    }
    put(json, '"');
}

void cts_json_key(struct cts_json *json, const char *key)
{
    assert(json->depth && !json->after_key);
    lead(json);
    write_text(json, key);
    put_bytes(json, ": ", 2);
    json->after_key = true;
}

static void write_plain(const struct cts_json *json, const char *text)
{
    put_bytes(json, text, strlen(text));
}

void cts_json_string(struct cts_json *json, const char *text)
{
    lead(json);
    if (text)
        write_text(json, text);
    else
        write_plain(json, "null");
}

static void write_number(const struct cts_json *json, bool is_negative, uint64_t magnitude)
{
    char digits[21];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + magnitude % 10);
    while (magnitude /= 10);
    if (is_negative) digits[--at] = '-';
    put_bytes(json, digits + at, sizeof digits - at);
}

void cts_json_u64(struct cts_json *json, uint64_t value)
{
    lead(json);
    write_number(json, false, value);
}

void cts_json_i64(struct cts_json *json, int64_t value)
{
    lead(json);
    write_number(json, value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* The shortest of the usual precisions that reads back as the same value; for whole numbers of up
 * to 15 digits these are their digits. */
void cts_json_double(struct cts_json *json, double value)
{
    lead(json);
    if (!isfinite(value)) {
        write_plain(json, "null");
        return;
    }
    if (fabs(value) < 1e15 && (double)(int64_t)value == value && !(value == 0 && signbit(value))) {
        write_number(json, value < 0, (uint64_t)fabs(value));
        return;
    }
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    write_plain(json, text);
}

void cts_json_bool(struct cts_json *json, bool value)
{
    lead(json);
    write_plain(json, value ? "true" : "false");
}

void cts_json_null(struct cts_json *json)
{
    lead(json);
    write_plain(json, "null");
}

void cts_json_hex(struct cts_json *json, uint64_t value)
{
    lead(json);
    fprintf(json->file, "\"0x%llx\"", (unsigned long long)value);
}

void cts_json_member_string(struct cts_json *json, const char *key, const char *text)
{
    cts_json_key(json, key);
    cts_json_string(json, text);
}
void cts_json_member_u64(struct cts_json *json, const char *key, uint64_t value)
{
    cts_json_key(json, key);
    cts_json_u64(json, value);
}
void cts_json_member_i64(struct cts_json *json, const char *key, int64_t value)
{
    cts_json_key(json, key);
    cts_json_i64(json, value);
}
void cts_json_member_double(struct cts_json *json, const char *key, double value)
{
    cts_json_key(json, key);
    cts_json_double(json, value);
}
void cts_json_member_bool(struct cts_json *json, const char *key, bool value)
{
    cts_json_key(json, key);
    cts_json_bool(json, value);
}
void cts_json_member_hex(struct cts_json *json, const char *key, uint64_t value)
{
    cts_json_key(json, key);
    cts_json_hex(json, value);
}
