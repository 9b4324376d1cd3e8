/* Barriers, fences and everything that the lanes of a warp do together: votes, shuffles, matches,
 * reductions. Each function ends in one intrinsic of LLVM that the CPU device's engine implements
 * (64-bit shuffles in two). */
#ifndef CTASCOPE_WARP_H
#define CTASCOPE_WARP_H

#define CTS_WARP_ static __device__ __forceinline__

/* Barriers. __syncthreads, its count, and, or forms and the fences come with clang's headers. */
CTS_WARP_ void __syncwarp(unsigned int mask = 0xffffffffu)
{
    __nvvm_bar_warp_sync(mask);
}
CTS_WARP_ void __barrier_sync(unsigned int id)
{
    __nvvm_barrier_sync(id);
}
CTS_WARP_ void __barrier_sync_count(unsigned int id, unsigned int count)
{
    __nvvm_barrier_sync_cnt(id, count);
}

/* Launches of a stream begin when the one before has ended: what a dependent launch waits for has
 * happened, and letting it begin early changes nothing. */
CTS_WARP_ void cudaGridDependencySynchronize() {}
CTS_WARP_ void cudaTriggerProgrammaticLaunchCompletion() {}

/* Votes. The legacy __any, __all and __ballot come with clang's headers. */
CTS_WARP_ int __all_sync(unsigned int mask, int predicate)
{
    return __nvvm_vote_all_sync(mask, predicate);
}
CTS_WARP_ int __any_sync(unsigned int mask, int predicate)
{
    return __nvvm_vote_any_sync(mask, predicate);
}
CTS_WARP_ int __uni_sync(unsigned int mask, int predicate)
{
    return __nvvm_vote_uni_sync(mask, predicate);
}
CTS_WARP_ unsigned int __ballot_sync(unsigned int mask, int predicate)
{
    return __nvvm_vote_ballot_sync(mask, predicate);
}
CTS_WARP_ unsigned int __activemask()
{
    return __nvvm_activemask();
}

/* Registers of the lane. CUDA has no functions for them; programs define their own. */
CTS_WARP_ unsigned int cts_lane_()
{
    return __nvvm_read_ptx_sreg_laneid();
}

/* Shuffles. The clamp operand: segment mask in bits 8-12, last lane of a segment in bits 0-4 (0 for
 * up, whose limit is the first lane). */
#define CTS_SHUFFLE_CLAMP_(width, last) (((32 - (width)) << 8) | (last))

/* One type: `through` is the type that carries its bits. */
#define CTS_SHUFFLE_AS_(name, offset_type, type, through)                                          \
    CTS_WARP_ type name##_sync(unsigned int mask, type value, offset_type offset, int width = 32)  \
    {                                                                                              \
        return __builtin_bit_cast(                                                                 \
            type, name##_sync(mask, __builtin_bit_cast(through, value), offset, width));           \
    }                                                                                              \
    CTS_WARP_ type name(type value, offset_type offset, int width = 32)                            \
    {                                                                                              \
        return __builtin_bit_cast(type, name(__builtin_bit_cast(through, value), offset, width));  \
    }

#define CTS_SHUFFLE_(name, mode, last, offset_type)                                                \
    CTS_WARP_ int name##_sync(unsigned int mask, int value, offset_type offset, int width = 32)    \
    {                                                                                              \
        return __nvvm_shfl_sync_##mode##_i32(mask, value, offset,                                  \
                                             CTS_SHUFFLE_CLAMP_(width, last));                     \
    }                                                                                              \
    CTS_WARP_ int name(int value, offset_type offset, int width = 32)                              \
    {                                                                                              \
        return __nvvm_shfl_##mode##_i32(value, offset, CTS_SHUFFLE_CLAMP_(width, last));           \
    }                                                                                              \
    CTS_WARP_ long long name##_sync(unsigned int mask, long long value, offset_type offset,        \
                                    int width = 32)                                                \
    {                                                                                              \
        const int low = name##_sync(mask, (int)value, offset, width);                              \
        const int high = name##_sync(mask, (int)(value >> 32), offset, width);                     \
        return (long long)((unsigned long long)(unsigned int)high << 32 | (unsigned int)low);      \
    }                                                                                              \
    CTS_WARP_ long long name(long long value, offset_type offset, int width = 32)                  \
    {                                                                                              \
        const int low = name((int)value, offset, width);                                           \
        const int high = name((int)(value >> 32), offset, width);                                  \
        return (long long)((unsigned long long)(unsigned int)high << 32 | (unsigned int)low);      \
    }                                                                                              \
    CTS_SHUFFLE_AS_(name, offset_type, unsigned int, int)                                          \
    CTS_SHUFFLE_AS_(name, offset_type, float, int)                                                 \
    CTS_SHUFFLE_AS_(name, offset_type, unsigned long long, long long)                              \
    CTS_SHUFFLE_AS_(name, offset_type, long, long long)                                            \
    CTS_SHUFFLE_AS_(name, offset_type, unsigned long, long long)                                   \
    CTS_SHUFFLE_AS_(name, offset_type, double, long long)

CTS_SHUFFLE_(__shfl, idx, 0x1f, int)
CTS_SHUFFLE_(__shfl_up, up, 0, unsigned int)
CTS_SHUFFLE_(__shfl_down, down, 0x1f, unsigned int)
CTS_SHUFFLE_(__shfl_xor, bfly, 0x1f, int)
#undef CTS_SHUFFLE_
#undef CTS_SHUFFLE_AS_

/* Match. */
#define CTS_MATCH_(type, bits, carrier)                                                            \
    CTS_WARP_ unsigned int __match_any_sync(unsigned int mask, type value)                         \
    {                                                                                              \
        return __nvvm_match_any_sync_i##bits(mask, __builtin_bit_cast(carrier, value));            \
    }                                                                                              \
    CTS_WARP_ unsigned int __match_all_sync(unsigned int mask, type value, int *all_equal)         \
    {                                                                                              \
        return __nvvm_match_all_sync_i##bits##p(mask, __builtin_bit_cast(carrier, value),          \
                                                all_equal);                                        \
    }
CTS_MATCH_(int, 32, unsigned int)
CTS_MATCH_(unsigned int, 32, unsigned int)
CTS_MATCH_(float, 32, unsigned int)
CTS_MATCH_(long long, 64, unsigned long long)
CTS_MATCH_(unsigned long long, 64, unsigned long long)
CTS_MATCH_(long, 64, unsigned long long)
CTS_MATCH_(unsigned long, 64, unsigned long long)
CTS_MATCH_(double, 64, unsigned long long)
#undef CTS_MATCH_

/* Reductions over the lanes of a mask. */
#define CTS_REDUCE_(type, name, operation)                                                         \
    CTS_WARP_ type __reduce_##name##_sync(unsigned int mask, type value)                           \
    {                                                                                              \
        return __nvvm_redux_sync_##operation(value, mask);                                         \
    }
CTS_REDUCE_(unsigned int, add, add)
CTS_REDUCE_(int, add, add)
CTS_REDUCE_(unsigned int, min, umin)
CTS_REDUCE_(unsigned int, max, umax)
CTS_REDUCE_(int, min, min)
CTS_REDUCE_(int, max, max)
CTS_REDUCE_(unsigned int, and, and)
CTS_REDUCE_(unsigned int, or, or)
CTS_REDUCE_(unsigned int, xor, xor)
#undef CTS_REDUCE_

/* The grid-wide barrier of a cooperative launch: the engine's. */
extern "C" __device__ void __cts_grid_sync(void);

#endif
