// The cheapest path from the top row to the bottom of a grid of costs, moving straight or
// diagonally, by dynamic programming. A launch advances `HEIGHT` rows: each block computes a
// trapezoid in shared memory, so it reads its own columns and HEIGHT more on either side, and
// writes only those that are right. Communication is with the neighbouring blocks alone. pathfinder
// [COLUMNS = 100000] [ROWS = 100] [HEIGHT = 20]
#include "common.h"
#include <algorithm>
#include <vector>

enum { BLOCK = 256 };

__global__ void advance(const int *cost, const int *from, int *to, int columns, int first_row,
                        int height)
{
    __shared__ int now[BLOCK], next[BLOCK];
    const int t = threadIdx.x;
    const int width = BLOCK - 2 * height; // columns that the block gets right
    const int column = blockIdx.x * width + t - height;
    const bool inside = column >= 0 && column < columns;
    now[t] = inside ? from[column] : 1 << 29;
    __syncthreads();
    for (int step = 0; step < height; step++) {
        if (inside && t > step && t < BLOCK - 1 - step) {
            int best = now[t];
            best = min(best, now[t - 1]);
            best = min(best, now[t + 1]);
            next[t] = best + cost[(first_row + step) * columns + column];
        } else {
            next[t] = 1 << 29;
        }
        __syncthreads();
        now[t] = next[t];
        __syncthreads();
    }
    if (inside && t >= height && t < BLOCK - height) to[column] = now[t];
}

int main(int argc, char **argv)
{
    const int columns = argument(argc, argv, 1, 100000), rows = argument(argc, argv, 2, 100);
    const int height = std::min(argument(argc, argv, 3, 20), BLOCK / 2 - 1);
    std::vector<int> cost((size_t)columns * rows), best(columns), next(columns);
    Random random;
    for (int &c : cost) c = random.next() % 10;

    int *d_cost = device_copy(cost.data(), cost.size());
    int *from = device_copy(cost.data(), columns), *to;
    CHECK(cudaMalloc(&to, columns * sizeof(int)));
    const int width = BLOCK - 2 * height, blocks = (columns + width - 1) / width;
    for (int row = 1; row < rows; row += height) {
        advance<<<blocks, BLOCK>>>(d_cost, from, to, columns, row, std::min(height, rows - row));
        CHECK(cudaGetLastError());
        std::swap(from, to);
    }
    CHECK(cudaMemcpy(next.data(), from, columns * sizeof(int), cudaMemcpyDeviceToHost));

    std::vector<int> result = next;
    std::copy(cost.begin(), cost.begin() + columns, best.begin());
    for (int row = 1; row < rows; row++) {
        for (int x = 0; x < columns; x++) {
            int least = best[x];
            if (x > 0) least = std::min(least, best[x - 1]);
            if (x < columns - 1) least = std::min(least, best[x + 1]);
            next[x] = least + cost[(size_t)row * columns + x];
        }
        best.swap(next);
    }
    CHECK(cudaFree(d_cost));
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
    return verdict("pathfinder", result == best);
}
