// Two sorted lists become one: each thread searches where its element goes. 1: the search goes one
// past the end. 2: both lists' threads write from the same start.
// only: faults
#include "../pairs/pair.h"
enum { A = 1000, B = 1500 };

__device__ int below(const int *list, int n, int value, bool equal)
{
    int first = 0, last = DEFECT == 1 ? n + 1 : n;
    while (first < last) {
        const int middle = (first + last) / 2;
        if (list[middle] < value ||
            (equal && list[middle] == value)) // @1 access outside allocations
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

__global__ void merge(const int *a, const int *b, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < A)
        out[i + below(b, B, a[i], false)] =
            a[i]; // @2 possible race // @1 access outside allocations
    if (i < B)
        out[DEFECT == 2 ? i : i + below(a, A, b[i], true)] =
            b[i]; // @2 possible race // @1 access outside allocations
}

int main()
{
    int *a = device_array<int>(A, [](size_t i) { return (int)(3 * i); });
    int *b = device_array<int>(B, [](size_t i) { return (int)(2 * i); });
    int *out = device_zeros<int>(A + B);
    merge<<<(B + 127) / 128, 128>>>(a, b, out);
    CHECK(cudaDeviceSynchronize());
}
