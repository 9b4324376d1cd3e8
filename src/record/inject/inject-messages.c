/* What the parts of libctascope_cupti.so write to the run's messages, and the recorder and CUPTI
 * that they all use. */
#include <stdarg.h>
#include <stdio.h>

#include "inject.h"

struct cts_cupti cts_cupti;
const struct cts_recorder *cts_inject_recorder;

void cts_inject_say(const char *severity, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cts_inject_recorder->message(severity, text);
}
