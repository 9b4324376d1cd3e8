/* Rows of named metadata are taken as they are found: an operand that is missing, or of another
 * kind, reads as nothing. */
#include "record/instrument/notes-read.h"

#include <stdlib.h>
#include <string.h>

#include "record/instrument/ir.h"

struct cts_node_list cts_nodes_of(LLVMModuleRef module, const char *name)
{
    struct cts_node_list list = {.count = LLVMGetNamedMetadataNumOperands(module, name)};
    list.nodes = cts_ir_allocate(list.count, sizeof *list.nodes);
    LLVMGetNamedMetadataOperands(module, name, list.nodes);
    return list;
}

struct cts_node cts_node_open(LLVMValueRef metadata)
{
    struct cts_node node = {.count = LLVMGetMDNodeNumOperands(metadata)};
    node.operands = cts_ir_allocate(node.count, sizeof *node.operands);
    LLVMGetMDNodeOperands(metadata, node.operands);
    return node;
}

const char *cts_node_text(const struct cts_node *node, unsigned index, unsigned *size_bytes)
{
    *size_bytes = 0;
    const char *text = NULL;
    if (index < node->count && node->operands[index])
        text = LLVMGetMDString(node->operands[index], size_bytes);
    return text ? text : "";
}

uint32_t cts_node_u32(const struct cts_node *node, unsigned index)
{
    if (index >= node->count || !node->operands[index] ||
        !LLVMIsAConstantInt(node->operands[index]))
        return 0;
    return (uint32_t)LLVMConstIntGetSExtValue(node->operands[index]);
}

bool cts_node_text_is(const struct cts_node *node, unsigned index, const char *text)
{
    unsigned size_bytes;
    const char *const own = cts_node_text(node, index, &size_bytes);
    return strlen(text) == size_bytes && memcmp(own, text, size_bytes) == 0;
}

uint32_t cts_notes_file_flags(LLVMModuleRef module)
{
    uint32_t flags = 0;
    struct cts_node_list list = cts_nodes_of(module, "cts.options");
    if (list.count) {
        struct cts_node node = cts_node_open(list.nodes[0]);
        flags = cts_node_u32(&node, 0);
        free(node.operands);
    }
    free(list.nodes);
    return flags;
}
