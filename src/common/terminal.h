/* What a person reads goes to a terminal without control: names of kernels, variables and files
 * come from other people's programs, and may hold escape sequences or overrides of the writing
 * direction.
 *
 * cts_terminal_guard() puts a filter under stdout and stderr that shows each such character, and
 * each byte that is no UTF-8, as '?'; line feeds and tabs pass. What ctascope itself wants a
 * terminal to do goes through cts_terminal_control(). */
#ifndef CTS_COMMON_TERMINAL_H
#define CTS_COMMON_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Guards both streams until the process ends. Call once, before anything is printed. */
void cts_terminal_guard(void);
/* Lets stdout pass as it is, where it is no terminal: for output that programs read. */
void cts_terminal_pass_stdout(void);
/* Writes a control sequence of ctascope itself, which the guard would remove. */
void cts_terminal_control(FILE *file, const char *sequence);
/* Why writing to a stream failed: an errno value, or EIO if the reason is unknown. */
int cts_terminal_errno(FILE *file);
/* Whether a stream is a terminal, guarded or not. */
bool cts_is_terminal(FILE *file);
/* How wide the lines of stdout or stderr may be: $COLUMNS, else the terminal's width, else 0: as
 * wide as they get, since a program or file takes them. 0 for other streams. */
size_t cts_terminal_columns(FILE *file);

#endif
