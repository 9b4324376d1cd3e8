/* See ir.h. */
#include "record/instrument/ir.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/hash.h"
#include "record/instrument/shim.h"

void cts_ir_init(struct cts_ir *ir, LLVMModuleRef module)
{
    LLVMContextRef context = LLVMGetModuleContext(module);
    *ir = (struct cts_ir){
        .module = module,
        .context = context,
        .builder = LLVMCreateBuilderInContext(context),
        .layout = LLVMGetModuleDataLayout(module),
        .i1 = LLVMInt1TypeInContext(context),
        .i8 = LLVMInt8TypeInContext(context),
        .i16 = LLVMInt16TypeInContext(context),
        .i32 = LLVMInt32TypeInContext(context),
        .i64 = LLVMInt64TypeInContext(context),
        .f32 = LLVMFloatTypeInContext(context),
        .f64 = LLVMDoubleTypeInContext(context),
        .pointer = LLVMPointerTypeInContext(context, 0),
        .nothing = LLVMVoidTypeInContext(context),
    };
}

void cts_ir_release(struct cts_ir *ir)
{
    LLVMDisposeBuilder(ir->builder);
}

static void out_of_memory(void)
{
    fputs("ctascope: out of memory\n", stderr);
    abort();
}

void *cts_ir_allocate(size_t count, size_t size_bytes)
{
    void *const memory = calloc(count ? count : 1, size_bytes);
    if (!memory) out_of_memory();
    return memory;
}

void *cts_ir_grow(void *array, size_t *capacity, size_t count, size_t size_bytes)
{
    if (count <= *capacity) return array;
    const size_t more = *capacity ? *capacity * 2 : 16;
    *capacity = more > count ? more : count;
    void *const grown = reallocarray(array, *capacity, size_bytes);
    if (!grown) out_of_memory();
    return grown;
}

char *cts_ir_text(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0) out_of_memory();
    va_end(arguments);
    return text;
}

void cts_ir_error(struct cts_ir *ir, LLVMValueRef instruction, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0) out_of_memory();
    va_end(arguments);
    cts_error_at(ir->module, instruction, text);
    free(text);
    ir->failed = true;
}

bool cts_ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

LLVMValueRef cts_called_function(LLVMValueRef instruction)
{
    if (!cts_is_call(instruction)) return NULL;
    LLVMValueRef called = LLVMGetCalledValue(instruction);
    return LLVMIsAFunction(called) ? called : NULL;
}

bool cts_is_intrinsic(LLVMValueRef function, const char *name)
{
    if (!function || !LLVMGetIntrinsicID(function)) return false;
    const char *const full = cts_ir_name(function);
    const size_t length = strlen(name);
    return strncmp(full, name, length) == 0 && (full[length] == '\0' || full[length] == '.');
}

LLVMValueRef cts_declare(struct cts_ir *ir, const char *name, LLVMTypeRef type)
{
    LLVMValueRef function = LLVMGetNamedFunction(ir->module, name);
    if (function) return function;
    function = LLVMAddFunction(ir->module, name, type);
    LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, cts_ir_attribute(ir, "nounwind"));
    return function;
}

LLVMValueRef cts_ir_call(struct cts_ir *ir, const char *name, LLVMTypeRef result, unsigned count,
                         LLVMValueRef *arguments)
{
    LLVMTypeRef types[8];
    for (unsigned i = 0; i < count; i++) types[i] = LLVMTypeOf(arguments[i]);
    LLVMTypeRef type = LLVMFunctionType(result, types, count, 0);
    return LLVMBuildCall2(ir->builder, type, cts_declare(ir, name, type), arguments, count, "");
}

LLVMValueRef cts_byte_offset(const struct cts_ir *ir, LLVMValueRef pointer, LLVMValueRef bytes)
{
    return LLVMBuildInBoundsGEP2(ir->builder, ir->i8, pointer, &bytes, 1, "");
}

LLVMValueRef cts_generic(const struct cts_ir *ir, LLVMValueRef pointer)
{
    if (cts_address_space(pointer) == 0) return pointer;
    if (LLVMIsAAddrSpaceCastInst(pointer) && cts_address_space(LLVMGetOperand(pointer, 0)) == 0)
        return LLVMGetOperand(pointer, 0);
    return LLVMBuildAddrSpaceCast(ir->builder, pointer, ir->pointer, "");
}

unsigned cts_ir_attribute_kind(const char *name)
{
    return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

LLVMAttributeRef cts_ir_attribute(const struct cts_ir *ir, const char *name)
{
    return LLVMCreateEnumAttribute(ir->context, cts_ir_attribute_kind(name), 0);
}

static void copy_attributes_at(LLVMValueRef from, LLVMValueRef to, unsigned index)
{
    const unsigned count = LLVMGetAttributeCountAtIndex(from, index);
    LLVMAttributeRef *const attributes = cts_ir_allocate(count, sizeof *attributes);
    LLVMGetAttributesAtIndex(from, index, attributes);
    for (unsigned i = 0; i < count; i++) LLVMAddAttributeAtIndex(to, index, attributes[i]);
    free(attributes);
}

void cts_copy_attributes(LLVMValueRef from, LLVMValueRef to, unsigned parameter_count)
{
    for (unsigned i = 0; i <= parameter_count; i++) copy_attributes_at(from, to, i);
}

/* Open addressing, grown at half full. */
static size_t map_place(const struct cts_ir_map *map, const void *key)
{
    size_t place = cts_hash((uintptr_t)key >> 4) & (map->capacity - 1);
    while (map->keys[place] && map->keys[place] != key) place = (place + 1) & (map->capacity - 1);
    return place;
}

static void map_grow(struct cts_ir_map *map)
{
    const struct cts_ir_map old = *map;
    map->capacity = old.capacity ? old.capacity * 2 : 64;
    map->keys = cts_ir_allocate(map->capacity, sizeof *map->keys);
    map->values = cts_ir_allocate(map->capacity, sizeof *map->values);
    for (size_t i = 0; i < old.capacity; i++) {
        if (!old.keys[i]) continue;
        const size_t place = map_place(map, old.keys[i]);
        map->keys[place] = old.keys[i];
        map->values[place] = old.values[i];
    }
    free(old.keys);
    free(old.values);
}

void **cts_map_slot(struct cts_ir_map *map, const void *key)
{
    if (map->count * 2 >= map->capacity) map_grow(map);
    const size_t place = map_place(map, key);
    if (!map->keys[place]) {
        map->keys[place] = key;
        map->count++;
    }
    return &map->values[place];
}

void *cts_map_get(const struct cts_ir_map *map, const void *key)
{
    if (!map->capacity) return NULL;
    const size_t place = map_place(map, key);
    return map->keys[place] ? map->values[place] : NULL;
}

void cts_map_release(struct cts_ir_map *map)
{
    free(map->keys);
    free(map->values);
    *map = (struct cts_ir_map){0};
}

void cts_ir_replace(LLVMValueRef instruction, LLVMValueRef value)
{
    if (value && LLVMTypeOf(value) != LLVMTypeOf(instruction)) abort();
    if (value) LLVMReplaceAllUsesWith(instruction, value);
    LLVMInstructionEraseFromParent(instruction);
}
