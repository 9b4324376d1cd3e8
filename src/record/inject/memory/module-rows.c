/* Rows of modules and of their sources, made when a kernel of theirs is launched. */
#include "module-rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "module-variables.h"
#include "source-names.h"
#include "patching.h"
#include "record/abi.h"
#include "memory-run.h"
#include "settings.h"

enum { SOURCE_TEXT_MAX_BYTES = 1 << 20 };

void cts_module_make_row(struct cts_memory_module *module)
{
    char sum[17];
    if (module->id != CTS_NONE) return;
    module->id = cts_catalogue_reserve(cts_memory_run.catalogue, CTS_ID_MODULE, 1);
    snprintf(sum, sizeof sum, "%016llx", (unsigned long long)module->cubin.checksum);
    const struct cts_module row = {
        .module = module->id,
        .rank = cts_memory_run.rank,
        .name = module->instrumented       ? cts_instrumented_path(module->instrumented)
                : module->cubin.file_count ? module->cubin.files[0]
                                           : "cubin",
        .checksum = sum,
        .flags = (cts_memory_settings.local ? CTS_FILE_LOCALS : 0) |
                 (cts_memory_settings.values && !module->instrumented ? CTS_FILE_VALUES : 0) |
                 (module->instrumented          ? cts_instrumented_flags(module->instrumented)
                  : cts_patching_has_barriers() ? CTS_FILE_BARRIERS
                                                : 0),
    };
    cts_catalogue_add_module(cts_memory_run.catalogue, &row);
    if (module->instrumented) cts_instrumented_add_rows(module->instrumented, row.module);
    cts_module_add_variables(module);
}

static char *read_text(const char *path)
{
    struct stat info;
    if (stat(path, &info) || !S_ISREG(info.st_mode) || info.st_size > SOURCE_TEXT_MAX_BYTES)
        return NULL;
    FILE *const file = fopen(path, "rbe");
    char *const text = file ? malloc((size_t)info.st_size + 1) : NULL;
    const size_t size = text ? fread(text, 1, (size_t)info.st_size, file) : 0;
    if (text) text[size] = 0;
    if (file) fclose(file);
    return text;
}

uint32_t cts_module_source(struct cts_memory_module *module, uint32_t file)
{
    if (file >= module->cubin.file_count) return CTS_NONE;
    if (module->sources[file] == CTS_NONE) {
        const char *const path = module->cubin.files[file];
        char *const text = cts_memory_is_of_toolkit(path) ? NULL : read_text(path);
        module->sources[file] = cts_catalogue_reserve(cts_memory_run.catalogue, CTS_ID_SOURCE, 1);
        const struct cts_source row = {
            .source = module->sources[file], .module = module->id, .path = path, .text = text};
        cts_catalogue_add_source(cts_memory_run.catalogue, &row);
        free(text);
    }
    return module->sources[file];
}
