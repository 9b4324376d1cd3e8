/* Status codes and the error chain.
 *
 * Library code neither prints nor exits. A function that can fail returns a status, and describes
 * the failure in the `struct cts_error` that its caller passed in: the function that saw the
 * failure calls cts_fail() once; each layer above may put what it was doing in front with
 * cts_context(). Only a verb prints. The result reads like
 *
 *     cannot read 'r/rank-0/0.acc': chunk at byte 4096: length 9 exceeds remaining 3
 *
 * Nobody owns or frees anything: a cts_error is a plain value with a fixed ceiling on its text. */
#ifndef CTS_COMMON_ERROR_H
#define CTS_COMMON_ERROR_H

#include <stddef.h>

#define CTS_STATUS_MAP(X)                                                                          \
    X(OK, "done")                                                                                  \
    X(IO, "the system refused to read or write")                                                   \
    X(FORMAT, "the input is damaged or inconsistent")                                              \
    X(VERSION, "the input is from another version")                                                \
    X(LIMIT, "a stated limit is exceeded")                                                         \
    X(MEMORY, "out of memory")                                                                     \
    X(USAGE, "the request makes no sense")                                                         \
    X(UNSUPPORTED, "this machine or build lacks what was asked for")

enum cts_status {
#define X(name, text) CTS_##name,
    CTS_STATUS_MAP(X)
#undef X
        CTS_STATUS_COUNT
};

#define CTS_MUST_CHECK __attribute__((warn_unused_result))

struct cts_error {
    enum cts_status status;
    char text[1000]; /* NUL-terminated, one line, lower case, no full stop; cut when too long */
};

/* Describes a failure (replacing whatever `error` held) and returns `status`, so that a caller can
 * write `return cts_fail(error, CTS_FORMAT, "...")`. `error` may be NULL. */
enum cts_status cts_fail(struct cts_error *error, enum cts_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Like cts_fail() with ": " and the text of errno value `errnum` at the end. */
enum cts_status cts_fail_errno(struct cts_error *error, int errnum, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "what was being done: " in front of the description; returns the status that is there. */
enum cts_status cts_context(struct cts_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
