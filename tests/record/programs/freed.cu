// A launch that is sound, then one that reads freed memory, or the sound one alone.
#include <cstdio>

__global__ void add(const float *in, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}

int main(int argc, char **argv)
{
    const int n = 1 << 20;
    float *in, *out;
    cudaMalloc(&in, n * sizeof *in);
    cudaMalloc(&out, n * sizeof *out);
    cudaMemset(in, 0, n * sizeof *in);
    if (argc == 1 || argv[1][0] == 's') add<<<n / 256, 256>>>(in, out, n);
    if (argc == 1 || argv[1][0] == 'f') {
        cudaFree(in);
        add<<<n / 256, 256>>>(in - (1 << 24), out, n);
    }
    puts(cudaGetErrorName(cudaDeviceSynchronize()));
}
