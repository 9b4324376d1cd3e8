#include "common/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum cts_status cts_fail(struct cts_error *error, enum cts_status status, const char *format, ...)
{
    if (!error) return status;
    va_list args;
    va_start(args, format);
    error->status = status;
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return status;
}

enum cts_status cts_fail_errno(struct cts_error *error, int errnum, const char *format, ...)
{
    if (!error) return CTS_IO;
    char system_text[128];
    const char *text = strerror_r(errnum, system_text, sizeof system_text);
    va_list args;
    va_start(args, format);
    error->status = CTS_IO;
    int length = vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    if (length >= 0 && (size_t)length < sizeof error->text)
        snprintf(error->text + length, sizeof error->text - (size_t)length, ": %s", text);
    return CTS_IO;
}

enum cts_status cts_context(struct cts_error *error, const char *format, ...)
{
    if (!error) return CTS_IO;
    char old[sizeof error->text];
    snprintf(old, sizeof old, "%s", error->text);
    va_list args;
    va_start(args, format);
    int length = vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    if (length >= 0 && (size_t)length + 2 < sizeof error->text)
        snprintf(error->text + length, sizeof error->text - (size_t)length, ": %.*s",
                 (int)(sizeof error->text - (size_t)length - 3), old);
    return error->status;
}
