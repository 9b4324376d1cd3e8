#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <chrono>
#define _QUEENS_BLOCK_SIZE_ 128
#define _EMPTY_             -1
typedef struct queen_root {
    unsigned int control;
    int8_t board[12];
} QueenRoot;
inline __host__ __device__ bool GPU_queens_stillLegal(const char *board, const int r)
{
    bool safe = true;
    const char base = board[r];
    for (int i = 0, rev_i = r - 1, offset = 1; i < r; ++i, --rev_i, offset++) {
        safe &= !((board[i] == base) |
                  ((board[rev_i] == base - offset) | (board[rev_i] == base + offset)));
    }
    return safe;
}
__global__ void BP_queens_root_dfs(const int N, const unsigned int nPreFixos,
                                   const int depthPreFixos,
                                   const QueenRoot *__restrict__ root_prefixes,
                                   unsigned int *__restrict__ vector_of_tree_size,
                                   unsigned int *__restrict__ sols)
{
    unsigned int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < nPreFixos) {
        unsigned int flag = 0;
        char board[20];
        int N_l = N;
        int i, depth;
        unsigned int qtd_sols_thread = 0U, tree_size = 0;
        for (i = 0; i < N_l; ++i) board[i] = _EMPTY_;
        flag = root_prefixes[idx].control;
        for (i = 0; i < depthPreFixos; ++i) board[i] = root_prefixes[idx].board[i];
        depth = depthPreFixos;
        do {
            board[depth]++;
            const int mask = 1 << board[depth];
            if (board[depth] == N_l) {
                board[depth] = _EMPTY_;
                depth--;
                flag &= ~(1 << board[depth]);
            } else if (!(flag & mask) && GPU_queens_stillLegal(board, depth)) {
                ++tree_size;
                flag |= mask;
                depth++;
                if (depth == N_l) {
                    ++qtd_sols_thread;
                    depth--;
                    flag &= ~mask;
                }
            }
        } while (depth >= depthPreFixos);
        sols[idx] = qtd_sols_thread;
        vector_of_tree_size[idx] = tree_size;
    }
}
static int prefixes(int n, int depth, QueenRoot *out)
{
    int count = 0;
    char b[20];
    for (int a = 0; a < n; a++)
        for (int c = 0; c < n; c++)
            for (int d = 0; d < n; d++) {
                b[0] = a;
                b[1] = c;
                b[2] = d;
                if (!GPU_queens_stillLegal(b, 1) || !GPU_queens_stillLegal(b, 2)) continue;
                memset(out[count].board, 0, 12);
                for (int k = 0; k < depth; k++) out[count].board[k] = b[k];
                out[count++].control = 1u << a | 1u << c | 1u << d;
            }
    return count;
}
int main(int argc, char **argv)
{
    const int N = 9, depth = 3;
    QueenRoot *h = (QueenRoot *)malloc(sizeof(QueenRoot) * N * N * N), *d;
    int n = prefixes(N, depth, h);
    unsigned int *ds, *dt, *hs = new unsigned[n];
    cudaMalloc((void **)&d, sizeof(QueenRoot) * n);
    cudaMalloc((void **)&ds, 4 * n);
    cudaMalloc((void **)&dt, 4 * n);
    cudaMemcpy(d, h, sizeof(QueenRoot) * n, cudaMemcpyHostToDevice);
    auto t = std::chrono::high_resolution_clock::now();
    BP_queens_root_dfs<<<(n + _QUEENS_BLOCK_SIZE_ - 1) / _QUEENS_BLOCK_SIZE_,
                         _QUEENS_BLOCK_SIZE_>>>(N, n, depth, d, dt, ds);
    cudaMemcpy(hs, ds, 4 * n, cudaMemcpyDeviceToHost);
    unsigned sum = 0;
    for (int i = 0; i < n; i++) sum += hs[i];
    printf("%u solutions, %ld us\n", sum,
           (long)std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::high_resolution_clock::now() - t)
               .count());
    return sum == 352 ? 0 : 1;
}
