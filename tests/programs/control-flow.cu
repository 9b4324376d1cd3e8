/* Barriers and warps in every kind of control flow: loops with break and continue, switch and goto,
 * functions that are not inlined, recursion, early exits, divergence that joins again, votes inside
 * of loops, and code that trusts a warp to go in step. */
#include "helper.h"
#include <vector>

enum { T = 128 };

/* A barrier inside a function that stays a call. */
__device__ __noinline__ int rotate(int *shared, int value, int by)
{
    shared[threadIdx.x] = value;
    __syncthreads();
    const int got = shared[(threadIdx.x + by) % blockDim.x];
    __syncthreads();
    return got;
}

__device__ __noinline__ int recursive(int *shared, int value, int depth)
{
    if (depth == 0) return value;
    const int turned = rotate(shared, value, depth);
    return recursive(shared, turned + 1, depth - 1) + depth;
}

__global__ void calls(int *out)
{
    __shared__ int shared[T];
    int value = threadIdx.x;
    for (int i = 0; i < 5; i++) {
        if (i == 3) continue;
        value = rotate(shared, value, i + 1);
        if (i == blockIdx.x + 2) break; /* the same for all of a block */
    }
    out[blockIdx.x * T + threadIdx.x] = recursive(shared, value, 4);
}

__global__ void jumps(int *out, int n)
{
    __shared__ int s[T];
    const int t = threadIdx.x;
    s[t] = t;
    int state = 0, sum = 0, round = 0;
again:
    switch (state) {
    case 0:
        __syncthreads();
        sum += s[(t + 1) % T];
        state = 2;
        goto again;
    case 1:
        __syncthreads();
        s[t] = sum;
        state = 3;
        goto again;
    case 2:
        sum ^= round;
        __syncthreads();
        state = 1;
        goto again;
    default:
        if (++round < n) {
            state = 0;
            goto again;
        }
    }
    do {
        for (int k = 0;; k++) {
            __syncthreads();
            if (k == n) break;
            s[(t + k) % T] += k;
            if (k % 2) continue;
            __syncthreads();
        }
        n--;
    } while (__syncthreads_or(n > 2));
    out[t] = s[t] + sum;
}

/* Threads leave early; the rest goes on with barriers. */
__global__ void leavers(int *out, int alive)
{
    __shared__ int s[T];
    const int t = threadIdx.x;
    s[t] = 1;
    __syncthreads();
    if (t >= alive) return;
    for (int step = 1; step < alive; step *= 2) {
        const int add = t + step < alive ? s[t + step] : 0;
        __syncthreads();
        s[t] += add;
        __syncthreads();
    }
    out[t] = s[t];
}

/* Lanes of a warp part and meet again; the collectives name who takes part. */
__global__ void divergence(int *out)
{
    const unsigned lane = threadIdx.x % 32;
    int value = threadIdx.x;
    if (lane < 16) {
        const unsigned half = 0x0000ffff;
        for (int i = 8; i; i /= 2) value += __shfl_xor_sync(half, value, i);
        if (lane < 4) value += __shfl_down_sync(0xf, value, 1, 4) & 1;
    } else {
        const unsigned half = 0xffff0000;
        if (__any_sync(half, lane == 20)) value = __shfl_sync(half, value, 17);
        value += __popc(__ballot_sync(half, lane & 1));
    }
    __syncwarp();
    int rounds = 0;
    while (__any_sync(~0u, rounds < (int)(lane % 5))) rounds++;
    unsigned left = ~0u; /* peel one lane after the other */
    int order = 0;
    while (left) {
        const int leader = __ffs(left) - 1;
        if ((int)lane == leader) value += order;
        left &= ~(1u << leader);
        order = __shfl_sync(~0u, order + 1, leader);
    }
    for (int i = 0; i < (int)lane; i++) value += i & 1; /* different trip counts */
    const int max = __reduce_max_sync(~0u, value);
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1000 * rounds + value + (max & 0);
}

/* What programs from before __syncwarp did. */
__global__ void in_step(int *out)
{
    volatile __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = t;
    s[t + 32] = 0;
    if (t < 16) {
        s[t] += s[t + 16];
        s[t] += s[t + 8];
        s[t] += s[t + 4];
        s[t] += s[t + 2];
        s[t] += s[t + 1];
    }
    __shared__ int plain[32];
    plain[t] = t * t;
    __syncwarp();
    const int other = plain[31 - t];
    __syncwarp();
    plain[t] = other + 1;
    __syncwarp();
    out[t] = s[0] + plain[(t + 1) % 32];
}

/* Uniform barriers under a condition that is not known at compile time, and unequal work between.
 */
__global__ void uneven(const int *work, int *out, int phases)
{
    extern __shared__ int s[];
    int mine = 0;
    for (int p = 0; p < phases; p++) {
        for (int i = 0; i < work[threadIdx.x]; i++) {
            if (i % 7 == 6) continue;
            if (i > 50) break;
            mine += i * p;
        }
        if (phases > 1 || work[0] > 3) {
            s[threadIdx.x] = mine;
            __syncthreads();
            mine = s[blockDim.x - 1 - threadIdx.x];
            __syncthreads();
        }
    }
    out[threadIdx.x] = mine;
}

struct Phase {
    int *s;
    __device__ explicit Phase(int *s) : s(s) { __syncthreads(); }
    __device__ ~Phase() { __syncthreads(); }
    __device__ int operator[](int i) const { return s[i]; }
};

/* A destructor with a barrier, on several ways out of the scope. */
__global__ void scopes(int *out, int which)
{
    __shared__ int s[T];
    s[threadIdx.x] = threadIdx.x;
    for (int i = 0; i < 4; i++) {
        int next;
        {
            Phase phase(s);
            next = phase[(threadIdx.x + 1) % T];
            if (which == 1 && i == 2) break;
            if (which == 2 && i == 1) {
                out[threadIdx.x] = -next;
                return;
            }
        }
        s[threadIdx.x] = next;
    }
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}

static int *d_out, h_out[4 * T];

static int *result(int n)
{
    checkCudaErrors(cudaDeviceSynchronize());
    checkCudaErrors(cudaMemcpy(h_out, d_out, n * sizeof(int), cudaMemcpyDeviceToHost));
    return h_out;
}

int main()
{
    checkCudaErrors(cudaMalloc(&d_out, sizeof h_out));
    calls<<<3, T>>>(d_out);
    result(3 * T);
    for (int b = 0; b < 3; b++)
        for (int t = 0; t < T; t++) {
            const int turns = b == 0 ? 6 : b == 1 ? 11 : 11; /* 1+2+3, then 5 */
            const int want = (t + turns + 10) % T + 4 + 10;
            EXPECT(h_out[b * T + t] == want, "calls %d %d: %d, not %d", b, t, h_out[b * T + t],
                   want);
        }

    jumps<<<1, T>>>(d_out, 5);
    std::vector<int> s(T), sum(T);
    for (int t = 0; t < T; t++) s[t] = t;
    for (int round = 0; round < 5; round++) {
        for (int t = 0; t < T; t++) sum[t] = (sum[t] + s[(t + 1) % T]) ^ round;
        s = sum;
    }
    for (int n = 5; n > 2; n--)
        for (int k = 0; k < n; k++)
            for (int t = 0; t < T; t++) s[t] += k;
    result(T);
    for (int t = 0; t < T; t++) EXPECT(h_out[t] == s[t] + sum[t], "jumps %d: %d", t, h_out[t]);

    for (int alive = 1; alive <= T; alive += 9) {
        leavers<<<1, T>>>(d_out, alive);
        result(alive);
        for (int t = 0; t < alive; t++)
            EXPECT(h_out[t] == alive - t, "%d of %d: %d", t, alive, h_out[t]);
    }

    divergence<<<2, T>>>(d_out);
    result(2 * T);
    for (int i = 0; i < 2 * T; i++) {
        const int t = i % T, lane = t % 32, base = t - lane;
        int want = lane < 16 ? 16 * base + 120 : base + 17 + 8;
        if (lane < 4) want += want & 1;
        want += lane + lane / 2 + 4000;
        EXPECT(h_out[i] == want, "divergence %d: %d, not %d", i, h_out[i], want);
    }

    in_step<<<1, 32>>>(d_out);
    result(32);
    for (int t = 0; t < 32; t++) {
        const int from = 31 - (t + 1) % 32;
        EXPECT(h_out[t] == 496 + from * from + 1, "in step %d: %d", t, h_out[t]);
    }

    std::vector<int> work(T), mine(T), next(T);
    for (int t = 0; t < T; t++) work[t] = t * 37 % 90;
    int *d_work;
    checkCudaErrors(cudaMalloc(&d_work, T * sizeof(int)));
    checkCudaErrors(cudaMemcpy(d_work, work.data(), T * sizeof(int), cudaMemcpyHostToDevice));
    uneven<<<1, T, T * sizeof(int)>>>(d_work, d_out, 3);
    for (int p = 0; p < 3; p++) {
        for (int t = 0; t < T; t++)
            for (int i = 0; i < work[t] && i <= 50; i++)
                if (i % 7 != 6) mine[t] += i * p;
        for (int t = 0; t < T; t++) next[t] = mine[T - 1 - t];
        mine = next;
    }
    result(T);
    for (int t = 0; t < T; t++) EXPECT(h_out[t] == mine[t], "uneven %d: %d", t, h_out[t]);
    for (int which = 0; which < 3; which++) {
        scopes<<<1, T>>>(d_out, which);
        result(T);
        const int turns = which == 0 ? 4 : 2;
        for (int t = 0; t < T; t++)
            EXPECT(h_out[t] == (which == 2 ? -1 : 1) * ((t + turns) % T), "scopes %d: %d", t,
                   h_out[t]);
    }
    return verdict();
}
