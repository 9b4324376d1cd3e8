// Keys are inserted into an open hash table with compare-and-swap; who comes second adds to what the
// first one stored. 1: the first one's value is a word of its own, stored after the key. 2: probing
// does not wrap around at the table's end.
#include "pair.h"
enum { KEYS = 8192, SLOTS = 16384, BLOCK = 128 };
using word = unsigned long long;

__host__ __device__ unsigned hash(unsigned key) { return key * 2654435769u >> 18; }

__global__ void insert(const unsigned *keys, word *table, unsigned *values, unsigned *firsts)
{
    const unsigned i = blockIdx.x * BLOCK + threadIdx.x, key = keys[i];
    unsigned slot = hash(key), first = i;
    for (;;) {
        const word wanted = DEFECT == 1 ? (word)key + 1 : ((word)key + 1) << 32 | i;
        const word found = atomicCAS(&table[slot], 0ull, wanted); // @2 access outside allocations|fault // @0 atomics on one address|few active lanes|scattered access
        if (found == 0) {
            if (DEFECT == 1) values[slot] = i; // @1 possible race
            break;
        }
        if ((DEFECT == 1 ? found : found >> 32) == (word)key + 1) {
            first = DEFECT == 1 ? values[slot] : (unsigned)found; // @1 possible race
            break;
        }
        slot = DEFECT == 2 ? slot + 1 : (slot + 1) % SLOTS;
    }
    firsts[i] = first;
}

int main()
{
    std::vector<unsigned> crowd; // more keys for the last slots than there are
    for (unsigned key = 100000; crowd.size() < 64; key++)
        if (hash(key) >= SLOTS - 16) crowd.push_back(key);
    unsigned *const keys = device_array<unsigned>(KEYS, [&](size_t i) {
        const size_t n = i % (KEYS / 2);
        return n < crowd.size() ? crowd[n] : (unsigned)n * 7;
    });
    word *const table = device_zeros<word>(SLOTS);
    unsigned *const values = device_zeros<unsigned>(SLOTS), *const firsts = device_zeros<unsigned>(KEYS);
    insert<<<KEYS / BLOCK, BLOCK>>>(keys, table, values, firsts);
    CHECK(cudaDeviceSynchronize());
}
