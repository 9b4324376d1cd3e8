/* Particles: all-pairs n-body in tiles of shared memory (float4, rsqrtf, a template flag), boxes
 * with neighbour lists in the way of lavaMD (double, structs within structs), and cutoff sums over
 * a uniform grid whose cells are found by counting sort. */
#include "helper.h"
#include <algorithm>
#include <vector>

__constant__ float softening_squared;
template <typename T> struct SharedMemory {
    __device__ inline operator T *()
    {
        extern __shared__ int __smem[];
        return (T *)__smem;
    }
};

__device__ float3 interaction(float3 ai, float4 bi, float4 bj)
{
    const float3 r = make_float3(bj.x - bi.x, bj.y - bi.y, bj.z - bi.z);
    float dist = r.x * r.x + r.y * r.y + r.z * r.z;
    dist += softening_squared;
    const float inv = rsqrtf(dist), s = bj.w * inv * inv * inv;
    ai.x += r.x * s, ai.y += r.y * s, ai.z += r.z * s;
    return ai;
}

template <bool multithread>
__global__ void integrate(float4 *__restrict__ new_pos, const float4 *__restrict__ old_pos,
                          float4 *vel, int n, float dt)
{
    float4 *const shared = SharedMemory<float4>();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 mine = old_pos[i];
    float3 acc = {0, 0, 0};
    for (int tile = 0; tile < n / (int)(blockDim.x * blockDim.y); tile++) {
        const int from = multithread ? threadIdx.y * blockDim.x : 0;
        shared[from + threadIdx.x] = old_pos[tile * blockDim.x * blockDim.y + from + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < (int)blockDim.x; k++) acc = interaction(acc, mine, shared[from + k]);
        __syncthreads();
    }
    if (multithread) {
        shared[threadIdx.y * blockDim.x + threadIdx.x] = make_float4(acc.x, acc.y, acc.z, 0);
        __syncthreads();
        if (threadIdx.y > 0) return;
        for (unsigned k = 1; k < blockDim.y; k++) {
            const float4 part = shared[k * blockDim.x + threadIdx.x];
            acc.x += part.x, acc.y += part.y, acc.z += part.z;
        }
    }
    float4 v = vel[i];
    v.x += acc.x * dt, v.y += acc.y * dt, v.z += acc.z * dt;
    new_pos[i] = make_float4(mine.x + v.x * dt, mine.y + v.y * dt, mine.z + v.z * dt, mine.w);
    vel[i] = v;
}

#define NUMBER_PAR_PER_BOX 20
typedef struct {
    double x, y, z;
} THREE_VECTOR;
typedef struct {
    double v, x, y, z;
} FOUR_VECTOR;
typedef struct nei_str {
    int x, y, z, number;
    long offset;
} nei_str;
typedef struct box_str {
    int x, y, z, number;
    long offset;
    int nn;
    nei_str nei[26];
} box_str;
typedef struct par_str {
    double alpha;
} par_str;
#define DOT(A, B) ((A.x) * (B.x) + (A.y) * (B.y) + (A.z) * (B.z))

__host__ __device__ static void pair_force(const FOUR_VECTOR &a, const FOUR_VECTOR &b, double q,
                                           double a2, FOUR_VECTOR &f)
{
    const double r2 = a.v + b.v - DOT(a, b), u2 = a2 * r2, vij = exp(-u2), fs = 2 * vij;
    const THREE_VECTOR d = {a.x - b.x, a.y - b.y, a.z - b.z};
    f.v += q * vij, f.x += q * fs * d.x, f.y += q * fs * d.y, f.z += q * fs * d.z;
}

__global__ void kernel_gpu_cuda(par_str par, box_str *boxes, FOUR_VECTOR *rv, double *qv,
                                FOUR_VECTOR *fv, int number)
{
    const int bx = blockIdx.x, tx = threadIdx.x;
    __shared__ FOUR_VECTOR rA_shared[NUMBER_PAR_PER_BOX], rB_shared[NUMBER_PAR_PER_BOX];
    __shared__ double qB_shared[NUMBER_PAR_PER_BOX];
    if (bx >= number) return;
    const double a2 = 2.0 * par.alpha * par.alpha;
    const long first = boxes[bx].offset;
    int wtx = tx;
    for (; wtx < NUMBER_PAR_PER_BOX; wtx += blockDim.x) rA_shared[wtx] = rv[first + wtx];
    __syncthreads();
    for (int k = 0; k < 1 + boxes[bx].nn; k++) {
        const int pointer = k == 0 ? bx : boxes[bx].nei[k - 1].number;
        for (wtx = tx; wtx < NUMBER_PAR_PER_BOX; wtx += blockDim.x) {
            rB_shared[wtx] = rv[boxes[pointer].offset + wtx];
            qB_shared[wtx] = qv[boxes[pointer].offset + wtx];
        }
        __syncthreads();
        for (wtx = tx; wtx < NUMBER_PAR_PER_BOX; wtx += blockDim.x)
            for (int j = 0; j < NUMBER_PAR_PER_BOX; j++)
                pair_force(rA_shared[wtx], rB_shared[j], qB_shared[j], a2, fv[first + wtx]);
        __syncthreads();
    }
}

enum { GRID = 8 };
__host__ __device__ inline int cell_of(float2 p)
{
    return min((int)(p.y * GRID), GRID - 1) * GRID + min((int)(p.x * GRID), GRID - 1);
}
__global__ void count(const float2 *p, int n, unsigned *counts)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&counts[cell_of(p[i])], 1u);
}
__global__ void scan_cells(const unsigned *counts, unsigned *starts) /* one warp */
{
    unsigned carry = 0;
    for (int base = 0; base < GRID * GRID; base += 32) {
        const unsigned mine = counts[base + threadIdx.x];
        unsigned sum = mine;
        for (int d = 1; d < 32; d <<= 1) {
            const unsigned left = __shfl_up_sync(~0u, sum, d);
            if (threadIdx.x >= d) sum += left;
        }
        starts[base + threadIdx.x] = carry + sum - mine;
        carry += __shfl_sync(~0u, sum, 31);
    }
    if (threadIdx.x == 0) starts[GRID * GRID] = carry;
}
__global__ void place(const float2 *p, int n, const unsigned *starts, unsigned *filled,
                      float2 *sorted)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int cell = cell_of(p[i]);
    sorted[starts[cell] + atomicAdd(&filled[cell], 1u)] = p[i];
}
__global__ void neighbours(const float2 *p, int n, const unsigned *starts, const float2 *sorted,
                           int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int cx = cell_of(p[i]) % GRID, cy = cell_of(p[i]) / GRID;
    int found = 0;
    for (int y = max(cy - 1, 0); y <= min(cy + 1, GRID - 1); y++)
        for (int x = max(cx - 1, 0); x <= min(cx + 1, GRID - 1); x++)
            for (unsigned k = starts[y * GRID + x]; k < starts[y * GRID + x + 1]; k++) {
                const float dx = sorted[k].x - p[i].x, dy = sorted[k].y - p[i].y;
                found += dx * dx + dy * dy < 0.01f;
            }
    out[i] = found;
}

static void test_bodies()
{
    const int n = 256;
    std::vector<float4> pos(n), vel(n, make_float4(0, 0, 0, 0)), got(n);
    for (int i = 0; i < n; i++) pos[i] = make_float4(sinf(i), cosf(3 * i), sinf(5 * i), 1.0f / n);
    const float soft = 0.01f;
    checkCudaErrors(cudaMemcpyToSymbol(softening_squared, &soft, sizeof soft));
    for (int multi = 0; multi < 2; multi++) {
        float4 *d_pos[2], *d_vel;
        for (auto &p : d_pos) checkCudaErrors(cudaMalloc(&p, n * sizeof(float4)));
        checkCudaErrors(cudaMalloc(&d_vel, n * sizeof(float4)));
        checkCudaErrors(cudaMemcpy(d_pos[0], &pos[0], n * sizeof(float4), cudaMemcpyHostToDevice));
        checkCudaErrors(cudaMemcpy(d_vel, &vel[0], n * sizeof(float4), cudaMemcpyHostToDevice));
        if (multi)
            integrate<true>
                <<<n / 32, dim3(32, 4), 128 * sizeof(float4)>>>(d_pos[1], d_pos[0], d_vel, n, 0.1f);
        else
            integrate<false>
                <<<n / 64, 64, 64 * sizeof(float4)>>>(d_pos[1], d_pos[0], d_vel, n, 0.1f);
        checkCudaErrors(cudaMemcpy(&got[0], d_pos[1], n * sizeof(float4), cudaMemcpyDeviceToHost));
        for (int i = 0; i < n; i++) {
            double a[3] = {};
            for (int j = 0; j < n; j++) {
                const double d[3] = {pos[j].x - pos[i].x, pos[j].y - pos[i].y, pos[j].z - pos[i].z};
                const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + soft;
                for (int k = 0; k < 3; k++) a[k] += pos[j].w * d[k] / (r2 * sqrt(r2));
            }
            EXPECT(fabs(got[i].x - (pos[i].x + 0.01 * a[0])) < 1e-5 &&
                       fabs(got[i].z - (pos[i].z + 0.01 * a[2])) < 1e-5,
                   "%d %d: %g", multi, i, got[i].x);
        }
        cudaFree(d_pos[0]), cudaFree(d_pos[1]), cudaFree(d_vel);
    }
}

int main()
{
    test_bodies();
    const int side = 3, number = side * side * side, all = number * NUMBER_PAR_PER_BOX;
    std::vector<box_str> boxes(number);
    std::vector<FOUR_VECTOR> rv(all), fv(all, FOUR_VECTOR{0, 0, 0, 0}), want = fv;
    std::vector<double> qv(all);
    for (int b = 0; b < number; b++) {
        box_str &box = boxes[b];
        box.x = b % side, box.y = b / side % side, box.z = b / side / side, box.number = b,
        box.offset = (long)b * NUMBER_PAR_PER_BOX, box.nn = 0;
        for (int o = 0; o < number; o++)
            if (o != b && abs(o % side - box.x) < 2 && abs(o / side % side - box.y) < 2 &&
                abs(o / side / side - box.z) < 2)
                box.nei[box.nn++].number = o;
    }
    for (int i = 0; i < all; i++) {
        rv[i].x = (i * 7 % 10 + 1) / 10.0, rv[i].y = (i * 3 % 11 + 1) / 11.0,
        rv[i].z = (i % 13 + 1) / 13.0, rv[i].v = DOT(rv[i], rv[i]);
        qv[i] = (i % 10 + 1) / 10.0;
    }
    const par_str par = {0.5};
    box_str *d_boxes;
    FOUR_VECTOR *d_rv, *d_fv;
    double *d_qv;
    checkCudaErrors(cudaMalloc((void **)&d_boxes, number * sizeof(box_str)));
    checkCudaErrors(cudaMalloc((void **)&d_rv, all * sizeof(FOUR_VECTOR)));
    checkCudaErrors(cudaMalloc((void **)&d_fv, all * sizeof(FOUR_VECTOR)));
    checkCudaErrors(cudaMalloc((void **)&d_qv, all * sizeof(double)));
    checkCudaErrors(
        cudaMemcpy(d_boxes, &boxes[0], number * sizeof(box_str), cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemcpy(d_rv, &rv[0], all * sizeof(FOUR_VECTOR), cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemcpy(d_fv, &fv[0], all * sizeof(FOUR_VECTOR), cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemcpy(d_qv, &qv[0], all * sizeof(double), cudaMemcpyHostToDevice));
    kernel_gpu_cuda<<<number, 16>>>(par, d_boxes, d_rv, d_qv, d_fv, number);
    checkCudaErrors(cudaMemcpy(&fv[0], d_fv, all * sizeof(FOUR_VECTOR), cudaMemcpyDeviceToHost));
    for (int b = 0; b < number; b++)
        for (int k = 0; k <= boxes[b].nn; k++)
            for (int i = 0; i < NUMBER_PAR_PER_BOX; i++)
                for (int j = 0; j < NUMBER_PAR_PER_BOX; j++) {
                    const long other = boxes[k ? boxes[b].nei[k - 1].number : b].offset + j;
                    pair_force(rv[boxes[b].offset + i], rv[other], qv[other], 0.5,
                               want[boxes[b].offset + i]);
                }
    for (int i = 0; i < all; i++)
        EXPECT(close_to(fv[i].v, want[i].v, 1e-9) && close_to(fv[i].z, want[i].z, 1e-9),
               "%d: %g, not %g", i, fv[i].v, want[i].v);

    const int n = 1000;
    std::vector<float2> p(n);
    std::vector<int> found(n);
    for (int i = 0; i < n; i++)
        p[i] = make_float2((i * 7919 % 1009) / 1009.0f, (i * 104729 % 997) / 997.0f);
    float2 *d_p, *d_sorted;
    unsigned *d_cells;
    int *d_found;
    checkCudaErrors(cudaMalloc(&d_p, n * sizeof(float2)));
    checkCudaErrors(cudaMalloc(&d_sorted, n * sizeof(float2)));
    checkCudaErrors(cudaMalloc(&d_cells, 256 * sizeof(unsigned)));
    checkCudaErrors(cudaMalloc(&d_found, n * sizeof(int)));
    checkCudaErrors(cudaMemset(d_cells, 0, 256 * sizeof(unsigned)));
    checkCudaErrors(cudaMemcpy(d_p, &p[0], n * sizeof(float2), cudaMemcpyHostToDevice));
    count<<<8, 128>>>(d_p, n, d_cells);
    scan_cells<<<1, 32>>>(d_cells, d_cells + 64);
    place<<<8, 128>>>(d_p, n, d_cells + 64, d_cells + 160, d_sorted);
    neighbours<<<8, 128>>>(d_p, n, d_cells + 64, d_sorted, d_found);
    checkCudaErrors(cudaMemcpy(&found[0], d_found, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        int sum = 0;
        for (int j = 0; j < n; j++) {
            const float dx = p[j].x - p[i].x, dy = p[j].y - p[i].y;
            const float d2 = dx * dx + dy * dy;
            sum += d2 < 0.01f;
        }
        EXPECT(abs(found[i] - sum) <= 1, "%d: %d, not %d", i, found[i],
               sum); /* at the rim, rounding */
    }
    return verdict();
}
