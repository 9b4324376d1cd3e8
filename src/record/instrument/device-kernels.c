/* Kernels are what !nvvm.annotations says. With a filter, a function is instrumented when a kernel
 * that passed the filter may run it: it is mentioned, in code or in the initialiser of a variable
 * that is mentioned, by something that may run; and once something that may run calls through a
 * pointer, every function whose address is taken anywhere may. */
#include "record/instrument/device-kernels.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT = 1, LEFT_OUT = 2 };

struct reach {
    struct cts_kernels *kernels;
    struct cts_pointer_map seen; /* constants, globals and functions */
    LLVMValueRef *queue;
    size_t queued, queue_capacity;
    bool has_indirect_calls;
};

static bool names_kernel(LLVMValueRef annotation, LLVMValueRef *function)
{
    unsigned count = LLVMGetMDNodeNumOperands(annotation);
    if (count < 3) return false;
    LLVMValueRef *operands = cts_plugin_allocate(count, sizeof *operands);
    LLVMGetMDNodeOperands(annotation, operands);
    bool is_kernel = false;
    for (unsigned i = 1; i + 1 < count && operands[0] && LLVMIsAFunction(operands[0]); i += 2) {
        unsigned length = 0;
        const char *key = operands[i] ? LLVMGetMDString(operands[i], &length) : NULL;
        is_kernel |= key && length == 6 && !memcmp(key, "kernel", 6);
    }
    *function = operands[0];
    free(operands);
    return is_kernel;
}

static void enqueue(struct reach *reach, LLVMValueRef value)
{
    uint64_t *seen = cts_pointer_map_insert(&reach->seen, value);
    if (*seen) return;
    *seen = 1;
    reach->queue =
        cts_plugin_grow(reach->queue, reach->queued, &reach->queue_capacity, sizeof *reach->queue);
    reach->queue[reach->queued++] = value;
}

static void reach_operands(struct reach *reach, LLVMValueRef user)
{
    int count = LLVMGetNumOperands(user);
    for (int i = 0; i < count; i++) {
        LLVMValueRef operand = LLVMGetOperand(user, (unsigned)i);
        if (operand && LLVMIsAConstant(operand)) enqueue(reach, operand);
    }
}

static void reach_function(struct reach *reach, LLVMValueRef function)
{
    *cts_pointer_map_insert(&reach->kernels->is_reached, function) = 1;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            reach_operands(reach, i);
            if (LLVMIsACallInst(i) && !LLVMIsAConstant(LLVMGetCalledValue(i)) &&
                !LLVMIsAInlineAsm(LLVMGetCalledValue(i)))
                reach->has_indirect_calls = true;
        }
    }
}

static void reach_all_queued(struct reach *reach)
{
    while (reach->queued) {
        LLVMValueRef value = reach->queue[--reach->queued];
        if (LLVMIsAFunction(value)) {
            if (!LLVMIsDeclaration(value)) reach_function(reach, value);
        } else if (LLVMIsAGlobalVariable(value)) {
            LLVMValueRef content = LLVMGetInitializer(value);
            if (content) enqueue(reach, content);
        } else {
            reach_operands(reach, value);
        }
    }
}

static bool has_address_taken(LLVMValueRef function)
{
    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!LLVMIsACallInst(user) || LLVMGetCalledValue(user) != function) return true;
    }
    return false;
}

static void find_reached(struct cts_kernels *kernels, LLVMModuleRef module)
{
    struct reach reach = {.kernels = kernels};
    for (size_t i = 0; i < kernels->count; i++)
        if (!cts_kernels_is_left_out(kernels, kernels->items[i]))
            enqueue(&reach, kernels->items[i]);
    reach_all_queued(&reach);
    if (reach.has_indirect_calls) {
        for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
            if (!LLVMIsDeclaration(f) && !cts_pointer_map_find(&kernels->is_kernel, f) &&
                has_address_taken(f))
                enqueue(&reach, f);
        reach_all_queued(&reach);
    }
    cts_pointer_map_release(&reach.seen);
    free(reach.queue);
}

void cts_kernels_find(struct cts_kernels *kernels, LLVMModuleRef module, struct cts_debug *debug,
                      const struct cts_plugin_options *options)
{
    unsigned count = LLVMGetNamedMetadataNumOperands(module, "nvvm.annotations");
    LLVMValueRef *annotations = cts_plugin_allocate(count, sizeof *annotations), function;
    LLVMGetNamedMetadataOperands(module, "nvvm.annotations", annotations);
    *kernels = (struct cts_kernels){.has_filter = options->has_kernels};
    for (unsigned i = 0; i < count; i++) {
        if (!names_kernel(annotations[i], &function)) continue;
        uint64_t *state = cts_pointer_map_insert(&kernels->is_kernel, function);
        if (*state || LLVMIsDeclaration(function)) continue;
        const char *name = cts_debug_function_name(debug, function);
        *state = cts_plugin_wants_kernel(options, name) ? KEPT : LEFT_OUT;
        kernels->items = cts_plugin_grow(kernels->items, kernels->count, &kernels->capacity,
                                         sizeof *kernels->items);
        kernels->items[kernels->count++] = function;
    }
    free(annotations);
    if (kernels->has_filter) find_reached(kernels, module);
}

void cts_kernels_release(struct cts_kernels *kernels)
{
    free(kernels->items);
    cts_pointer_map_release(&kernels->is_kernel);
    cts_pointer_map_release(&kernels->is_reached);
}

bool cts_kernels_is_left_out(const struct cts_kernels *kernels, LLVMValueRef kernel)
{
    const uint64_t *state = cts_pointer_map_find(&kernels->is_kernel, kernel);
    return state && *state == LEFT_OUT;
}

bool cts_kernels_wants_function(const struct cts_kernels *kernels, LLVMValueRef function)
{
    return !kernels->has_filter || cts_pointer_map_find(&kernels->is_reached, function) != NULL;
}
