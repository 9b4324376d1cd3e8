/* A streaming JSON writer. It keeps commas, indentation and escaping right; the caller keeps opens
 * and closes balanced. Integers are written with all their digits (readers that use doubles lose
 * those above 2^53; ours do not), doubles so that reading them back gives the same value, NaN and
 * infinities as null, bytes that are no UTF-8 as U+FFFD. A failing stream is noticed by
 * cts_json_end(). Not thread-safe; the caller owns the stream. */
#ifndef CTS_COMMON_JSON_H
#define CTS_COMMON_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/error.h"

struct cts_json {
    FILE *file;
    unsigned depth;
    unsigned row_depth; /* depth of the outermost container that is kept on one line; 0: none */
    bool has_member;    /* the open container has a member already */
    bool after_key;
};

void cts_json_begin(struct cts_json *json, FILE *file);
/* Writes the last newline and flushes; CTS_IO when anything could not be written. */
CTS_MUST_CHECK enum cts_status cts_json_end(struct cts_json *json, struct cts_error *error);
/* The same after writing that returned `status`, which it returns if that is a failure: then
 * containers may be open, and the error is left as it is. */
CTS_MUST_CHECK enum cts_status cts_json_end_after(struct cts_json *json, enum cts_status status,
                                                  struct cts_error *error);

/* Containers, as a value or the next element. What is inside a _row stays on one line. */
void cts_json_open_object(struct cts_json *json);
void cts_json_open_array(struct cts_json *json);
void cts_json_open_object_row(struct cts_json *json);
void cts_json_open_array_row(struct cts_json *json);
void cts_json_close_object(struct cts_json *json);
void cts_json_close_array(struct cts_json *json);

/* The key of the next value. */
void cts_json_key(struct cts_json *json, const char *key);

void cts_json_string(struct cts_json *json, const char *text); /* NULL: null */
void cts_json_u64(struct cts_json *json, uint64_t value);
void cts_json_i64(struct cts_json *json, int64_t value);
void cts_json_double(struct cts_json *json, double value);
void cts_json_bool(struct cts_json *json, bool value);
void cts_json_null(struct cts_json *json);
void cts_json_hex(struct cts_json *json, uint64_t value); /* "0x7f00", a string */

/* key and value in one call */
void cts_json_member_string(struct cts_json *json, const char *key, const char *text);
void cts_json_member_u64(struct cts_json *json, const char *key, uint64_t value);
void cts_json_member_i64(struct cts_json *json, const char *key, int64_t value);
void cts_json_member_double(struct cts_json *json, const char *key, double value);
void cts_json_member_bool(struct cts_json *json, const char *key, bool value);
void cts_json_member_hex(struct cts_json *json, const char *key, uint64_t value);

#endif
