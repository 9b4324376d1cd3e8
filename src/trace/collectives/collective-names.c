/* Kernels of NCCL and RCCL by their names:
 *
 *     ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)               NCCL before 2.18
 *     ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, ...)         since
 *     ncclDevKernel_Generic_4(...), ncclKernel_SendRecv_RING_SIMPLE...   RCCL too
 *
 * Algorithm and protocol are chosen alike by all members; RCCL's names say nothing of the
 * operation. */
#include "trace/collectives/collective-kernels.h"

#include <string.h>

#include "common/hash.h"

static const char *const starts[] = {"ncclKernel_", "ncclDevKernel_", "ncclKernel", "rcclKernel"};

static const char *behind_start(const char *name)
{
    if (!strncmp(name, "void ", 5)) name += 5;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        const size_t length = strlen(starts[i]);
        if (!strncmp(name, starts[i], length)) return name + length;
    }
    return NULL;
}

bool cts_collective_is_kernel(const char *name)
{
    return name && behind_start(name);
}

uint64_t cts_collective_kind_of(const char *name)
{
    uint64_t hash = CTS_HASH_START;
    const char *const from = behind_start(name);
    for (const char *at = from ? from : name; *at && *at != '(' && *at != '<'; at++)
        hash = cts_hash_unit(hash, (uint8_t)*at);
    return hash;
}
