/* Reading LLVM's debug information nodes through their operands, most of which have no getter in
 * the C API. The numbers of operands are those of LLVM 19 (llvm/IR/DebugInfoMetadata.h). */
#include "record/instrument/debuginfo.h"

#include <stdlib.h>
#include <string.h>

#include "common/text-stream.h"
#include "record/instrument/shim.h"
#include "record/instrument/users-path.h"

enum {
    OPERAND_SCOPE = 1,
    OPERAND_BASE = 3,
    OPERAND_ELEMENTS = 4,
    NESTING_LIMIT = 64, /* of types and scopes; deeper ones are treated as unknown */
};

const char *cts_debug_text(LLVMMetadataRef node, unsigned operand, size_t *size_bytes)
{
    const char *text = cts_metadata_text(cts_metadata_operand(node, operand), size_bytes);
    return *size_bytes ? text : NULL;
}

/* --- Source files --- */

/* "/a/./b" and "/a//b" become "/a/b"; ".." stays, since links may be on the way. */
static void simplify_path(char *path)
{
    char *to = path;
    for (const char *from = path; *from;) {
        if (from[0] == '/' && from[1] == '/')
            from++;
        else if (from[0] == '/' && from[1] == '.' && from[2] == '/')
            from += 2;
        else
            *to++ = *from++;
    }
    *to = 0;
}

static char *path_of(LLVMMetadataRef file)
{
    unsigned name_length = 0, folder_length = 0;
    const char *name = LLVMDIFileGetFilename(file, &name_length);
    const char *folder = LLVMDIFileGetDirectory(file, &folder_length);
    char *path = name_length && name[0] == '/'
                     ? cts_plugin_text("%.*s", (int)name_length, name)
                     : cts_plugin_text("%.*s/%.*s", (int)folder_length, folder ? folder : "",
                                       (int)name_length, name ? name : "");
    simplify_path(path);
    return path;
}

uint32_t cts_debug_source(struct cts_debug *debug, LLVMMetadataRef file)
{
    if (!file) return CTS_NO_SOURCE;
    uint64_t *known = cts_pointer_map_insert(&debug->source_of_file, file);
    if (*known) return (uint32_t)*known - 1;
    char *path = path_of(file);
    uint32_t source = 0;
    while (source < debug->source_count && strcmp(debug->sources[source].path, path)) source++;
    if (source == debug->source_count) {
        debug->sources = cts_plugin_grow(debug->sources, debug->source_count,
                                         &debug->source_capacity, sizeof *debug->sources);
        debug->sources[debug->source_count++] =
            (struct cts_source_file){.path = path, .is_users = cts_is_users_path(path)};
    } else {
        free(path);
    }
    *known = (uint64_t)source + 1;
    return source;
}

void cts_debug_release(struct cts_debug *debug)
{
    for (size_t i = 0; i < debug->source_count; i++) free(debug->sources[i].path);
    free(debug->sources);
    for (size_t i = 0; i < debug->name_of.capacity; i++)
        free((char *)(uintptr_t)debug->name_of.entries[i].value);
    cts_pointer_map_release(&debug->source_of_file);
    cts_pointer_map_release(&debug->name_of);
    *debug = (struct cts_debug){0};
}

/* --- Functions and positions --- */

const char *cts_source_symbol(LLVMValueRef global)
{
    static const char prefix[] = "__ctsdev_";
    size_t length;
    const char *name = LLVMGetValueName2(global, &length);
    return strncmp(name, prefix, strlen(prefix)) ? name : name + strlen(prefix);
}

const char *cts_debug_function_name(struct cts_debug *debug, LLVMValueRef function)
{
    uint64_t *name = cts_pointer_map_insert(&debug->name_of, function);
    if (!*name) *name = (uintptr_t)cts_demangle(cts_source_symbol(function));
    return (const char *)(uintptr_t)*name;
}

const char *cts_debug_subprogram_name(struct cts_debug *debug, LLVMMetadataRef subprogram)
{
    if (!subprogram) return "";
    uint64_t *name = cts_pointer_map_insert(&debug->name_of, subprogram);
    if (!*name) {
        size_t length = 0;
        const char *text = cts_debug_text(subprogram, CTS_OPERAND_SUBPROGRAM_LINKAGE, &length);
        if (!text) text = cts_debug_text(subprogram, CTS_OPERAND_NAME, &length);
        char *symbol = cts_plugin_text("%.*s", (int)length, text ? text : "");
        *name = (uintptr_t)cts_demangle(symbol);
        free(symbol);
    }
    return (const char *)(uintptr_t)*name;
}

const char *cts_subprogram_symbol(LLVMMetadataRef subprogram, size_t *length)
{
    return subprogram ? cts_debug_text(subprogram, CTS_OPERAND_SUBPROGRAM_LINKAGE, length) : NULL;
}

LLVMMetadataRef cts_scope_subprogram(LLVMMetadataRef scope)
{
    for (int i = 0; scope && i < 16 * NESTING_LIMIT; i++) {
        LLVMMetadataKind kind = LLVMGetMetadataKind(scope);
        if (kind == LLVMDISubprogramMetadataKind) return scope;
        if (kind != LLVMDILexicalBlockMetadataKind && kind != LLVMDILexicalBlockFileMetadataKind)
            return NULL;
        scope = cts_metadata_operand(scope, OPERAND_SCOPE);
    }
    return NULL;
}

LLVMMetadataRef cts_location_subprogram(LLVMMetadataRef location)
{
    return location ? cts_scope_subprogram(LLVMDILocationGetScope(location)) : NULL;
}

LLVMMetadataRef cts_debug_user_frame(struct cts_debug *debug, LLVMMetadataRef location)
{
    for (LLVMMetadataRef at = location; at; at = LLVMDILocationGetInlinedAt(at)) {
        uint32_t source = cts_debug_source(debug, LLVMDIScopeGetFile(LLVMDILocationGetScope(at)));
        if (source != CTS_NO_SOURCE && debug->sources[source].is_users) return at;
    }
    return location;
}

char *cts_debug_inlined_at(struct cts_debug *debug, LLVMMetadataRef frame)
{
    struct cts_text_stream stream;
    FILE *out = cts_text_stream_open(&stream);
    if (!out) return cts_plugin_text("%s", "");
    const char *separator = "";
    for (LLVMMetadataRef at = frame ? LLVMDILocationGetInlinedAt(frame) : NULL; at;
         at = LLVMDILocationGetInlinedAt(at)) {
        unsigned length = 0;
        LLVMMetadataRef file = LLVMDIScopeGetFile(LLVMDILocationGetScope(at));
        const char *name = file ? LLVMDIFileGetFilename(file, &length) : "";
        fprintf(out, "%s%.*s:%u:%u %s", separator, (int)length, name, LLVMDILocationGetLine(at),
                LLVMDILocationGetColumn(at),
                cts_debug_subprogram_name(debug, cts_location_subprogram(at)));
        separator = " <- ";
    }
    char *const text = cts_text_stream_close(&stream, NULL);
    return text ? text : cts_plugin_text("%s", "");
}

/* --- Types --- */

static bool is_type(LLVMMetadataRef type)
{
    if (!type) return false;
    switch (LLVMGetMetadataKind(type)) {
    case LLVMDIBasicTypeMetadataKind:
    case LLVMDIDerivedTypeMetadataKind:
    case LLVMDICompositeTypeMetadataKind:
    case LLVMDISubroutineTypeMetadataKind:
        return true;
    default:
        return false;
    }
}

unsigned cts_type_tag(LLVMMetadataRef type)
{
    return is_type(type) ? LLVMGetDINodeTag(type) : 0;
}

LLVMMetadataRef cts_type_base(LLVMMetadataRef type)
{
    LLVMMetadataRef base = NULL;
    if (type && (LLVMGetMetadataKind(type) == LLVMDIDerivedTypeMetadataKind ||
                 LLVMGetMetadataKind(type) == LLVMDICompositeTypeMetadataKind))
        base = cts_metadata_operand(type, OPERAND_BASE);
    return is_type(base) ? base : NULL;
}

LLVMMetadataRef cts_type_plain(LLVMMetadataRef type)
{
    for (int i = 0; i < NESTING_LIMIT; i++) {
        switch (cts_type_tag(type)) {
        case CTS_TAG_TYPEDEF:
        case CTS_TAG_CONST:
        case CTS_TAG_VOLATILE:
        case CTS_TAG_RESTRICT:
        case CTS_TAG_ATOMIC:
        case CTS_TAG_MEMBER:
        case CTS_TAG_INHERITANCE:
            type = cts_type_base(type);
            break;
        default:
            return type;
        }
    }
    return NULL;
}

bool cts_type_is_pointer(LLVMMetadataRef type)
{
    unsigned tag = cts_type_tag(type);
    return tag == CTS_TAG_POINTER || tag == CTS_TAG_REFERENCE || tag == CTS_TAG_RVALUE_REFERENCE;
}

bool cts_type_is_record(LLVMMetadataRef type)
{
    unsigned tag = cts_type_tag(type);
    return tag == CTS_TAG_STRUCTURE || tag == CTS_TAG_CLASS || tag == CTS_TAG_UNION;
}

uint64_t cts_type_bytes(LLVMMetadataRef type)
{
    return is_type(type) ? LLVMDITypeGetSizeInBits(type) / 8 : 0;
}

LLVMMetadataRef cts_type_member_at(LLVMMetadataRef record, uint64_t offset)
{
    LLVMMetadataRef members = cts_metadata_operand(record, OPERAND_ELEMENTS);
    unsigned count = cts_metadata_operand_count(members);
    for (unsigned i = 0; i < count; i++) {
        LLVMMetadataRef member = cts_metadata_operand(members, i);
        unsigned tag = cts_type_tag(member);
        if (tag != CTS_TAG_MEMBER && tag != CTS_TAG_INHERITANCE) continue;
        uint64_t start = LLVMDITypeGetOffsetInBits(member) / 8;
        /* A static member has no size of its own. */
        uint64_t size = tag == CTS_TAG_MEMBER ? (LLVMDITypeGetSizeInBits(member) + 7) / 8
                                              : cts_type_bytes(cts_type_plain(member));
        if (offset >= start && offset - start < size) return member;
    }
    return NULL;
}

/* "a::b::" in front of a type's name. */
static void print_scope(FILE *out, LLVMMetadataRef scope, int depth)
{
    if (!scope || depth > NESTING_LIMIT) return;
    LLVMMetadataKind kind = LLVMGetMetadataKind(scope);
    if (kind != LLVMDINamespaceMetadataKind && kind != LLVMDICompositeTypeMetadataKind) return;
    bool is_namespace = kind == LLVMDINamespaceMetadataKind;
    size_t length;
    const char *name = cts_debug_text(scope, CTS_OPERAND_NAME, &length);
    print_scope(out, cts_metadata_operand(scope, OPERAND_SCOPE), depth + 1);
    if (name) fprintf(out, "%.*s::", (int)length, name);
    if (!name && is_namespace) fputs("(anonymous namespace)::", out);
}

static void print_type(FILE *out, LLVMMetadataRef type, int depth)
{
    size_t length;
    const char *name = type ? cts_debug_text(type, CTS_OPERAND_NAME, &length) : NULL;
    LLVMMetadataRef base = cts_type_base(type), plain;
    if (depth > NESTING_LIMIT) return;
    switch (cts_type_tag(type)) {
    case 0:
        fputs("void", out);
        return;
    case CTS_TAG_SUBROUTINE:
        fputs("function", out);
        return;
    case CTS_TAG_POINTER:
        print_type(out, base, depth + 1), fputc('*', out);
        return;
    case CTS_TAG_REFERENCE:
        print_type(out, base, depth + 1), fputc('&', out);
        return;
    case CTS_TAG_RVALUE_REFERENCE:
        print_type(out, base, depth + 1), fputs("&&", out);
        return;
    case CTS_TAG_TYPEDEF:
        /* A typedef of a type without a name names it; others are looked through. */
        plain = cts_type_plain(base);
        if (cts_debug_text(plain, CTS_OPERAND_NAME, &length) || !cts_type_is_record(plain)) {
            print_type(out, base, depth + 1);
            return;
        }
        cts_debug_text(type, CTS_OPERAND_NAME, &length);
        break;
    case CTS_TAG_ARRAY:
    case CTS_TAG_CONST:
    case CTS_TAG_VOLATILE:
    case CTS_TAG_RESTRICT:
    case CTS_TAG_ATOMIC:
    case CTS_TAG_MEMBER:
    case CTS_TAG_INHERITANCE:
        print_type(out, base, depth + 1);
        return;
    default:
        break;
    }
    if (!name) return;
    print_scope(out, cts_metadata_operand(type, OPERAND_SCOPE), depth + 1);
    fprintf(out, "%.*s", (int)length, name);
}

char *cts_type_name(LLVMMetadataRef type)
{
    struct cts_text_stream stream;
    char *text = NULL;
    FILE *out = type ? cts_text_stream_open(&stream) : NULL;
    if (out) {
        print_type(out, type, 0);
        text = cts_text_stream_close(&stream, NULL);
    }
    return text ? text : cts_plugin_text("%s", "");
}

static char *integer_name(unsigned bits)
{
    switch (bits) {
    case 1:
        return cts_plugin_text("bool");
    case 8:
        return cts_plugin_text("char");
    case 16:
        return cts_plugin_text("short");
    case 32:
        return cts_plugin_text("int");
    case 64:
        return cts_plugin_text("long");
    default:
        return cts_plugin_text("int%u", bits);
    }
}

char *cts_type_name_of_llvm(LLVMTypeRef type)
{
    char *inner, *text;
    switch (LLVMGetTypeKind(type)) {
    case LLVMHalfTypeKind:
        return cts_plugin_text("half");
    case LLVMBFloatTypeKind:
        return cts_plugin_text("bfloat");
    case LLVMFloatTypeKind:
        return cts_plugin_text("float");
    case LLVMDoubleTypeKind:
        return cts_plugin_text("double");
    case LLVMIntegerTypeKind:
        return integer_name(LLVMGetIntTypeWidth(type));
    case LLVMPointerTypeKind:
        return cts_plugin_text("void*");
    case LLVMArrayTypeKind:
        return cts_type_name_of_llvm(LLVMGetElementType(type));
    case LLVMVectorTypeKind:
        inner = cts_type_name_of_llvm(LLVMGetElementType(type));
        text = cts_plugin_text("<%u x %s>", LLVMGetVectorSize(type), inner);
        free(inner);
        return text;
    case LLVMStructTypeKind: {
        const char *name = LLVMGetStructName(type);
        if (!name) return cts_plugin_text("%s", "");
        for (const char *const *prefix = (const char *const[]){"struct.", "class.", "union.", NULL};
             *prefix; prefix++)
            if (!strncmp(name, *prefix, strlen(*prefix))) name += strlen(*prefix);
        return cts_plugin_text("%s", name);
    }
    default:
        return cts_plugin_text("%s", "");
    }
}
