/* Programs that were built with the header of 0.1, whose structs did not begin with their size: the
 * functions that fill such structs, under the version of their symbols that those programs ask for
 * (libctascope.map). The structs are frozen as they were. */
#include <string.h>

#include "trace/api/api-private.h"

struct kernel_0_1 {
    uint32_t kernel;
    int is_instrumented;
    const char *name, *mangled_name, *path;
    uint32_t line, static_shared_bytes;
};
struct launch_0_1 {
    uint32_t launch, rank, device, stream, ordinal, kernel, grid[3], block[3], dynamic_shared_bytes;
    enum cts_recorded recorded;
    uint64_t op, call_ns, start_ns, end_ns, records, accesses, dropped_accesses;
};
struct site_0_1 {
    uint32_t site;
    const char *operation, *space;
    int reads, writes;
    uint32_t width_bytes;
    const char *function, *path;
    uint32_t line, column;
    const char *inlined_at, *type, *variable;
};
struct allocation_0_1 {
    uint32_t allocation, rank, device;
    uint64_t address, size_bytes, op, freed_op;
    const char *kind, *call, *variable, *type, *path, *function;
    uint32_t element_bytes, line, column;
};
struct record_0_1 {
    uint32_t launch, site, cta, warp, lanes, width_bytes;
    const char *space;
    uint64_t addresses[32];
    uint32_t value_words;
    const uint64_t *values;
};

/* Declares cts_NAME_0_1(), which programs of 0.1 know as cts_NAME. */
#define FROZEN(type, name, ...)                                                                    \
    CTS_API type cts_##name##_0_1(__VA_ARGS__);                                                    \
    __asm__(".symver cts_" #name "_0_1, cts_" #name "@CTASCOPE_0.1");                              \
    type cts_##name##_0_1(__VA_ARGS__)

FROZEN(enum cts_result, run_kernel, const struct cts_run *run, size_t kernel,
       struct kernel_0_1 *old)
{
    struct cts_kernel_info info = CTS_INFO_INIT(struct cts_kernel_info);
    const enum cts_result result = cts_run_kernel(run, kernel, &info);
    if (result) return result;
    *old = (struct kernel_0_1){
        .kernel = info.kernel,
        .is_instrumented = info.is_instrumented,
        .name = info.name,
        .mangled_name = info.mangled_name,
        .path = info.path,
        .line = info.line,
        .static_shared_bytes = info.static_shared_bytes,
    };
    return CTS_RESULT_OK;
}

static enum cts_result as_launch(enum cts_result result, const struct cts_launch_info *info,
                                 struct launch_0_1 *old)
{
    if (result) return result;
    *old = (struct launch_0_1){
        .launch = info->launch,
        .rank = info->rank,
        .device = info->device,
        .stream = info->stream,
        .ordinal = info->ordinal,
        .kernel = info->kernel,
        .dynamic_shared_bytes = info->dynamic_shared_bytes,
        .recorded = info->recorded,
        .op = info->op,
        .call_ns = info->call_ns,
        .start_ns = info->start_ns,
        .end_ns = info->end_ns,
        .records = info->records,
        .accesses = info->accesses,
        .dropped_accesses = info->dropped_accesses,
    };
    memcpy(old->grid, info->grid, sizeof old->grid);
    memcpy(old->block, info->block, sizeof old->block);
    return CTS_RESULT_OK;
}

FROZEN(enum cts_result, run_launch, const struct cts_run *run, size_t index, struct launch_0_1 *old)
{
    struct cts_launch_info info = CTS_INFO_INIT(struct cts_launch_info);
    return as_launch(cts_run_launch(run, index, &info), &info, old);
}

FROZEN(enum cts_result, run_find_launch, const struct cts_run *run, uint32_t launch,
       struct launch_0_1 *old)
{
    struct cts_launch_info info = CTS_INFO_INIT(struct cts_launch_info);
    return as_launch(cts_run_find_launch(run, launch, &info), &info, old);
}

FROZEN(enum cts_result, run_site, const struct cts_run *run, size_t site, struct site_0_1 *old)
{
    struct cts_site_info info = CTS_INFO_INIT(struct cts_site_info);
    const enum cts_result result = cts_run_site(run, site, &info);
    if (result) return result;
    *old = (struct site_0_1){
        .site = info.site,
        .operation = info.operation,
        .space = info.space,
        .reads = info.reads,
        .writes = info.writes,
        .width_bytes = info.width_bytes,
        .function = info.function,
        .path = info.path,
        .line = info.line,
        .column = info.column,
        .inlined_at = info.inlined_at,
        .type = info.type,
        .variable = info.variable,
    };
    return CTS_RESULT_OK;
}

FROZEN(enum cts_result, run_allocation, const struct cts_run *run, size_t index,
       struct allocation_0_1 *old)
{
    struct cts_allocation_info info = CTS_INFO_INIT(struct cts_allocation_info);
    const enum cts_result result = cts_run_allocation(run, index, &info);
    if (result) return result;
    *old = (struct allocation_0_1){
        .allocation = info.allocation,
        .rank = info.rank,
        .device = info.device,
        .address = info.address,
        .size_bytes = info.size_bytes,
        .op = info.op,
        .freed_op = info.freed_op,
        .kind = info.kind,
        .call = info.call,
        .variable = info.variable,
        .type = info.type,
        .path = info.path,
        .function = info.function,
        .element_bytes = info.element_bytes,
        .line = info.line,
        .column = info.column,
    };
    return CTS_RESULT_OK;
}

FROZEN(int, accesses_next, struct cts_accesses *accesses, struct record_0_1 *old)
{
    struct cts_warp_record record = CTS_INFO_INIT(struct cts_warp_record);
    const int more = cts_accesses_next(accesses, &record);
    if (more != 1) return more;
    *old = (struct record_0_1){
        .launch = record.launch,
        .site = record.site,
        .cta = record.cta,
        .warp = record.warp,
        .lanes = record.lanes,
        .width_bytes = record.width_bytes,
        .space = record.space,
        .value_words = record.value_words,
        .values = record.values,
    };
    memcpy(old->addresses, record.addresses, sizeof old->addresses);
    return 1;
}
