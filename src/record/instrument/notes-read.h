/* Reads the named metadata that the device pass wrote (copy-marks.h): for the tables of compiled
 * files.
 */
#ifndef CTS_INSTRUMENT_NOTES_READ_H
#define CTS_INSTRUMENT_NOTES_READ_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>

/* A row: its operands; the caller frees them. */
struct cts_node {
    LLVMValueRef *operands;
    unsigned count;
};
/* A table: its rows; the caller frees `nodes`. */
struct cts_node_list {
    LLVMValueRef *nodes;
    unsigned count;
};

struct cts_node_list cts_nodes_of(LLVMModuleRef module, const char *name);
struct cts_node cts_node_open(LLVMValueRef metadata);

/* Operand `index` as a text, borrowed and not terminated, or as a number; "" and 0 if it is none.
 */
const char *cts_node_text(const struct cts_node *node, unsigned index, unsigned *size_bytes);
uint32_t cts_node_u32(const struct cts_node *node, unsigned index);
bool cts_node_text_is(const struct cts_node *node, unsigned index, const char *text);

/* enum cts_file_flags: what the compile was asked to record. */
uint32_t cts_notes_file_flags(LLVMModuleRef module);

#endif
