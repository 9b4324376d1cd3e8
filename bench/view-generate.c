/* Makes a run with one launch of many accesses, for the view to look at:
 *
 *     view-generate DIRECTORY [ACCESSES = 100000000]
 *
 * Six accesses a thread, 256 threads a CTA: values[i] and index[i] are read, table[index[i]] is
 * gathered from 64 MiB, two go through shared memory (one of them with conflicts), result[i] is
 * written. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "trace/write/collector.h"
#include "trace/catalogue.h"

enum { WARP = 32, BLOCK = 256, SITES = 6, TABLE_BYTES = 64 << 20 };

static const struct {
    const char *variable;
    uint8_t operation, space;
    uint64_t base;
} places[SITES] = {
    {"values", CTS_LOAD, CTS_SPACE_GLOBAL, 0x7f0000000000},
    {"index", CTS_LOAD, CTS_SPACE_GLOBAL, 0x7f1000000000},
    {"table", CTS_LOAD, CTS_SPACE_GLOBAL, 0x7f2000000000},
    {"tile", CTS_STORE, CTS_SPACE_SHARED, 0},
    {"tile", CTS_LOAD, CTS_SPACE_SHARED, 0},
    {"result", CTS_STORE, CTS_SPACE_GLOBAL, 0x7f3000000000},
};

static void add_warp(struct cts_stream *stream, uint32_t cta, uint16_t warp)
{
    const uint64_t thread = (uint64_t)cta * BLOCK + (uint64_t)warp * WARP;
    for (uint32_t site = 0; site < SITES; site++) {
        uint64_t addresses[WARP];
        for (unsigned lane = 0; lane < WARP; lane++) {
            const uint64_t in_cta = (uint64_t)warp * WARP + lane;
            addresses[lane] = site == 2   ? places[site].base + 4ull * random_below(TABLE_BYTES / 4)
                              : site == 3 ? 4 * in_cta
                              : site == 4 ? 4 * (in_cta * 2 % BLOCK)
                                          : places[site].base + 4 * (thread + lane);
        }
        cts_stream_add(stream, &(struct cts_stream_row){.site = site,
                                                        .space = places[site].space,
                                                        .warp = warp,
                                                        .mask = UINT32_MAX,
                                                        .addresses = addresses,
                                                        .value_words = 0,
                                                        .values = NULL});
    }
}

static void describe(struct cts_catalogue_writer *writer, uint32_t ctas)
{
    const uint32_t module = cts_catalogue_reserve(writer, CTS_ID_MODULE, 1);
    const uint32_t source = cts_catalogue_reserve(writer, CTS_ID_SOURCE, 1);
    const uint32_t kernel = cts_catalogue_reserve(writer, CTS_ID_KERNEL, 1);
    const uint32_t launch = cts_catalogue_reserve(writer, CTS_ID_LAUNCH, 1);
    const uint32_t sites = cts_catalogue_reserve(writer, CTS_ID_SITE, SITES);
    cts_catalogue_add_module(writer, &(struct cts_module){.module = module, .name = "mix"});
    cts_catalogue_add_source(writer, &(struct cts_source){.source = source,
                                                          .module = module,
                                                          .path = "mix.cu",
                                                          .text = "// values\n// index\n// table\n"
                                                                  "// tile\n// tile\n// result\n"});
    cts_catalogue_add_kernel(writer, &(struct cts_kernel){.kernel = kernel,
                                                          .module = module,
                                                          .name = "mix",
                                                          .source = source,
                                                          .line = 1,
                                                          .static_shared_bytes = 4 * BLOCK,
                                                          .instrumented = true});
    for (uint32_t i = 0; i < SITES; i++) {
        cts_catalogue_add_site(writer, &(struct cts_site){.site = sites + i,
                                                          .module = module,
                                                          .function = "mix",
                                                          .operation = places[i].operation,
                                                          .space = places[i].space,
                                                          .width_bytes = 4,
                                                          .source = source,
                                                          .line = i + 1,
                                                          .variable = places[i].variable,
                                                          .type = "float"});
        if (places[i].space != CTS_SPACE_GLOBAL) continue;
        cts_catalogue_add_allocation(
            writer, &(struct cts_allocation){
                        .allocation = cts_catalogue_reserve(writer, CTS_ID_ALLOCATION, 1),
                        .op = cts_catalogue_next_op(writer),
                        .freed_op = UINT64_MAX,
                        .address = places[i].base,
                        .size_bytes = i == 2 ? TABLE_BYTES : 4ull * ctas * BLOCK,
                        .kind = "device",
                        .call = "cudaMalloc",
                        .variable = places[i].variable,
                        .type = "float",
                        .element_bytes = 4});
    }
    const uint32_t stream = cts_catalogue_reserve(writer, CTS_ID_STREAM, 1);
    cts_catalogue_add_stream(writer, &(struct cts_cuda_stream){.stream = stream,
                                                               .kind = "legacy default",
                                                               .destroyed_op = UINT64_MAX});
    cts_catalogue_add_launch(
        writer, &(struct cts_launch){.launch = launch,
                                     .op = cts_catalogue_next_op(writer),
                                     .stream = stream,
                                     .kernel = kernel,
                                     .grid = {ctas, 1, 1},
                                     .block = {BLOCK, 1, 1},
                                     .recorded = "all",
                                     .call_ns = 1,
                                     .start_ns = 2,
                                     .end_ns = 3,
                                     .records = (uint64_t)ctas * (BLOCK / WARP) * SITES,
                                     .accesses = (uint64_t)ctas * BLOCK * SITES});
}

int main(int argc, char **argv)
{
    const uint64_t accesses = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000000;
    struct cts_collector *collector;
    struct cts_stream *streams[2];
    struct cts_error error;
    if (argc < 2) {
        fprintf(stderr, "usage: view-generate DIRECTORY [ACCESSES]\n");
        return 2;
    }
    const uint32_t ctas = (uint32_t)((accesses + SITES * BLOCK - 1) / (SITES * BLOCK));
    const struct cts_collector_options options = {.run_path = argv[1]};
    if (cts_collector_open(&options, &collector, &error)) stop(&error);
    describe(cts_collector_catalogue(collector), ctas);
    for (unsigned i = 0; i < 2; i++)
        if (cts_collector_stream(collector, &streams[i], &error)) stop(&error);
    for (uint32_t cta = 0; cta < ctas; cta++) {
        struct cts_stream *const stream = streams[cta / 64 % 2];
        cts_stream_begin_cta(stream, 0, cta);
        for (uint16_t warp = 0; warp < BLOCK / WARP; warp++) add_warp(stream, cta, warp);
        cts_stream_end_cta(stream);
    }
    for (unsigned i = 0; i < 2; i++) cts_stream_flush(streams[i]);
    if (cts_collector_close(collector, &error)) stop(&error);
    printf("%" PRIu64 "\n", (uint64_t)ctas * BLOCK * SITES);
    return 0;
}
