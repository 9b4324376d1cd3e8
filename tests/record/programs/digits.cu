// Arithmetic whose last digits tell how it was done: products and sums that may become one
// operation, within and across statements, branches and loops; reductions; mathematics. Prints the
// bits of all results.
#include <stdio.h>
#include <string.h>

enum { N = 1024 };

__device__ float3 mix(float3 a, float3 b, float t)
{
    const float u = t * a.x, v = t * a.y, w = t * a.z;
    return make_float3(u + b.x * (1 - t), v + b.y * (1 - t), w - b.z * (1 - t));
}

__global__ void blocks(const float *in, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float3 a = make_float3(in[i], in[(i * 7 + 1) % N], in[(i * 13 + 2) % N]);
    const float3 b = make_float3(in[(i * 3 + 5) % N], in[(i + 11) % N], in[(i * 5 + 3) % N]);
    float best = 1e30f, sum = 0;
    for (int k = 0; k < 16; k++) {
        const float3 c = mix(a, b, k / 15.0f);
        const float x = c.x * c.x, y = c.y * c.y, z = c.z * c.z;
        const float d = x + y + z;
        if (d < best) best = d;
        sum += x * y - z * in[(i + k) % N];
    }
    out[i] = best;
    out[N + i] = sum;
}

__global__ void covariance(const float *in, float *out)
{
    __shared__ float part[6][64];
    float m[6] = {};
    const int t = threadIdx.x;
    for (int k = t; k < N; k += 64) {
        const float x = in[k] - 0.5f, y = in[(k + 1) % N] - 0.25f, z = in[(k + 2) % N];
        m[0] += x * x;
        m[1] += x * y;
        m[2] += x * z;
        m[3] += y * y;
        m[4] += y * z;
        m[5] += z * z;
    }
    for (int c = 0; c < 6; c++) part[c][t] = m[c];
    __syncthreads();
    for (int half = 32; half; half /= 2) {
        if (t < half)
            for (int c = 0; c < 6; c++) part[c][t] += part[c][t + half] * 0.999f;
        __syncthreads();
    }
    if (t < 6) out[2 * N + t] = part[t][0];
}

__global__ void mathematics(const float *in, double *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float x = in[i];
    double v = sinf(x) * cosf(3 * x) + expf(-x) * logf(1 + x) - sqrtf(x) / (1 + x * x);
    for (int k = 0; k < 5; k++) {
        const double p = v * x;
        if (in[(i + k) % N] > 0.3f) v = p + k * v;
        out[i] = v;
    }
    out[N + i] = pow(v * v + 1, 0.3) * tanh(v) - v * x;
}

int main()
{
    static float in[N], out[2 * N + 6];
    static double results[2 * N];
    float *device_in, *device_out;
    double *device_results;
    for (int i = 0; i < N; i++) in[i] = (float)((i * 2654435761u >> 8) & 0xffff) / 65536;
    cudaMalloc(&device_in, sizeof in);
    cudaMalloc(&device_out, sizeof out);
    cudaMalloc(&device_results, sizeof results);
    cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice);
    blocks<<<N / 64, 64>>>(device_in, device_out);
    covariance<<<1, 64>>>(device_in, device_out);
    mathematics<<<N / 64, 64>>>(device_in, device_results);
    cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost);
    if (cudaMemcpy(results, device_results, sizeof results, cudaMemcpyDeviceToHost)) return 1;
    for (int i = 0; i < 2 * N + 6; i++) {
        unsigned bits;
        memcpy(&bits, &out[i], sizeof bits);
        printf("%d %08x\n", i, bits);
    }
    for (int i = 0; i < 2 * N; i++) {
        unsigned long long bits;
        memcpy(&bits, &results[i], sizeof bits);
        printf("%d %016llx\n", i, bits);
    }
}
