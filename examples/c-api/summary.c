/* Bytes that each kernel of a run loads and stores, from its warp records:
 *
 *     cc summary.c -lctascope -o summary && ./summary run */
#include <ctascope/ctascope.h>
#include <stdio.h>
#include <stdlib.h>

struct totals {
    uint64_t loaded_bytes, stored_bytes;
};

static int fail(const char *text)
{
    fprintf(stderr, "summary: %s\n", text);
    return 1;
}

int main(int argc, char **argv)
{
    char error[CTS_ERROR_BYTES];
    struct cts_run *run;
    struct cts_accesses *accesses;
    if (argc != 2) return fail("usage: summary RUN");
    if (cts_run_open(argv[1], &run, error, sizeof error)) return fail(error);
    if (cts_accesses_open(run, CTS_UNKNOWN, &accesses, error, sizeof error)) return fail(error);

    const size_t kernel_count = cts_run_kernel_count(run);
    struct totals *const totals = calloc(kernel_count + 1, sizeof *totals);
    if (!totals) return fail("out of memory");
    struct cts_warp_record record = CTS_INFO_INIT(struct cts_warp_record);
    int more;
    while ((more = cts_accesses_next(accesses, &record)) == 1) {
        struct cts_launch_info launch = CTS_INFO_INIT(struct cts_launch_info);
        struct cts_site_info site = CTS_INFO_INIT(struct cts_site_info);
        if (cts_run_find_launch(run, record.launch, &launch)) continue;
        if (cts_run_site(run, record.site, &site)) continue;
        const uint64_t bytes = (uint64_t)__builtin_popcount(record.lanes) * record.width_bytes;
        if (site.reads) totals[launch.kernel].loaded_bytes += bytes;
        if (site.writes) totals[launch.kernel].stored_bytes += bytes;
    }
    if (more < 0) return fail(cts_accesses_error(accesses));

    for (size_t i = 0; i < kernel_count; i++) {
        struct cts_kernel_info kernel = CTS_INFO_INIT(struct cts_kernel_info);
        cts_run_kernel(run, i, &kernel);
        printf("%s: %llu bytes loaded, %llu stored\n", kernel.name ? kernel.name : "?",
               (unsigned long long)totals[i].loaded_bytes,
               (unsigned long long)totals[i].stored_bytes);
    }
    if (!cts_run_is_complete(run)) fprintf(stderr, "summary: the program ended early\n");
    free(totals);
    cts_accesses_close(accesses);
    cts_run_close(run);
    return 0;
}
