/* The patches of rarer instructions, of Hopper and later: shared memory of other CTAs of the
 * cluster, and what is stored, reduced or copied there asynchronously. With
 * the others they are the image of a recording without values.
 *
 * Addresses in the shared memory of a cluster have the CTA's rank in the cluster above bit 24; they
 * are kept as they are, so that banks and distances within a CTA are right. */
#include "patch.cu"

PATCH cts_patch_async_store(void *user, uint64_t pc, uint32_t at, uint32_t, void *, uint32_t bytes)
{
    record_any(user, at, place_of(pc, CTS_RING_SHARED), bytes, SANITIZER_MEMORY_DEVICE_FLAG_WRITE);
    return SANITIZER_PATCH_SUCCESS;
}

PATCH cts_patch_async_reduction(void *user, uint64_t pc, uint32_t at, uint32_t, uint32_t bytes)
{
    const uint32_t both = SANITIZER_MEMORY_DEVICE_FLAG_READ | SANITIZER_MEMORY_DEVICE_FLAG_WRITE;
    record_any(user, at, place_of(pc, CTS_RING_SHARED), bytes, both);
    return SANITIZER_PATCH_SUCCESS;
}

/* The shared side of bulk copies, as lanes of 16 bytes. */
HOT void record_shared_range(void *user, uint64_t pc, uint32_t at, uint32_t blocks,
                             uint32_t operation)
{
    call c;
    if (begin(c, user, place_of(pc, CTS_RING_SHARED), 16, operation)) record_range(c, at, blocks);
}

/* With a multicast, this CTA's part; the others' shared memory is written, too. */
PATCH cts_patch_bulk_load_both(void *user, uint64_t pc, uint64_t from, uint32_t to,
                               uint32_t barrier, uint32_t data, uint32_t multicast)
{
    cts_patch_bulk_load(user, pc, from, to, barrier, data, multicast);
    record_shared_range(user, pc, to, data & 0xffff, CTS_RING_STORE);
    return SANITIZER_PATCH_SUCCESS;
}

PATCH cts_patch_bulk_store_both(void *user, uint64_t pc, uint64_t to, uint32_t from,
                                uint32_t blocks)
{
    cts_patch_bulk_store(user, pc, to, from, blocks);
    record_shared_range(user, pc, from, blocks & 0xffff, CTS_RING_LOAD);
    return SANITIZER_PATCH_SUCCESS;
}

PATCH cts_patch_bulk_reduction_both(void *user, uint64_t pc, uint64_t to, uint32_t from,
                                    uint32_t blocks)
{
    cts_patch_bulk_reduction(user, pc, to, from, blocks);
    record_shared_range(user, pc, from, blocks & 0xffff, CTS_RING_LOAD);
    return SANITIZER_PATCH_SUCCESS;
}

PATCH cts_patch_bulk_shared(void *user, uint64_t pc, uint32_t from, uint32_t to, uint32_t,
                            uint32_t blocks)
{
    record_shared_range(user, pc, from, blocks & 0xffff, CTS_RING_LOAD);
    record_shared_range(user, pc, to, blocks & 0xffff, CTS_RING_STORE);
    return SANITIZER_PATCH_SUCCESS;
}

PATCH cts_patch_bulk_reduction_shared(void *user, uint64_t pc, uint32_t from, uint32_t to, uint32_t,
                                      uint32_t blocks)
{
    record_shared_range(user, pc, from, blocks & 0xffff, CTS_RING_LOAD);
    record_shared_range(user, pc, to, blocks & 0xffff, CTS_RING_ATOMIC);
    return SANITIZER_PATCH_SUCCESS;
}

/* Blocks of 8 bytes. */
PATCH cts_patch_shared_set(void *user, uint64_t pc, uint32_t to, uint32_t blocks)
{
    record_shared_range(user, pc, to, blocks / 2, CTS_RING_STORE);
    return SANITIZER_PATCH_SUCCESS;
}
