/* What belongs to one thread stays its own when threads become a loop: local arrays, structs passed
 * by value and changed, addresses of locals that get out of sight. */
#include <stdio.h>

struct big {
    int values[16];
    float *out;
};

__global__ void by_value(big b, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 16; k++) b.values[(k * 7 + i) % 16] += i;
    if (i < n) out[i] = b.values[i % 16] + b.values[(i + 3) % 16];
}

__global__ void read_only(const big b, float scale, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b.out[i] = b.values[3] * scale + b.values[i % 16];
}

__global__ void local_array(const int *in, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int histogram[8] = {0};
    if (i >= n) return;
    for (int k = 0; k < 32; k++) histogram[in[(i + k) % n] & 7]++;
    out[i] = histogram[i & 7] * 100 + histogram[(i + 1) & 7];
}

__device__ __noinline__ int sum(const int *values, int count)
{
    int result = 0;
    for (int k = 0; k < count; k++) result += values[k];
    return result;
}

__global__ void gets_out(int *out, int n)
{
    int own[4];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 4; k++) own[k] = i + k;
    int *volatile hidden = own;
    hidden[i & 3] = 0;
    if (i < n) out[i] = sum(own, 4);
}

int main(void)
{
    enum { N = 1000 };
    static int in[N], out[N];
    static float floats[N];
    int *device_in, *device_out, bad = 0;
    big b;
    for (int k = 0; k < 16; k++) b.values[k] = k * k;
    cudaMalloc((void **)&device_in, sizeof in);
    cudaMalloc((void **)&device_out, sizeof out);
    cudaMalloc((void **)&b.out, sizeof floats);
    for (int i = 0; i < N; i++) in[i] = i * 2654435761u >> 20;
    cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice);
    by_value<<<8, 128>>>(b, device_out, N);
    cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) bad |= out[i] != b.values[i % 16] + b.values[(i + 3) % 16] + 2 * i;
    read_only<<<8, 128>>>(b, 0.5f, N);
    cudaMemcpy(floats, b.out, sizeof floats, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) bad |= (floats[i] != 4.5f + b.values[i % 16]) << 1;
    local_array<<<8, 128>>>(device_in, device_out, N);
    cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) {
        int histogram[8] = {0};
        for (int k = 0; k < 32; k++) histogram[in[(i + k) % N] & 7]++;
        bad |= (out[i] != histogram[i & 7] * 100 + histogram[(i + 1) & 7]) << 2;
    }
    gets_out<<<8, 128>>>(device_out, N);
    cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) bad |= (out[i] != 4 * i + 6 - (i + (i & 3))) << 3;
    printf(bad ? "wrong %d\n" : "right\n", bad);
    return bad;
}
