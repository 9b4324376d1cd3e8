/* Device variables that translation units share (-rdc=true) have shared shadows, too.
 *
 * The host names a __device__ or __constant__ variable by a shadow: a host variable whose address
 * is registered. Without clang's own -fgpu-rdc, which also changes how files are registered, clang
 * makes all shadows internal, so that `extern __device__ int x;` of another unit finds none. Those
 * that are not static in the source become weak here. */
#include <string.h>

#include "record/instrument/host-pass.h"

/* Mangled names of what is static or in an unnamed namespace or function. */
static bool is_static_name(const char *name)
{
    return strncmp(name, "_ZL", 3) == 0 || strncmp(name, "_ZZ", 3) == 0 ||
           strstr(name, "_GLOBAL__N_") || strncmp(name, "_ZNL", 4) == 0;
}

static bool share(LLVMValueRef shadow)
{
    size_t length;
    if (!LLVMIsAGlobalVariable(shadow) || LLVMGetLinkage(shadow) != LLVMInternalLinkage ||
        is_static_name(LLVMGetValueName2(shadow, &length)))
        return false;
    LLVMSetLinkage(shadow, LLVMWeakAnyLinkage);
    return true;
}

/* Clang registers shadows as the second argument of __cudaRegisterVar and its kin. */
bool cts_host_share_shadows(LLVMModuleRef module)
{
    static const char *const functions[] = {"__cudaRegisterVar", "__cudaRegisterTexture",
                                            "__cudaRegisterSurface"};
    bool is_changed = false;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        LLVMValueRef function = LLVMGetNamedFunction(module, functions[i]);
        LLVMUseRef use = function ? LLVMGetFirstUse(function) : NULL;
        for (; use; use = LLVMGetNextUse(use)) {
            LLVMValueRef call = LLVMGetUser(use);
            if (LLVMIsACallInst(call) && LLVMGetNumArgOperands(call) > 1)
                is_changed |= share(LLVMGetOperand(call, 1));
        }
    }
    return is_changed;
}
