/* Device code for an NVIDIA GPU: marks become calls of the producer (record/cuda/producer.cu),
 * which is linked in, and the module gets its table (record/cuda/table.h). */
#ifndef CTS_INSTRUMENT_DEVICE_PRODUCER_H
#define CTS_INSTRUMENT_DEVICE_PRODUCER_H

#include <stdint.h>

#include <llvm-c/Core.h>

/* `bitcode`: path of the producer. The marks are those of the module's notes. What the producer's
 * functions become part of is inlined by the passes that plugin.cpp runs next. */
void cts_producer_add(LLVMModuleRef module, const char *bitcode);

/* The table as a constant of the module. `unit` identifies the translation unit. */
void cts_device_table_add(LLVMModuleRef module, const char *unit);

#endif
