// Kernels whose recording is timed: memory_speed KERNEL LAUNCHES prints ms per launch, after a
// launch that is not counted. Sizes: 16M elements; matrices of 1024; 16k bodies.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static void check(cudaError_t status)
{
    if (status == cudaSuccess) return;
    fprintf(stderr, "memory_speed: %s\n", cudaGetErrorString(status));
    exit(1);
}

__global__ void add(const float *a, const float *b, float *c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

__global__ void reduce(const float *a, float *sums, int n)
{
    __shared__ float part[256];
    const int i = blockIdx.x * 256 + threadIdx.x;
    part[threadIdx.x] = i < n ? a[i] : 0;
    __syncthreads();
    for (int k = 128; k; k >>= 1) {
        if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

__global__ void gather(const float *a, const int *from, float *c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[from[i]];
}

__global__ void multiply(const float *a, const float *b, float *c, int n)
{
    __shared__ float x[16][16], y[16][16];
    const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        x[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        y[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int q = 0; q < 16; q++) sum += x[threadIdx.y][q] * y[q][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

__global__ void bodies(const float4 *p, float4 *forces, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 own = p[i];
    float4 force = {0, 0, 0, 0};
    for (int j = 0; j < n; j++) {
        const float4 other = p[j];
        const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
        const float f = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
        force.x += dx * f;
        force.y += dy * f;
        force.z += dz * f;
    }
    forces[i] = force;
}

int main(int argc, char **argv)
{
    const int n = 1 << 24, launches = argc > 2 ? atoi(argv[2]) : 5;
    const char *const kernel = argc > 1 ? argv[1] : "add";
    float *a, *b, *c, *sums;
    int *from;
    check(cudaMalloc(&a, 4l * n));
    check(cudaMalloc(&b, 4l * n));
    check(cudaMalloc(&c, 4l * n));
    check(cudaMalloc(&sums, 4l * n / 256));
    check(cudaMalloc(&from, 4l * n));
    int *const indices = (int *)malloc(4l * n);
    unsigned x = 1;
    for (int i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        indices[i] = x >> 8;
    }
    check(cudaMemcpy(from, indices, 4l * n, cudaMemcpyHostToDevice));
    check(cudaMemcpy(a, indices, 4l * n, cudaMemcpyHostToDevice));
    check(cudaMemcpy(b, indices, 4l * n, cudaMemcpyHostToDevice));
    std::chrono::steady_clock::time_point start;
    for (int i = 0; i <= launches; i++) {
        if (i == 1) start = std::chrono::steady_clock::now();
        if (!strcmp(kernel, "synced")) { // a short launch, and the host waits for it
            add<<<16, 256>>>(a, b, c, 4096);
            check(cudaDeviceSynchronize());
        } else if (!strcmp(kernel, "add"))
            add<<<n / 256, 256>>>(a, b, c, n);
        else if (!strcmp(kernel, "reduce"))
            reduce<<<n / 256, 256>>>(a, sums, n);
        else if (!strcmp(kernel, "gather"))
            gather<<<n / 256, 256>>>(a, from, c, n);
        else if (!strcmp(kernel, "multiply"))
            multiply<<<dim3(64, 64), dim3(16, 16)>>>(a, b, c, 1024);
        else if (!strcmp(kernel, "bodies"))
            bodies<<<64, 256>>>((float4 *)a, (float4 *)c, 16384);
        check(cudaGetLastError());
        if (i == 0 || i == launches) check(cudaDeviceSynchronize());
    }
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    printf("%s %.4f\n", kernel, launches ? time.count() / launches : 0.);
}
