/* What a test program expects to be recorded of it: lines in $EXPECTED/RANK.txt, as the text
 * recorder writes them but without times and requests, and with communicators by name. */
#ifndef EXPECT_H
#define EXPECT_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *expected_file;

static inline void expect_open(int rank)
{
    char path[4096];
    const char *const directory = getenv("EXPECTED");
    if (!directory) return;
    snprintf(path, sizeof(path), "%s/%d.txt", directory, rank);
    expected_file = fopen(path, "w");
}

__attribute__((format(printf, 1, 2))) static inline void expect(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (expected_file) {
        vfprintf(expected_file, format, arguments);
        fputc('\n', expected_file);
    }
    va_end(arguments);
}

static inline void expect_close(void)
{
    if (expected_file) fclose(expected_file);
}

static inline void expect_message(const char *kind, const char *comm, int peer, int tag, long bytes)
{
    expect("%s comm=%s peer=%d tag=%d bytes=%ld", kind, comm, peer, tag, bytes);
}

static inline void expect_collective(const char *comm, int operation, int root, long sent,
                                     long received)
{
    expect("COLLECTIVE_END comm=%s op=%d root=%d sent=%ld received=%ld", comm, operation, root,
           sent, received);
}

#endif
