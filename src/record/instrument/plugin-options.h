/* What the passes were told by the environment; the variables are listed in marks.h. */
#ifndef CTS_INSTRUMENT_OPTIONS_H
#define CTS_INSTRUMENT_OPTIONS_H

#include <regex.h>
#include <stdbool.h>

#include <llvm-c/Core.h>

struct cts_plugin_options {
    bool for_cpu;
    bool record_locals;
    bool leave_out_barriers;
    bool record_values;
    bool record_host_accesses;
    bool drop_marks;     /* CTS_MARKS=drop */
    bool separate_units; /* CTS_RDC: other translation units may call in */
    bool print_notes;
    const char *producer;          /* CTS_PRODUCER: path of its bitcode, borrowed; NULL: none */
    const char *library;           /* CTS_LIBRARY: of device functions, likewise */
    bool has_kernels, has_sources; /* whether the expressions below are set */
    regex_t kernels, sources;
    char unit[64];
};

/* False after having reported an expression that is none. Released in both cases. */
bool cts_plugin_options_read(struct cts_plugin_options *options, LLVMModuleRef module);
void cts_plugin_options_release(struct cts_plugin_options *options);

/* Whether the filters let a kernel (its display name) or a source file (its path) through. */
bool cts_plugin_wants_kernel(const struct cts_plugin_options *options, const char *display_name);
bool cts_plugin_wants_source(const struct cts_plugin_options *options, const char *path);

#endif
