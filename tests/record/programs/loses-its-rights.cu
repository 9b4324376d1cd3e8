// Becomes a user who may not write into the run, after its first launch. Status 6.
#include <unistd.h>

__global__ void k(int *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

int main()
{
    int *out;
    cudaMalloc(&out, 4096);
    k<<<4, 64>>>(out);
    cudaDeviceSynchronize();
    if (setgid(65534) || setuid(65534)) return 9;
    for (int i = 0; i < 40; i++) {
        cudaStream_t stream;
        cudaStreamCreate(&stream);
        k<<<4, 64, 0, stream>>>(out);
    }
    return cudaDeviceSynchronize() ? 8 : 6;
}
