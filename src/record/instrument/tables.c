/* The tables of record/abi.h for one file, built as constants from the device pass's named metadata
 * (copy-marks.h) and from what the retarget pass found, and the constructor that registers them.
 *
 * Each row is a struct constant whose LLVM type has the members of the C struct in its order, so
 * that the host's data layout gives them the C offsets; the sizes are compared with sizeof, here
 * and in static assertions. Texts of sources lie in a section of their own, .ctascope. */
#include "record/instrument/retarget.h"

#include <stdlib.h>

#include <llvm-c/DebugInfo.h>

#include "record/instrument/notes-read.h"

_Static_assert(sizeof(struct cts_parameter_desc) == 8, "two u32");
_Static_assert(sizeof(struct cts_site_desc) == 24 + 4 * sizeof(void *), "as site_rows() has it");
_Static_assert(offsetof(struct cts_site_desc, loop) == 20, "as site_rows() has it");
_Static_assert(sizeof(struct cts_source_desc) == 24, "as source_rows() has it");
_Static_assert(offsetof(struct cts_variable_desc, kind) == 56, "as variable_rows() has it");
_Static_assert(offsetof(struct cts_kernel_desc, parameter_count) == 64, "as kernel_rows() has it");
_Static_assert(offsetof(struct cts_file_desc, kernel_count) == 80, "as file_row() has it");
_Static_assert(offsetof(struct cts_file_desc, slot_base) == 120, "as file_row() has it");

/* Rows of one table while they are built. */
struct table {
    LLVMValueRef *rows;
    size_t count, capacity;
    size_t row_bytes; /* of the C struct */
};

struct tables {
    struct cts_retarget *retarget;
    struct cts_ir *ir;
    struct cts_ir_map texts; /* constant string -> global */
    struct table kernels, sites, loops, sources, variables, skipped, padded_types;
    struct cts_ir_map listed; /* globals that have a row in variables */
};

/* ---- metadata ---- */

static struct cts_node_list nodes_of(const struct cts_retarget *retarget, const char *name)
{
    return cts_nodes_of(retarget->ir.module, name);
}

uint32_t cts_tables_kernel_flags(const struct cts_retarget *retarget, const char *name)
{
    uint32_t flags = 0;
    struct cts_node_list list = nodes_of(retarget, "cts.kernels");
    for (unsigned i = 0; i < list.count; i++) {
        struct cts_node node = cts_node_open(list.nodes[i]);
        if (cts_node_text_is(&node, 0, name)) flags = cts_node_u32(&node, 4);
        free(node.operands);
    }
    free(list.nodes);
    return flags;
}

/* ---- constants ---- */

static LLVMValueRef private_constant(struct cts_ir *ir, LLVMValueRef value, const char *name)
{
    LLVMValueRef global = LLVMAddGlobal(ir->module, LLVMTypeOf(value), name);
    LLVMSetInitializer(global, value);
    LLVMSetGlobalConstant(global, 1);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    return global;
}

static LLVMValueRef text_of(struct tables *tables, const char *text, size_t size_bytes)
{
    LLVMValueRef constant = LLVMConstStringInContext2(tables->ir->context, text, size_bytes, 0);
    void **const slot = cts_map_slot(&tables->texts, constant);
    if (!*slot) {
        LLVMValueRef global = private_constant(tables->ir, constant, "cts.text");
        LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
        LLVMSetAlignment(global, 1);
        *slot = global;
    }
    return *slot;
}

static LLVMValueRef c_text(struct tables *tables, const char *text)
{
    return text_of(tables, text, strlen(text));
}

static LLVMValueRef node_c_text(struct tables *tables, const struct cts_node *node, unsigned index)
{
    unsigned size_bytes;
    const char *const text = cts_node_text(node, index, &size_bytes);
    return text_of(tables, text, size_bytes);
}

static LLVMValueRef pointer_or_null(const struct cts_ir *ir, LLVMValueRef value)
{
    if (!value) return LLVMConstNull(ir->pointer);
    return cts_address_space(value) ? LLVMConstAddrSpaceCast(value, ir->pointer) : value;
}

static LLVMValueRef u8(const struct cts_ir *ir, uint32_t value)
{
    return LLVMConstInt(ir->i8, value, 0);
}

static void table_add(struct tables *tables, struct table *table, LLVMValueRef *members,
                      unsigned count)
{
    struct cts_ir *const ir = tables->ir;
    LLVMValueRef row = LLVMConstStructInContext(ir->context, members, count, 0);
    if (LLVMABISizeOfType(ir->layout, LLVMTypeOf(row)) != table->row_bytes)
        cts_ir_error(ir, NULL, "a table's row has %llu bytes where record/abi.h has %zu",
                     LLVMABISizeOfType(ir->layout, LLVMTypeOf(row)), table->row_bytes);
    table->rows = cts_ir_grow(table->rows, &table->capacity, table->count + 1, sizeof *table->rows);
    table->rows[table->count++] = row;
}

/* The table as a global; NULL pointer when it is empty. */
static LLVMValueRef table_close(struct tables *tables, struct table *table, const char *name)
{
    struct cts_ir *const ir = tables->ir;
    if (table->count == 0) return LLVMConstNull(ir->pointer);
    LLVMValueRef array = LLVMConstArray2(LLVMTypeOf(table->rows[0]), table->rows, table->count);
    free(table->rows);
    LLVMValueRef global = private_constant(ir, array, name);
    LLVMSetLinkage(global, LLVMInternalLinkage);
    return global;
}

/* ---- the tables ---- */

static void source_rows(struct tables *tables)
{
    struct cts_ir *const ir = tables->ir;
    struct cts_node_list list = nodes_of(tables->retarget, "cts.sources");
    for (unsigned i = 0; i < list.count; i++) {
        struct cts_node node = cts_node_open(list.nodes[i]);
        unsigned size_bytes;
        const char *const text = cts_node_text(&node, 1, &size_bytes);
        LLVMValueRef global = NULL;
        if (size_bytes) {
            LLVMValueRef constant = LLVMConstStringInContext2(ir->context, text, size_bytes, 0);
            global = private_constant(ir, constant, "cts.source");
            LLVMSetSection(global, ".ctascope");
            LLVMSetAlignment(global, 1);
        }
        LLVMValueRef members[] = {node_c_text(tables, &node, 0), pointer_or_null(ir, global),
                                  cts_u64(ir, size_bytes)};
        table_add(tables, &tables->sources, members, 3);
        free(node.operands);
    }
    free(list.nodes);
}

static void site_rows(struct tables *tables)
{
    struct cts_ir *const ir = tables->ir;
    struct cts_node_list list = nodes_of(tables->retarget, "cts.sites");
    for (unsigned i = 0; i < list.count; i++) {
        struct cts_node node = cts_node_open(list.nodes[i]);
        LLVMValueRef members[13];
        for (unsigned m = 0; m < 4; m++) members[m] = cts_u32(ir, cts_node_u32(&node, m));
        for (unsigned m = 4; m < 8; m++) members[m] = u8(ir, cts_node_u32(&node, m) & 0xFF);
        members[8] = cts_u32(ir, cts_node_u32(&node, 8));
        for (unsigned m = 9; m < 13; m++) members[m] = node_c_text(tables, &node, m);
        table_add(tables, &tables->sites, members, 13);
        free(node.operands);
    }
    free(list.nodes);
}

static void loop_rows(struct tables *tables)
{
    struct cts_node_list list = nodes_of(tables->retarget, "cts.loops");
    for (unsigned i = 0; i < list.count; i++) {
        struct cts_node node = cts_node_open(list.nodes[i]);
        LLVMValueRef parent = cts_u32(tables->ir, cts_node_u32(&node, 0));
        table_add(tables, &tables->loops, &parent, 1);
        free(node.operands);
    }
    free(list.nodes);
}

static void skipped_rows(struct tables *tables)
{
    struct cts_ir *const ir = tables->ir;
    struct cts_node_list list = nodes_of(tables->retarget, "cts.skipped");
    for (unsigned i = 0; i < list.count; i++) {
        struct cts_node node = cts_node_open(list.nodes[i]);
        LLVMValueRef members[] = {node_c_text(tables, &node, 0), node_c_text(tables, &node, 1),
                                  cts_u32(ir, cts_node_u32(&node, 2)),
                                  cts_u32(ir, cts_node_u32(&node, 3))};
        table_add(tables, &tables->skipped, members, 4);
        free(node.operands);
    }
    free(list.nodes);
}

static void padded_type_rows(struct tables *tables)
{
    struct cts_node_list list = nodes_of(tables->retarget, "cts.padded_types");
    for (unsigned i = 0; i < list.count; i++) {
        struct cts_node node = cts_node_open(list.nodes[i]);
        LLVMValueRef members[5];
        for (unsigned m = 0; m < 3; m++) members[m] = node_c_text(tables, &node, m);
        members[3] = cts_u32(tables->ir, cts_node_u32(&node, 3));
        members[4] = cts_u32(tables->ir, 0);
        table_add(tables, &tables->padded_types, members, 5);
        free(node.operands);
    }
    free(list.nodes);
}

/* The global that a row of !cts.variables names; -rdc and __managed__ rename it. */
static LLVMValueRef find_global(const struct tables *tables, const struct cts_node *node)
{
    unsigned size_bytes;
    const char *const name = cts_node_text(node, 0, &size_bytes);
    const struct {
        const char *prefix, *unit, *dot;
    } forms[] = {
        {"", "", ""}, {"__ctsdev_", "", ""}, {"cts.managed.", tables->retarget->unit, "."}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char *const full = cts_ir_text("%s%s%s%.*s", forms[i].prefix, forms[i].unit, forms[i].dot,
                                       (int)size_bytes, name);
        LLVMValueRef global = LLVMGetNamedGlobal(tables->ir->module, full);
        free(full);
        if (global) return global;
    }
    return NULL;
}
struct variable_place {
    uint32_t kind, source, line;
};

static void variable_row(struct tables *tables, LLVMValueRef global, LLVMValueRef texts[4],
                         struct variable_place place)
{
    struct cts_ir *const ir = tables->ir;
    const struct cts_shared_variable *const shared = cts_shared_find(tables->retarget, global);
    const uint64_t size_bytes =
        shared ? shared->size_bytes : LLVMABISizeOfType(ir->layout, LLVMGlobalGetValueType(global));
    LLVMValueRef members[] = {texts[0],
                              texts[1],
                              texts[2],
                              pointer_or_null(ir, shared ? NULL : global),
                              cts_u64(ir, size_bytes),
                              cts_u64(ir, shared ? shared->offset : 0),
                              texts[3],
                              cts_u32(ir, place.kind),
                              cts_u32(ir, place.source),
                              cts_u32(ir, place.line)};
    table_add(tables, &tables->variables, members, 10);
    *cts_map_slot(&tables->listed, global) = tables;
}

static bool is_device_variable(LLVMValueRef global)
{
    const unsigned space = cts_address_space(global);
    return (space == 1 || space == 4) && !LLVMIsDeclaration(global);
}

static void variable_rows(struct tables *tables)
{
    struct cts_node_list list = nodes_of(tables->retarget, "cts.variables");
    for (unsigned i = 0; i < list.count; i++) {
        struct cts_node node = cts_node_open(list.nodes[i]);
        LLVMValueRef global = find_global(tables, &node);
        if (global && (cts_shared_find(tables->retarget, global) || !LLVMIsDeclaration(global))) {
            LLVMValueRef texts[] = {node_c_text(tables, &node, 0), node_c_text(tables, &node, 1),
                                    node_c_text(tables, &node, 2), node_c_text(tables, &node, 6)};
            variable_row(tables, global, texts,
                         (struct variable_place){cts_node_u32(&node, 3), cts_node_u32(&node, 4),
                                                 cts_node_u32(&node, 5)});
        }
        free(node.operands);
    }
    free(list.nodes);
    /* What the host may name although the device pass did not list it. */
    CTS_EACH_GLOBAL(global, tables->ir->module)
    {
        if (!is_device_variable(global) || cts_map_get(&tables->listed, global)) continue;
        const char *name = cts_ir_name(global);
        if (cts_starts_with(name, "__ctsdev_")) name += strlen("__ctsdev_");
        char *const shown = cts_demangle(name);
        LLVMValueRef texts[] = {c_text(tables, name), c_text(tables, shown), c_text(tables, ""),
                                c_text(tables, "")};
        free(shown);
        variable_row(tables, global, texts,
                     (struct variable_place){cts_address_space(global) == 4 ? CTS_VARIABLE_CONSTANT
                                                                            : CTS_VARIABLE_DEVICE,
                                             UINT32_MAX, 0});
    }
}

static LLVMValueRef parameter_table(struct tables *tables, const struct cts_retarget_kernel *kernel)
{
    struct cts_ir *const ir = tables->ir;
    struct table table = {.row_bytes = sizeof(struct cts_parameter_desc)};
    for (unsigned i = 0; i < kernel->parameter_count; i++) {
        LLVMAttributeRef byval =
            LLVMGetEnumAttributeAtIndex(kernel->shell, i + 1, cts_ir_attribute_kind("byval"));
        LLVMAttributeRef align =
            LLVMGetEnumAttributeAtIndex(kernel->shell, i + 1, cts_ir_attribute_kind("align"));
        LLVMTypeRef type =
            byval ? LLVMGetTypeAttributeValue(byval) : LLVMTypeOf(LLVMGetParam(kernel->shell, i));
        const uint64_t align_bytes = byval && align ? LLVMGetEnumAttributeValue(align)
                                                    : LLVMABIAlignmentOfType(ir->layout, type);
        LLVMValueRef members[] = {cts_u32(ir, (uint32_t)LLVMABISizeOfType(ir->layout, type)),
                                  cts_u32(ir, (uint32_t)align_bytes)};
        table_add(tables, &table, members, 2);
    }
    return table_close(tables, &table, "cts.parameters");
}

static LLVMValueRef row_site_table(struct tables *tables, const struct cts_retarget_kernel *kernel)
{
    struct table table = {.row_bytes = sizeof(uint32_t)};
    for (uint32_t i = 0; i < kernel->row_site_count; i++) {
        table.rows = cts_ir_grow(table.rows, &table.capacity, table.count + 1, sizeof *table.rows);
        table.rows[table.count++] = cts_u32(tables->ir, kernel->row_sites[i]);
    }
    return table_close(tables, &table, "cts.row_sites");
}

static LLVMValueRef alignment_table(struct tables *tables, const struct cts_retarget_kernel *kernel)
{
    const struct cts_ir *const ir = tables->ir;
    struct table table = {.row_bytes = sizeof(struct cts_alignment_desc)};
    for (size_t i = 0; i < kernel->alignment_count; i++) {
        const struct cts_alignment_desc *const row = &kernel->alignments[i];
        LLVMValueRef members[] = {cts_u32(ir, row->parameter), cts_u32(ir, row->offset_bytes),
                                  cts_u32(ir, row->align_bytes)};
        table_add(tables, &table, members, 3);
    }
    return table_close(tables, &table, "cts.alignments");
}

struct kernel_text {
    LLVMValueRef display_name;
    uint32_t source, line;
};

static struct kernel_text kernel_text(struct tables *tables,
                                      const struct cts_retarget_kernel *kernel)
{
    struct kernel_text text = {0};
    struct cts_node_list list = nodes_of(tables->retarget, "cts.kernels");
    for (unsigned i = 0; i < list.count && !text.display_name; i++) {
        struct cts_node node = cts_node_open(list.nodes[i]);
        if (cts_node_text_is(&node, 0, kernel->name)) {
            text.display_name = node_c_text(tables, &node, 1);
            text.source = cts_node_u32(&node, 2);
            text.line = cts_node_u32(&node, 3);
        }
        free(node.operands);
    }
    free(list.nodes);
    if (text.source == UINT32_MAX) text.source = text.line = 0;
    if (text.display_name) return text;
    char *const shown = cts_demangle(kernel->name);
    text.display_name = c_text(tables, shown);
    free(shown);
    return text;
}

static void kernel_rows(struct tables *tables)
{
    struct cts_ir *const ir = tables->ir;
    for (size_t i = 0; i < tables->retarget->kernel_count; i++) {
        const struct cts_retarget_kernel *const kernel = &tables->retarget->kernels[i];
        const struct kernel_text text = kernel_text(tables, kernel);
        LLVMValueRef members[] = {
            c_text(tables, kernel->name),
            text.display_name,
            pointer_or_null(ir, kernel->cta),
            pointer_or_null(ir, kernel->thread),
            pointer_or_null(ir, kernel->row_rec),
            pointer_or_null(ir, kernel->thread_rec),
            parameter_table(tables, kernel),
            row_site_table(tables, kernel),
            cts_u32(ir, kernel->parameter_count),
            cts_u32(ir, kernel->row_site_count),
            cts_u32(ir, kernel->flags),
            cts_u32(ir, kernel->static_shared_bytes),
            cts_u32(ir, kernel->max_threads),
            cts_u32(ir, kernel->min_ctas),
            cts_u32(ir, text.source),
            cts_u32(ir, text.line),
            alignment_table(tables, kernel),
            cts_u32(ir, (uint32_t)kernel->alignment_count),
            cts_u32(ir, 0),
        };
        table_add(tables, &tables->kernels, members, sizeof members / sizeof members[0]);
    }
}

/* ---- the file, and its registration ---- */

LLVMValueRef cts_tables_slot_base(struct cts_retarget *retarget)
{
    LLVMValueRef global = LLVMAddGlobal(retarget->ir.module, retarget->ir.i64, "cts.slot_base");
    LLVMSetInitializer(global, cts_u64(&retarget->ir, 0));
    LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetExternallyInitialized(global, 1);
    return global;
}

/* The user's main source: the first with a text; else the module's name. */
static LLVMValueRef main_path(struct tables *tables)
{
    size_t size_bytes;
    const char *const name = LLVMGetSourceFileName(tables->ir->module, &size_bytes);
    LLVMValueRef path = text_of(tables, name, size_bytes);
    struct cts_node_list list = nodes_of(tables->retarget, "cts.sources");
    for (unsigned i = 0; i < list.count; i++) {
        struct cts_node node = cts_node_open(list.nodes[i]);
        unsigned text_bytes;
        cts_node_text(&node, 1, &text_bytes);
        if (text_bytes) {
            path = node_c_text(tables, &node, 0);
            i = list.count;
        }
        free(node.operands);
    }
    free(list.nodes);
    return path;
}

static LLVMValueRef file_row(struct tables *tables)
{
    struct cts_ir *const ir = tables->ir;
    const struct cts_retarget *const retarget = tables->retarget;
    /* Of other units nothing is known here. */
    const uint32_t shared_align_bytes = retarget->separate_units ? 0 : retarget->shared_align_bytes;
    struct table file = {.row_bytes = sizeof(struct cts_file_desc)};
    const uint32_t counts[] = {
        (uint32_t)tables->kernels.count,      (uint32_t)tables->sites.count,
        (uint32_t)tables->loops.count,        (uint32_t)tables->sources.count,
        (uint32_t)tables->variables.count,    (uint32_t)tables->skipped.count,
        (uint32_t)retarget->shared_bytes,     shared_align_bytes,
        (uint32_t)tables->padded_types.count, 0};
    LLVMValueRef members[22] = {
        cts_u32(ir, CTS_ABI_VERSION),
        cts_u32(ir, cts_notes_file_flags(retarget->ir.module) |
                        (retarget->separate_units ? CTS_FILE_SEPARATE_UNITS : 0)),
        c_text(tables, retarget->unit),
        main_path(tables),
        table_close(tables, &tables->kernels, "cts.kernels"),
        table_close(tables, &tables->sites, "cts.sites"),
        table_close(tables, &tables->loops, "cts.loops"),
        table_close(tables, &tables->sources, "cts.sources"),
        table_close(tables, &tables->variables, "cts.variables"),
        table_close(tables, &tables->skipped, "cts.skipped"),
        table_close(tables, &tables->padded_types, "cts.padded_types"),
    };
    for (unsigned i = 0; i < 10; i++) members[11 + i] = cts_u32(ir, counts[i]);
    members[21] = retarget->slot_base;
    table_add(tables, &file, members, 22);
    LLVMValueRef row = private_constant(ir, file.rows[0], "cts.file");
    LLVMSetLinkage(row, LLVMInternalLinkage);
    free(file.rows);
    return row;
}

/* What only the linker knows of shared memory goes into the tables when the program starts. */
static void complete_shared(struct tables *tables, LLVMValueRef file)
{
    struct cts_ir *const ir = tables->ir;
    struct cts_retarget *const retarget = tables->retarget;
    LLVMValueRef bytes =
        LLVMBuildTrunc(ir->builder, cts_shared_program_bytes(retarget), ir->i32, "");
    LLVMSetGlobalConstant(file, 0);
    LLVMBuildStore(
        ir->builder, bytes,
        cts_byte_offset(ir, file, cts_u64(ir, offsetof(struct cts_file_desc, shared_bytes))));
    LLVMValueRef offset = cts_shared_file_offset(retarget);
    LLVMValueRef variables = LLVMGetNamedGlobal(ir->module, "cts.variables");
    if (!offset || !variables) return;
    LLVMSetGlobalConstant(variables, 0);
    for (size_t i = 0; i < tables->variables.count; i++) {
        const size_t at = i * sizeof(struct cts_variable_desc);
        LLVMValueRef kind = LLVMGetAggregateElement(
            LLVMGetAggregateElement(LLVMGetInitializer(variables), (unsigned)i), 7);
        if (LLVMConstIntGetZExtValue(kind) != CTS_VARIABLE_SHARED) continue;
        LLVMValueRef member = cts_byte_offset(
            ir, variables, cts_u64(ir, at + offsetof(struct cts_variable_desc, shared_offset)));
        LLVMValueRef old = LLVMBuildLoad2(ir->builder, ir->i64, member, "");
        LLVMBuildStore(ir->builder, LLVMBuildAdd(ir->builder, old, offset, ""), member);
    }
}

static void end_function(struct cts_ir *ir, LLVMValueRef function, const char *list_name,
                         uint32_t priority)
{
    LLVMBuildRetVoid(ir->builder);
    LLVMValueRef members[] = {cts_u32(ir, priority), function, LLVMConstNull(ir->pointer)};
    LLVMValueRef entry = LLVMConstStructInContext(ir->context, members, 3, 0);
    LLVMValueRef entries = LLVMConstArray2(LLVMTypeOf(entry), &entry, 1);
    LLVMValueRef list = LLVMAddGlobal(ir->module, LLVMTypeOf(entries), list_name);
    LLVMSetInitializer(list, entries);
    LLVMSetLinkage(list, LLVMAppendingLinkage);
}

static LLVMValueRef begin_function(struct cts_ir *ir, const char *name)
{
    LLVMValueRef function =
        LLVMAddFunction(ir->module, name, LLVMFunctionType(ir->nothing, NULL, 0, 0));
    LLVMSetLinkage(function, LLVMInternalLinkage);
    LLVMSetCurrentDebugLocation2(ir->builder, NULL);
    LLVMPositionBuilderAtEnd(ir->builder, LLVMAppendBasicBlockInContext(ir->context, function, ""));
    return function;
}

static void register_at_start(struct tables *tables, LLVMValueRef file)
{
    struct cts_ir *const ir = tables->ir;
    LLVMValueRef constructor = begin_function(ir, "cts.register");
    if (tables->retarget->separate_units) complete_shared(tables, file);
    cts_ir_call(ir, "__cts_register_file", ir->nothing, 1, &file);
    end_function(ir, constructor, "llvm.global_ctors", 65535);
    /* The lowest number is the last destructor, after those of C++ objects. */
    LLVMValueRef destructor = begin_function(ir, "cts.unregister");
    cts_ir_call(ir, "__cts_unregister_file", ir->nothing, 1, &file);
    end_function(ir, destructor, "llvm.global_dtors", 101);
}

void cts_tables_make(struct cts_retarget *retarget)
{
    struct tables tables = {
        .retarget = retarget,
        .ir = &retarget->ir,
        .kernels.row_bytes = sizeof(struct cts_kernel_desc),
        .sites.row_bytes = sizeof(struct cts_site_desc),
        .loops.row_bytes = sizeof(struct cts_loop_desc),
        .sources.row_bytes = sizeof(struct cts_source_desc),
        .variables.row_bytes = sizeof(struct cts_variable_desc),
        .skipped.row_bytes = sizeof(struct cts_skipped_desc),
        .padded_types.row_bytes = sizeof(struct cts_padded_type_desc),
    };
    source_rows(&tables);
    site_rows(&tables);
    loop_rows(&tables);
    variable_rows(&tables);
    skipped_rows(&tables);
    padded_type_rows(&tables);
    kernel_rows(&tables);
    register_at_start(&tables, file_row(&tables));
    cts_map_release(&tables.texts);
    cts_map_release(&tables.listed);
}
