// The CPU and a kernel take turns with an array of managed memory.
//   managed ROUNDS
#include <cstdio>
#include <cstdlib>

enum { CTAS = 4, THREADS = 64, N = CTAS * THREADS };

__global__ void add_one(const int *in, int *out)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    out[i] = in[i] + 1;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 3;
    int *in, *out;
    cudaMallocManaged(&in, N * sizeof *in);
    cudaMallocManaged(&out, N * sizeof *out);
    for (int i = 0; i < N; i++) in[i] = i; // the CPU writes all of it
    for (int round = 0; round < rounds; round++) {
        add_one<<<CTAS, THREADS>>>(in, out);
        cudaDeviceSynchronize();
        for (int i = 0; i < N; i++) in[i] = out[i]; // reads all that was written, writes all
    }
    add_one<<<CTAS, THREADS>>>(in, out);
    add_one<<<CTAS, THREADS>>>(out, in); // reads from the kernel before
    cudaDeviceSynchronize();
    bool right = true;
    for (int i = 0; i < N; i++) right &= in[i] == i + rounds + 2;
    puts(right ? "right" : "WRONG");
    return right ? 0 : 1;
}
