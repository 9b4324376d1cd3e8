/* The functions that device code on the CPU calls in place of what the GPU has as instructions.
 *
 * The lower pass replaces each LLVM intrinsic llvm.nvvm.A.B that it does not turn into ordinary
 * instructions itself by a call of the C function __cts_nvvm_A_B. Two parts provide them:
 *
 *   the engine          (cpu/engine/) what needs other threads, a clock or the launch: the table
 *                       CTS_ENGINE_FUNCTIONS below; exported by libctascope_cpu.so
 *   the device library  (cpu/devlib/, bitcode, linked and inlined in the second compile) the rest,
 *                       pure arithmetic, and libdevice's __nv_*
 *
 * A function that neither provides is refused by name when the second compile (retarget) ends up
 * with it undefined.
 *
 * How an intrinsic's type becomes the C function's:
 *   i1, i8, i16          uint32_t, zero-extended; as a result, the low bits count
 *   i32 i64 float double themselves
 *   half, bfloat         uint32_t: the bits in the low half, zero-extended
 *   <2 x half> and other vectors of 32 or 64 bits     uint32_t or uint64_t, the same bits
 *   pointers of any space    a generic pointer (void *)
 *   {a, b, ...} results  `a` is the function's result; each further member goes through a pointer
 *                        to the type above, behind the arguments:
 *                        uint32_t __cts_nvvm_shfl_sync_down_i32p(uint32_t mask, uint32_t value,
 *                                 uint32_t delta, uint32_t clamp, uint32_t *predicate);
 * Suffixes for overloaded pointer types (".p0", ".p1") are dropped from the name.
 *
 * What the lower and retarget passes do themselves, so that nobody need provide it: tid, ntid,
 * ctaid, nctaid (parameters), laneid, warpid, nwarpid, lanemask.*, warpsize, dynamic_smem_size,
 * cluster registers (clusters of one CTA), membar and fence (a fence), ldg, ldu, atomic.* (atomic
 * instructions), ptr.* (casts), cp.async (a copy at once), d2i.hi and
 * other bitcasts, texsurf.handle.internal (the handle stored in the texture's variable).
 *
 * Names of the C library that device code means otherwise are renamed (CTS_DEVICE_LIBC_NAMES):
 * vprintf becomes __cts_dev_vprintf, and so on; llvm.trap and `trap;` become __cts_dev_trap.
 *
 * "waits" says that the calling thread may have to wait for others: a kernel that may reach such a
 * function runs its threads as fibers. Any other undefined function named __cts_* (of a header or
 * the device library) counts as waiting; every other undefined function (libm) as not. */
#ifndef CTS_INSTRUMENT_NVVM_ABI_H
#define CTS_INSTRUMENT_NVVM_ABI_H

#include <stddef.h>
#include <stdint.h>

#include "record/abi.h"

enum { CTS_CALLS, CTS_WAITS };

/* ldmatrix and stmatrix: `form` is the number of 8x8 matrices (1, 2, 4), plus this if they are
 * transposed. Lane l has the row at its own address, that of row l % 8 of matrix l / 8. */
enum { CTS_MATRIX_TRANSPOSED = 256 };

/* mma.sync: the shape is m | n << 8 | k << 16; `kinds` has those of A, B, C and D, a byte each. A
 * lane's registers of A are at fragments[0], those of B and C behind them; D replaces C. */
enum {
    CTS_MATRIX_B_WORD = 16,
    CTS_MATRIX_C_WORD = 24,
    CTS_MATRIX_WORDS = 32,
    CTS_MATRIX_KIND_BITS = 6, /* in a kind's byte; above them for D: the flags below */
    CTS_MATRIX_SATURATE = 64, /* integers */
    CTS_MATRIX_AND = 128      /* single bits: and, not exclusive or */
};
/* X(name in PTX, enumerator, bits of an element) */
#define CTS_MATRIX_KINDS(X)                                                                        \
    X(f16, CTS_MATRIX_F16, 16)                                                                     \
    X(bf16, CTS_MATRIX_BF16, 16)                                                                   \
    X(tf32, CTS_MATRIX_TF32, 32)                                                                   \
    X(f32, CTS_MATRIX_F32, 32)                                                                     \
    X(f64, CTS_MATRIX_F64, 64)                                                                     \
    X(e4m3, CTS_MATRIX_E4M3, 8)                                                                    \
    X(e5m2, CTS_MATRIX_E5M2, 8)                                                                    \
    X(s8, CTS_MATRIX_S8, 8)                                                                        \
    X(u8, CTS_MATRIX_U8, 8)                                                                        \
    X(s4, CTS_MATRIX_S4, 4)                                                                        \
    X(u4, CTS_MATRIX_U4, 4)                                                                        \
    X(b1, CTS_MATRIX_B1, 1)                                                                        \
    X(s32, CTS_MATRIX_S32, 32)
#define CTS_MATRIX_ENUMERATOR(name, enumerator, bits) enumerator,
enum cts_matrix_kind { CTS_MATRIX_KINDS(CTS_MATRIX_ENUMERATOR) CTS_MATRIX_KIND_COUNT };
#undef CTS_MATRIX_ENUMERATOR

/* Left by the lower pass, replaced by the retarget pass: ctx->dynamic_shared_bytes. */
#define CTS_DYNAMIC_SHARED_REGISTER "__cts_nvvm_read_ptx_sreg_dynamic_smem_size"

/* X(result, name, parameters, CTS_WAITS or CTS_CALLS) */
#define CTS_SHUFFLES(X, mode)                                                                      \
    X(uint32_t, __cts_nvvm_shfl_sync_##mode##_i32,                                                 \
      (uint32_t mask, uint32_t value, uint32_t b, uint32_t c), CTS_WAITS)                          \
    X(float, __cts_nvvm_shfl_sync_##mode##_f32,                                                    \
      (uint32_t mask, float value, uint32_t b, uint32_t c), CTS_WAITS)                             \
    X(uint32_t, __cts_nvvm_shfl_sync_##mode##_i32p,                                                \
      (uint32_t mask, uint32_t value, uint32_t b, uint32_t c, uint32_t *predicate), CTS_WAITS)     \
    X(float, __cts_nvvm_shfl_sync_##mode##_f32p,                                                   \
      (uint32_t mask, float value, uint32_t b, uint32_t c, uint32_t *predicate), CTS_WAITS)        \
    X(uint32_t, __cts_nvvm_shfl_##mode##_i32, (uint32_t value, uint32_t b, uint32_t c), CTS_WAITS) \
    X(float, __cts_nvvm_shfl_##mode##_f32, (float value, uint32_t b, uint32_t c), CTS_WAITS)       \
    X(uint32_t, __cts_nvvm_shfl_##mode##_i32p,                                                     \
      (uint32_t value, uint32_t b, uint32_t c, uint32_t *predicate), CTS_WAITS)                    \
    X(float, __cts_nvvm_shfl_##mode##_f32p,                                                        \
      (float value, uint32_t b, uint32_t c, uint32_t *predicate), CTS_WAITS)

#define CTS_ENGINE_FUNCTIONS(X)                                                                    \
    /* barriers of the CTA; barrier_n and bar_sync name one of 16; counts are in threads */        \
    X(void, __cts_nvvm_barrier0, (void), CTS_WAITS)                                                \
    X(uint32_t, __cts_nvvm_barrier0_popc, (uint32_t predicate), CTS_WAITS)                         \
    X(uint32_t, __cts_nvvm_barrier0_and, (uint32_t predicate), CTS_WAITS)                          \
    X(uint32_t, __cts_nvvm_barrier0_or, (uint32_t predicate), CTS_WAITS)                           \
    X(void, __cts_nvvm_barrier_n, (uint32_t barrier), CTS_WAITS)                                   \
    X(void, __cts_nvvm_barrier, (uint32_t barrier, uint32_t threads), CTS_WAITS)                   \
    X(void, __cts_nvvm_bar_sync, (uint32_t barrier), CTS_WAITS)                                    \
    X(void, __cts_nvvm_barrier_sync, (uint32_t barrier), CTS_WAITS)                                \
    X(void, __cts_nvvm_barrier_sync_cnt, (uint32_t barrier, uint32_t threads), CTS_WAITS)          \
    X(void, __cts_nvvm_barrier_arrive_cnt, (uint32_t barrier, uint32_t threads), CTS_WAITS)        \
    X(void, __cts_nvvm_bar_warp_sync, (uint32_t mask), CTS_WAITS)                                  \
    /* of the grid: cooperative launches; sets CTS_KERNEL_GRID_SYNC */                             \
    X(void, __cts_grid_sync, (void), CTS_WAITS)                                                    \
    /* warp collectives */                                                                         \
    CTS_SHUFFLES(X, idx)                                                                           \
    CTS_SHUFFLES(X, up)                                                                            \
    CTS_SHUFFLES(X, down)                                                                          \
    CTS_SHUFFLES(X, bfly)                                                                          \
    X(uint32_t, __cts_nvvm_vote_all_sync, (uint32_t mask, uint32_t predicate), CTS_WAITS)          \
    X(uint32_t, __cts_nvvm_vote_any_sync, (uint32_t mask, uint32_t predicate), CTS_WAITS)          \
    X(uint32_t, __cts_nvvm_vote_uni_sync, (uint32_t mask, uint32_t predicate), CTS_WAITS)          \
    X(uint32_t, __cts_nvvm_vote_ballot_sync, (uint32_t mask, uint32_t predicate), CTS_WAITS)       \
    X(uint32_t, __cts_nvvm_vote_all, (uint32_t predicate), CTS_WAITS)                              \
    X(uint32_t, __cts_nvvm_vote_any, (uint32_t predicate), CTS_WAITS)                              \
    X(uint32_t, __cts_nvvm_vote_uni, (uint32_t predicate), CTS_WAITS)                              \
    X(uint32_t, __cts_nvvm_vote_ballot, (uint32_t predicate), CTS_WAITS)                           \
    X(uint32_t, __cts_nvvm_activemask, (void), CTS_WAITS)                                          \
    X(uint32_t, __cts_nvvm_match_any_sync_i32, (uint32_t mask, uint32_t value), CTS_WAITS)         \
    X(uint32_t, __cts_nvvm_match_any_sync_i64, (uint32_t mask, uint64_t value), CTS_WAITS)         \
    X(uint32_t, __cts_nvvm_match_all_sync_i32p,                                                    \
      (uint32_t mask, uint32_t value, uint32_t *predicate), CTS_WAITS)                             \
    X(uint32_t, __cts_nvvm_match_all_sync_i64p,                                                    \
      (uint32_t mask, uint64_t value, uint32_t *predicate), CTS_WAITS)                             \
    X(uint32_t, __cts_nvvm_redux_sync_add, (uint32_t value, uint32_t mask), CTS_WAITS)             \
    X(uint32_t, __cts_nvvm_redux_sync_umin, (uint32_t value, uint32_t mask), CTS_WAITS)            \
    X(uint32_t, __cts_nvvm_redux_sync_umax, (uint32_t value, uint32_t mask), CTS_WAITS)            \
    X(uint32_t, __cts_nvvm_redux_sync_min, (uint32_t value, uint32_t mask), CTS_WAITS)             \
    X(uint32_t, __cts_nvvm_redux_sync_max, (uint32_t value, uint32_t mask), CTS_WAITS)             \
    X(uint32_t, __cts_nvvm_redux_sync_and, (uint32_t value, uint32_t mask), CTS_WAITS)             \
    X(uint32_t, __cts_nvvm_redux_sync_or, (uint32_t value, uint32_t mask), CTS_WAITS)              \
    X(uint32_t, __cts_nvvm_redux_sync_xor, (uint32_t value, uint32_t mask), CTS_WAITS)             \
    /* matrices of a warp; see enum cts_matrix_kind */                                             \
    X(void, __cts_matrix_load, (const uint32_t row[4], uint32_t out[4], uint32_t form), CTS_WAITS) \
    X(void, __cts_matrix_store, (const uint32_t in[4], uint32_t row[4], uint32_t form), CTS_WAITS) \
    X(void, __cts_matrix_multiply, (uint32_t *fragments, uint32_t shape, uint32_t kinds),          \
      CTS_WAITS)                                                                                   \
    X(void, __cts_nvvm_nanosleep, (uint32_t ns), CTS_WAITS)                                        \
    X(void, __cts_dev_exit, (void), CTS_WAITS) /* ends the calling thread; does not return */      \
    /* clocks and the launch */                                                                    \
    X(uint32_t, __cts_nvvm_read_ptx_sreg_clock, (void), CTS_CALLS)                                 \
    X(uint64_t, __cts_nvvm_read_ptx_sreg_clock64, (void), CTS_CALLS)                               \
    X(uint64_t, __cts_nvvm_read_ptx_sreg_globaltimer, (void), CTS_CALLS)                           \
    X(uint32_t, __cts_nvvm_read_ptx_sreg_smid, (void), CTS_CALLS)                                  \
    X(uint32_t, __cts_nvvm_read_ptx_sreg_nsmid, (void), CTS_CALLS)                                 \
    X(uint32_t, __cts_nvvm_read_ptx_sreg_gridid, (void), CTS_CALLS)                                \
    X(uint32_t, __cts_nvvm_isspacep_global, (const void *address), CTS_CALLS)                      \
    X(uint32_t, __cts_nvvm_isspacep_shared, (const void *address), CTS_CALLS)                      \
    X(uint32_t, __cts_nvvm_isspacep_const, (const void *address), CTS_CALLS)                       \
    X(uint32_t, __cts_nvvm_isspacep_local, (const void *address), CTS_CALLS)                       \
    /* device-order.c: counts up, from 1 */                                                        \
    X(uint64_t, __cts_order, (void), CTS_CALLS)                                                    \
    /* what device code expects of a C library; a trap and a failed assertion do not return */     \
    X(int32_t, __cts_dev_vprintf, (const char *format, const char *arguments), CTS_CALLS)          \
    X(void *, __cts_dev_malloc, (size_t size_bytes), CTS_CALLS)                                    \
    X(void, __cts_dev_free, (void *memory), CTS_CALLS)                                             \
    /* cuRAND: `count` times 2^power steps of a generator whose state is the lane's own memory */  \
    X(void, __cts_dev_skip_xorwow, (uint32_t state[5], uint64_t count, uint32_t power), CTS_CALLS) \
    X(void, __cts_dev_skip_mrg, (uint32_t state[6], uint64_t count, uint32_t power), CTS_CALLS)    \
    X(void, __cts_dev_check_divisor, (uint32_t is_zero), CTS_CALLS)                                \
    X(void, __cts_dev_trap, (void), CTS_CALLS)                                                     \
    X(void, __cts_dev___assertfail,                                                                \
      (const char *message, const char *file, uint32_t line, const char *function,                 \
       size_t char_size_bytes),                                                                    \
      CTS_CALLS)

/* X(name): the declaration `name` in device code becomes __cts_dev_<name>. */
#define CTS_DEVICE_LIBC_NAMES(X)                                                                   \
    X(vprintf)                                                                                     \
    X(malloc)                                                                                      \
    X(free)                                                                                        \
    X(__assertfail)

#ifndef CTS_NVVM_ABI_NO_PROTOTYPES
#define CTS_PROTOTYPE(result, name, parameters, waits) result name parameters;
CTS_ENGINE_FUNCTIONS(CTS_PROTOTYPE)
#undef CTS_PROTOTYPE
#endif

#endif
