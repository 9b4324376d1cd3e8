/* Every integer, memory, warp and atomic function, called once in device code. */
// clang-format off
#define WORD_1(X) \
    X(abs) X(absss) X(neg) X(negss)
// clang-format on

// clang-format off
#define WORD_2(X) \
    X(add) X(addss) X(addus) X(sub) X(subss) X(subus) X(avgs) X(avgu) X(haddu) X(absdiffs) \
    X(absdiffu) X(maxs) X(maxu) X(mins) X(minu) X(cmpeq) X(cmpne) X(cmpges) X(cmpgeu) \
    X(cmpgts) X(cmpgtu) X(cmples) X(cmpleu) X(cmplts) X(cmpltu) X(seteq) X(setne) X(setges) \
    X(setgeu) X(setgts) X(setgtu) X(setles) X(setleu) X(setlts) X(setltu) X(sads) X(sadu)
// clang-format on

__global__ void integers(unsigned *out, unsigned a, unsigned b, unsigned c, unsigned long long l)
{
    int i = 0;
#define X(name) out[i++] = __v##name##2(a) + __v##name##4(a);
    WORD_1(X)
#undef X
#define X(name) out[i++] = __v##name##2(a, b) + __v##name##4(a, b);
    WORD_2(X)
#undef X
    out[i++] = __brev(a) + (unsigned)__brevll(l) + __byte_perm(a, b, c) + (unsigned)__clz((int)a);
    out[i++] = (unsigned)(__clzll((long long)l) + __ffs((int)a) + __ffsll((long long)l));
    out[i++] = (unsigned)(__popc(a) + __popcll(l) + __hadd((int)a, (int)b) + __rhadd(1, (int)b));
    out[i++] = __uhadd(a, b) + __urhadd(a, b) + (unsigned)__mul24((int)a, (int)b) + __umul24(a, b);
    out[i++] = (unsigned)__mulhi((int)a, (int)b) + __umulhi(a, b) + (unsigned)__umul64hi(l, l);
    out[i++] = (unsigned)__mul64hi((long long)l, 3) + __sad((int)a, (int)b, c) + __usad(a, b, c);
    out[i++] = __funnelshift_l(a, b, c) + __funnelshift_lc(a, b, c) + __funnelshift_r(a, b, c) +
               __funnelshift_rc(a, b, c);
    out[i++] = (unsigned)__dp4a((int)a, (int)b, (int)c) + __dp4a(a, b, c) +
               (unsigned)__dp2a_lo((int)a, (int)b, (int)c) + __dp2a_hi(a, b, c) +
               __dp2a_lo(a, b, c);
    out[i++] = __fns(a, b, (int)c) + (unsigned)abs((int)a) + (unsigned)llabs((long long)l);
    out[i++] = min(a, b) + max(a, 3u) + (unsigned)min((long long)l, 3ll) + umin(a, b) + umax(a, b);
    out[i++] = (unsigned)__viaddmax_s32((int)a, (int)b, (int)c) + __vimin3_u16x2(a, b, c);
    __prof_trigger(1);
    __brkpt();
    if (a == 12345) __trap();
}

template <class T> __device__ T hints(T *p)
{
    __stwb(p, __ldca(p + 1));
    __stcg(p + 1, __ldcg(p));
    __stcs(p + 2, __ldcs(p));
    __stwt(p + 3, __ldlu(p));
    __stwt(p + 4, __ldcv(p));
    return __ldg(p);
}
__global__ void memory(void *p, size_t *out)
{
    *(char *)p = hints((char *)p);
    *(signed char *)p = hints((signed char *)p);
    *(unsigned char *)p = hints((unsigned char *)p);
    *(short *)p = hints((short *)p);
    *(unsigned short *)p = hints((unsigned short *)p);
    *(int *)p = hints((int *)p);
    *(unsigned *)p = hints((unsigned *)p);
    *(long *)p = hints((long *)p);
    *(unsigned long *)p = hints((unsigned long *)p);
    *(long long *)p = hints((long long *)p);
    *(unsigned long long *)p = hints((unsigned long long *)p);
    *(float *)p = hints((float *)p);
    *(double *)p = hints((double *)p);
    *(char2 *)p = hints((char2 *)p);
    *(char4 *)p = hints((char4 *)p);
    *(uchar2 *)p = hints((uchar2 *)p);
    *(uchar4 *)p = hints((uchar4 *)p);
    *(short2 *)p = hints((short2 *)p);
    *(short4 *)p = hints((short4 *)p);
    *(ushort2 *)p = hints((ushort2 *)p);
    *(ushort4 *)p = hints((ushort4 *)p);
    *(int2 *)p = hints((int2 *)p);
    *(int4 *)p = hints((int4 *)p);
    *(uint2 *)p = hints((uint2 *)p);
    *(uint4 *)p = hints((uint4 *)p);
    *(longlong2 *)p = hints((longlong2 *)p);
    *(ulonglong2 *)p = hints((ulonglong2 *)p);
    *(float2 *)p = hints((float2 *)p);
    *(float4 *)p = hints((float4 *)p);
    *(double2 *)p = hints((double2 *)p);
    __shared__ int s;
    out[0] = __isGlobal(p) + __isShared(&s) + __isConstant(p) + __isLocal(&p);
    out[1] = __cvta_generic_to_shared(&s) + __cvta_generic_to_global(p);
    out[2] = (size_t)clock() + (size_t)clock64();
    __nanosleep(100);
    void *const q = malloc(8);
    free(q);
    int *const r = new int[3];
    delete[] r;
}

template <class T> __device__ T shuffles(T v)
{
    v = __shfl_sync(~0u, v, 1);
    v = __shfl_up_sync(~0u, v, 1u);
    v = __shfl_down_sync(~0u, v, 1u, 16);
    v = __shfl_xor_sync(~0u, v, 1);
    v = __shfl(v, 1);
    v = __shfl_up(v, 1u);
    v = __shfl_down(v, 1u);
    v = __shfl_xor(v, 1, 8);
    int all;
    return v + (T)__match_any_sync(~0u, v) + (T)__match_all_sync(~0u, v, &all);
}
__global__ void warps(int *out, double d)
{
    int i = 0;
    out[i++] = shuffles(1) + (int)shuffles(2u) + (int)shuffles(3l) + (int)shuffles(4ul);
    out[i++] = (int)shuffles(5ll) + (int)shuffles(6ull) + (int)shuffles(7.0f) + (int)shuffles(d);
    out[i++] = __all_sync(~0u, i) + __any_sync(~0u, i) + (int)__ballot_sync(~0u, i);
    out[i++] = __uni_sync(~0u, i) + __all(i) + __any(i) + (int)__ballot(i) + (int)__activemask();
    out[i++] = (int)__reduce_add_sync(~0u, 1u) + __reduce_add_sync(~0u, -1);
    out[i++] = (int)__reduce_min_sync(~0u, 1u) + __reduce_min_sync(~0u, -1);
    out[i++] = (int)__reduce_max_sync(~0u, 1u) + __reduce_max_sync(~0u, -1);
    out[i++] = (int)__reduce_and_sync(~0u, 1u) + (int)__reduce_or_sync(~0u, 1u) +
               (int)__reduce_xor_sync(~0u, 1u);
    __syncwarp();
    __syncwarp(3);
    __syncthreads();
    out[i++] = __syncthreads_count(i) + __syncthreads_and(i) + __syncthreads_or(i);
    __threadfence();
    __threadfence_block();
    __threadfence_system();
    out[i++] = warpSize;
}

/* Overloads that CUDA lacks are the programs' to add. */
__device__ long long atomicAdd(long long *p, long long value)
{
    return (long long)atomicAdd((unsigned long long *)p, (unsigned long long)value);
}
__device__ size_t atomicAdd(size_t *p, size_t value)
{
    return atomicAdd((unsigned long long *)p, (unsigned long long)value);
}
__device__ __inline__ unsigned __lane_id()
{
    return threadIdx.x & 31;
}

#define SCOPES(X, name, type) X(name, type) X(name##_block, type) X(name##_system, type)
__global__ void atomics(void *p)
{
#define X(name, type) name((type *)p, (type)1);
    SCOPES(X, atomicAdd, int)
    SCOPES(X, atomicAdd, unsigned)
    SCOPES(X, atomicAdd, unsigned long long)
    SCOPES(X, atomicAdd, float)
    SCOPES(X, atomicAdd, double)
    SCOPES(X, atomicSub, int)
    SCOPES(X, atomicSub, unsigned)
    SCOPES(X, atomicInc, unsigned)
    SCOPES(X, atomicDec, unsigned)
    SCOPES(X, atomicExch, int)
    SCOPES(X, atomicExch, unsigned)
    SCOPES(X, atomicExch, unsigned long long)
    SCOPES(X, atomicExch, float)
#define SIGNED_AND_NOT(name)                                                                       \
    SCOPES(X, name, int)                                                                           \
    SCOPES(X, name, unsigned) SCOPES(X, name, long long) SCOPES(X, name, unsigned long long)
    SIGNED_AND_NOT(atomicMin)
    SIGNED_AND_NOT(atomicMax)
    SIGNED_AND_NOT(atomicAnd)
    SIGNED_AND_NOT(atomicOr)
    SIGNED_AND_NOT(atomicXor)
#undef X
#define X(name, type) name((type *)p, (type)1, (type)2);
    SCOPES(X, atomicCAS, int)
    SCOPES(X, atomicCAS, unsigned)
    SCOPES(X, atomicCAS, unsigned long long)
    SCOPES(X, atomicCAS, unsigned short)
#undef X
    atomicAdd((float2 *)p, make_float2(1, 2));
    atomicAdd_system((float4 *)p, make_float4(1, 2, 3, 4));
}
