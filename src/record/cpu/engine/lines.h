/* The source line of an instruction of device code, for the text of a fault. */
#ifndef CTS_ENGINE_LINES_H
#define CTS_ENGINE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cts_line {
    char file[256]; /* as the line table has it: a name, or directory/name */
    uint32_t line;
};

/* Looks an address of code up in the line tables of the program or library that holds it (DWARF 2
 * to 4, which is what device code is compiled to). Of code that was inlined from a file for which
 * `is_wanted` is false, the line before it in a file that is. False: there is no such line. Opens
 * and maps the file; not for a signal's handler. */
bool cts_line_of(const void *code, bool (*is_wanted)(const void *user, const char *file),
                 const void *user, struct cts_line *line);

#endif
