/* Modules that `ctascope cc --device=cuda` compiled: they record by themselves. They are not
 * patched; they are told where the ring is, and which launches are recorded (record/cuda/module.h).
 */
#ifndef CTS_MEMORY_INSTRUMENTED_H
#define CTS_MEMORY_INSTRUMENTED_H

#include <stdint.h>

#include <sanitizer.h>

#include "record/cuda/table.h"

struct cts_instrumented;

/* Of a module that has been loaded, before any launch: tells it what the producer needs. NULL: it
 * is none of these. */
struct cts_instrumented *cts_instrumented_open(const Sanitizer_ResourceModuleData *data);
/* It has been unloaded, and its records are taken. */
void cts_instrumented_close(struct cts_instrumented *module);

/* enum cts_file_flags: whether barriers and fences are recorded. */
uint32_t cts_instrumented_flags(const struct cts_instrumented *module);
const char *cts_instrumented_path(const struct cts_instrumented *module);
/* What its table says of a kernel, or NULL. */
const struct cts_cuda_kernel *cts_instrumented_kernel(const struct cts_instrumented *module,
                                                      const char *symbol);

/* Writes the rows of sources, sites, variables and what was skipped; `id` is the module's row. */
void cts_instrumented_add_rows(struct cts_instrumented *module, uint32_t id);
/* The catalogue's id of one of its sources. */
uint32_t cts_instrumented_source(const struct cts_instrumented *module, uint32_t source);
/* The site of a record that names one (CTS_RING_AS_SITE); CTS_NONE: there is none. */
uint32_t cts_instrumented_site(uint32_t number);

#endif
