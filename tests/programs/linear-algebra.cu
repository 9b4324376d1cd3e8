/* The kernels of polybench: one big loop body per thread, no shared memory, float and double,
 * command-line sizes through macros, timers from sys/time.h. */
// options: -DPOLYBENCH_SMALL -DNI=48 -DNJ=40 -DNK=56
#include <assert.h>
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "helper.h"
#define DIM_THREAD_BLOCK_X 32
#define DIM_THREAD_BLOCK_Y 8
#ifdef POLYBENCH_DOUBLE
typedef double DATA_TYPE;
#else
typedef float DATA_TYPE;
#endif
#define ALPHA 43532.0f
#define N     48

static double rtclock()
{
    struct timeval Tp;
    const int stat = gettimeofday(&Tp, NULL);
    if (stat != 0) printf("Error return from gettimeofday: %d", stat);
    return (Tp.tv_sec + Tp.tv_usec * 1.0e-6);
}

__global__ void mm2_kernel1(DATA_TYPE *A, DATA_TYPE *B, DATA_TYPE *C)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if ((i < NI) && (j < NJ))
        for (int k = 0; k < NK; k++) C[i * NJ + j] += A[i * NK + k] * B[k * NJ + j];
}
__global__ void atax_kernel2(DATA_TYPE *A, DATA_TYPE *y, DATA_TYPE *tmp)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < N)
        for (int i = 0; i < N; i++) y[j] += A[i * N + j] * tmp[i];
}
__global__ void atax_kernel1(DATA_TYPE *A, DATA_TYPE *x, DATA_TYPE *tmp)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        for (int j = 0; j < N; j++) tmp[i] += A[i * N + j] * x[j];
}
__global__ void mean_kernel(DATA_TYPE *mean, DATA_TYPE *data)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < N) {
        mean[j] = 0.0;
        for (int i = 0; i < N; i++) mean[j] += data[i * N + j];
        mean[j] /= (DATA_TYPE)N;
    }
}
__global__ void reduce_kernel(DATA_TYPE *mean, DATA_TYPE *data)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if ((i < N) && (j < N)) data[i * N + j] -= mean[j];
}
__global__ void covar_kernel(DATA_TYPE *symmat, DATA_TYPE *data)
{
    int j1 = blockIdx.x * blockDim.x + threadIdx.x;
    if (j1 < N)
        for (int j2 = j1; j2 < N; j2++) {
            symmat[j1 * N + j2] = 0.0;
            for (int i = 0; i < N; i++) symmat[j1 * N + j2] += data[i * N + j1] * data[i * N + j2];
            symmat[j2 * N + j1] = symmat[j1 * N + j2];
        }
}
__global__ void gramschmidt_kernel1(DATA_TYPE *a, DATA_TYPE *r, int k)
{
    if (blockIdx.x * blockDim.x + threadIdx.x == 0) {
        DATA_TYPE nrm = 0.0;
        for (int i = 0; i < N; i++) nrm += a[i * N + k] * a[i * N + k];
        r[k * N + k] = sqrt(nrm);
    }
}
__global__ void gramschmidt_kernel2(DATA_TYPE *a, DATA_TYPE *r, DATA_TYPE *q, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) q[i * N + k] = a[i * N + k] / r[k * N + k];
}
__global__ void gramschmidt_kernel3(DATA_TYPE *a, DATA_TYPE *r, DATA_TYPE *q, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if ((j > k) && (j < N)) {
        r[k * N + j] = 0.0;
        for (int i = 0; i < N; i++) r[k * N + j] += q[i * N + k] * a[i * N + j];
        for (int i = 0; i < N; i++) a[i * N + j] -= q[i * N + k] * r[k * N + j];
    }
}
__global__ void fdtd_step1(DATA_TYPE *ex, DATA_TYPE *ey, DATA_TYPE *hz, int t)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < N && j < N) {
        if (i == 0)
            ey[i * N + j] = t;
        else
            ey[i * N + j] = ey[i * N + j] - 0.5f * (hz[i * N + j] - hz[(i - 1) * N + j]);
        if (j > 0)
            ex[i * (N + 1) + j] =
                ex[i * (N + 1) + j] - 0.5f * (hz[i * N + j] - hz[i * N + (j - 1)]);
    }
}
__global__ void fdtd_step2(DATA_TYPE *ex, DATA_TYPE *ey, DATA_TYPE *hz)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < N && j < N)
        hz[i * N + j] -= 0.7f * (ex[i * (N + 1) + j + 1] - ex[i * (N + 1) + j] +
                                 ey[(i + 1) * N + j] - ey[i * N + j]);
}

static DATA_TYPE *gpu(size_t count, DATA_TYPE *from)
{
    DATA_TYPE *p;
    checkCudaErrors(cudaMalloc((void **)&p, sizeof(DATA_TYPE) * count));
    checkCudaErrors(cudaMemcpy(p, from, sizeof(DATA_TYPE) * count, cudaMemcpyHostToDevice));
    return p;
}
static void compare(const char *name, const DATA_TYPE *want, DATA_TYPE *device, size_t count)
{
    DATA_TYPE *got = (DATA_TYPE *)malloc(count * sizeof(DATA_TYPE));
    checkCudaErrors(cudaMemcpy(got, device, sizeof(DATA_TYPE) * count, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++)
        EXPECT(close_to(got[i], want[i], 2e-3), "%s %zu: %g, not %g", name, i, got[i], want[i]);
    free(got);
}

static DATA_TYPE A[64 * 64], B[64 * 64], C[64 * 64], x[64 * 64], tmp[64 * 64], y[64 * 64];

int main(int argc, char **argv)
{
    const double t_start = rtclock();
    for (int i = 0; i < 64 * 64; i++)
        A[i] = (DATA_TYPE)(i % 13) / 13 + 1, B[i] = (DATA_TYPE)(i % 7) / 7, C[i] = 0,
        x[i] = 1 + i * 3.14159 / 5000;
    DATA_TYPE *a = gpu(64 * 64, A), *b = gpu(64 * 64, B), *c = gpu(64 * 64, C);
    const dim3 block(DIM_THREAD_BLOCK_X, DIM_THREAD_BLOCK_Y);
    const dim3 grid((size_t)ceil(((float)NJ) / ((float)block.x)),
                    (size_t)ceil(((float)NI) / ((float)block.y)));
    const dim3 square((N + 31) / 32, N / 8);
    mm2_kernel1<<<grid, block>>>(a, b, c);
    cudaThreadSynchronize();
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NJ; j++)
            for (int k = 0; k < NK; k++) C[i * NJ + j] += A[i * NK + k] * B[k * NJ + j];
    compare("2mm", C, c, NI * NJ);

    DATA_TYPE *d_x = gpu(N, x), *d_y = gpu(N, y), *d_tmp = gpu(N, tmp);
    atax_kernel1<<<2, 32>>>(a, d_x, d_tmp);
    atax_kernel2<<<2, 32>>>(a, d_y, d_tmp);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) tmp[i] += A[i * N + j] * x[j];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) y[j] += A[i * N + j] * tmp[i];
    compare("atax", y, d_y, N);

    DATA_TYPE *data = gpu(N * N, B), *symmat = gpu(N * N, C), *mean = gpu(N, x);
    mean_kernel<<<2, 32>>>(mean, data);
    reduce_kernel<<<square, block>>>(mean, data);
    covar_kernel<<<2, 32>>>(symmat, data);
    for (int j = 0; j < N; j++) {
        x[j] = 0;
        for (int i = 0; i < N; i++) x[j] += B[i * N + j] / N;
        for (int i = 0; i < N; i++) B[i * N + j] -= x[j];
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            C[i * N + j] = 0;
            for (int k = 0; k < N; k++) C[i * N + j] += B[k * N + i] * B[k * N + j];
        }
    compare("covariance", C, symmat, N * N);

    for (int i = 0; i < N * N; i++)
        A[i] = (DATA_TYPE)((i * 7919) % 97) / 97 + (i % (N + 1) == 0 ? 3 : 0);
    DATA_TYPE *q = gpu(N * N, B), *r = gpu(N * N, C);
    checkCudaErrors(cudaMemcpy(a, A, N * N * sizeof(DATA_TYPE), cudaMemcpyHostToDevice));
    for (int k = 0; k < N; k++) {
        gramschmidt_kernel1<<<1, 32>>>(a, r, k);
        gramschmidt_kernel2<<<2, 32>>>(a, r, q, k);
        gramschmidt_kernel3<<<2, 32>>>(a, r, q, k);
    }
    checkCudaErrors(cudaMemcpy(B, q, N * N * sizeof(DATA_TYPE), cudaMemcpyDeviceToHost));
    checkCudaErrors(cudaMemcpy(C, r, N * N * sizeof(DATA_TYPE), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0, dot = 0;
            for (int k = 0; k <= j; k++) sum += (double)B[i * N + k] * C[k * N + j];
            for (int k = 0; k < N; k++) dot += (double)B[k * N + i] * B[k * N + j];
            EXPECT(close_to(sum, A[i * N + j], 1e-3) && fabs(dot - (i == j)) < 1e-3,
                   "QR (%d, %d): %g %g", i, j, sum, dot);
        }

    memset(A, 0, sizeof A), memset(B, 0, sizeof B);
    for (int i = 0; i < N * N; i++) C[i] = (DATA_TYPE)(i % 31) / 31;
    DATA_TYPE *ex = gpu(64 * 64, A), *ey = gpu(64 * 64, B), *hz = gpu(64 * 64, C);
    for (int t = 0; t < 5; t++) {
        fdtd_step1<<<square, block>>>(ex, ey, hz, t);
        fdtd_step2<<<square, block>>>(ex, ey, hz);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                if (i == 0)
                    B[j] = t;
                else
                    B[i * N + j] -= 0.5f * (C[i * N + j] - C[(i - 1) * N + j]);
                if (j) A[i * (N + 1) + j] -= 0.5f * (C[i * N + j] - C[i * N + j - 1]);
            }
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                C[i * N + j] -= 0.7f * (A[i * (N + 1) + j + 1] - A[i * (N + 1) + j] +
                                        B[(i + 1) * N + j] - B[i * N + j]);
    }
    compare("fdtd", C, hz, N * N);
    fprintf(stdout, "GPU Runtime: %0.6lfs\n", rtclock() - t_start);
    return verdict();
}
