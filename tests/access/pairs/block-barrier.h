// cuda::barrier of a block: libcu++'s where it is installed, else (or with -DSTAND_IN) one of the same
// names, which is all that ctascope knows of it.
#pragma once
#if __has_include(<cuda/barrier>) && !defined(STAND_IN)
#include <cuda/barrier>
#include <utility>
#else
namespace cuda
{
namespace std
{
inline namespace __4
{
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block };
struct __empty_completion {
};

// Bit 63: the phase. Bits 32 to 62: how many are still to arrive. Bits 0 to 30: how many arrive.
template <class Completion, thread_scope scope> class __barrier_base
{
    unsigned long long word;
    static const unsigned long long phase_bit = 1ull << 63, one = 1ull << 32;

  public:
    __barrier_base() = default;
    __device__ void set(long count) { word = count * one + count; }
    __device__ unsigned long arrive(long count)
    {
        __threadfence_block();
        const unsigned long long old = atomicAdd(&word, -(one * count));
        const unsigned long long left = (old & ~phase_bit) >> 32;
        if (left == (unsigned long long)count) // the last one: the other phase, and all are to come
            atomicAdd(&word, (old & phase_bit ? -phase_bit : phase_bit) + (old & (one / 2 - 1)) * one);
        return old & phase_bit;
    }
    __device__ bool __try_wait_phase(unsigned long phase) const
    {
        return (*(const volatile unsigned long long *)&word & phase_bit) != phase;
    }
    __device__ void arrive_and_drop()
    {
        atomicAdd(&word, -1ull);
        (void)arrive(1);
    }
};
} // namespace __4
template <class T> constexpr T &&move(T &value) { return static_cast<T &&>(value); }
} // namespace std

inline namespace __4
{
using std::thread_scope_block;
template <std::thread_scope scope, class Completion = std::__empty_completion> class barrier
{
    std::__barrier_base<Completion, scope> base;

  public:
    using arrival_token = unsigned long;
    barrier() = default;
    __device__ friend void init(barrier *self, long count) { self->base.set(count); }
    [[nodiscard]] __device__ arrival_token arrive(long count = 1) { return base.arrive(count); }
    __device__ void wait(arrival_token &&token) const
    {
        while (!base.__try_wait_phase(token)) continue;
        __threadfence_block();
    }
    __device__ void arrive_and_wait() { wait(arrive()); }
    __device__ void arrive_and_drop() { base.arrive_and_drop(); }
};
} // namespace __4
} // namespace cuda
namespace std
{
using cuda::std::move;
}
#endif
