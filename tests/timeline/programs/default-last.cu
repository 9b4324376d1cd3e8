// Kernels of several streams, each with one of its own: created streams, used in the other order,
// one destroyed and another made in its place; the thread's own default stream; the default stream
// last.
__global__ void first(int *a)
{
    a[threadIdx.x] = 1;
}
__global__ void second(int *a)
{
    a[threadIdx.x] += 2;
}
__global__ void third(int *a)
{
    a[threadIdx.x] += 3;
}
__global__ void own(int *a)
{
    a[threadIdx.x] += 4;
}
__global__ void legacy(int *a)
{
    a[threadIdx.x] += 5;
}

int main()
{
    int *a;
    cudaStream_t s, t, u;
    cudaMalloc(&a, 256 * sizeof *a);
    cudaStreamCreate(&s);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    second<<<1, 256, 0, t>>>(a);
    cudaDeviceSynchronize();
    first<<<1, 256, 0, s>>>(a);
    cudaDeviceSynchronize();
    cudaStreamDestroy(s);
    cudaStreamCreate(&u);
    own<<<1, 256, 0, cudaStreamPerThread>>>(a);
    cudaDeviceSynchronize();
    third<<<1, 256, 0, u>>>(a);
    cudaDeviceSynchronize();
    legacy<<<1, 256>>>(a);
    return cudaDeviceSynchronize() != cudaSuccess;
}
