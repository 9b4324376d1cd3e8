/* The plugin's settings come in the compiler's environment, since clang hands a pass plugin no
 * arguments of its own when it runs as a part of the driver. */
#include "record/instrument/plugin-options.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "record/instrument/pass-memory.h"
#include "record/instrument/shim.h"

static bool is_on(const char *name)
{
    const char *text = getenv(name);
    return text && !strcmp(text, "1");
}

static bool read_expression(LLVMModuleRef module, const char *name, regex_t *expression, bool *has)
{
    const char *text = getenv(name);
    if (!text || !*text) return true;
    int code = regcomp(expression, text, REG_EXTENDED | REG_NOSUB);
    if (!code) {
        *has = true;
        return true;
    }
    char reason[128];
    regerror(code, expression, reason, sizeof reason);
    char *message =
        cts_plugin_text("ctascope: %s='%s' is not a regular expression: %s", name, text, reason);
    cts_error_at(module, NULL, message);
    free(message);
    return false;
}

/* The module's source name is the same on the host and the device side and in both device steps. */
static void default_unit(LLVMModuleRef module, char *unit, size_t unit_bytes)
{
    size_t length;
    const char *name = LLVMGetSourceFileName(module, &length);
    const uint64_t hash = cts_hash_bytes(CTS_HASH_START, name, length);
    snprintf(unit, unit_bytes, "%016llx", (unsigned long long)hash);
}

bool cts_plugin_options_read(struct cts_plugin_options *options, LLVMModuleRef module)
{
    const char *device = getenv("CTS_DEVICE"), *unit = getenv("CTS_TU");
    *options = (struct cts_plugin_options){
        .for_cpu = device && !strcmp(device, "cpu"),
        .record_locals = is_on("CTS_LOCALS"),
        .leave_out_barriers = getenv("CTS_BARRIERS") && !strcmp(getenv("CTS_BARRIERS"), "0"),
        .record_values = is_on("CTS_VALUES"),
        .record_host_accesses = is_on("CTS_HOST_ACCESSES"),
        .separate_units = is_on("CTS_RDC"),
        .drop_marks = getenv("CTS_MARKS") && !strcmp(getenv("CTS_MARKS"), "drop"),
        .print_notes = is_on("CTS_NOTES"),
        .producer = getenv("CTS_PRODUCER"),
        .library = getenv("CTS_LIBRARY"),
    };
    if (unit && *unit)
        snprintf(options->unit, sizeof options->unit, "%s", unit);
    else
        default_unit(module, options->unit, sizeof options->unit);
    return read_expression(module, "CTS_KERNELS", &options->kernels, &options->has_kernels) &&
           read_expression(module, "CTS_SOURCES", &options->sources, &options->has_sources);
}

void cts_plugin_options_release(struct cts_plugin_options *options)
{
    if (options->has_kernels) regfree(&options->kernels);
    if (options->has_sources) regfree(&options->sources);
    options->has_kernels = options->has_sources = false;
}

bool cts_plugin_wants_kernel(const struct cts_plugin_options *options, const char *display_name)
{
    return !options->has_kernels || !regexec(&options->kernels, display_name, 0, NULL, 0);
}

bool cts_plugin_wants_source(const struct cts_plugin_options *options, const char *path)
{
    return !options->has_sources || !regexec(&options->sources, path, 0, NULL, 0);
}
