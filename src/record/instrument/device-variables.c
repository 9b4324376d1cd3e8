/* A variable is told by its address space, its kind by annotations: clang writes "texture" and
 * "surface" into !nvvm.annotations, the language header marks __managed__ by an annotate attribute.
 * What has no debug information and a compiler's linkage (string literals, tables of switches) is
 * not the user's and left out. */
#include "record/instrument/device-variables.h"

#include <stdlib.h>
#include <string.h>

#include "record/abi.h"
#include "record/instrument/address-names.h"

void cts_find_managed(LLVMModuleRef module, struct cts_pointer_map *managed)
{
    LLVMValueRef table = LLVMGetNamedGlobal(module, "llvm.global.annotations");
    LLVMValueRef rows = table ? LLVMGetInitializer(table) : NULL;
    int count = rows ? LLVMGetNumOperands(rows) : 0;
    for (int i = 0; i < count; i++) {
        LLVMValueRef row = LLVMGetOperand(rows, (unsigned)i);
        if (LLVMGetNumOperands(row) < 2) continue;
        LLVMValueRef variable = LLVMGetOperand(row, 0), text = LLVMGetOperand(row, 1);
        while (LLVMIsAConstantExpr(variable)) variable = LLVMGetOperand(variable, 0);
        while (LLVMIsAConstantExpr(text)) text = LLVMGetOperand(text, 0);
        if (!LLVMIsAGlobalVariable(variable) || !LLVMIsAGlobalVariable(text)) continue;
        LLVMValueRef content = LLVMGetInitializer(text);
        size_t length;
        if (!content || !LLVMIsConstantString(content)) continue;
        const char *word = LLVMGetAsString(content, &length);
        if (length >= 11 && !memcmp(word, "cts.managed", 11))
            *cts_pointer_map_insert(managed, variable) = 1;
    }
}

void cts_unite_managed(LLVMValueRef variable, const char *unit)
{
    char *name = cts_plugin_text("cts.managed.%s.%s", unit, cts_source_symbol(variable));
    LLVMSetLinkage(variable, LLVMExternalLinkage);
    LLVMSetVisibility(variable, LLVMHiddenVisibility);
    LLVMSetExternallyInitialized(variable, 0);
    LLVMSetValueName2(variable, name, strlen(name));
    free(name);
}

void cts_find_textures(LLVMModuleRef module, struct cts_pointer_map *kinds)
{
    unsigned count = LLVMGetNamedMetadataNumOperands(module, "nvvm.annotations");
    LLVMValueRef *rows = cts_plugin_allocate(count, sizeof *rows);
    LLVMGetNamedMetadataOperands(module, "nvvm.annotations", rows);
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef operands[3] = {NULL};
        unsigned length = 0;
        if (LLVMGetMDNodeNumOperands(rows[i]) != 3) continue;
        LLVMGetMDNodeOperands(rows[i], operands);
        const char *key = operands[1] ? LLVMGetMDString(operands[1], &length) : NULL;
        if (!key || !operands[0] || !LLVMIsAGlobalVariable(operands[0])) continue;
        if (length == 7 && !memcmp(key, "texture", 7))
            *cts_pointer_map_insert(kinds, operands[0]) = CTS_VARIABLE_TEXTURE;
        if (length == 7 && !memcmp(key, "surface", 7))
            *cts_pointer_map_insert(kinds, operands[0]) = CTS_VARIABLE_SURFACE;
    }
    free(rows);
}

static bool is_empty_array(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMArrayTypeKind && !LLVMGetArrayLength2(type);
}

/* The variable's kind; false for what is none of the user's. */
static bool kind_of(LLVMValueRef global, const struct cts_pointer_map *managed,
                    const struct cts_pointer_map *annotated, uint32_t *kind)
{
    bool is_declared = LLVMIsDeclaration(global) != 0;
    const uint64_t *special = cts_pointer_map_find(annotated, global);
    switch (LLVMGetPointerAddressSpace(LLVMTypeOf(global))) {
    case 3:
        is_declared |= is_empty_array(LLVMGlobalGetValueType(global));
        *kind = is_declared ? CTS_VARIABLE_SHARED_DYNAMIC : CTS_VARIABLE_SHARED;
        return true;
    case 1:
        *kind = CTS_VARIABLE_DEVICE;
        break;
    case 4:
        *kind = CTS_VARIABLE_CONSTANT;
        break;
    default:
        return false;
    }
    if (cts_pointer_map_find(managed, global)) *kind = CTS_VARIABLE_MANAGED;
    if (special) *kind = (uint32_t)*special;
    return !is_declared && LLVMGetLinkage(global) != LLVMPrivateLinkage;
}

static char *type_name_of(LLVMValueRef global, LLVMMetadataRef info)
{
    char *name = cts_type_name(info ? cts_metadata_operand(info, CTS_OPERAND_VARIABLE_TYPE) : NULL);
    if (*name) return name;
    free(name);
    return cts_type_name_of_llvm(LLVMGlobalGetValueType(global));
}

static void note_variable(struct cts_notes *notes, LLVMValueRef global, uint32_t kind)
{
    LLVMMetadataRef info = cts_global_variable_info(global);
    char *name = cts_global_name(global), *type = type_name_of(global, info);
    struct cts_note_variable variable = {
        .symbol = cts_source_symbol(global),
        .display_name = name,
        .type_name = type,
        .function = "",
        .kind = kind,
        .at = {.source = CTS_NO_SOURCE},
    };
    if (info) {
        variable.at.source = cts_debug_source(notes->debug, LLVMDIVariableGetFile(info));
        variable.at.line = LLVMDIVariableGetLine(info);
        LLVMMetadataRef owner = cts_scope_subprogram(cts_metadata_operand(info, 0));
        variable.function = cts_debug_subprogram_name(notes->debug, owner);
    }
    cts_notes_add_variable(notes, &variable);
    free(name);
    free(type);
}

void cts_note_variables(struct cts_notes *notes)
{
    struct cts_pointer_map managed = {0}, annotated = {0};
    uint32_t kind;
    cts_find_managed(notes->module, &managed);
    cts_find_textures(notes->module, &annotated);
    for (LLVMValueRef g = LLVMGetFirstGlobal(notes->module); g; g = LLVMGetNextGlobal(g))
        if (kind_of(g, &managed, &annotated, &kind)) note_variable(notes, g, kind);
    cts_pointer_map_release(&managed);
    cts_pointer_map_release(&annotated);
}
