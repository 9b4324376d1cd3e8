/* The producer: what the plugin links into instrumented device code and inlines (bitcode, built by
 * clang with ctascope's own headers). A function that accesses memory begins with
 * __cts_produce_begin; accesses become __cts_produce_N, whose sites and space are constants. */
#include "module.h"
#include "recognise.h"

extern "C" {
__device__ struct cts_cuda_module __cts_module;
}

#define SHARED(type) __attribute__((address_space(3))) type
#define LOCAL(type)  __attribute__((address_space(5))) type

static_assert(sizeof(struct cts_producer) == 24, "as instrument/device-producer.c has it");
static_assert(CTS_RING_LAUNCHES <= 1 << CTS_CUDA_NUMBER_BITS &&
                  CTS_CUDA_NUMBER_BITS <= CTS_PRODUCER_WARP_SHIFT,
              "a launch's number fits where grids and threads keep it");

CTS_HOT uint64_t grid_id(void)
{
    uint64_t id;
    asm("mov.u64 %0, %%gridid;" : "=l"(id));
    return id;
}

CTS_HOT uint32_t multiprocessor(void)
{
    uint32_t sm;
    asm("mov.u32 %0, %%smid;" : "=r"(sm));
    return sm;
}

#define PRODUCER extern "C" __device__ __attribute__((always_inline))

/* Finds out whether the thread is recorded, and by which words. */
PRODUCER void __cts_produce_begin(struct cts_producer *p)
{
    p->bin = 0;
    p->slots_log2 = p->launch = p->cta = p->first_site = 0;
    const struct cts_cuda_module m = __cts_module;
    if (!m.bins) return;
    const uint64_t id = grid_id();
    const uint64_t entry = ((CTS_GLOBAL(uint64_t) *)m.grids)[id % CTS_CUDA_GRIDS];
    if (entry >> CTS_CUDA_NUMBER_BITS != id << CTS_CUDA_NUMBER_BITS >> CTS_CUDA_NUMBER_BITS) return;
    const uint32_t cta = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    if (m.cta_sample > 1 && cta % m.cta_sample) return;
    const uint32_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const uint32_t sm = multiprocessor();
    /* few CTAs go to every other multiprocessor: their bins then are neighbours, for which many
     * threads care */
    const uint32_t index = (sm >> 1) + (sm & 1 ? (m.bin_count + 1) / 2 : 0);
    p->bin =
        m.bins + (index < m.bin_count ? index : sm % m.bin_count) * sizeof(struct cts_ring_bin);
    p->slots_log2 = m.slots_log2;
    p->launch = (uint32_t)entry & ((1u << CTS_CUDA_NUMBER_BITS) - 1);
    p->launch |= (thread >> 5 & 31) << CTS_PRODUCER_WARP_SHIFT;
    p->launch |= m.spaces << CTS_PRODUCER_SPACES_SHIFT;
    p->cta = cta;
    p->first_site = m.first_site;
}

/* Accesses of spaces that are known. */
template <uint32_t count>
CTS_HOT void produce(const struct cts_producer *p, const uint32_t *sites, uint32_t spaces,
                     const void *const *pointers)
{
    uint64_t addresses[count];
#pragma unroll
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t space = cts_space_of(spaces, i);
        const void *const at = pointers[i];
        addresses[i] = space == CTS_CUDA_GLOBAL   ? (uint64_t)(CTS_GLOBAL(const char) *)at
                       : space == CTS_CUDA_SHARED ? (uint32_t)(uint64_t)(SHARED(const char) *)at
                                                  : (uint32_t)(uint64_t)(LOCAL(const char) *)at;
    }
    cts_produce(*p, {sites, spaces, addresses, count});
}

/* A generic pointer is what the hardware says it is; constant memory is not recorded. */
CTS_COLD void produce_unknown(const struct cts_producer *p, uint32_t site, const void *address)
{
    if (__nvvm_isspacep_shared(address))
        produce<1>(p, &site, CTS_CUDA_SHARED, &address);
    else if (__nvvm_isspacep_local(address))
        produce<1>(p, &site, CTS_CUDA_LOCAL, &address);
    else if (__nvvm_isspacep_global(address))
        produce<1>(p, &site, CTS_CUDA_GLOBAL, &address);
}

/* Accesses that follow one another; `spaces` are enum cts_cuda_space, two bits each. They are all
 * the same, or global and shared; an access whose space is unknown is alone. */
PRODUCER void __cts_produce_1(const struct cts_producer *p, uint32_t space, uint32_t site,
                              const void *address)
{
    if (!p->bin) return;
    if (space == CTS_CUDA_UNKNOWN) {
        const struct cts_producer q = *p; /* so that *p stays in registers */
        produce_unknown(&q, site, address);
    } else {
        produce<1>(p, &site, space, &address);
    }
}

/* The arguments of __cts_produce_N, site and address of each. */
#define ACCESS(i)     uint32_t site##i, const void *address##i
#define ACCESSES_2    ACCESS(0), ACCESS(1)
#define ACCESSES_3    ACCESSES_2, ACCESS(2)
#define ACCESSES_4    ACCESSES_3, ACCESS(3)
#define ACCESSES_5    ACCESSES_4, ACCESS(4)
#define ACCESSES_6    ACCESSES_5, ACCESS(5)
#define ACCESSES_7    ACCESSES_6, ACCESS(6)
#define ACCESSES_8    ACCESSES_7, ACCESS(7)
#define NAMES_2(name) name##0, name##1
#define NAMES_3(name) NAMES_2(name), name##2
#define NAMES_4(name) NAMES_3(name), name##3
#define NAMES_5(name) NAMES_4(name), name##4
#define NAMES_6(name) NAMES_5(name), name##5
#define NAMES_7(name) NAMES_6(name), name##6
#define NAMES_8(name) NAMES_7(name), name##7
#define PRODUCE(n)                                                                                 \
    PRODUCER void __cts_produce_##n(const struct cts_producer *p, uint32_t spaces, ACCESSES_##n)   \
    {                                                                                              \
        const uint32_t sites[] = {NAMES_##n(site)};                                                \
        const void *const pointers[] = {NAMES_##n(address)};                                       \
        if (p->bin) produce<n>(p, sites, spaces, pointers);                                        \
    }
PRODUCE(2)
PRODUCE(3)
PRODUCE(4)
PRODUCE(5)
PRODUCE(6)
PRODUCE(7)
PRODUCE(8)
static_assert(CTS_GROUP == 8, "groups have all lengths up to it, here and in device-producer.c");

/* An access of a length that only the run knows: lanes of 16 bytes (site), and single bytes (site
 * + 1) at its ends, as the CPU device records it. */
CTS_COLD void produce_range(const struct cts_producer *p, uint32_t site, uint32_t space,
                            const char *address, uint64_t size_bytes)
{
    while (size_bytes) {
        const bool is_wide = size_bytes >= 16 && (uint64_t)address % 16 == 0;
        const uint32_t here = site + !is_wide;
        if (space == CTS_CUDA_UNKNOWN)
            produce_unknown(p, here, address);
        else
            produce<1>(p, &here, space, (const void *const *)&address);
        address += is_wide ? 16 : 1;
        size_bytes -= is_wide ? 16 : 1;
    }
}

PRODUCER void __cts_produce_range(const struct cts_producer *p, uint32_t space, uint32_t site,
                                  const void *address, uint64_t size_bytes)
{
    if (!p->bin) return;
    const struct cts_producer q = *p;
    produce_range(&q, site, space, (const char *)address, size_bytes);
}
