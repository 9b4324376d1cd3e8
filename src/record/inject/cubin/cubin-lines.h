/* Line tables of a cubin (cubin-lines.c). Private to this directory. */
#ifndef CTS_RECORD_CUBIN_LINES_H
#define CTS_RECORD_CUBIN_LINES_H

#include "record/inject/cubin/cubin.h"
#include "record/inject/cubin/elf.h"

void cts_cubin_read_lines(const struct cts_elf *elf, struct cts_cubin *cubin);

#endif
