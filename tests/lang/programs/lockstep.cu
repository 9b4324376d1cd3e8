// Old habits: no barrier where all lanes of a warp do one statement after the other anyway. A GPU
// from before Volta gave these results always, and today's compilers and GPUs give them in
// straight-line code; each kernel here has one warp, or threads that read right after a barrier.
#include <cuda_runtime.h>

#include <vector>

#include "check.h"

enum { NODES = 4096, DEGREE = 4, QUEUE = 512, THREADS = 128 };

/* A search of one CTA with a queue in shared memory. All threads read the queue's length after the
 * barrier; the first one clears it in the next statement. */
__global__ void search(const int *edges, int *level, int *queue, int *visited)
{
    __shared__ int tail, fresh[QUEUE];
    const int tid = threadIdx.x;
    if (tid == 0) {
        tail = 0;
        *visited = 1;
        level[0] = 0;
        queue[0] = 0;
    }
    __syncthreads();
    int length = 1;
    for (int depth = 1; length > 0; depth++) {
        for (int i = tid; i < length; i += blockDim.x) {
            const int node = queue[i];
            for (int e = 0; e < DEGREE; e++) {
                const int to = edges[node * DEGREE + e];
                if (atomicCAS(&level[to], -1, depth) != -1) continue;
                const int at = atomicAdd(&tail, 1);
                if (at < QUEUE) fresh[at] = to;
            }
        }
        __syncthreads();
        length = tail;
        if (tid == 0) tail = 0;
        if (tid == 0) *visited += length;
        for (int i = tid; i < length && i < QUEUE; i += blockDim.x) queue[i] = fresh[i];
        __syncthreads();
    }
}

/* Tasks are drawn by the first thread; nothing keeps it from drawing the next one while others
 * still have to read the last. */
__global__ void draw(int *counter, int tasks, int *done)
{
    __shared__ int task;
    for (;;) {
        if (threadIdx.x == 0) task = atomicAdd(counter, 1);
        __syncthreads();
        const int mine = task;
        if (mine >= tasks) break;
        atomicAdd(&done[mine], 1);
    }
}

/* The last warp of a reduction, with fences for the compiler (or it would keep sums in registers,
 * as nvcc does) and no barrier. */
__global__ void reduce(const int *in, int *out)
{
    __shared__ int s[128];
    const int tid = threadIdx.x;
    s[tid] = in[blockIdx.x * 128 + tid];
    __syncthreads();
    if (tid < 64) s[tid] += s[tid + 64];
    __syncthreads();
    if (tid < 32) {
        s[tid] += s[tid + 32];
#define STEP(distance)                                                                             \
    __threadfence_block();                                                                         \
    s[tid] += s[tid + distance];
        STEP(16)
        STEP(8)
        STEP(4)
        STEP(2)
        STEP(1)
#undef STEP
    }
    if (tid == 0) out[blockIdx.x] = s[0];
}

/* A scan within each warp, with zeros in front of it instead of a condition. */
__global__ void scan(const int *in, int *out)
{
    __shared__ int s[4][64];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, at = lane + 32;
    s[warp][lane] = 0;
    s[warp][at] = in[blockIdx.x * 128 + threadIdx.x];
    __threadfence_block();
    s[warp][at] += s[warp][at - 1];
    __threadfence_block();
    s[warp][at] += s[warp][at - 2];
    __threadfence_block();
    s[warp][at] += s[warp][at - 4];
    __threadfence_block();
    s[warp][at] += s[warp][at - 8];
    __threadfence_block();
    s[warp][at] += s[warp][at - 16];
    __threadfence_block();
    out[blockIdx.x * 128 + threadIdx.x] = s[warp][at];
}

/* One lane has the answer, all of the warp read it. */
__global__ void elect(const int *in, int wanted, int *out)
{
    __shared__ int winner;
    winner = -1;
    __threadfence_block();
    if (in[threadIdx.x] == wanted) winner = threadIdx.x;
    __threadfence_block();
    out[threadIdx.x] = winner;
}

/* Lanes count, then all read the count, then one starts anew. */
__global__ void rounds(const int *in, int n, int *counts)
{
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    for (int i = threadIdx.x; i < n; i += 32) {
        if (in[i] & 1) atomicAdd(&count, 1);
        counts[i] = count;
        if (threadIdx.x == 31) count = 0;
    }
}

/* All lanes read, add, and write: one of them counts. */
__global__ void together(int *out)
{
    __shared__ int turns;
    if (threadIdx.x == 0) turns = 0;
    __syncthreads();
    for (int i = 0; i < 5; i++) {
        turns = turns + 1;
        __syncthreads();
    }
    out[threadIdx.x] = turns;
}

static void searches()
{
    int *const edges = managed<int>(NODES * DEGREE), *const level = managed<int>(NODES);
    int *const queue = managed<int>(NODES), *const visited = managed<int>(1);
    /* Bounded width, so that the queue holds: a band of nodes. */
    unsigned state = 1;
    for (int i = 0; i < NODES * DEGREE; i++) {
        state = state * 1664525 + 1013904223;
        const int to = i / DEGREE + 1 + (int)(state >> 24) % 100;
        edges[i] = to < NODES ? to : NODES - 1;
    }
    memset(level, -1, NODES * sizeof *level);
    std::vector<int> want(NODES, -1), now{0}, next;
    want[0] = 0;
    int reached = 1;
    for (int depth = 1; !now.empty(); depth++, now.swap(next), next.clear())
        for (int node : now)
            for (int e = 0; e < DEGREE; e++) {
                const int to = edges[node * DEGREE + e];
                if (want[to] != -1) continue;
                want[to] = depth;
                next.push_back(to);
                reached++;
            }
    search<<<1, THREADS>>>(edges, level, queue, visited);
    CUDA(cudaDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i < NODES; i++) wrong += level[i] != want[i];
    CHECK(wrong == 0, "%d nodes have the wrong level", wrong);
    CHECK(*visited == reached, "%d, not %d", *visited, reached);
}

static void warps()
{
    enum { CTAS = 8, N = CTAS * 128 };
    int *const in = managed<int>(N), *const out = managed<int>(N);
    for (int i = 0; i < N; i++) in[i] = i * 7919 % 1000;
    reduce<<<CTAS, 128>>>(in, out);
    CUDA(cudaDeviceSynchronize());
    for (int c = 0; c < CTAS; c++) {
        int sum = 0;
        for (int i = 0; i < 128; i++) sum += in[c * 128 + i];
        CHECK(out[c] == sum, "CTA %d: %d, not %d", c, out[c], sum);
    }
    scan<<<CTAS, 128>>>(in, out);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0, sum = 0; i < N; i++) {
        sum = (i % 32 ? sum : 0) + in[i];
        CHECK(out[i] == sum, "scan, %d: %d, not %d", i, out[i], sum);
    }
    elect<<<1, 32>>>(in, in[19], out);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++) CHECK(out[i] == 19, "lane %d: %d", i, out[i]);
    rounds<<<1, 32>>>(in, 128, out);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < 128; i++) {
        int count = 0;
        for (int l = 0; l < 32; l++) count += in[i / 32 * 32 + l] & 1;
        CHECK(out[i] == count, "round %d, lane %d: %d, not %d", i / 32, i % 32, out[i], count);
    }
    together<<<1, 64>>>(out);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++) CHECK(out[i] == 5, "%d turns", out[i]);
}

int main()
{
    searches();
    int *const counter = managed<int>(1), *const done = managed<int>(100);
    draw<<<1, 256>>>(counter, 100, done);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < 100; i++) CHECK(done[i] == 256, "task %d: %d threads", i, done[i]);
    warps();
    return finish();
}
