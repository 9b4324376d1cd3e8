// What the programs of bench/whatif-cases share: kernels and host work whose time is known, and a
// main() that runs a shape as it is, or as it is and with each change in turns.
//
//     PROGRAM                                       the names of its shapes
//     PROGRAM SHAPE KERNEL_US HOST_US TURNS         milliseconds of one run
//     PROGRAM SHAPE KERNEL_US HOST_US TURNS REPEATS one line of milliseconds per repeat: the base,
//                                                   the kernel x0.5, x2, removed, the host's work
//                                                   x0.5, removed
#ifndef BENCH_WHATIF_SHAPES_H
#define BENCH_WHATIF_SHAPES_H

#include "../examples/timeline/spin.h"
#include <cstring>
#include <time.h>
#ifdef CASES_MPI
#include <mpi.h>
#endif

struct Work {
    long kernel_us, host_us;
    int turns;
};

struct Shape {
    const char *name;
    void (*run)(const Work &);
};

__global__ void first_kernel(unsigned long long ns)
{
    spin_for(ns);
}

__global__ void second_kernel(unsigned long long ns)
{
    spin_for(ns);
}

// The host's work is a wait for the clock, which other programs on the machine disturb least; with
// WHATIF_HOST=spin it is on the processor all the time, as work is that a program computes.
static void wait_for_clock(long us)
{
    timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += us % 1000000 * 1000;
    until.tv_sec += us / 1000000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (us && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr)) {
    }
}

extern "C" __attribute__((noinline)) void host_work(long us)
{
    static const char *const kind = getenv("WHATIF_HOST");
    static const bool spins = kind && !strcmp(kind, "spin");
    if (spins)
        host_spin_ms((double)us / 1000);
    else
        wait_for_clock(us);
}

static inline int rank_of()
{
    int rank = 0;
#ifdef CASES_MPI
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
    return rank;
}

static inline void meet()
{
#ifdef CASES_MPI
    MPI_Barrier(MPI_COMM_WORLD);
#endif
}

static double ms_of(const Shape &shape, const Work &work)
{
    meet();
    const auto begin = std::chrono::steady_clock::now();
    shape.run(work);
    CHECK(cudaDeviceSynchronize());
    meet();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    return took.count();
}

// As it is and with each change, in turns, so that what disturbs the machine disturbs all alike.
static void measure(const Shape &shape, const Work &base, int repeats)
{
    const Work changed[] = {base,
                            {base.kernel_us / 2, base.host_us, base.turns},
                            {base.kernel_us * 2, base.host_us, base.turns},
                            {0, base.host_us, base.turns},
                            {base.kernel_us, base.host_us / 2, base.turns},
                            {base.kernel_us, 0, base.turns}};
    for (int i = 0; i < repeats; i++) {
        for (const Work &work : changed) {
            const double ms = ms_of(shape, work);
            if (rank_of() == 0) printf("%.4f ", ms);
        }
        if (rank_of() == 0) puts("");
    }
}

template <int COUNT> static int run_shapes(const Shape (&shapes)[COUNT], int argc, char **argv)
{
    const Shape *chosen = nullptr;
    for (const Shape &shape : shapes)
        if (argc > 1 && !strcmp(argv[1], shape.name)) chosen = &shape;
    if (argc < 5 || !chosen) {
        for (const Shape &shape : shapes) puts(shape.name);
        return argc < 2 ? 0 : 2;
    }
#ifdef CASES_MPI
    MPI_Init(&argc, &argv);
#endif
    const Work work = {strtol(argv[2], nullptr, 10), strtol(argv[3], nullptr, 10),
                       (int)strtol(argv[4], nullptr, 10)};
    ms_of(*chosen, {1, 1, 1}); // loads the kernels
    if (argc > 5) {
        measure(*chosen, work, (int)strtol(argv[5], nullptr, 10));
    } else {
        const double ms = ms_of(*chosen, work);
        if (rank_of() == 0) printf("%.4f\n", ms);
    }
#ifdef CASES_MPI
    MPI_Finalize();
#endif
    return 0;
}

#endif
