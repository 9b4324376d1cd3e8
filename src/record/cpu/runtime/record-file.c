/* Writes what a compiled file says of itself: its module, sources, kernels, sites, variables and
 * what was not instrumented. */
#include "common/hash.h"
#include "record-file.h"

#include <stdio.h>
#include <string.h>

#include "range.h"
#include "hosts.h"
#include "record-op.h"
#include "record/cpu/engine.h"
#include "runtime.h"

struct rows {
    struct cts_catalogue_writer *catalogue;
    const struct cts_file_desc *desc;
    struct cts_file *file;
    uint32_t first_site;
};

static const char *text_or_null(const char *text)
{
    return text && *text ? text : NULL;
}

static uint32_t source_id(const struct rows *rows, uint32_t index)
{
    return index < rows->desc->source_count ? rows->file->first_source + index : CTS_NONE;
}

static void add_sources(const struct rows *rows)
{
    for (uint32_t i = 0; i < rows->desc->source_count; i++) {
        const struct cts_source row = {.source = rows->file->first_source + i,
                                       .module = rows->file->module,
                                       .path = rows->desc->sources[i].path,
                                       .text = rows->desc->sources[i].text};
        cts_catalogue_add_source(rows->catalogue, &row);
    }
}

static void add_kernels(const struct rows *rows)
{
    for (uint32_t i = 0; i < rows->desc->kernel_count; i++) {
        const struct cts_kernel_desc *const kernel = &rows->desc->kernels[i];
        rows->file->kernels[i].id = rows->file->first_kernel + i;
        const struct cts_kernel row = {
            .kernel = rows->file->first_kernel + i,
            .module = rows->file->module,
            .name = kernel->display_name,
            .mangled = kernel->name,
            .source = source_id(rows, kernel->file),
            .line = kernel->line,
            .static_shared_bytes = kernel->static_shared_bytes,
            .max_threads = kernel->max_threads,
            .instrumented = !(kernel->flags & CTS_KERNEL_UNINSTRUMENTED),
        };
        cts_catalogue_add_kernel(rows->catalogue, &row);
    }
}

static void add_sites(const struct rows *rows)
{
    for (uint32_t i = 0; i < rows->desc->site_count; i++) {
        const struct cts_site_desc *const site = &rows->desc->sites[i];
        const struct cts_site row = {.site = rows->first_site + i,
                                     .module = rows->file->module,
                                     .function = text_or_null(site->function),
                                     .operation = site->operation,
                                     .space = site->space,
                                     .width_bytes = site->width_bytes,
                                     .source = source_id(rows, site->source),
                                     .line = site->line,
                                     .column = site->column,
                                     .inlined_at = text_or_null(site->inlined_at),
                                     .type = text_or_null(site->type_name),
                                     .variable = text_or_null(site->variable),
                                     .is_volatile = site->is_volatile != 0,
                                     .loop_depth = site->loop_depth};
        cts_catalogue_add_site(rows->catalogue, &row);
    }
}

static const char *variable_kind(uint32_t kind)
{
    static const char *const texts[] = {
        [CTS_VARIABLE_DEVICE] = "device",
        [CTS_VARIABLE_CONSTANT] = "constant",
        [CTS_VARIABLE_MANAGED] = "managed",
        [CTS_VARIABLE_SHARED] = "shared",
        [CTS_VARIABLE_SHARED_DYNAMIC] = "dynamic shared",
        [CTS_VARIABLE_TEXTURE] = "texture",
        [CTS_VARIABLE_SURFACE] = "surface",
    };
    return kind < sizeof texts / sizeof texts[0] ? texts[kind] : NULL;
}

/* A variable with memory of its own is an allocation too, so that addresses find it. */
static void add_variable_allocation(const struct rows *rows, uint32_t rank,
                                    const struct cts_variable_desc *variable)
{
    struct cts_range range;
    if (!cts_range_find(variable->address, &range) || range.allocation != CTS_NONE ||
        range.address != (uint64_t)variable->address)
        return;
    const bool has_path = variable->source < rows->desc->source_count;
    const struct cts_allocation row = {
        .allocation = cts_catalogue_reserve(rows->catalogue, CTS_ID_ALLOCATION, 1),
        .rank = rank,
        .op = cts_hosts_op(CTS_NONE),
        .freed_op = UINT64_MAX,
        .address = range.address,
        .size_bytes = range.size_bytes,
        .kind = variable->kind == CTS_VARIABLE_MANAGED ? "managed" : "variable",
        .variable = variable->display_name,
        .type = text_or_null(variable->type_name),
        .path = has_path ? rows->desc->sources[variable->source].path : NULL,
        .line = variable->line,
    };
    cts_catalogue_add_allocation(rows->catalogue, &row);
    cts_range_set(variable->address, row.allocation, NULL);
}

static void add_variables(const struct rows *rows, uint32_t rank)
{
    for (uint32_t i = 0; i < rows->desc->variable_count; i++) {
        const struct cts_variable_desc *const variable = &rows->desc->variables[i];
        const bool is_shared =
            variable->kind == CTS_VARIABLE_SHARED || variable->kind == CTS_VARIABLE_SHARED_DYNAMIC;
        const struct cts_variable row = {
            .variable = rows->file->first_variable + i,
            .module = rows->file->module,
            .name = variable->display_name,
            .mangled = variable->name,
            .type = text_or_null(variable->type_name),
            .kind = variable_kind(variable->kind),
            .address = is_shared ? variable->shared_offset : (uint64_t)variable->address,
            .size_bytes = variable->size_bytes,
            .function = text_or_null(variable->function),
            .source = source_id(rows, variable->source),
            .line = variable->line,
        };
        cts_catalogue_add_variable(rows->catalogue, &row);
        if (!is_shared && variable->address) add_variable_allocation(rows, rank, variable);
    }
}

static void add_skipped(const struct rows *rows)
{
    for (uint32_t i = 0; i < rows->desc->skipped_count; i++) {
        const struct cts_skipped_desc *const skipped = &rows->desc->skipped[i];
        const struct cts_skipped row = {.module = rows->file->module,
                                        .what = skipped->what,
                                        .reason = skipped->reason,
                                        .source = source_id(rows, skipped->source),
                                        .line = skipped->line,
                                        .count = 1};
        cts_catalogue_add_skipped(rows->catalogue, &row);
    }
}

static void add_padded_types(const struct rows *rows)
{
    for (uint32_t i = 0; i < rows->desc->padded_type_count; i++) {
        const struct cts_padded_type_desc *const type = &rows->desc->padded_types[i];
        const struct cts_padded_type row = {.module = rows->file->module,
                                            .type = type->name,
                                            .size_bytes = type->size_bytes,
                                            .padding = text_or_null(type->padding),
                                            .alternatives = text_or_null(type->alternatives)};
        cts_catalogue_add_padded_type(rows->catalogue, &row);
    }
}

/* What identifies the file's device code from run to run: a hash of its id, names and sites. */
static uint64_t checksum(const struct cts_file_desc *desc)
{
    uint64_t hash = CTS_HASH_START;
    const char *const texts[] = {desc->id, desc->path};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i]) hash = cts_hash_bytes(hash, texts[i], strlen(texts[i]));
    for (uint32_t i = 0; i < desc->site_count; i++) {
        const struct cts_site_desc *const site = &desc->sites[i];
        const uint32_t words[] = {site->line, site->column, site->width_bytes, site->operation};
        for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
            hash = cts_hash_unit(hash, words[k]);
    }
    return hash;
}

void cts_record_file_rows(struct cts_catalogue_writer *catalogue, uint32_t rank,
                          struct cts_file *file)
{
    const struct cts_file_desc *const desc = file->loaded.desc;
    file->module = cts_catalogue_reserve(catalogue, CTS_ID_MODULE, 1);
    file->first_source = cts_catalogue_reserve(catalogue, CTS_ID_SOURCE, desc->source_count);
    file->first_kernel = cts_catalogue_reserve(catalogue, CTS_ID_KERNEL, desc->kernel_count);
    file->first_variable = cts_catalogue_reserve(catalogue, CTS_ID_VARIABLE, desc->variable_count);
    file->loaded.first_site = cts_catalogue_reserve(catalogue, CTS_ID_SITE, desc->site_count);
    const struct rows rows = {catalogue, desc, file, file->loaded.first_site};
    char sum[17];
    snprintf(sum, sizeof sum, "%016llx", (unsigned long long)checksum(desc));
    const struct cts_module module = {.module = file->module,
                                      .rank = rank,
                                      .name = desc->path,
                                      .checksum = sum,
                                      .flags = desc->flags};
    cts_catalogue_add_module(catalogue, &module);
    add_sources(&rows);
    add_kernels(&rows);
    add_sites(&rows);
    add_variables(&rows, rank);
    add_skipped(&rows);
    add_padded_types(&rows);
    file->recorded = true;
    /* Its code may run in kernels of other files, before it launches any of its own. */
    if (desc->flags & CTS_FILE_SEPARATE_UNITS) (void)cts_record_file_slots(file);
}

bool cts_record_file_slots(struct cts_file *file)
{
    if (file->has_slots) return file->loaded.first_slot != CTS_SLOT_LIMIT;
    const struct cts_file_desc *const desc = file->loaded.desc;
    file->has_slots = true;
    file->loaded.first_slot = cts_engine_add_sites(desc, file->loaded.first_site);
    if (desc->slot_base) *desc->slot_base = (uint64_t)file->loaded.first_slot << CTS_SLOT_SHIFT;
    if (file->loaded.first_slot == CTS_SLOT_LIMIT) {
        if (!cts_record_is_on()) return false;
        char text[600], reason[80] = "out of memory for its memory instructions";
        if (desc->site_count > cts_engine_slots_left())
            snprintf(reason, sizeof reason, "the program has more than %d memory instructions",
                     CTS_SLOT_LIMIT);
        snprintf(text, sizeof text,
                 "'%s': %s; the kernels of this file are not recorded, accesses of its functions "
                 "in other kernels are dropped",
                 desc->path, reason);
        cts_say("%s", text);
        cts_record_message("error", text);
        return false;
    }
    return true;
}
