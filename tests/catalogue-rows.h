/* A row of each table of the catalogue, for tests. */
#ifndef CTS_TESTS_CATALOGUE_ROWS_H
#define CTS_TESTS_CATALOGUE_ROWS_H

#include "trace/access.h"
#include "trace/catalogue.h"

static const struct cts_device device_row = {.name = "CPU device",
                                             .kind = "cpu",
                                             .sm_count = 16,
                                             .compute_major = 9,
                                             .memory_bytes = 1ull << 33};
static const struct cts_module module_row = {.name = "a.cu", .checksum = "c0ffee", .flags = 3};
static const struct cts_source source_row = {.path = "/src/a.cu", .text = "line 1\nline 2\n"};
static const struct cts_kernel kernel_row = {.name = "add(float *)",
                                             .mangled = "_Z3addPf",
                                             .line = 7,
                                             .static_shared_bytes = 48,
                                             .max_threads = 256,
                                             .registers = 12,
                                             .instrumented = true};
static const struct cts_site site_row = {.function = "add(float *)",
                                         .operation = CTS_STORE,
                                         .space = CTS_SPACE_GLOBAL,
                                         .width_bytes = 4,
                                         .line = 9,
                                         .column = 5,
                                         .inlined_at = "",
                                         .type = "float",
                                         .variable = "a",
                                         .is_volatile = true,
                                         .loop_depth = 2};
static const struct cts_variable variable_row = {.name = "table",
                                                 .mangled = "table",
                                                 .type = "int",
                                                 .kind = "shared",
                                                 .address = 64,
                                                 .size_bytes = 128,
                                                 .source = CTS_NONE,
                                                 .function = "add(float *)"};
static const struct cts_skipped skipped_row = {
    .what = "a call", .reason = "by pointer", .source = CTS_NONE, .count = 2};
static const struct cts_cuda_stream stream_row = {.handle = 0xffff800000000001,
                                                  .kind = "blocking",
                                                  .priority = -1,
                                                  .created_op = 1,
                                                  .destroyed_op = UINT64_MAX};
static const struct cts_launch launch_row = {.op = 5,
                                             .grid = {4, 2, 1},
                                             .block = {32, 8, 1},
                                             .dynamic_shared_bytes = 1024,
                                             .cooperative = true,
                                             .recorded = "all",
                                             .call_ns = 100,
                                             .start_ns = 110,
                                             .end_ns = 200,
                                             .records = 10,
                                             .accesses = 320,
                                             .dropped_accesses = 1};
static const struct cts_copy copy_row = {.op = 4,
                                         .kind = "HtoD",
                                         .destination = 0x7000,
                                         .source = 0x9000,
                                         .width_bytes = 100,
                                         .height = 3,
                                         .depth = 2,
                                         .destination_pitch = 128,
                                         .source_pitch = 100,
                                         .destination_slice = 512,
                                         .source_slice = 300,
                                         .asynchronous = true,
                                         .call_ns = 90,
                                         .start_ns = 91,
                                         .end_ns = 99};
static const struct cts_allocation allocation_row = {.op = 2,
                                                     .freed_op = UINT64_MAX,
                                                     .address = 0x7000,
                                                     .size_bytes = 4096,
                                                     .kind = "device",
                                                     .call = "cudaMalloc",
                                                     .variable = "d_a",
                                                     .type = "float",
                                                     .element_bytes = 4,
                                                     .path = "/src/a.cu",
                                                     .line = 30,
                                                     .column = 3,
                                                     .function = "main"};
static const struct cts_sync sync_row = {.op = 6,
                                         .kind = "device sync",
                                         .stream = CTS_NONE,
                                         .result = -7,
                                         .start_ns = 200,
                                         .end_ns = 210};
static const struct cts_cta_sm cta_sm_row = {.launch = 0, .cta = 3, .sm = 131};
static const struct cts_cluster cluster_row = {.launch = 0, .ctas = {4, 2, 1}};
static const struct cts_launch_pointer pointer_row = {.launch = 0, .address = 0x200000001000};
static const struct cts_tensor_map tensor_map_row = {.launch = 0,
                                                     .parameter_bytes = 176,
                                                     .address = 0x7f0000000000,
                                                     .element_type = "bf16",
                                                     .element_bytes = 2,
                                                     .dimensions = 2,
                                                     .size = {64, 32, 1, 1, 1},
                                                     .stride_bytes = {2, 128, 0, 0, 0},
                                                     .box = {64, 8, 1, 1, 1},
                                                     .swizzle_bytes = 128,
                                                     .im2col = true,
                                                     .may_store = true};
static const struct cts_padded_type padded_type_row = {
    .module = 0, .type = "body", .size_bytes = 24, .padding = "1-3,18-23"};
static const struct cts_fingerprint fingerprint_row = {0, UINT64_C(0xfedcba9876543210), 77};
static const struct cts_host_call call_row = {0, 7, 3, 1, 0, "cudaFreeAsync"};
static const struct cts_host_function host_function_row = {0, 8, 0, 3, 9, 11};
static const struct cts_graph_node graph_node_row = {0, 12, 1, 10, 4};
static const struct cts_graph_edge graph_edge_row = {0, 1, 4, 2};
static const struct cts_host_access host_access_row = {
    .op = 6, .is_store = true, .address = 0x7000, .size_bytes = 16};

static void add_one_of_each(struct cts_catalogue_writer *w)
{
    cts_catalogue_add_device(w, &device_row);
    cts_catalogue_add_module(w, &module_row);
    cts_catalogue_add_source(w, &source_row);
    cts_catalogue_add_kernel(w, &kernel_row);
    cts_catalogue_add_site(w, &site_row);
    cts_catalogue_add_variable(w, &variable_row);
    cts_catalogue_add_skipped(w, &skipped_row);
    cts_catalogue_add_stream(w, &stream_row);
    cts_catalogue_add_launch(w, &launch_row);
    cts_catalogue_add_copy(w, &copy_row);
    cts_catalogue_add_allocation(w, &allocation_row);
    cts_catalogue_add_sync(w, &sync_row);
    cts_catalogue_add_call(w, &call_row);
    cts_catalogue_add_host_function(w, &host_function_row);
    cts_catalogue_add_graph_node(w, &graph_node_row);
    cts_catalogue_add_graph_edge(w, &graph_edge_row);
    cts_catalogue_add_host_access(w, &host_access_row);
    cts_catalogue_add_cta_sm(w, &cta_sm_row);
    cts_catalogue_add_cluster(w, &cluster_row);
    cts_catalogue_add_launch_pointer(w, &pointer_row);
    cts_catalogue_add_tensor_map(w, &tensor_map_row);
    cts_catalogue_add_padded_type(w, &padded_type_row);
    cts_catalogue_add_fingerprint(w, &fingerprint_row);
    cts_catalogue_add_message(w, "warning", "it is \"cold\"\n");
    cts_catalogue_set(w, "colour", "blue");
}

#endif
