/* Sites: what a record's instruction is and where it stands in the source. The line is that of the
 * innermost call that is the user's: code of the toolkit's headers was inlined there. */
#include "sites.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/text-stream.h"
#include "disassembly.h"
#include "images.h"
#include "module-rows.h"
#include "source-names.h"
#include "memory-run.h"
#include "record/inject/cubin/tensor-copy.h"
#include "record/inject/cubin/tensor-map.h"
#include "trace/access.h"

/* ---- places in the source ---- */

struct place {
    uint32_t file, line; /* line 0: unknown */
    uint32_t call;       /* where that was inlined */
};

static bool is_users(const struct cts_cubin *cubin, uint32_t file)
{
    return file < cubin->file_count && !cts_memory_is_of_toolkit(cubin->files[file]);
}

static struct place place_of(const struct cts_cubin *cubin, const struct cts_cubin_line *line)
{
    if (!line) return (struct place){0};
    struct place place = {line->file, line->line, line->call};
    while (!is_users(cubin, place.file) && place.call != CTS_CUBIN_NONE) {
        const struct cts_cubin_call *const call = cubin->calls + place.call;
        place = (struct place){call->file, call->line, call->parent};
    }
    if (is_users(cubin, place.file)) return place;
    return (struct place){line->file, line->line, line->call}; /* all is the toolkit's */
}

/* "file:line:0 function <- ..." for each call, the outermost last, as the plugin writes it; column
 * 0: unknown. The caller frees; NULL: no call. */
static char *inlined_at(const struct cts_cubin *cubin, const struct place *place,
                        const char *outermost)
{
    struct cts_text_stream stream;
    FILE *const out = place->call != CTS_CUBIN_NONE ? cts_text_stream_open(&stream) : NULL;
    if (!out) return NULL;
    for (uint32_t c = place->call; c != CTS_CUBIN_NONE; c = cubin->calls[c].parent) {
        const struct cts_cubin_call *const call = cubin->calls + c;
        const char *const caller = call->parent != CTS_CUBIN_NONE
                                       ? cts_cubin_callee(cubin, cubin->calls + call->parent)
                                       : outermost;
        char *const name = cts_memory_demangled(caller);
        fprintf(out, "%s%s:%u:0 %s", c == place->call ? "" : " <- ",
                call->file < cubin->file_count ? cubin->files[call->file] : "?", call->line,
                name ? name : caller);
        free(name);
    }
    return cts_text_stream_close(&stream, NULL);
}

/* ---- sites ---- */

/* An instruction of a range, or of none that is known. */
struct instruction {
    const struct cts_code_range *range;
    uint64_t offset_bytes;
    bool is_inside, has_line;
};

/* The function that it is in, and where it has no line, its place there. */
static void name_function(const struct instruction *at, char *text, size_t text_bytes)
{
    const struct cts_code_range *const range = at->range;
    const uint64_t offset_bytes = at->offset_bytes;
    const struct cts_cubin_part *const part =
        at->is_inside ? cts_cubin_part_at(&range->module->cubin, range->function, offset_bytes)
                      : NULL;
    char *const name = part ? cts_memory_demangled(part->name) : NULL;
    const uint64_t within = part ? offset_bytes - part->offset_bytes : offset_bytes;
    if (!at->is_inside)
        snprintf(text, text_bytes, "function at 0x%llx",
                 ((unsigned long long)range->first << CTS_RING_PC_SHIFT) + offset_bytes);
    else if (at->has_line)
        snprintf(text, text_bytes, "%s", name ? name : range->name);
    else
        snprintf(text, text_bytes, "%.1000s+0x%llx", name ? name : range->name,
                 (unsigned long long)within);
    free(name);
}

/* The Sanitizer does not tell of arrivals without waiting: then a barrier of a part of the CTA is
 * not known. */
static uint8_t barrier_of(const struct cts_ring_record *record,
                          const struct cts_cubin_function *function)
{
    switch (1u << record->width_log2) {
    case CTS_RING_CTA_SYNC:
        return CTS_BARRIER_CTA_SYNC;
    case CTS_RING_PART_SYNC:
        return function && !function->has_arrivals ? CTS_BARRIER_CTA_SYNC : CTS_BARRIER_SYNC_OTHER;
    case CTS_RING_WARP_SYNC:
        return CTS_BARRIER_WARP_SYNC;
    case CTS_RING_CLUSTER_ARRIVE:
        return CTS_BARRIER_CLUSTER_ARRIVE;
    case CTS_RING_CLUSTER_WAIT:
        return CTS_BARRIER_CLUSTER_WAIT;
    default:
        return CTS_BARRIER_SYNC_OTHER;
    }
}

static uint8_t operation_of(const struct cts_ring_record *record,
                            const struct cts_cubin_function *function, const struct cts_sass *sass)
{
    if (record->space == CTS_RING_BARRIER) return barrier_of(record, function);
    static const uint8_t operations[4] = {CTS_LOAD, CTS_STORE, CTS_ATOMIC_OTHER, CTS_ATOMIC_OTHER};
    const uint8_t operation = operations[record->operation & 3];
    return operation == CTS_ATOMIC_OTHER && sass && sass->kind == CTS_SASS_ATOMIC ? sass->operation
                                                                                  : operation;
}

/* What a site is, apart from where it stands in the source. */
struct site_kind {
    uint64_t offset_bytes; /* in the range */
    bool is_inside;
    uint8_t operation, space;
    uint32_t width_bytes;
};

static uint32_t add_site(const struct cts_code_range *range, const struct site_kind *kind)
{
    struct cts_memory_module *const module = range->module;
    const uint64_t offset_bytes = kind->offset_bytes;
    const bool is_inside = kind->is_inside;
    const struct cts_cubin_function *const function = is_inside ? range->function : NULL;
    const struct place place =
        place_of(&module->cubin, cts_cubin_line_at(&module->cubin, function, offset_bytes));
    char *const calls = place.line ? inlined_at(&module->cubin, &place, function->name) : NULL;
    char name[1024];
    cts_module_make_row(module);
    name_function(&(struct instruction){range, offset_bytes, is_inside, place.line != 0}, name,
                  sizeof name);
    const struct cts_site row = {
        .site = cts_catalogue_reserve(cts_memory_run.catalogue, CTS_ID_SITE, 1),
        .module = module->id,
        .function = name,
        .operation = kind->operation,
        .space = kind->space,
        .width_bytes = kind->width_bytes,
        .source = place.line ? cts_module_source(module, place.file) : CTS_NONE,
        .line = place.line,
        .inlined_at = calls,
    };
    cts_catalogue_add_site(cts_memory_run.catalogue, &row);
    if (!place.line && is_inside) cts_disassembly_add(range, &row, offset_bytes);
    free(calls);
    return row.site;
}

static uint64_t offset_in(const struct cts_code_range *range, const struct cts_ring_record *record)
{
    return (uint64_t)(record->pc - range->first) << CTS_RING_PC_SHIFT;
}

uint32_t cts_module_add_site(const struct cts_code_range *range,
                             const struct cts_ring_record *record)
{
    static const uint8_t spaces[4] = {CTS_SPACE_GLOBAL, CTS_SPACE_SHARED, CTS_SPACE_LOCAL,
                                      CTS_SPACE_BARRIER};
    const uint64_t offset_bytes = offset_in(range, record);
    const bool is_inside = record->pc - range->first < range->count;
    const struct cts_cubin_function *const function = is_inside ? range->function : NULL;
    const struct cts_cubin_mark *const mark =
        cts_cubin_mark_at(&range->module->cubin, function, offset_bytes);
    const struct site_kind kind = {
        .offset_bytes = offset_bytes,
        .is_inside = is_inside,
        .operation = operation_of(record, function, mark ? &mark->sass : NULL),
        .space = spaces[record->space & 3],
        .width_bytes = record->space == CTS_RING_BARRIER ? 0 : 1u << record->width_log2,
    };
    return add_site(range, &kind);
}

/* The copy that a marker is for; NULL: there is none. */
static const struct cts_cubin_mark *copy_at(const struct cts_code_range *range,
                                            const struct cts_ring_record *record)
{
    const bool is_inside = record->pc - range->first < range->count;
    const struct cts_cubin_mark *const mark = cts_cubin_mark_at(
        &range->module->cubin, is_inside ? range->function : NULL, offset_in(range, record));
    return mark && mark->sass.kind == CTS_SASS_MARKED_COPY ? mark : NULL;
}

uint32_t cts_module_add_copy_site(const struct cts_code_range *range,
                                  const struct cts_ring_record *record, uint32_t row_bytes)
{
    const struct cts_cubin_mark *const mark = copy_at(range, record);
    const struct site_kind kind = {
        .offset_bytes = mark ? mark->origin_bytes : 0,
        .is_inside = mark != NULL,
        .operation = mark ? mark->sass.operation : 0,
        .space = CTS_SPACE_GLOBAL,
        .width_bytes = row_bytes,
    };
    return mark ? add_site(range, &kind) : CTS_NONE;
}

/* ---- what is not recorded ---- */

static void add_skipped(const struct cts_memory_module *module, const char *what,
                        const char *reason, uint64_t count)
{
    const struct cts_skipped row = {
        .module = module->id, .what = what, .reason = reason, .source = CTS_NONE, .count = count};
    cts_catalogue_add_skipped(cts_memory_run.catalogue, &row);
}

static enum cts_sass_kind kind_of_copy(uint8_t operation)
{
    return operation == CTS_LOAD    ? CTS_SASS_TENSOR_LOAD
           : operation == CTS_STORE ? CTS_SASS_TENSOR_STORE
                                    : CTS_SASS_TENSOR_REDUCTION;
}

/* What a kernel and all that it may call have. */
struct contents {
    uint64_t counts[CTS_SASS_KIND_COUNT];
    uint64_t launches;
    struct cts_tensor_use tensors; /* copies that are recorded, too */
};

/* The layout of maps is known for one compute capability. */
static void count_mark(const struct cts_memory_module *module, struct cts_sass sass,
                       struct contents *contents)
{
    const bool is_recorded = sass.kind == CTS_SASS_MARKED_COPY && module->records_copies;
    if (sass.kind == CTS_SASS_MARKED_COPY) sass.kind = (uint8_t)kind_of_copy(sass.operation);
    if (!is_recorded) contents->counts[sass.kind]++;
    if (module->cubin.capability != CTS_TENSOR_COPY_CAPABILITY) return;
    contents->tensors.may_load |= sass.kind == CTS_SASS_TENSOR_LOAD;
    contents->tensors.may_store |=
        sass.kind == CTS_SASS_TENSOR_STORE || sass.kind == CTS_SASS_TENSOR_REDUCTION;
}

static void count_marks(const struct cts_memory_module *module,
                        const struct cts_cubin_function *function, struct contents *contents)
{
    const struct cts_cubin *const cubin = &module->cubin;
    bool *const reached = calloc(cubin->function_count + 1, sizeof *reached);
    if (reached) cts_cubin_reach(cubin, function, reached);
    for (size_t f = 0; reached && f < cubin->function_count; f++) {
        if (!reached[f]) continue;
        contents->launches += cubin->functions[f].launches_kernels;
        for (uint32_t i = 0; i < cubin->functions[f].mark_count; i++)
            count_mark(module, cubin->marks[cubin->functions[f].first_mark + i].sass, contents);
    }
    free(reached);
}

void cts_module_tell_unknown_copy(const struct cts_code_range *range,
                                  const struct cts_ring_record *record)
{
    char text[600];
    const struct cts_cubin_mark *const mark = copy_at(range, record);
    if (!mark || range->module->told_unknown_copy) return;
    range->module->told_unknown_copy = true;
    const char *const what = cts_sass_unrecorded(kind_of_copy(mark->sass.operation), NULL);
    snprintf(text, sizeof text, "%s in %.500s", what, range->name);
    cts_module_make_row(range->module);
    add_skipped(range->module, text, "a tensor map of another form", 1);
}

struct cts_tensor_use cts_module_tell_unrecorded(struct cts_memory_module *module,
                                                 const struct cts_cubin_function *function,
                                                 const char *name)
{
    struct contents contents = {0};
    count_marks(module, function, &contents);
    const uint64_t *const counts = contents.counts, launches = contents.launches;
    const bool has_copies = module->cubin.capability == CTS_TENSOR_COPY_CAPABILITY &&
                            (counts[CTS_SASS_TENSOR_LOAD] || counts[CTS_SASS_TENSOR_STORE] ||
                             counts[CTS_SASS_TENSOR_REDUCTION]);
    char text[600];
    for (int kind = 0; kind < CTS_SASS_KIND_COUNT; kind++) {
        const char *reason, *const what = cts_sass_unrecorded(kind, &reason);
        if (!counts[kind] || !what || (kind == CTS_SASS_TENSOR_MAP_CHANGE && !has_copies)) continue;
        snprintf(text, sizeof text, "%s in %.500s", what, name);
        if (kind >= CTS_SASS_TENSOR_LOAD && kind <= CTS_SASS_TENSOR_REDUCTION)
            reason = module->records_copies ? "their coordinates (im2col mode) are not known"
                                            : cts_image_reason(&module->cubin, reason);
        add_skipped(module, text, reason, counts[kind]);
    }
    snprintf(text, sizeof text, "constant memory that may hold tensor maps in %.500s", name);
    if (has_copies && module->cubin.constant_bytes >= CTS_TENSOR_MAP_BYTES)
        add_skipped(module, text, "only tensor maps among a kernel's parameters are known", 1);
    snprintf(text, sizeof text, "launches made by %.500s", name);
    if (launches)
        add_skipped(module, text, "what kernels launch is not followed (dynamic parallelism)",
                    launches);
    return contents.tensors;
}
