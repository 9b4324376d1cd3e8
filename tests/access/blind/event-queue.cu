// Events with padding are appended to a list and handled as whole structs. 1: a member is never
// set. 2: one event more is handled than was appended.
// only: faults
#include "../pairs/pair.h"
enum { N = 1000 };
struct Event {
    unsigned char kind;
    double time;
    short from, to;
};

__global__ void append(Event *list, int *count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N || i % 3) return;
    Event &e = list[atomicAdd(count, 1)];
    e.kind = i % 5;
    e.time = i * 0.5;
    e.from = i;
#if DEFECT != 1
    e.to = i + 1;
#endif
}

__global__ void handle(const Event *list, const int *count, Event *handled)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= *count + (DEFECT == 2)) return;
    Event e = list[i]; // @1 uninitialised read // @2 uninitialised read
    e.kind |= 128;
    handled[i] = e;
}

int main()
{
    Event *list, *handled;
    int *count = device_zeros<int>(1);
    CHECK(cudaMalloc(&list, N * sizeof(Event)));
    CHECK(cudaMalloc(&handled, N * sizeof(Event)));
    append<<<8, 128>>>(list, count);
    handle<<<8, 128>>>(list, count, handled);
    CHECK(cudaDeviceSynchronize());
}
