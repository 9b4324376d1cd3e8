// Access patterns whose costs have closed forms, and programs that are wrong in known places; what
// must be found stands in check.py. Every line that is asked for carries a mark, "@name".
#include <cstdio>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    if (cudaError_t error = call) {                                                                \
        printf("%s: %s\n", #call, cudaGetErrorString(error));                                      \
        return 1;                                                                                  \
    }

enum { TILE = 32, N = 256, LANES = 128 };

struct Particle {
    double mass;
    float x, y, z, charge;
};

__global__ void transpose_naive(const float *in, float *out)
{
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    out[x * N + y] = in[y * N + x]; // @naive
}

template <int PITCH> __global__ void transpose_tiled(const float *in, float *out)
{
    __shared__ float tile[TILE][PITCH];
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * N + x]; // @tile-store
    __syncthreads();
    const int to_x = blockIdx.y * TILE + threadIdx.x, to_y = blockIdx.x * TILE + threadIdx.y;
    out[to_y * N + to_x] = tile[threadIdx.x][threadIdx.y]; // @tile-load
}

__global__ void every_second(const double *in, double *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[2 * i]; // @stride-2
}

__global__ void weigh(const Particle *particles, double *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = particles[i].mass; // @struct
}

// One step of an interleaved reduction: lane k adds what lies `step` words on to word 2 * step * k.
__global__ void reduce_step(float *out, int step)
{
    __shared__ float partial[2 * 32 * 32];
    for (int i = threadIdx.x; i < 2 * 32 * 32; i += 32) partial[i] = 1.0f;
    __syncthreads();
    const int k = 2 * step * threadIdx.x;
    partial[k] += partial[k + step]; // @reduce
    __syncthreads();
    out[threadIdx.x] = partial[threadIdx.x];
}

// `meeting` lanes of each warp add to one bin.
__global__ void count_bins(int *bins, int meeting)
{
    atomicAdd(&bins[threadIdx.x / meeting], 1); // @bins
}

__global__ void read_all(const float *in, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i]; // @unset
}

__global__ void read_past(const float *in, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = in[i]; // @past
}

__global__ void read_shared(float *out)
{
    __shared__ float half[LANES];
    if (threadIdx.x < LANES / 2) half[threadIdx.x] = 1.0f;
    __syncthreads();
    out[blockIdx.x * LANES + threadIdx.x] = half[threadIdx.x]; // @shared-unset
}

// Each thread adds its right neighbour's value, which the next CTA may have changed.
__global__ void shift_in_place(float *values, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < n) values[i] += values[i + 1]; // @in-place
}

__global__ void all_store(int *flag)
{
    if (threadIdx.x == 0) *flag = 1; // @flag
}

// Two fields of a struct are stored, and one is read twice.
__global__ void push(Particle *particles)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    particles[i].x = particles[i].charge, particles[i].y = 1.0f; // @push
    particles[i].z = particles[i].charge;                        // @again
}

// The data say which counters of the CTA meet.
__global__ void tally(const float *in, int *bins)
{
    __shared__ int counts[2 * LANES];
    counts[threadIdx.x] = counts[threadIdx.x + LANES] = 0;
    __syncthreads();
    atomicAdd(&counts[(((int)in[threadIdx.x] + threadIdx.x) * 40503u >> 4) % 16 * 16], 1); // @tally
    __syncthreads();
    if (threadIdx.x < 32) bins[threadIdx.x] = counts[threadIdx.x];
}

int main()
{
    float *in, *out, *unset, *brief;
    double *doubles, *sums;
    Particle *particles;
    int *bins, *flag;
    CHECK(cudaMalloc(&in, N * N * sizeof *in));
    CHECK(cudaMalloc(&out, N * N * sizeof *out));
    CHECK(cudaMalloc(&unset, 1000 * sizeof *unset));
    CHECK(cudaMalloc(&brief, 200 * sizeof *brief));
    CHECK(cudaMalloc(&doubles, 2 * N * sizeof *doubles));
    CHECK(cudaMalloc(&sums, N * sizeof *sums));
    CHECK(cudaMalloc(&particles, N * sizeof *particles));
    CHECK(cudaMalloc(&bins, 32 * sizeof *bins));
    CHECK(cudaMalloc(&flag, sizeof *flag));
    CHECK(cudaMemset(in, 0, N * N * sizeof *in));
    CHECK(cudaMemset(unset, 0, 900 * sizeof *unset)); // the last 100 are not set
    CHECK(cudaMemset(brief, 0, 200 * sizeof *brief));
    CHECK(cudaMemset(doubles, 0, 2 * N * sizeof *doubles));
    CHECK(cudaMemset(particles, 0, N * sizeof *particles));
    CHECK(cudaMemset(bins, 0, 32 * sizeof *bins));

    const dim3 grid(N / TILE, N / TILE), block(TILE, TILE);
    transpose_naive<<<grid, block>>>(in, out);
    transpose_tiled<TILE><<<grid, block>>>(in, out);
    transpose_tiled<TILE + 1><<<grid, block>>>(in, out);
    every_second<<<N / LANES, LANES>>>(doubles, sums);
    weigh<<<N / LANES, LANES>>>(particles, sums);
    for (int step = 1; step <= 32; step *= 2) reduce_step<<<1, 32>>>(out, step);
    for (int meeting = 1; meeting <= 32; meeting *= 2) count_bins<<<1, 32>>>(bins, meeting);
    read_all<<<8, LANES>>>(unset, out, 1000);
    read_past<<<2, LANES>>>(brief, out, 200);
    read_shared<<<2, LANES>>>(out);
    shift_in_place<<<4, LANES>>>(in, 4 * LANES);
    all_store<<<8, LANES>>>(flag);
    push<<<N / LANES, LANES>>>(particles);
    tally<<<1, LANES>>>(in, bins);
    CHECK(cudaDeviceSynchronize());
    printf("done\n");
    return 0;
}
