// What the null stream puts in order: `first` in one stream, `middle` in the null stream and `last`
// in another stream run one after the other, although nothing but the null stream's rule connects
// them. `apart` runs in a non-blocking stream, which that rule leaves out: beside all of them.
// null-stream [WORK_MS = 10]
#include "spin.h"

__global__ void first(unsigned long long ns)
{
    spin_for(ns);
}
__global__ void middle(unsigned long long ns)
{
    spin_for(ns);
}
__global__ void last(unsigned long long ns)
{
    spin_for(ns);
}
__global__ void apart(unsigned long long ns)
{
    spin_for(ns);
}

int main(int argc, char **argv)
{
    const int work_ms = argument(argc, argv, 1, 10);
    const unsigned long long ns = ns_of_ms(work_ms);
    cudaStream_t one, other, free_one;
    CHECK(cudaStreamCreate(&one));
    CHECK(cudaStreamCreate(&other));
    CHECK(cudaStreamCreateWithFlags(&free_one, cudaStreamNonBlocking));
    const auto start = std::chrono::steady_clock::now();
    apart<<<1, 1, 0, free_one>>>(3 * ns);
    first<<<1, 1, 0, one>>>(ns);
    middle<<<1, 1>>>(ns);
    last<<<1, 1, 0, other>>>(ns);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    const double ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    CHECK(cudaStreamDestroy(one));
    CHECK(cudaStreamDestroy(other));
    CHECK(cudaStreamDestroy(free_one));
    return verdict("null-stream", ms > 2.9 * work_ms);
}
