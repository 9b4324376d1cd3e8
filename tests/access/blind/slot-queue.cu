// A bounded queue of many producers and consumers, a sequence number in each slot. 1: the number is
// published without a fence. 2: consumers do not wait for the number.
//
// only: faults
#include "../pairs/pair.h"
enum { SLOTS = 64, PER_CTA = 16 };
struct Queue {
    unsigned head, tail;
    unsigned number[SLOTS];
    int item[SLOTS];
};

__device__ void push(Queue *q, int value)
{
    const unsigned at = atomicAdd(&q->tail, 1), slot = at % SLOTS;
    while (*(volatile unsigned *)&q->number[slot] != at / SLOTS * 2) {
    }
    __threadfence();
    q->item[slot] = value; // @1 possible race // @2 possible race
#if DEFECT != 1
    __threadfence();
#endif
    *(volatile unsigned *)&q->number[slot] = at / SLOTS * 2 + 1;
}

__device__ int pop(Queue *q)
{
    const unsigned at = atomicAdd(&q->head, 1), slot = at % SLOTS;
#if DEFECT != 2
    while (*(volatile unsigned *)&q->number[slot] != at / SLOTS * 2 + 1) {
    }
    __threadfence();
#endif
    const int value = q->item[slot];
    __threadfence();
    *(volatile unsigned *)&q->number[slot] = at / SLOTS * 2 + 2;
    return value;
}

__global__ void work(Queue *q, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x % 2 == 0)
        for (int i = 0; i < PER_CTA; i++) push(q, blockIdx.x * PER_CTA + i);
    else
        for (int i = 0; i < PER_CTA; i++) out[blockIdx.x / 2 * PER_CTA + i] = pop(q);
}

int main()
{
    Queue *q = device_zeros<Queue>(1);
    int *out = device_zeros<int>(4 * PER_CTA);
    work<<<8, 32>>>(q, out);
    CHECK(cudaDeviceSynchronize());
}
