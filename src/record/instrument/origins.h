/* Which address spaces a pointer of device code can point to, followed through the whole module. */
#ifndef CTS_INSTRUMENT_ORIGINS_H
#define CTS_INSTRUMENT_ORIGINS_H

#include <stdbool.h>

#include <llvm-c/Core.h>

#include "record/instrument/pass-memory.h"
#include "trace/access.h"

enum cts_origin {
    CTS_ORIGIN_GLOBAL = 1,
    CTS_ORIGIN_SHARED = 2,
    CTS_ORIGIN_CONSTANT = 4,
    CTS_ORIGIN_LOCAL = 8,      /* the thread's own memory */
    CTS_ORIGIN_PARAMETER = 16, /* a kernel's by-value argument */
    CTS_ORIGIN_UNKNOWN = 32,
};

struct cts_origins;

/* `kernels` has the module's kernels as keys. With `separate_units`, functions that other
 * translation units can name may be called with any pointer. */
struct cts_origins *cts_origins_find(LLVMModuleRef module, const struct cts_pointer_map *kernels,
                                     bool separate_units);
void cts_origins_free(struct cts_origins *origins);

/* A set of enum cts_origin, never empty. */
unsigned cts_origins_of(const struct cts_origins *origins, LLVMValueRef pointer);

/* The space that such a set stands for; GENERIC for a mixed one. Parameters count as local. */
enum cts_space cts_origins_space(unsigned set);

#endif
