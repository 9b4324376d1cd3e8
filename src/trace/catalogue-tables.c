#include "trace/catalogue-tables.h"

#include <string.h>

/* A column's type follows from the type of its field. */
#define FIELD(S, F) (((struct S *)0)->F)
#define TYPE_OF(S, F)                                                                              \
    _Generic(FIELD(S, F),                                                                          \
        uint8_t: CTS_COLUMN_U8,                                                                    \
        uint32_t: CTS_COLUMN_U32,                                                                  \
        uint64_t: CTS_COLUMN_U64,                                                                  \
        int32_t: CTS_COLUMN_I32,                                                                   \
        int64_t: CTS_COLUMN_I64,                                                                   \
        bool: CTS_COLUMN_BOOL,                                                                     \
        const char *: CTS_COLUMN_TEXT)

#define COLUMN(NAME, F, NULLS, UNIT, REFERENCE, WORDS)                                             \
    {.name = NAME,                                                                                 \
     .words = WORDS,                                                                               \
     .offset = offsetof(struct ROW, F),                                                            \
     .type = TYPE_OF(ROW, F),                                                                      \
     .null = CTS_NULL_##NULLS,                                                                     \
     .unit = CTS_UNIT_##UNIT,                                                                      \
     .reference = CTS_TABLE_##REFERENCE}

#define NUMBER(F)             COLUMN(#F, F, REFUSED, NUMBER, NONE, NULL)
#define QUANTITY(F, UNIT)     COLUMN(#F, F, REFUSED, UNIT, NONE, NULL)
#define TEXT(F)               COLUMN(#F, F, IS_NULL, NUMBER, NONE, NULL)
#define WORD(F, WORDS)        COLUMN(#F, F, REFUSED, NUMBER, NONE, WORDS)
#define ID(F)                 COLUMN(#F, F, REFUSED, NUMBER, NONE, NULL)
#define OF(F, TABLE)          COLUMN(#F, F, REFUSED, NUMBER, TABLE, NULL)
#define MAYBE_OF(F, TABLE)    COLUMN(#F, F, IS_ALL_ONES, NUMBER, TABLE, NULL)
#define ELEMENT(NAME, F)      COLUMN(NAME, F, REFUSED, NUMBER, NONE, NULL)
#define MAYBE(F, NULLS, UNIT) COLUMN(#F, F, NULLS, UNIT, NONE, NULL)

static const char *const device_kinds[] = {"cpu", "gpu", NULL};
static const char *const recorders[] = {"cpu", "cuda", "inject", "import", "timeline", NULL};
static const char *const stream_kinds[] = {"legacy default", "per-thread default", "blocking",
                                           "non-blocking", NULL};
static const char *const recorded_words[] = {"all", "sample", "none", NULL};
static const char *const copy_kinds[] = {"HtoD", "DtoH", "DtoD", "HtoH", "memset", "PtoP", NULL};
static const char *const allocation_kinds[] = {"device", "managed",  "pinned", "mapped",
                                               "array",  "variable", NULL};
static const char *const sync_kinds[] = {"event record", "stream wait", "event sync",
                                         "stream sync",  "device sync", "event query",
                                         "stream query", NULL};

static const char *const fault_kinds[] = {"address", "misaligned", "trap",       "assert",
                                          "barrier", "stack",      "arithmetic", "deadlock",
                                          "memory",  "unknown",    NULL};
static const char *const endings[] = {"closed", "exit", "signal", "unknown", NULL};

#define ROW cts_rank
static const struct cts_table_column rank_columns[] = {
    ID(rank),
    NUMBER(pid),
    TEXT(host),
    TEXT(program),
    TEXT(arguments),
    TEXT(directory),
    COLUMN("recorder", recorder, IS_NULL, NUMBER, NONE, recorders),
    QUANTITY(start_ns, NS),
    MAYBE(end_ns, IS_ZERO, NS),
    QUANTITY(unix_start_ns, NS),
    NUMBER(records),
    NUMBER(accesses),
    NUMBER(dropped_records),
    NUMBER(dropped_accesses),
    TEXT(failure),
};
#undef ROW
#define ROW cts_device
static const struct cts_table_column device_columns[] = {
    OF(rank, RANKS),          NUMBER(device),        TEXT(name),
    WORD(kind, device_kinds), NUMBER(sm_count),      QUANTITY(memory_bytes, BYTES),
    NUMBER(compute_major),    NUMBER(compute_minor),
};
#undef ROW
#define ROW cts_module
static const struct cts_table_column module_columns[] = {
    ID(module), OF(rank, RANKS), TEXT(name), TEXT(checksum), NUMBER(flags),
};
#undef ROW
#define ROW cts_source
static const struct cts_table_column source_columns[] = {
    ID(source),
    MAYBE_OF(module, MODULES),
    TEXT(path),
    TEXT(text),
};
#undef ROW
#define ROW cts_kernel
static const struct cts_table_column kernel_columns[] = {
    ID(kernel),
    MAYBE_OF(module, MODULES),
    TEXT(name),
    TEXT(mangled),
    MAYBE_OF(source, SOURCES),
    NUMBER(line),
    QUANTITY(static_shared_bytes, BYTES),
    NUMBER(max_threads),
    NUMBER(registers),
    NUMBER(instrumented),
};
#undef ROW
#define ROW cts_site
static const struct cts_table_column site_columns[] = {
    ID(site),
    MAYBE_OF(module, MODULES),
    TEXT(function),
    QUANTITY(operation, OPERATION),
    QUANTITY(space, SPACE),
    QUANTITY(width_bytes, BYTES),
    MAYBE_OF(source, SOURCES),
    NUMBER(line),
    NUMBER(column),
    TEXT(inlined_at),
    TEXT(type),
    TEXT(variable),
    NUMBER(is_volatile),
    NUMBER(loop_depth),
};
#undef ROW
#define ROW cts_variable
static const struct cts_table_column variable_columns[] = {
    ID(variable),
    MAYBE_OF(module, MODULES),
    TEXT(name),
    TEXT(mangled),
    TEXT(type),
    TEXT(kind),
    QUANTITY(address, ADDRESS),
    QUANTITY(size_bytes, BYTES),
    TEXT(function),
    MAYBE_OF(source, SOURCES),
    NUMBER(line),
};
#undef ROW
#define ROW cts_padded_type
static const struct cts_table_column padded_type_columns[] = {
    MAYBE_OF(module, MODULES), TEXT(type), QUANTITY(size_bytes, BYTES), TEXT(padding),
    TEXT(alternatives),
};
#undef ROW
#define ROW cts_fingerprint
static const struct cts_table_column fingerprint_columns[] = {
    OF(launch, LAUNCHES),
    QUANTITY(hash, ADDRESS),
    NUMBER(accesses),
};
#undef ROW
#define ROW cts_skipped
static const struct cts_table_column skipped_columns[] = {
    MAYBE_OF(module, MODULES), TEXT(what),   TEXT(reason),
    MAYBE_OF(source, SOURCES), NUMBER(line), NUMBER(count),
};
#undef ROW
#define ROW cts_cuda_stream
static const struct cts_table_column stream_columns[] = {
    ID(stream),
    OF(rank, RANKS),
    NUMBER(device),
    QUANTITY(handle, ADDRESS),
    WORD(kind, stream_kinds),
    NUMBER(priority),
    NUMBER(created_op),
    MAYBE(destroyed_op, IS_ALL_ONES, NUMBER),
};
#undef ROW
#define ROW cts_launch
static const struct cts_table_column launch_columns[] = {
    ID(launch),
    OF(rank, RANKS),
    NUMBER(op),
    NUMBER(device),
    OF(stream, STREAMS),
    NUMBER(ordinal),
    OF(kernel, KERNELS),
    ELEMENT("grid_x", grid[0]),
    ELEMENT("grid_y", grid[1]),
    ELEMENT("grid_z", grid[2]),
    ELEMENT("block_x", block[0]),
    ELEMENT("block_y", block[1]),
    ELEMENT("block_z", block[2]),
    QUANTITY(dynamic_shared_bytes, BYTES),
    NUMBER(cooperative),
    WORD(recorded, recorded_words),
    QUANTITY(call_ns, NS),
    MAYBE(start_ns, IS_ZERO, NS),
    MAYBE(end_ns, IS_ZERO, NS),
    NUMBER(records),
    NUMBER(accesses),
    NUMBER(dropped_accesses),
};
#undef ROW
#define ROW cts_copy
static const struct cts_table_column copy_columns[] = {
    ID(copy),
    OF(rank, RANKS),
    NUMBER(op),
    NUMBER(device),
    OF(stream, STREAMS),
    WORD(kind, copy_kinds),
    QUANTITY(destination, ADDRESS),
    QUANTITY(source, ADDRESS),
    QUANTITY(width_bytes, BYTES),
    NUMBER(height),
    NUMBER(depth),
    QUANTITY(destination_pitch, BYTES),
    QUANTITY(source_pitch, BYTES),
    QUANTITY(destination_slice, BYTES),
    QUANTITY(source_slice, BYTES),
    NUMBER(asynchronous),
    QUANTITY(call_ns, NS),
    MAYBE(start_ns, IS_ZERO, NS),
    MAYBE(end_ns, IS_ZERO, NS),
};
#undef ROW
#define ROW cts_allocation
static const struct cts_table_column allocation_columns[] = {
    ID(allocation),
    OF(rank, RANKS),
    NUMBER(op),
    MAYBE(freed_op, IS_ALL_ONES, NUMBER),
    NUMBER(device),
    QUANTITY(address, ADDRESS),
    QUANTITY(size_bytes, BYTES),
    WORD(kind, allocation_kinds),
    TEXT(call),
    TEXT(variable),
    TEXT(type),
    QUANTITY(element_bytes, BYTES),
    TEXT(path),
    NUMBER(line),
    NUMBER(column),
    TEXT(function),
};
#undef ROW
#define ROW cts_sync
static const struct cts_table_column sync_columns[] = {
    OF(rank, RANKS),
    NUMBER(op),
    WORD(kind, sync_kinds),
    MAYBE_OF(stream, STREAMS),
    MAYBE(event, IS_ZERO, ADDRESS),
    NUMBER(result),
    QUANTITY(start_ns, NS),
    MAYBE(end_ns, IS_ZERO, NS),
};
#undef ROW
#define ROW cts_host_call
static const struct cts_table_column call_columns[] = {
    OF(rank, RANKS),           NUMBER(op), NUMBER(thread), NUMBER(device),
    MAYBE_OF(stream, STREAMS), TEXT(api),
};
#undef ROW
#define ROW cts_host_function
static const struct cts_table_column host_function_columns[] = {
    OF(rank, RANKS), NUMBER(op),       MAYBE_OF(stream, STREAMS),
    NUMBER(thread),  NUMBER(begin_op), MAYBE(end_op, IS_ALL_ONES, NUMBER),
};
#undef ROW
#define ROW cts_thread_edge
static const struct cts_table_column thread_order_columns[] = {
    OF(rank, RANKS),
    NUMBER(op),
    NUMBER(after),
};
#undef ROW
#define ROW cts_graph_node
static const struct cts_table_column graph_node_columns[] = {
    OF(rank, RANKS), NUMBER(op), NUMBER(graph), NUMBER(launch_op), NUMBER(node),
};
#undef ROW
#define ROW cts_graph_edge
static const struct cts_table_column graph_edge_columns[] = {
    OF(rank, RANKS),
    NUMBER(graph),
    NUMBER(node),
    NUMBER(after),
};
#undef ROW
#define ROW cts_host_access
static const struct cts_table_column host_access_columns[] = {
    OF(rank, RANKS),
    NUMBER(op),
    NUMBER(is_store),
    QUANTITY(address, ADDRESS),
    QUANTITY(size_bytes, BYTES),
};
#undef ROW
#define ROW cts_cta_sm
static const struct cts_table_column cta_sm_columns[] = {NUMBER(launch), NUMBER(cta), NUMBER(sm)};
#undef ROW
#define ROW cts_cluster
static const struct cts_table_column cluster_columns[] = {
    NUMBER(launch),
    ELEMENT("cluster_x", ctas[0]),
    ELEMENT("cluster_y", ctas[1]),
    ELEMENT("cluster_z", ctas[2]),
};
#undef ROW
#define ROW cts_launch_pointer
static const struct cts_table_column launch_pointer_columns[] = {NUMBER(launch),
                                                                 QUANTITY(address, ADDRESS)};
#undef ROW
#define ROW cts_tensor_map
static const struct cts_table_column tensor_map_columns[] = {
    NUMBER(launch),
    QUANTITY(parameter_bytes, BYTES),
    QUANTITY(address, ADDRESS),
    TEXT(element_type),
    QUANTITY(element_bytes, BYTES),
    NUMBER(dimensions),
    ELEMENT("size_0", size[0]),
    ELEMENT("size_1", size[1]),
    ELEMENT("size_2", size[2]),
    ELEMENT("size_3", size[3]),
    ELEMENT("size_4", size[4]),
    ELEMENT("stride_0", stride_bytes[0]),
    ELEMENT("stride_1", stride_bytes[1]),
    ELEMENT("stride_2", stride_bytes[2]),
    ELEMENT("stride_3", stride_bytes[3]),
    ELEMENT("stride_4", stride_bytes[4]),
    ELEMENT("box_0", box[0]),
    ELEMENT("box_1", box[1]),
    ELEMENT("box_2", box[2]),
    ELEMENT("box_3", box[3]),
    ELEMENT("box_4", box[4]),
    QUANTITY(swizzle_bytes, BYTES),
    NUMBER(interleaved),
    NUMBER(im2col),
    NUMBER(may_load),
    NUMBER(may_store),
};
#undef ROW
#define ROW cts_ending
static const struct cts_table_column ending_columns[] = {
    OF(rank, RANKS),        WORD(how, endings),        MAYBE(status, IS_ALL_ONES, NUMBER),
    NUMBER(launches_asked), NUMBER(launches_complete), NUMBER(rows_lost),
};
#undef ROW
#define ROW cts_launch_fault
static const struct cts_table_column fault_columns[] = {
    OF(rank, RANKS),
    NUMBER(launch),
    COLUMN("kind", kind, IS_NULL, NUMBER, NONE, fault_kinds),
    COLUMN("cta_x", cta[0], IS_ALL_ONES, NUMBER, NONE, NULL),
    COLUMN("cta_y", cta[1], IS_ALL_ONES, NUMBER, NONE, NULL),
    COLUMN("cta_z", cta[2], IS_ALL_ONES, NUMBER, NONE, NULL),
    COLUMN("thread_x", thread[0], IS_ALL_ONES, NUMBER, NONE, NULL),
    COLUMN("thread_y", thread[1], IS_ALL_ONES, NUMBER, NONE, NULL),
    COLUMN("thread_z", thread[2], IS_ALL_ONES, NUMBER, NONE, NULL),
    MAYBE(address, IS_ZERO, ADDRESS),
    TEXT(path),
    NUMBER(line),
    MAYBE(allocation, IS_ALL_ONES, NUMBER),
    TEXT(text),
};
#undef ROW
#define ROW cts_access_file_row
static const struct cts_table_column access_file_columns[] = {
    OF(rank, RANKS), NUMBER(file),     NUMBER(chunks),
    NUMBER(records), NUMBER(accesses), QUANTITY(size_bytes, BYTES),
};
#undef ROW
#define ROW cts_message
static const struct cts_table_column message_columns[] = {
    OF(rank, RANKS),
    TEXT(severity),
    TEXT(text),
};
#undef ROW

#define ROW cts_run_file
static const struct cts_table_column file_columns[] = {
    WORD(path, NULL),
    QUANTITY(size_bytes, BYTES),
    MAYBE(checksum, IS_ALL_ONES, NUMBER),
    NUMBER(chunks),
    NUMBER(records),
    NUMBER(accesses),
};
#undef ROW
#define ROW cts_checksum
static const struct cts_table_column checksum_columns[] = {
    WORD(name, NULL),
    WORD(columns, NULL),
    NUMBER(rows),
    WORD(checksum, NULL),
};
#undef ROW

const struct cts_table cts_tables[CTS_TABLE_COUNT] = {
#define T(ID, NAME, ROW, ROWS, COUNT, COLUMNS, ORDER)                                              \
    [CTS_TABLE_##ID] = {                                                                           \
        .name = #NAME,                                                                             \
        .columns = COLUMNS,                                                                        \
        .column_count = sizeof COLUMNS / sizeof *COLUMNS,                                          \
        .order = CTS_ORDER_##ORDER,                                                                \
        .optional =                                                                                \
            (CTS_TABLE_##ID >= CTS_TABLE_CALLS && CTS_TABLE_##ID <= CTS_TABLE_GRAPH_EDGES) ||      \
            CTS_TABLE_##ID == CTS_TABLE_CTA_SMS || CTS_TABLE_##ID == CTS_TABLE_CLUSTERS ||         \
            CTS_TABLE_##ID == CTS_TABLE_LAUNCH_POINTERS ||                                         \
            CTS_TABLE_##ID == CTS_TABLE_TENSOR_MAPS || CTS_TABLE_##ID == CTS_TABLE_PADDED_TYPES || \
            CTS_TABLE_##ID == CTS_TABLE_FINGERPRINTS || CTS_TABLE_##ID == CTS_TABLE_ENDINGS ||     \
            CTS_TABLE_##ID == CTS_TABLE_FAULTS || CTS_TABLE_##ID == CTS_TABLE_ACCESS_FILES ||      \
            CTS_TABLE_##ID == CTS_TABLE_FILES || CTS_TABLE_##ID == CTS_TABLE_CHECKSUMS,            \
        .row_bytes = sizeof(struct ROW),                                                           \
        .rows_offset = offsetof(struct cts_catalogue, ROWS),                                       \
        .count_offset = offsetof(struct cts_catalogue, COUNT)}
    T(RANKS, ranks, cts_rank, ranks, rank_count, rank_columns, ID),
    T(DEVICES, devices, cts_device, devices, device_count, device_columns, RANK),
    T(MODULES, modules, cts_module, modules, module_count, module_columns, DENSE),
    T(SOURCES, sources, cts_source, sources, source_count, source_columns, DENSE),
    T(KERNELS, kernels, cts_kernel, kernels, kernel_count, kernel_columns, DENSE),
    T(SITES, sites, cts_site, sites, site_count, site_columns, DENSE),
    T(VARIABLES, variables, cts_variable, variables, variable_count, variable_columns, ID),
    T(SKIPPED, skipped, cts_skipped, skipped, skipped_count, skipped_columns, WRITTEN),
    T(STREAMS, streams, cts_cuda_stream, streams, stream_count, stream_columns, DENSE),
    T(LAUNCHES, launches, cts_launch, launches, launch_count, launch_columns, RANK_OP),
    T(COPIES, copies, cts_copy, copies, copy_count, copy_columns, RANK_OP),
    T(ALLOCATIONS, allocations, cts_allocation, allocations, allocation_count, allocation_columns,
      ID),
    T(SYNCS, syncs, cts_sync, syncs, sync_count, sync_columns, RANK_OP),
    T(CALLS, calls, cts_host_call, calls, call_count, call_columns, RANK_OP),
    T(HOST_FUNCTIONS, host_functions, cts_host_function, host_functions, host_function_count,
      host_function_columns, RANK_OP),
    T(THREAD_ORDER, thread_order, cts_thread_edge, thread_edges, thread_edge_count,
      thread_order_columns, RANK_OP),
    T(GRAPH_NODES, graph_nodes, cts_graph_node, graph_nodes, graph_node_count, graph_node_columns,
      RANK_OP),
    T(GRAPH_EDGES, graph_edges, cts_graph_edge, graph_edges, graph_edge_count, graph_edge_columns,
      WRITTEN),
    T(HOST_ACCESSES, host_accesses, cts_host_access, host_accesses, host_access_count,
      host_access_columns, RANK_OP),
    T(CTA_SMS, cta_sms, cts_cta_sm, cta_sms, cta_sm_count, cta_sm_columns, WRITTEN),
    T(CLUSTERS, clusters, cts_cluster, clusters, cluster_count, cluster_columns, WRITTEN),
    T(LAUNCH_POINTERS, launch_pointers, cts_launch_pointer, launch_pointers, launch_pointer_count,
      launch_pointer_columns, WRITTEN),
    T(TENSOR_MAPS, tensor_maps, cts_tensor_map, tensor_maps, tensor_map_count, tensor_map_columns,
      WRITTEN),
    T(PADDED_TYPES, padded_types, cts_padded_type, padded_types, padded_type_count,
      padded_type_columns, WRITTEN),
    T(FINGERPRINTS, fingerprints, cts_fingerprint, fingerprints, fingerprint_count,
      fingerprint_columns, WRITTEN),
    T(ENDINGS, endings, cts_ending, endings, ending_count, ending_columns, WRITTEN),
    T(FAULTS, faults, cts_launch_fault, faults, fault_count, fault_columns, WRITTEN),
    T(ACCESS_FILES, access_files, cts_access_file_row, access_files, access_file_count,
      access_file_columns, WRITTEN),
    T(MESSAGES, messages, cts_message, messages, message_count, message_columns, WRITTEN),
    T(FILES, files, cts_run_file, files, file_count, file_columns, WRITTEN),
    T(CHECKSUMS, checksums, cts_checksum, checksums, checksum_count, checksum_columns, WRITTEN),
#undef T
};

uint64_t cts_column_number(const struct cts_table_column *column, const void *row)
{
    const char *const field = (const char *)row + column->offset;
    switch ((enum cts_column_type)column->type) {
    case CTS_COLUMN_U8:
        return *(const uint8_t *)field;
    case CTS_COLUMN_BOOL:
        return *(const bool *)field;
    case CTS_COLUMN_U32:
        return *(const uint32_t *)(const void *)field;
    case CTS_COLUMN_I32:
        return (uint64_t)(int64_t)*(const int32_t *)(const void *)field;
    case CTS_COLUMN_U64:
    case CTS_COLUMN_I64:
        return *(const uint64_t *)(const void *)field;
    case CTS_COLUMN_TEXT:
        break;
    }
    return 0;
}

const char *cts_column_text(const struct cts_table_column *column, const void *row)
{
    return *(const char *const *)(const void *)((const char *)row + column->offset);
}

bool cts_column_is_null(const struct cts_table_column *column, const void *row)
{
    if (column->type == CTS_COLUMN_TEXT) return !cts_column_text(column, row);
    const uint64_t number = cts_column_number(column, row);
    if (column->null == CTS_NULL_IS_ZERO) return number == 0;
    return number == (column->type == CTS_COLUMN_U32 ? UINT32_MAX : UINT64_MAX) &&
           (column->null == CTS_NULL_IS_ALL_ONES || column->reference != CTS_TABLE_NONE);
}

const void *cts_catalogue_row(const struct cts_catalogue *catalogue, enum cts_table_id table,
                              size_t i)
{
    const struct cts_table *const t = &cts_tables[table];
    const char *const rows =
        *(const char *const *)(const void *)((const char *)catalogue + t->rows_offset);
    return rows + i * t->row_bytes;
}

size_t cts_catalogue_row_count(const struct cts_catalogue *catalogue, enum cts_table_id table)
{
    return *(const size_t *)(const void *)((const char *)catalogue +
                                           cts_tables[table].count_offset);
}

enum cts_status cts_catalogue_row_context(enum cts_table_id table, uint64_t id_or_row,
                                          struct cts_error *error)
{
    const struct cts_table *const t = &cts_tables[table];
    const bool has_id = t->columns[0].reference == CTS_TABLE_NONE;
    return cts_context(error, "table '%s', %s %llu", t->name, has_id ? t->columns[0].name : "row",
                       (unsigned long long)id_or_row);
}

enum cts_status cts_catalogue_no_memory(struct cts_error *error)
{
    return cts_fail(error, CTS_MEMORY, "no memory for the catalogue");
}
