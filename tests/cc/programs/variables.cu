/* __device__, __constant__ and __managed__ variables, in threads' loops and from the host. */
#include <stdio.h>

__constant__ float weights[3];
__device__ float image[4096];
__device__ int hits;
__managed__ int shared_with_host = 3;
__managed__ float many[16];

__global__ void blur(float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        out[i] = weights[0] * image[i - 1] + weights[1] * image[i] + weights[2] * image[i + 1];
    if (i == 5) shared_with_host += 4;
    if (i < 16) many[i] = i;
    if (i % 64 == 0) atomicAdd(&hits, 1);
}

int main(void)
{
    enum { N = 4096 };
    static float in[N], out[N];
    const float w[3] = {0.25f, 0.5f, 0.25f};
    float *device;
    int count, bad = 0;
    for (int i = 0; i < N; i++) in[i] = i % 17;
    cudaMalloc((void **)&device, sizeof out);
    cudaMemset(device, 0, sizeof out);
    cudaMemcpyToSymbol(weights, w, sizeof w);
    cudaMemcpyToSymbol(image, in, sizeof in);
    blur<<<N / 128, 128>>>(device, N);
    cudaDeviceSynchronize();
    cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(&count, hits, sizeof count);
    for (int i = 1; i < N - 1; i++)
        bad |= out[i] != 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1];
    bad |= (count != 64) << 1 | (shared_with_host != 7) << 2 | (many[9] != 9) << 3;
    printf(bad ? "wrong %d\n" : "right\n", bad);
    return bad;
}
