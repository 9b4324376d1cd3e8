/* Names of functions by address, static ones too: from the symbol tables of the modules' files. */
#ifndef CTS_RECORD_WRAPPERS_SYMBOLS_H
#define CTS_RECORD_WRAPPERS_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct cts_symbol {
    const char *name;   /* as the linker knows it; valid until the next call */
    const char *module; /* the file; likewise */
};

/* False: no module, or no name. Not thread-safe. A file without a symbol table has a dynamic one.
 */
bool cts_symbol_of(uintptr_t address, struct cts_symbol *symbol);

/* A C++ name as people write it, to be freed; NULL: it is none, or the program has no C++ library.
 */
char *cts_symbol_readable(const char *name);

#endif
