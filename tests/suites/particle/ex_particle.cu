#include <stdlib.h>
#include <stdio.h>
#include <math.h>
#include <unistd.h>
#include <fcntl.h>
#include <float.h>
#include <time.h>
#include <sys/time.h>
#define BLOCK_X 16
#define BLOCK_Y 16
#define PI      3.1415926535897932
const int threads_per_block = 128;
#define check_error(e)                                                                             \
    {                                                                                              \
        if ((e) != cudaSuccess) {                                                                  \
            fprintf(stderr, "CUDA Error (%s:%d): %s\n", __FILE__, __LINE__,                        \
                    cudaGetErrorString(e));                                                        \
            exit(1);                                                                               \
        }                                                                                          \
    }
const int A = 1103515245;
const int C = 12345;
const long M = 2147483647;

__device__ int LinearCong_seed_step(int s)
{
    long num = (long)A * s + C;
    return (int)(num % M);
}
__host__ __device__ double randu(int *seed, int index)
{
    long num = (long)A * seed[index] + C;
    seed[index] = (int)(num % M);
    return fabs(seed[index] / ((double)M));
}
__device__ double d_randn(int *seed, int index)
{
    double pi = 3.14159265358979323846;
    double u = randu(seed, index);
    double v = randu(seed, index);
    double cosine = cos(2 * pi * v);
    double rt = -2 * log(u);
    return sqrt(rt) * cosine;
}
__device__ double calcLikelihoodSum(unsigned char *I, int *ind, int numOnes, int index)
{
    double likelihoodSum = 0.0;
    for (int x = 0; x < numOnes; x++)
        likelihoodSum += (pow((double)(I[ind[index * numOnes + x]] - 100), 2) -
                          pow((double)(I[ind[index * numOnes + x]] - 228), 2)) /
                         50.0;
    return likelihoodSum;
}
__device__ double dev_round_double(double value)
{
    int newValue = (int)(value);
    if (value - newValue < .5f)
        return newValue;
    else
        return newValue++;
}
__global__ void likelihood_kernel(double *arrayX, double *arrayY, double *xj, double *yj, int *ind,
                                  int *objxy, double *likelihood, unsigned char *I, double *weights,
                                  int Nparticles, int countOnes, int max_size, int k, int IszY,
                                  int Nfr, int *seed, double *partial_sums)
{
    int block_id = blockIdx.x;
    int i = blockDim.x * block_id + threadIdx.x;
    __shared__ double buffer[512];
    if (i < Nparticles) {
        arrayX[i] = xj[i];
        arrayY[i] = yj[i];
        weights[i] = 1 / ((double)(Nparticles));
        arrayX[i] = arrayX[i] + 1.0 + 5.0 * d_randn(seed, i);
        arrayY[i] = arrayY[i] - 2.0 + 2.0 * d_randn(seed, i);
    }
    __syncthreads();
    if (i < Nparticles) {
        for (int y = 0; y < countOnes; y++) {
            int indX = dev_round_double(arrayX[i]) + objxy[y * 2 + 1];
            int indY = dev_round_double(arrayY[i]) + objxy[y * 2];
            ind[i * countOnes + y] = abs(indX * IszY * Nfr + indY * Nfr + k);
            if (ind[i * countOnes + y] >= max_size) ind[i * countOnes + y] = 0;
        }
        likelihood[i] = calcLikelihoodSum(I, ind, countOnes, i);
        likelihood[i] = likelihood[i] / countOnes;
        weights[i] = weights[i] * exp(likelihood[i] / 1000.);
    }
    buffer[threadIdx.x] = 0.0;
    __syncthreads();
    if (i < Nparticles) buffer[threadIdx.x] = weights[i];
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) buffer[threadIdx.x] += buffer[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial_sums[blockIdx.x] = buffer[0];
}
__global__ void sum_kernel(double *partial_sums, int Nparticles)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i == 0) {
        double sum = 0.0;
        int num_blocks = ceil((double)Nparticles / (double)threads_per_block);
        for (int x = 0; x < num_blocks; x++) sum += partial_sums[x];
        partial_sums[0] = sum;
    }
}
__global__ void normalize_weights_kernel(double *weights, int Nparticles, double *partial_sums,
                                         double *CDF, double *u, int *seed)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    __shared__ double u1, sumWeights;
    if (0 == threadIdx.x) sumWeights = partial_sums[0];
    __syncthreads();
    if (i < Nparticles) weights[i] = weights[i] / sumWeights;
    __syncthreads();
    if (i == 0) u[0] = (1 / ((double)(Nparticles))) * randu(seed, i);
    __syncthreads();
    if (0 == threadIdx.x) u1 = 0.001;
    __syncthreads();
    if (i > 0 && i < Nparticles) u[i] = u1 + i / ((double)(Nparticles));
}
__global__ void cdf_kernel(double *weights, double *CDF, int n)
{
    CDF[0] = weights[0];
    for (int x = 1; x < n; x++) CDF[x] = weights[x] + CDF[x - 1];
}
__global__ void find_index_kernel(double *arrayX, double *arrayY, double *CDF, double *u,
                                  double *xj, double *yj, int Nparticles)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < Nparticles) {
        int index = -1;
        for (int x = 0; x < Nparticles; x++)
            if (CDF[x] >= u[i]) {
                index = x;
                break;
            }
        if (index == -1) index = Nparticles - 1;
        xj[i] = arrayX[index];
        yj[i] = arrayY[index];
    }
    __syncthreads();
}
int main(int argc, char **argv)
{
    int N = 1000, X = 64, Y = 64, F = 4, ones = 9, bad = 0;
    unsigned char *I = (unsigned char *)malloc(X * Y * F), *dI;
    for (int i = 0; i < X * Y * F; i++) I[i] = 100 + (i * 7) % 29;
    int *objxy = (int *)malloc(2 * ones * sizeof(int)), *seed = (int *)malloc(N * sizeof(int));
    for (int i = 0; i < ones; i++) {
        objxy[2 * i] = i / 3 - 1;
        objxy[2 * i + 1] = i % 3 - 1;
    }
    for (int i = 0; i < N; i++) seed[i] = 17 * i + 1;
    double *aX, *aY, *xj, *yj, *like, *w, *part, *cdf, *u;
    int *ind, *dobj, *dseed;
    check_error(cudaMalloc((void **)&aX, N * 8));
    check_error(cudaMalloc((void **)&aY, N * 8));
    check_error(cudaMalloc((void **)&xj, N * 8));
    check_error(cudaMalloc((void **)&yj, N * 8));
    check_error(cudaMalloc((void **)&like, N * 8));
    check_error(cudaMalloc((void **)&w, N * 8));
    check_error(cudaMalloc((void **)&part, N * 8));
    check_error(cudaMalloc((void **)&cdf, N * 8));
    check_error(cudaMalloc((void **)&u, N * 8));
    check_error(cudaMalloc((void **)&ind, N * ones * 4));
    check_error(cudaMalloc((void **)&dobj, 2 * ones * 4));
    check_error(cudaMalloc((void **)&dseed, N * 4));
    check_error(cudaMalloc((void **)&dI, X * Y * F));
    double *h = (double *)malloc(N * 8), *h2 = (double *)malloc(N * 8);
    for (int i = 0; i < N; i++) h[i] = 32;
    check_error(cudaMemcpy(xj, h, N * 8, cudaMemcpyHostToDevice));
    check_error(cudaMemcpy(yj, h, N * 8, cudaMemcpyHostToDevice));
    check_error(cudaMemcpy(dobj, objxy, 2 * ones * 4, cudaMemcpyHostToDevice));
    check_error(cudaMemcpy(dseed, seed, N * 4, cudaMemcpyHostToDevice));
    check_error(cudaMemcpy(dI, I, X * Y * F, cudaMemcpyHostToDevice));
    int num_blocks = ceil((double)N / (double)threads_per_block);
    for (int k = 1; k < F; k++) {
        likelihood_kernel<<<num_blocks, threads_per_block>>>(
            aX, aY, xj, yj, ind, dobj, like, dI, w, N, ones, X * Y * F, k, Y, F, dseed, part);
        sum_kernel<<<num_blocks, threads_per_block>>>(part, N);
        normalize_weights_kernel<<<num_blocks, threads_per_block>>>(w, N, part, cdf, u, dseed);
        cdf_kernel<<<1, 1>>>(w, cdf, N);
        find_index_kernel<<<num_blocks, threads_per_block>>>(aX, aY, cdf, u, xj, yj, N);
    }
    check_error(cudaDeviceSynchronize());
    cudaMemcpy(h, w, N * 8, cudaMemcpyDeviceToHost);
    double sum = 0, last;
    for (int i = 0; i < N; i++) sum += h[i];
    cudaMemcpy(&last, cdf + N - 1, 8, cudaMemcpyDeviceToHost);
    if (fabs(sum - 1) > 1e-9 || fabs(last - 1) > 1e-9) bad = 1;
    cudaMemcpy(h, xj, N * 8, cudaMemcpyDeviceToHost);
    cudaMemcpy(h2, aX, N * 8, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) {
        int found = 0;
        for (int j = 0; j < N; j++) found |= h[i] == h2[j];
        bad += !found;
    }
    printf("sum %g cdf %g bad %d\n", sum, last, bad);
    return bad != 0;
}
