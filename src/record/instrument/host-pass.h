/* The parts of the host pass; each returns whether it changed the module. */
#ifndef CTS_INSTRUMENT_HOST_H
#define CTS_INSTRUMENT_HOST_H

#include <stdbool.h>

#include "record/instrument/plugin-options.h"

/* Hints of what is allocated, before each call that allocates device or pinned memory. */
bool cts_host_hint_allocations(LLVMModuleRef module, const struct cts_plugin_options *options);

/* Calls of __cts_host_access() before accesses that may be to managed or mapped memory. */
bool cts_host_mark_accesses(LLVMModuleRef module);

/* host-shadows.c: lets translation units share the shadows of their device variables. */
bool cts_host_share_shadows(LLVMModuleRef module);

#endif
