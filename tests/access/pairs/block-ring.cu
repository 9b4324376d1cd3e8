// A block hands packets to another one through a ring in global memory: head and tail are counters.
// 1: the head moves before the packet is stored. 2: the tail moves before the packet is read.
#include "pair.h"
enum { SLOTS = 4, PACKETS = 40, SIZE = 64 };

struct ring {
    int packets[SLOTS][SIZE];
    int head, tail;
};

__device__ int look(int *counter) { return *(volatile int *)counter; }

__global__ void exchange(struct ring *ring, const int *in, int *out)
{
    const int t = threadIdx.x;
    if (blockIdx.x == 0) {
        for (int p = 0; p < PACKETS; p++) {
            if (t == 0)
                while (p - look(&ring->tail) >= SLOTS) continue;
            __threadfence();
            __syncthreads();
            if (DEFECT == 1 && t == 0) atomicExch(&ring->head, p + 1);
            ring->packets[p % SLOTS][t] = in[p * SIZE + t]; // @1 possible race // @2? possible race
            __threadfence();
            __syncthreads();
            if (DEFECT != 1 && t == 0) atomicExch(&ring->head, p + 1);
        }
    } else {
        for (int p = 0; p < PACKETS; p++) {
            if (t == 0)
                while (look(&ring->head) <= p) continue;
            __threadfence();
            __syncthreads();
            if (DEFECT == 2 && t == 0) atomicExch(&ring->tail, p + 1);
            out[p * SIZE + t] = ring->packets[p % SLOTS][SIZE - 1 - t]; // @1 possible race // @2? possible race
            __threadfence();
            __syncthreads();
            if (DEFECT != 2 && t == 0) atomicExch(&ring->tail, p + 1);
        }
    }
}

int main()
{
    int *const in = device_array<int>(PACKETS * SIZE, [](size_t i) { return int(i); });
    int *const out = device_zeros<int>(PACKETS * SIZE);
    struct ring *const ring = device_zeros<struct ring>(1);
    exchange<<<2, SIZE>>>(ring, in, out);
    CHECK(cudaDeviceSynchronize());
}
