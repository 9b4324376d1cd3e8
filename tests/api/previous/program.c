/* Everything that 0.1's header gives of a run, in lines. */
#include <ctascope/ctascope.h>
#include <inttypes.h>
#include <stdio.h>

static const char *text(const char *text_or_null)
{
    return text_or_null ? text_or_null : "-";
}

int main(int argc, char **argv)
{
    struct cts_run *run;
    struct cts_accesses *accesses;
    struct cts_kernel_info kernel;
    struct cts_launch_info launch, again;
    struct cts_site_info site;
    struct cts_allocation_info a;
    struct cts_warp_record record;
    if (argc != 2 || cts_run_open(argv[1], &run, NULL, 0)) return 1;
    for (size_t i = 0; cts_run_kernel(run, i, &kernel) == CTS_RESULT_OK; i++)
        printf("kernel %u %d %s %s %s %u %u\n", kernel.kernel, kernel.is_instrumented,
               text(kernel.name), text(kernel.mangled_name), text(kernel.path), kernel.line,
               kernel.static_shared_bytes);
    for (size_t i = 0; cts_run_launch(run, i, &launch) == CTS_RESULT_OK; i++) {
        if (cts_run_find_launch(run, launch.launch, &again) || again.op != launch.op) return 1;
        printf("launch %u %u %u %u %u %u %u,%u,%u %u,%u,%u %u %d %" PRIu64 " %" PRIu64 " %" PRIu64
               " %" PRIu64 " %" PRIu64 "\n",
               launch.launch, launch.rank, launch.device, launch.stream, launch.ordinal,
               launch.kernel, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
               launch.block[1], launch.block[2], launch.dynamic_shared_bytes, launch.recorded,
               launch.op, launch.end_ns - launch.start_ns, launch.records, launch.accesses,
               launch.dropped_accesses);
    }
    for (size_t i = 0; cts_run_site(run, i, &site) == CTS_RESULT_OK; i++)
        printf("site %u %s %s %d %d %u %s %s %u %u %s %s %s\n", site.site, site.operation,
               site.space, site.reads, site.writes, site.width_bytes, text(site.function),
               text(site.path), site.line, site.column, text(site.inlined_at), text(site.type),
               text(site.variable));
    for (size_t i = 0; cts_run_allocation(run, i, &a) == CTS_RESULT_OK; i++)
        printf("allocation %u %u %u 0x%" PRIx64 " %" PRIu64 " %" PRIu64
               " %d %s %s %s %s %s %s %u %u %u\n",
               a.allocation, a.rank, a.device, a.address, a.size_bytes, a.op,
               a.freed_op == CTS_NEVER, text(a.kind), text(a.call), text(a.variable), text(a.type),
               text(a.path), text(a.function), a.element_bytes, a.line, a.column);
    if (cts_accesses_open(run, CTS_UNKNOWN, &accesses, NULL, 0)) return 1;
    while (cts_accesses_next(accesses, &record) == 1) {
        uint64_t sum = 0;
        for (int lane = 0; lane < 32; lane++) sum += record.addresses[lane] * (unsigned)(lane + 1);
        printf("record %u %u %u %u %08x %u %s %" PRIx64 " %u\n", record.launch, record.site,
               record.cta, record.warp, record.lanes, record.width_bytes, record.space, sum,
               record.value_words);
    }
    cts_accesses_close(accesses);
    cts_run_close(run);
    return 0;
}
