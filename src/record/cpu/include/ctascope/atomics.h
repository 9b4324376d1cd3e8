/* Atomic functions. Every one is a single atomicrmw or cmpxchg of LLVM (or, for inc and dec, a
 * single intrinsic), so that it is recorded as one access; the exceptions, which the hardware does
 * element by element too, are the two- and four-element types. Scope: the forms _block and _system
 * are as strong as the plain one.
 *
 * Exactly CUDA's overloads: programs add their own for the types that it leaves out.
 *
 * Why not clang's __nvvm_atom_*: the scoped forms among them are opaque intrinsics. */
#ifndef CTASCOPE_ATOMICS_H
#define CTASCOPE_ATOMICS_H

#define CTS_ATOMIC_ static __device__ __forceinline__

#define CTS_RMW_(name, type, expression)                                                           \
    CTS_ATOMIC_ type name(type *address, type value)                                               \
    {                                                                                              \
        return expression;                                                                         \
    }                                                                                              \
    CTS_ATOMIC_ type name##_block(type *address, type value)                                       \
    {                                                                                              \
        return expression;                                                                         \
    }                                                                                              \
    CTS_ATOMIC_ type name##_system(type *address, type value)                                      \
    {                                                                                              \
        return expression;                                                                         \
    }

#define CTS_RMW_BUILTIN_(name, builtin, type)                                                      \
    CTS_RMW_(name, type, builtin(address, value, __ATOMIC_SEQ_CST))

CTS_RMW_BUILTIN_(atomicAdd, __atomic_fetch_add, int)
CTS_RMW_BUILTIN_(atomicAdd, __atomic_fetch_add, unsigned int)
CTS_RMW_BUILTIN_(atomicAdd, __atomic_fetch_add, unsigned long long)
CTS_RMW_BUILTIN_(atomicAdd, __atomic_fetch_add, float)
CTS_RMW_BUILTIN_(atomicAdd, __atomic_fetch_add, double)
CTS_RMW_BUILTIN_(atomicSub, __atomic_fetch_sub, int)
CTS_RMW_BUILTIN_(atomicSub, __atomic_fetch_sub, unsigned int)

CTS_RMW_BUILTIN_(atomicMin, __atomic_fetch_min, int)
CTS_RMW_BUILTIN_(atomicMin, __atomic_fetch_min, unsigned int)
CTS_RMW_BUILTIN_(atomicMin, __atomic_fetch_min, long long)
CTS_RMW_BUILTIN_(atomicMin, __atomic_fetch_min, unsigned long long)
CTS_RMW_BUILTIN_(atomicMax, __atomic_fetch_max, int)
CTS_RMW_BUILTIN_(atomicMax, __atomic_fetch_max, unsigned int)
CTS_RMW_BUILTIN_(atomicMax, __atomic_fetch_max, long long)
CTS_RMW_BUILTIN_(atomicMax, __atomic_fetch_max, unsigned long long)

#define CTS_RMW_BITS_(type)                                                                        \
    CTS_RMW_BUILTIN_(atomicAnd, __atomic_fetch_and, type)                                          \
    CTS_RMW_BUILTIN_(atomicOr, __atomic_fetch_or, type)                                            \
    CTS_RMW_BUILTIN_(atomicXor, __atomic_fetch_xor, type)
CTS_RMW_BITS_(int)
CTS_RMW_BITS_(unsigned int)
CTS_RMW_BITS_(long long)
CTS_RMW_BITS_(unsigned long long)

CTS_RMW_BUILTIN_(atomicExch, __atomic_exchange_n, int)
CTS_RMW_BUILTIN_(atomicExch, __atomic_exchange_n, unsigned int)
CTS_RMW_BUILTIN_(atomicExch, __atomic_exchange_n, unsigned long long)
CTS_RMW_(atomicExch, float,
         __builtin_bit_cast(float,
                            __atomic_exchange_n((int *)address, __builtin_bit_cast(int, value),
                                                __ATOMIC_SEQ_CST)))

/* Wraps: old >= value ? 0 : old + 1, and old == 0 || old > value ? value : old - 1. */
CTS_RMW_(atomicInc, unsigned int, __nvvm_atom_inc_gen_ui(address, value))
CTS_RMW_(atomicDec, unsigned int, __nvvm_atom_dec_gen_ui(address, value))

#define CTS_CAS_ONE_(name, type)                                                                   \
    CTS_ATOMIC_ type name(type *address, type expected, type value)                                \
    {                                                                                              \
        __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_SEQ_CST,            \
                                    __ATOMIC_SEQ_CST);                                             \
        return expected;                                                                           \
    }
#define CTS_CAS_(type)                                                                             \
    CTS_CAS_ONE_(atomicCAS, type)                                                                  \
    CTS_CAS_ONE_(atomicCAS_block, type) CTS_CAS_ONE_(atomicCAS_system, type)
CTS_CAS_(int)
CTS_CAS_(unsigned int)
CTS_CAS_(unsigned long long)
CTS_CAS_(unsigned short)
#undef CTS_CAS_
#undef CTS_CAS_ONE_

#define CTS_RMW_ELEMENTS_(name)                                                                    \
    CTS_ATOMIC_ float2 name(float2 *address, float2 value)                                         \
    {                                                                                              \
        return make_float2(name(&address->x, value.x), name(&address->y, value.y));                \
    }                                                                                              \
    CTS_ATOMIC_ float4 name(float4 *address, float4 value)                                         \
    {                                                                                              \
        return make_float4(name(&address->x, value.x), name(&address->y, value.y),                 \
                           name(&address->z, value.z), name(&address->w, value.w));                \
    }
CTS_RMW_ELEMENTS_(atomicAdd)
CTS_RMW_ELEMENTS_(atomicAdd_block)
CTS_RMW_ELEMENTS_(atomicAdd_system)
#undef CTS_RMW_ELEMENTS_
#undef CTS_RMW_BITS_

#endif
