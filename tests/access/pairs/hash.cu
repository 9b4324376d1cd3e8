// Keys are put into an open hash table with compare-and-swap. 1: by a load and a store. 2: the table
// is never cleared.
#include "pair.h"
enum { KEYS = 4096, SLOTS = 16384, BLOCK = 128, EMPTY = -1 };

__global__ void insert(const int *keys, int *table)
{
    const int key = keys[blockIdx.x * BLOCK + threadIdx.x];
    unsigned slot = key * 2654435761u % SLOTS;
    for (;; slot = (slot + 1) % SLOTS) {
#if DEFECT == 1
        if (table[slot] == EMPTY) {
            table[slot] = key; // @1 possible race
            break;
        }
#else
        const int was = atomicCAS(&table[slot], EMPTY, key); // @2 uninitialised read // @0 scattered access|few active lanes|atomics on one address
        if (was == EMPTY || was == key || DEFECT == 2) break;
#endif
    }
}

int main()
{
    int *keys = device_array<int>(KEYS, [](size_t i) { return int(i * i % 3571); });
    int *table;
    CHECK(cudaMalloc(&table, SLOTS * sizeof *table));
    if (DEFECT != 2) CHECK(cudaMemset(table, 0xff, SLOTS * sizeof *table));
    insert<<<KEYS / BLOCK, BLOCK>>>(keys, table);
    CHECK(cudaDeviceSynchronize());
}
