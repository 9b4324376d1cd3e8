/* What debug information says: source files, positions, names of functions and types. */
#ifndef CTS_INSTRUMENT_DEBUGINFO_H
#define CTS_INSTRUMENT_DEBUGINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

#include "record/instrument/pass-memory.h"

enum { CTS_NO_SOURCE = UINT32_MAX };

struct cts_source_file {
    char *path;    /* absolute, as compiled */
    bool is_users; /* false: a header of ours, clang's, the toolkit's or the system's */
};

/* Zero-initialised is empty. Names and paths live until it is released. */
struct cts_debug {
    struct cts_source_file *sources;
    size_t source_count, source_capacity;
    struct cts_pointer_map source_of_file; /* DIFile -> source + 1 */
    struct cts_pointer_map name_of;        /* DISubprogram or function -> char * */
};

void cts_debug_release(struct cts_debug *debug);

/* The index of a DIFile's path in debug->sources; CTS_NO_SOURCE for NULL. */
uint32_t cts_debug_source(struct cts_debug *debug, LLVMMetadataRef file);

/* A function's or variable's symbol as the source makes it; the lower pass puts a prefix before
 * those that translation units share. */
const char *cts_source_symbol(LLVMValueRef global);

/* The display name of a function: from its symbol, or of a DISubprogram. Borrowed from `debug`. */
const char *cts_debug_function_name(struct cts_debug *debug, LLVMValueRef function);
const char *cts_debug_subprogram_name(struct cts_debug *debug, LLVMMetadataRef subprogram);

/* A DISubprogram's symbol, not terminated; NULL: it has none, or is NULL. */
const char *cts_subprogram_symbol(LLVMMetadataRef subprogram, size_t *length);

/* The function around a scope; NULL when it is at namespace level. */
LLVMMetadataRef cts_scope_subprogram(LLVMMetadataRef scope);

/* The DISubprogram that a DILocation lies in. */
LLVMMetadataRef cts_location_subprogram(LLVMMetadataRef location);

/* The first frame of an inlining chain that is in the user's files; the innermost when none is;
 * NULL for NULL. */
LLVMMetadataRef cts_debug_user_frame(struct cts_debug *debug, LLVMMetadataRef location);

/* Where the frame was inlined, "file:line:column function <- ...", outermost last; "" when it was
 * not. The caller frees it. */
char *cts_debug_inlined_at(struct cts_debug *debug, LLVMMetadataRef frame);

/* DWARF's tags of the types that the code distinguishes. */
enum cts_type_tag {
    CTS_TAG_ARRAY = 0x01,
    CTS_TAG_CLASS = 0x02,
    CTS_TAG_MEMBER = 0x0d,
    CTS_TAG_POINTER = 0x0f,
    CTS_TAG_REFERENCE = 0x10,
    CTS_TAG_STRUCTURE = 0x13,
    CTS_TAG_SUBROUTINE = 0x15,
    CTS_TAG_TYPEDEF = 0x16,
    CTS_TAG_UNION = 0x17,
    CTS_TAG_INHERITANCE = 0x1c,
    CTS_TAG_CONST = 0x26,
    CTS_TAG_VOLATILE = 0x35,
    CTS_TAG_RESTRICT = 0x37,
    CTS_TAG_RVALUE_REFERENCE = 0x42,
    CTS_TAG_ATOMIC = 0x47,
};

/* Of DWARF types. NULL stands for void and for unknown. */
unsigned cts_type_tag(LLVMMetadataRef type);
LLVMMetadataRef cts_type_base(LLVMMetadataRef type);  /* pointee, element, member's, original */
LLVMMetadataRef cts_type_plain(LLVMMetadataRef type); /* without typedefs and qualifiers */
bool cts_type_is_pointer(LLVMMetadataRef plain_type); /* or a reference */
bool cts_type_is_record(LLVMMetadataRef plain_type);  /* structure, class, union */
uint64_t cts_type_bytes(LLVMMetadataRef plain_type);
/* The data member or base class of a record that covers byte `offset`; NULL when none does. */
LLVMMetadataRef cts_type_member_at(LLVMMetadataRef record, uint64_t offset);
/* The source's name of a type, "float", "node*", "ns::vec<3>"; for an array its elements'; "" when
 * it has none. The caller frees it. */
char *cts_type_name(LLVMMetadataRef type);
/* The name that an LLVM type has in the absence of debug information: "float", "<4 x float>". */
char *cts_type_name_of_llvm(LLVMTypeRef type);

/* Text of an operand of a debug information node; NULL when it is none or empty. Borrowed, not
 * terminated. */
const char *cts_debug_text(LLVMMetadataRef node, unsigned operand, size_t *size_bytes);

/* Operands that have no getter in the C API. */
enum {
    CTS_OPERAND_NAME = 2,          /* of types and subprograms */
    CTS_OPERAND_VARIABLE_NAME = 1, /* of variables */
    CTS_OPERAND_VARIABLE_TYPE = 3, /* of variables */
    CTS_OPERAND_SUBPROGRAM_LINKAGE = 3,
};

#endif
