// Labels spread until nothing changes; the word that says so is set by an atomic. 1: by a plain
// store. 2: labels are updated in place by plain stores.
// only: faults
#include "../pairs/pair.h"
enum { W = 64, H = 64 };

__global__ void spread(const int *before, int *after, int *changed)
{
    const int x = threadIdx.x, y = blockIdx.x;
    const int i = y * W + x;
    int label = before[i];
    if (x > 0) label = min(label, before[i - 1]);
    if (x < W - 1) label = min(label, before[i + 1]);
    if (y > 0) label = min(label, before[i - W]);
    if (y < H - 1) label = min(label, before[i + W]);
    if (label != before[i]) {
#if DEFECT == 1
        *changed = 1; // @1 possible race
#else
        atomicOr(changed, 1);
#endif
    }
    after[i] = label; // @2 possible race
}

int main()
{
    int *a = device_array<int>(W * H, [](size_t i) { return (int)i; }),
        *b = device_zeros<int>(W * H);
    int *changed = device_zeros<int>(1), go = 1;
    for (int step = 0; step < 5 && go; step++) {
        CHECK(cudaMemset(changed, 0, sizeof(int)));
        spread<<<H, W>>>(a, DEFECT == 2 ? a : b, changed);
        CHECK(cudaMemcpy(&go, changed, sizeof(int), cudaMemcpyDeviceToHost));
        if (DEFECT != 2) std::swap(a, b);
    }
}
