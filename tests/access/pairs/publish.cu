// Counts of positive numbers: each warp counts by ballots, and its first lane adds the count to the
// total once. 1: the first lane of a warp counts alone. 2: the first lane adds after each ballot.
#include "pair.h"
enum { N = 8192, BLOCK = 128, EACH = 8, WARPS = N / EACH / 32 };

__global__ void positives(const int *in, int *counts, int *total)
{
    const int t = blockIdx.x * BLOCK + threadIdx.x, warp = t / 32, lane = t % 32;
    int sum = 0;
    for (int k = 0; k < EACH * (DEFECT == 1 ? 32 : 1); k++) {
        if (DEFECT == 1) {
            if (lane == 0) sum += in[warp * EACH * 32 + k] > 0; // @1 few active lanes
            continue;
        }
        const int met = __popc(__ballot_sync(~0u, in[(warp * EACH + k) * 32 + lane] > 0));
        if (DEFECT == 2 && lane == 0) atomicAdd(total, met); // @2 few active lanes
        sum += met;
    }
    if (lane == 0) counts[warp] = sum;
    if (DEFECT != 2 && lane == 0) atomicAdd(total, sum);
}

int main()
{
    int *const in = device_array<int>(N, [](size_t i) { return int(i % 3) - 1; });
    int *const counts = device_zeros<int>(WARPS), *const total = device_zeros<int>(1);
    positives<<<N / EACH / BLOCK, BLOCK>>>(in, counts, total);
    CHECK(cudaDeviceSynchronize());
}
