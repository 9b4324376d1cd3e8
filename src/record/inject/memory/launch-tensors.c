#include "launch-tensors.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/map.h"
#include "library.h"
#include "memory-run.h"
#include "record/inject/cubin/tensor-map.h"

/* Parameters begin at PARAMETERS_AT of their constant bank, where maps have an address that is a
 * multiple of ALIGNMENT; those of a structure may also be aligned within it. */
enum { ALIGNMENT_BYTES = 64, STEP_BYTES = 16, PARAMETERS_AT = 0x210 };
enum { PARAMETERS_MAX_BYTES = 32764, PARAMETERS_MAX = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cts_map without; /* functions that have no tensor copies */

static __thread struct {
    uint8_t *bytes; /* NULL: none taken */
    size_t byte_count;
    const void *function;
} taken;

static bool is_without(const void *function)
{
    pthread_mutex_lock(&lock);
    const uint64_t *const place = cts_map_find(&without, (uint64_t)(uintptr_t)function);
    const bool known = place && *place;
    pthread_mutex_unlock(&lock);
    return known;
}

/* ---- the parameters ---- */

/* The buffer of a call's `extra`. */
static size_t copy_packed(void *const *packed, uint8_t *to)
{
    const void *buffer = NULL;
    size_t byte_count = 0;
    for (int i = 0; i < 8 && packed[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (packed[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = packed[i + 1];
        if (packed[i] == CU_LAUNCH_PARAM_BUFFER_SIZE) byte_count = *(const size_t *)packed[i + 1];
    }
    if (!buffer || byte_count > PARAMETERS_MAX_BYTES) return 0;
    memcpy(to, buffer, byte_count);
    return byte_count;
}

static bool parameter_place(const void *function, size_t index, size_t *offset, size_t *bytes)
{
    /* a launch by the runtime has a CUkernel */
    return cts_sanitizer.cuFuncGetParamInfo((CUfunction)function, index, offset, bytes) ==
               CUDA_SUCCESS ||
           cts_sanitizer.cuKernelGetParamInfo((CUkernel)function, index, offset, bytes) ==
               CUDA_SUCCESS;
}

static size_t copy_values(const void *function, void *const *values, uint8_t *to)
{
    size_t end = 0, offset, bytes;
    if (!cts_sanitizer.cuFuncGetParamInfo || !cts_sanitizer.cuKernelGetParamInfo) return 0;
    for (size_t i = 0; i < PARAMETERS_MAX && parameter_place(function, i, &offset, &bytes); i++) {
        if (offset > PARAMETERS_MAX_BYTES || bytes > PARAMETERS_MAX_BYTES - offset) break;
        memcpy(to + offset, values[i], bytes);
        if (offset + bytes > end) end = offset + bytes;
    }
    return end;
}

void cts_launch_tensors_take(const struct cts_launch_parameters *parameters)
{
    if (!parameters->function || (!parameters->values && !parameters->packed) ||
        is_without(parameters->function))
        return;
    cts_launch_tensors_drop();
    taken.function = parameters->function;
    taken.bytes = calloc(1, PARAMETERS_MAX_BYTES);
    if (!taken.bytes) return;
    taken.byte_count = parameters->packed
                           ? copy_packed(parameters->packed, taken.bytes)
                           : copy_values(parameters->function, parameters->values, taken.bytes);
}

void cts_launch_tensors_drop(void)
{
    free(taken.bytes);
    taken.bytes = NULL;
    taken.byte_count = 0;
    taken.function = NULL;
}

/* ---- the maps ---- */

static void know_without(const void *function)
{
    pthread_mutex_lock(&lock);
    uint64_t *const place = cts_map_at(&without, (uint64_t)(uintptr_t)function, NULL);
    if (place) *place = 1;
    pthread_mutex_unlock(&lock);
}

static bool may_begin_at(size_t offset)
{
    return offset % ALIGNMENT_BYTES == 0 || (offset + PARAMETERS_AT) % ALIGNMENT_BYTES == 0;
}

void cts_launch_tensors_add(uint32_t launch, struct cts_tensor_use use)
{
    const bool has_copies = use.may_load || use.may_store;
    if (!taken.function) return;
    if (!has_copies) know_without(taken.function);
    for (size_t at = 0; has_copies && at + CTS_TENSOR_MAP_BYTES <= taken.byte_count;
         at += STEP_BYTES) {
        struct cts_tensor_map map;
        if (!may_begin_at(at) || !cts_tensor_map_decode(taken.bytes + at, &map)) continue;
        map.launch = launch;
        map.parameter_bytes = (uint32_t)at;
        map.may_load = use.may_load;
        map.may_store = use.may_store;
        cts_catalogue_add_tensor_map(cts_memory_run.catalogue, &map);
    }
    cts_launch_tensors_drop();
}
