// Commas are counted in lines of 128 characters, through shared memory.
// 1: each thread reads its own line, character by character. 2: no barrier after the lines are there.
#include "pair.h"
enum { LINES = 4096, LINE = 128, BLOCK = 128, WORDS = LINE / 4, PITCH = WORDS + 1 };

__global__ void count(const char *text, int *counts)
{
    __shared__ unsigned lines[BLOCK * PITCH];
    const int t = threadIdx.x, first = blockIdx.x * BLOCK;
    int commas = 0;
    if (DEFECT == 1) {
        for (int k = 0; k < LINE; k++)
            commas += text[(size_t)(first + t) * LINE + k] == ','; // @1 strided access|array of structs
    } else {
        const unsigned *const words = (const unsigned *)text + (size_t)first * WORDS;
        for (int w = t; w < BLOCK * WORDS; w += BLOCK)
            lines[w / WORDS * PITCH + w % WORDS] = words[w]; // @2 possible race
        if (DEFECT != 2) __syncthreads();
        for (int k = 0; k < WORDS; k++) {
            const unsigned word = lines[t * PITCH + k]; // @2 possible race
            for (int b = 0; b < 4; b++) commas += (word >> 8 * b & 255) == ',';
        }
    }
    counts[first + t] = commas;
}

int main()
{
    char *const text = device_array<char>((size_t)LINES * LINE,
                                          [](size_t i) { return i % 7 ? (char)('a' + i % 26) : ','; });
    int *const counts = device_zeros<int>(LINES);
    count<<<LINES / BLOCK, BLOCK>>>(text, counts);
    CHECK(cudaDeviceSynchronize());
}
