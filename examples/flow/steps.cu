// Steps of a small simulation with four habits that cost time: it copies what it could read in
// place, computes an energy that nobody reads, waits in the middle of a step, and runs two small
// kernels one after the other. -DNO_COPY, -DNO_DEAD, -DNO_WAIT and -DOVERLAP remove one each.
// Prints a checksum and the median time of a step. The last step lies between cudaProfilerStart and
// cudaProfilerStop.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

#ifndef STEPS
#define STEPS 40
#endif
static const int COUNT = 1 << 20, SMALL = 4 * 256, ROUNDS = 4000;

__global__ void move(const float *position, const float *speed, float *next, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) next[i] = position[i] + 0.01f * speed[i];
}

__global__ void forces(const float *position, float *speed, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float left = position[(i + n - 1) % n], right = position[(i + 1) % n];
    speed[i] += 0.5f * (right - 2 * position[i] + left);
}

__global__ void energy(const float *position, const float *speed, float *e, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) e[i] = 0.5f * speed[i] * speed[i] + position[i] * position[i];
}

__global__ void grid_a(float *a, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = a[i];
    for (int k = 0; k < rounds; k++) v = v * 0.999f + 0.001f;
    a[i] = v;
}

__global__ void grid_b(float *b, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = b[i];
    for (int k = 0; k < rounds; k++) v = v * 0.998f + 0.002f;
    b[i] = v;
}

static float *allocate(int count)
{
    float *memory;
    cudaMalloc(&memory, count * sizeof *memory);
    cudaMemset(memory, 0, count * sizeof *memory);
    return memory;
}

static double sum_of(const float *memory, int count)
{
    double sum = 0;
    std::vector<float> values(count);
    cudaMemcpy(values.data(), memory, count * sizeof *memory, cudaMemcpyDeviceToHost);
    for (float value : values) sum += value;
    return sum;
}

int main()
{
    const dim3 grid(COUNT / 256), small(SMALL / 256), block(256);
    float *position = allocate(COUNT), *next = allocate(COUNT), *speed = allocate(COUNT);
    float *copy = allocate(COUNT), *e = allocate(COUNT), *a = allocate(SMALL), *b = allocate(SMALL);
    std::vector<float> start(COUNT);
    for (int i = 0; i < COUNT; i++) start[i] = (i % 1000) * 0.001f;
    cudaMemcpy(position, start.data(), COUNT * sizeof(float), cudaMemcpyHostToDevice);
    cudaStream_t other;
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    std::vector<double> times;
    for (int step = 0; step < STEPS; step++) {
        cudaDeviceSynchronize();
        if (step == STEPS - 1) cudaProfilerStart();
        const auto begin = std::chrono::steady_clock::now();
#ifdef NO_COPY
        forces<<<grid, block>>>(position, speed, COUNT);
#else
        cudaMemcpyAsync(copy, position, COUNT * sizeof(float), cudaMemcpyDeviceToDevice);
        forces<<<grid, block>>>(copy, speed, COUNT);
#endif
#ifndef NO_DEAD
        energy<<<grid, block>>>(position, speed, e, COUNT);
#endif
#ifndef NO_WAIT
        cudaDeviceSynchronize();
#endif
        move<<<grid, block>>>(position, speed, next, COUNT);
        grid_a<<<small, block>>>(a, ROUNDS);
#ifdef OVERLAP
        grid_b<<<small, block, 0, other>>>(b, ROUNDS);
#else
        grid_b<<<small, block>>>(b, ROUNDS);
#endif
        std::swap(position, next);
        if (step == STEPS - 1) cudaProfilerStop();
        cudaDeviceSynchronize();
        const std::chrono::duration<double, std::micro> time =
            std::chrono::steady_clock::now() - begin;
        times.push_back(time.count());
    }
    std::sort(times.begin(), times.end());
    printf("sum %.9g, median step %.1f us\n",
           sum_of(position, COUNT) + sum_of(a, SMALL) + sum_of(b, SMALL), times[times.size() / 2]);
    return 0;
}
