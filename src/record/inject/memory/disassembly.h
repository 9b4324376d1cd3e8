/* Sites without a line get one in the disassembly of their function, if the toolkit's disassembler
 * is there. */
#ifndef CTS_MEMORY_DISASSEMBLY_H
#define CTS_MEMORY_DISASSEMBLY_H

#include "loaded-module.h"
#include "trace/catalogue.h"

bool cts_disassembly_is_wanted(size_t image_bytes);
/* Under the lock of modules.c. */
void cts_disassembly_add(const struct cts_code_range *range, const struct cts_site *site,
                         uint64_t offset_bytes);
/* At the end of the program: runs the disassembler and writes the rows again. */
void cts_disassembly_finish(void);

#endif
