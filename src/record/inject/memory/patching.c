/* Patches modules as the settings want. */
#include "patching.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "contexts.h"
#include "library.h"
#include "memory-run.h"
#include "record/inject/cubin/placeholders.h"
#include "settings.h"

static pthread_mutex_t patching = PTHREAD_MUTEX_INITIALIZER; /* the Sanitizer asks for that */
static void *patches_image;
static void *tensor_image;            /* with its placeholders filled; NULL: there is none */
static _Atomic bool refuses_barriers; /* the Sanitizer does */

/* Without it, tensor copies are not recorded, as all other kernels say that have some. */
static void read_tensor_image(void)
{
    struct cts_error error = {0};
    size_t bytes;
    if (cts_memory_settings.empty || !cts_memory_settings.tensors ||
        cts_patches_read("ctascope_patches_tensors.cubin", &tensor_image, &bytes, &error))
        return;
    if (cts_placeholders_fill(tensor_image, bytes, &error) == CTS_OK) return;
    cts_memory_say("warning", "tensor copies are not recorded: %s", error.text);
    free(tensor_image);
    tensor_image = NULL;
}

enum cts_status cts_patching_start(struct cts_error *error)
{
    size_t bytes;
    read_tensor_image();
    return cts_patches_read(cts_memory_settings.values ? "ctascope_patches_values.fatbin"
                                                       : "ctascope_patches.fatbin",
                            &patches_image, &bytes, error);
}

bool cts_patching_has_tensors(void)
{
    return tensor_image != NULL;
}

bool cts_patching_has_barriers(void)
{
    return cts_memory_settings.barriers && !refuses_barriers;
}

static bool say_once(const char *what, SanitizerResult result)
{
    static bool said;
    if (!said)
        cts_memory_say("error", "no accesses are recorded: %s: %s", what,
                       cts_sanitizer_text(result));
    said = true;
    return false;
}

/* The patch that keeps values, too, if they are wanted and there is one. */
static const char *with_values(const char *patch)
{
    static const char *const valued[][2] = {
        {"cts_patch_global", "cts_patch_global_valued"},
        {"cts_patch_shared", "cts_patch_shared_valued"},
        {"cts_patch_local", "cts_patch_local_valued"},
        {"cts_patch_matrix", "cts_patch_matrix_valued"},
    };
    for (size_t i = 0; cts_memory_settings.values && i < sizeof valued / sizeof *valued; i++)
        if (strcmp(patch, valued[i][0]) == 0) return valued[i][1];
    return patch;
}

/* Barriers, if they are wanted and this Sanitizer takes their patches. What the architecture does
 * not have is refused, rightly. */
static void put_barrier_patches(const struct cts_memory_module *module)
{
    enum { MBARRIER_CAPABILITY = 80, CLUSTER_CAPABILITY = 90 };
    /* SANITIZER_INSTRUCTION_CLUSTER_BARRIER_WAIT_ENTRY, which older headers lack */
    static const Sanitizer_InstructionId before_cluster_wait = (Sanitizer_InstructionId)40;
    const struct {
        Sanitizer_InstructionId id;
        const char *patch;
        uint32_t capability;
    } patches[] = {
        {SANITIZER_INSTRUCTION_BARRIER, "cts_patch_barrier", 0},
        {SANITIZER_INSTRUCTION_SYNCWARP, "cts_patch_syncwarp", 0},
        {SANITIZER_INSTRUCTION_CUDA_BARRIER, "cts_patch_mbarrier", MBARRIER_CAPABILITY},
        {SANITIZER_INSTRUCTION_CLUSTER_BARRIER_ARRIVE, "cts_patch_cluster_arrive",
         CLUSTER_CAPABILITY},
        {before_cluster_wait, "cts_patch_cluster_wait", CLUSTER_CAPABILITY},
    };
    const struct cts_sanitizer *const s = &cts_sanitizer;
    for (size_t i = 0; cts_patching_has_barriers() && i < sizeof patches / sizeof *patches; i++) {
        SanitizerResult result =
            s->sanitizerPatchInstructions(patches[i].id, module->handle, patches[i].patch);
        if (result != SANITIZER_SUCCESS && patches[i].id == before_cluster_wait)
            result = s->sanitizerPatchInstructions(SANITIZER_INSTRUCTION_CLUSTER_BARRIER_WAIT,
                                                   module->handle, "cts_patch_cluster_waited");
        const uint32_t capability = module->cubin.capability;
        if (result == SANITIZER_SUCCESS || (capability && capability < patches[i].capability))
            continue;
        refuses_barriers = true;
        cts_memory_say("warning", "barriers are not recorded: %s: %s", patches[i].patch,
                       cts_sanitizer_text(result));
    }
}

bool cts_patching_takes_copies(struct cts_memory_module *module)
{
    SanitizerResult result = SANITIZER_SUCCESS;
    if (!tensor_image) return false;
    pthread_mutex_lock(&patching);
    if (cts_context_wants_tensor_patches(module->context))
        result = cts_sanitizer.sanitizerAddPatches(tensor_image, module->context);
    if (result == SANITIZER_SUCCESS)
        result = cts_sanitizer.sanitizerPatchInstructions(SANITIZER_INSTRUCTION_SHFL,
                                                          module->handle, "cts_patch_tensor");
    pthread_mutex_unlock(&patching);
    if (result != SANITIZER_SUCCESS)
        cts_memory_say("warning", "tensor copies of a module are not recorded: %s",
                       cts_sanitizer_text(result));
    return result == SANITIZER_SUCCESS;
}

static bool put_patches(const struct cts_memory_module *patched)
{
    const CUmodule module = patched->handle;
    static const struct {
        Sanitizer_InstructionId id;
        const char *patch, *without_shared; /* where shared memory is not recorded */
    } more[] = {
        {SANITIZER_INSTRUCTION_SHARED_MEMORY_ACCESS, "cts_patch_shared", NULL},
        {SANITIZER_INSTRUCTION_MATRIX_MEMORY_ACCESS, "cts_patch_matrix", NULL},
        {SANITIZER_INSTRUCTION_MEMCPY_ASYNC, "cts_patch_copy_both", "cts_patch_copy"},
        {SANITIZER_INSTRUCTION_BULK_COPY_GLOBAL_TO_SHARED, "cts_patch_bulk_load_both",
         "cts_patch_bulk_load"},
        {SANITIZER_INSTRUCTION_BULK_COPY_SHARED_TO_GLOBAL, "cts_patch_bulk_store_both",
         "cts_patch_bulk_store"},
        {SANITIZER_INSTRUCTION_BULK_REDUCTION_SHARED_TO_GLOBAL, "cts_patch_bulk_reduction_both",
         "cts_patch_bulk_reduction"},
        {SANITIZER_INSTRUCTION_REMOTE_SHARED_MEMORY_ACCESS, "cts_patch_shared", NULL},
        {SANITIZER_INSTRUCTION_ASYNC_STORE, "cts_patch_async_store", NULL},
        {SANITIZER_INSTRUCTION_ASYNC_REDUCTION, "cts_patch_async_reduction", NULL},
        {SANITIZER_INSTRUCTION_BULK_COPY_SHARED_TO_SHARED, "cts_patch_bulk_shared", NULL},
        {SANITIZER_INSTRUCTION_BULK_REDUCTION_SHARED_TO_SHARED, "cts_patch_bulk_reduction_shared",
         NULL},
        {SANITIZER_INSTRUCTION_MEMSET_SHARED, "cts_patch_shared_set", NULL},
    };
    const struct cts_sanitizer *const s = &cts_sanitizer;
    const SanitizerResult result = s->sanitizerPatchInstructions(
        SANITIZER_INSTRUCTION_GLOBAL_MEMORY_ACCESS, module,
        cts_memory_settings.empty ? "cts_patch_empty" : with_values("cts_patch_global"));
    if (result != SANITIZER_SUCCESS)
        return say_once("the patches do not fit this Sanitizer", result);
    if (cts_memory_settings.empty) {
        if (cts_memory_settings.shared)
            (void)s->sanitizerPatchInstructions(SANITIZER_INSTRUCTION_SHARED_MEMORY_ACCESS, module,
                                                "cts_patch_empty");
        return true;
    }
    put_barrier_patches(patched);
    if (patched->records_copies)
        (void)s->sanitizerPatchInstructions(SANITIZER_INSTRUCTION_SHFL, module, "cts_patch_tensor");
    if (cts_memory_settings.local)
        (void)s->sanitizerPatchInstructions(SANITIZER_INSTRUCTION_LOCAL_MEMORY_ACCESS, module,
                                            with_values("cts_patch_local"));
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        const char *const patch =
            cts_memory_settings.shared ? more[i].patch : more[i].without_shared;
        /* what this architecture does not have is refused, rightly */
        if (patch && more[i].id == SANITIZER_INSTRUCTION_REMOTE_SHARED_MEMORY_ACCESS)
            (void)s->sanitizerPatchInstructions(more[i].id, module, patch); /* without values */
        else if (patch)
            (void)s->sanitizerPatchInstructions(more[i].id, module, with_values(patch));
    }
    return true;
}

static bool patch(struct cts_memory_module *module)
{
    SanitizerResult result = SANITIZER_SUCCESS;
    if (!cts_context_is_known(module->context)) {
        cts_memory_say("error", "no accesses are recorded: CUDA was initialised before the "
                                "recorder was loaded");
        return false;
    }
    if (cts_context_wants_patches(module->context))
        result = cts_sanitizer.sanitizerAddPatches(patches_image, module->context);
    if (result != SANITIZER_SUCCESS)
        return say_once("the Sanitizer does not take the patches", result);
    if (!put_patches(module)) return false;
    result = cts_sanitizer.sanitizerPatchModule(module->handle);
    if (result == SANITIZER_SUCCESS) return true;
    return say_once("the Sanitizer cannot patch a module", result);
}

bool cts_patching_set(struct cts_memory_module *module, bool patched)
{
    if (module->instrumented) return patched; /* as it were */
    if (module->is_patched == patched) return true;
    pthread_mutex_lock(&patching);
    bool done = module->is_patched == patched;
    if (!done && patched && !module->cannot_patch) {
        done = patch(module);
        module->cannot_patch = !done;
    } else if (!done && !patched) {
        done = cts_sanitizer.sanitizerUnpatchModule(module->handle) == SANITIZER_SUCCESS;
    }
    if (done) module->is_patched = patched;
    pthread_mutex_unlock(&patching);
    return done;
}
