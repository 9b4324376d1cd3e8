// Work of a known length, on the device and on the host, by the clock.
#ifndef EXAMPLES_TIMELINE_SPIN_H
#define EXAMPLES_TIMELINE_SPIN_H

#include "../common.h"
#include <chrono>

__device__ static inline unsigned long long device_ns()
{
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

// Keeps one thread of the device busy for `ns`. Each caller names its own kernel after its role and
// calls this.
__device__ static inline void spin_for(unsigned long long ns)
{
    const unsigned long long start = device_ns();
    while (device_ns() - start < ns) {
    }
}

static inline void host_spin_ms(double ms)
{
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
               .count() < ms) {
    }
}

static inline unsigned long long ns_of_ms(int ms)
{
    return (unsigned long long)ms * 1000000;
}

#endif
