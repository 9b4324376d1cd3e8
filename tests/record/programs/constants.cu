// A kernel that loads a __constant__ variable.
__constant__ int factors[32];

__global__ void multiply(int *to)
{
    to[threadIdx.x] *= factors[threadIdx.x];
}

int main()
{
    int ones[32], *memory;
    for (int &one : ones) one = 1;
    cudaMalloc(&memory, sizeof ones);
    cudaMemset(memory, 0, sizeof ones);
    cudaMemcpyToSymbol(factors, ones, sizeof ones);
    multiply<<<1, 32>>>(memory);
    return cudaDeviceSynchronize() != cudaSuccess;
}
