// An imbalanced barrier: in each round rank r works for r * STEP_MS, half of it on the host and
// half in a kernel, then all meet. Rank r waits (size - 1 - r) * STEP_MS, all of it for the last
// rank. imbalanced-barrier [STEP_MS = 20] [ROUNDS = 4]
#include "spin.h"
#include "world.h"

__global__ void work(unsigned long long ns, int *count)
{
    spin_for(ns);
    ++*count;
}

int main(int argc, char **argv)
{
    World world(&argc, &argv);
    const int step_ms = argument(argc, argv, 1, 20), rounds = argument(argc, argv, 2, 4);
    int *device_count, count;
    CHECK(cudaMalloc(&device_count, sizeof *device_count));
    CHECK(cudaMemset(device_count, 0, sizeof *device_count));
    for (int round = 0; round < rounds; round++) {
        host_spin_ms(world.rank * step_ms / 2.0);
        work<<<1, 1>>>(ns_of_ms(world.rank * step_ms) / 2, device_count);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK(cudaMemcpy(&count, device_count, sizeof count, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device_count));
    return world.verdict_of_all("imbalanced-barrier", count == rounds);
}
