// Warps append items to a list, for which one lane reserves room; a second kernel takes them.
// 1: room is reserved without an atomic. 2: the second kernel takes one item too many.
#include "pair.h"
enum { ITEMS = 1 << 17, BLOCK = 128, EACH = 32, PART = BLOCK * EACH };

__global__ void append(const int *items, int *list, int *tail)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int *const mine = items + blockIdx.x * PART + warp * 32 * EACH;
    int total = 0, first = 0;
    for (int k = 0; k < EACH; k++) total += __popc(__ballot_sync(~0u, mine[k * 32 + lane] > 0));
    if (lane == 0) {
        if (DEFECT == 1) {
            first = *tail;         // @1 possible race
            *tail = first + total; // @1 possible race
        } else {
            first = atomicAdd(tail, total);
        }
    }
    first = __shfl_sync(~0u, first, 0);
    for (int k = 0; k < EACH; k++) {
        const int item = mine[k * 32 + lane];
        const unsigned taken = __ballot_sync(~0u, item > 0);
        if (item > 0) list[first + __popc(taken & ((1u << lane) - 1))] = item; // @1 possible race
        first += __popc(taken);
    }
}

__global__ void take(const int *list, const int *tail, int *out)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < *tail + (DEFECT == 2)) out[i] = 2 * list[i]; // @2 uninitialised read
}

int main()
{
    int *const items =
        device_array<int>(ITEMS, [](size_t i) { return i / 32 % 4 == 1 ? 0 : (int)i + 1; });
    int *const tail = device_zeros<int>(1), *const out = device_zeros<int>(ITEMS), *list;
    CHECK(cudaMalloc(&list, ITEMS * sizeof *list));
    append<<<ITEMS / PART, BLOCK>>>(items, list, tail);
    take<<<ITEMS / BLOCK, BLOCK>>>(list, tail, out);
    CHECK(cudaDeviceSynchronize());
}
