/* Writes the module's table (record/cuda/table.h) from its notes. */
#include "record/instrument/device-producer.h"

#include <stdlib.h>

#include "common/buffer.h"
#include "record/cuda/module.h"
#include "record/cuda/table.h"
#include "record/instrument/ir.h"
#include "record/instrument/notes-read.h"

struct table {
    struct cts_ir *ir;
    struct cts_buffer texts, rows;
    struct cts_ir_map numbers; /* constant string -> number of the text + 1 */
    uint32_t text_count;
};

static void put(struct cts_buffer *buffer, const void *bytes, size_t byte_count)
{
    if (cts_buffer_append(buffer, bytes, byte_count, NULL)) abort(); /* no memory, as in LLVM */
}

static void put_word(struct cts_buffer *buffer, uint32_t word)
{
    const uint8_t bytes[] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
                             (uint8_t)(word >> 24)};
    put(buffer, bytes, sizeof bytes);
}

static uint32_t text_number(struct table *table, const char *text, size_t size_bytes)
{
    LLVMValueRef constant = LLVMConstStringInContext2(table->ir->context, text, size_bytes, 0);
    void **const slot = cts_map_slot(&table->numbers, constant);
    if (!*slot) {
        put_word(&table->texts, (uint32_t)size_bytes);
        put(&table->texts, text, size_bytes);
        *slot = (void *)(uintptr_t)++table->text_count;
    }
    return (uint32_t)(uintptr_t)*slot - 1;
}

static void put_text(struct table *table, const struct cts_node *node, unsigned index)
{
    unsigned size_bytes;
    const char *const text = cts_node_text(node, index, &size_bytes);
    put_word(&table->rows, text_number(table, text, size_bytes));
}

static void put_number(struct table *table, const struct cts_node *node, unsigned index)
{
    put_word(&table->rows, cts_node_u32(node, index));
}

static void put_source(struct table *table, const struct cts_node *node)
{
    put_text(table, node, 0);
    put_text(table, node, 1);
}

static void put_kernel(struct table *table, const struct cts_node *node)
{
    put_text(table, node, 0);
    put_text(table, node, 1);
    for (unsigned i = 2; i < 5; i++) put_number(table, node, i);
}

static void put_site(struct table *table, const struct cts_node *node)
{
    for (unsigned i = 0; i < 4; i++) put_number(table, node, i);
    put_word(&table->rows, (cts_node_u32(node, 4) & 0xff) | (cts_node_u32(node, 5) & 0xff) << 8 |
                               (cts_node_u32(node, 6) & 0xff) << 16 |
                               (cts_node_u32(node, 7) & 0xff) << 24);
    for (unsigned i = 9; i < 13; i++) put_text(table, node, i);
}

static void put_variable(struct table *table, const struct cts_node *node)
{
    unsigned size_bytes;
    const char *const text = cts_node_text(node, 0, &size_bytes);
    char *const symbol = cts_ir_text("%.*s", (int)size_bytes, text);
    LLVMValueRef global = LLVMGetNamedGlobal(table->ir->module, symbol);
    const uint64_t bytes =
        global ? LLVMABISizeOfType(table->ir->layout, LLVMGlobalGetValueType(global)) : 0;
    free(symbol);
    for (unsigned i = 0; i < 3; i++) put_text(table, node, i);
    for (unsigned i = 3; i < 6; i++) put_number(table, node, i);
    put_text(table, node, 6);
    put_word(&table->rows, (uint32_t)bytes);
    put_word(&table->rows, (uint32_t)(bytes >> 32));
}

static void put_skipped(struct table *table, const struct cts_node *node)
{
    put_text(table, node, 0);
    put_text(table, node, 1);
    put_number(table, node, 2);
    put_number(table, node, 3);
}

static void put_padded_type(struct table *table, const struct cts_node *node)
{
    for (unsigned i = 0; i < 3; i++) put_text(table, node, i);
    put_number(table, node, 3);
}

typedef void put_row(struct table *table, const struct cts_node *node);

static uint32_t put_rows(struct table *table, const char *name, put_row *put_one)
{
    struct cts_node_list list = cts_nodes_of(table->ir->module, name);
    for (unsigned i = 0; i < list.count; i++) {
        struct cts_node node = cts_node_open(list.nodes[i]);
        put_one(table, &node);
        free(node.operands);
    }
    free(list.nodes);
    return list.count;
}

static void add_constant(struct table *table, const struct cts_buffer *bytes)
{
    struct cts_ir *const ir = table->ir;
    LLVMValueRef text =
        LLVMConstStringInContext2(ir->context, (const char *)bytes->data, bytes->size_bytes, 1);
    LLVMValueRef global =
        LLVMAddGlobalInAddressSpace(ir->module, LLVMTypeOf(text), CTS_CUDA_TABLE, 1);
    LLVMSetInitializer(global, text);
    LLVMSetGlobalConstant(global, 1);
    LLVMSetAlignment(global, 8);
}

void cts_device_table_add(LLVMModuleRef module, const char *unit)
{
    struct cts_ir ir;
    cts_ir_init(&ir, module);
    struct table table = {.ir = &ir};
    struct cts_buffer all = {0};
    size_t name_bytes;
    const char *const name = LLVMGetSourceFileName(module, &name_bytes);
    (void)text_number(&table, "", 0);
    const uint32_t unit_text = text_number(&table, unit, strlen(unit));
    const uint32_t path_text = text_number(&table, name, name_bytes);
    uint32_t counts[6];
    counts[0] = put_rows(&table, "cts.sources", put_source);
    counts[1] = put_rows(&table, "cts.kernels", put_kernel);
    counts[2] = put_rows(&table, "cts.sites", put_site);
    counts[3] = put_rows(&table, "cts.variables", put_variable);
    counts[4] = put_rows(&table, "cts.skipped", put_skipped);
    counts[5] = put_rows(&table, "cts.padded_types", put_padded_type);
    put(&all, CTS_CUDA_TABLE_MAGIC, 8);
    put_word(&all, CTS_CUDA_TABLE_VERSION);
    put_word(&all, (uint32_t)(CTS_CUDA_TABLE_HEADER_BYTES + table.texts.size_bytes +
                              table.rows.size_bytes));
    put_word(&all, cts_notes_file_flags(table.ir->module));
    put_word(&all, table.text_count);
    for (int i = 0; i < 6; i++) put_word(&all, counts[i]);
    put_word(&all, unit_text);
    put_word(&all, path_text);
    put(&all, table.texts.data, table.texts.size_bytes);
    put(&all, table.rows.data, table.rows.size_bytes);
    add_constant(&table, &all);
    cts_buffer_release(&table.texts);
    cts_buffer_release(&table.rows);
    cts_buffer_release(&all);
    cts_map_release(&table.numbers);
    cts_ir_release(&ir);
}
