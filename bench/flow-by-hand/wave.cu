// examples/wave.cu; `flow` says: remove the launches whose points nobody reads.
// wave before|after [REPEATS] [EDGE = 4096] [LAUNCHES = 10]
#define main example_main
#include "../../examples/wave.cu"
#undef main
#include "measure.h"

int main(int argc, char **argv)
{
    const Variant variant = variant_of(argc, argv);
    const int n = argument(argc, argv, 3, 4096), launches = argument(argc, argv, 4, 10);
    const size_t count = (size_t)n * n;
    float4 *points;
    CHECK(cudaMalloc(&points, count * sizeof(float4)));
    const dim3 block(8, 8), grid((n + 7) / 8, (n + 7) / 8);
    const auto step = [&](auto mark) {
        mark();
        for (int launch = variant.is_after ? launches - 1 : 0; launch < launches; launch++)
            draw<<<grid, block>>>(points, n, 0.01f * launch);
        CHECK(cudaGetLastError());
    };
    return measure("wave", variant, step, [&] { return sum_of((float *)points, 4 * count); });
}
