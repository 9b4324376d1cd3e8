/* Blocked LU (diagonal, perimeter, internal) and Gaussian elimination (two small kernels per
 * column): many tiny launches, half the block idle, several __shared__ arrays per kernel. */
#include "helper.h"
#include <sys/time.h>
#include <vector>
#define BS 16

__global__ void lud_diagonal(float *m, int dim, int offset)
{
    __shared__ float shadow[BS][BS];
    int at = offset * dim + offset;
    for (int i = 0; i < BS; i++, at += dim) shadow[i][threadIdx.x] = m[at + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < BS - 1; i++) {
        if (threadIdx.x > i) {
            for (int j = 0; j < i; j++)
                shadow[threadIdx.x][i] -= shadow[threadIdx.x][j] * shadow[j][i];
            shadow[threadIdx.x][i] /= shadow[i][i];
        }
        __syncthreads();
        if (threadIdx.x > i)
            for (int j = 0; j < i + 1; j++)
                shadow[i + 1][threadIdx.x] -= shadow[i + 1][j] * shadow[j][threadIdx.x];
        __syncthreads();
    }
    at = (offset + 1) * dim + offset;
    for (int i = 1; i < BS; i++, at += dim) m[at + threadIdx.x] = shadow[i][threadIdx.x];
}

__global__ void lud_perimeter(float *m, int dim, int offset)
{
    __shared__ float dia[BS][BS], row[BS][BS], col[BS][BS];
    const bool upper = threadIdx.x < BS;
    const int idx = upper ? threadIdx.x : threadIdx.x - BS, away = (blockIdx.x + 1) * BS;
    if (upper) {
        for (int i = 0; i < BS / 2; i++) dia[i][idx] = m[(offset + i) * dim + offset + idx];
        for (int i = 0; i < BS; i++) row[i][idx] = m[(offset + i) * dim + offset + away + idx];
    } else {
        for (int i = BS / 2; i < BS; i++) dia[i][idx] = m[(offset + i) * dim + offset + idx];
        for (int i = 0; i < BS; i++) col[i][idx] = m[(offset + away + i) * dim + offset + idx];
    }
    __syncthreads();
    if (upper) {
        for (int i = 1; i < BS; i++)
            for (int j = 0; j < i; j++) row[i][idx] -= dia[i][j] * row[j][idx];
    } else {
        for (int i = 0; i < BS; i++) {
            for (int j = 0; j < i; j++) col[idx][i] -= col[idx][j] * dia[j][i];
            col[idx][i] /= dia[i][i];
        }
    }
    __syncthreads();
    if (upper)
        for (int i = 1; i < BS; i++) m[(offset + i) * dim + offset + away + idx] = row[i][idx];
    else
        for (int i = 0; i < BS; i++) m[(offset + away + i) * dim + offset + idx] = col[i][idx];
}

__global__ void lud_internal(float *m, int dim, int offset)
{
    __shared__ float row[BS][BS], col[BS][BS];
    const int r = offset + (blockIdx.y + 1) * BS, c = offset + (blockIdx.x + 1) * BS;
    row[threadIdx.y][threadIdx.x] = m[(offset + threadIdx.y) * dim + c + threadIdx.x];
    col[threadIdx.y][threadIdx.x] = m[(r + threadIdx.y) * dim + offset + threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < BS; i++) sum += col[threadIdx.y][i] * row[i][threadIdx.x];
    m[(r + threadIdx.y) * dim + c + threadIdx.x] -= sum;
}

__global__ void Fan1(float *m_cuda, float *a_cuda, int Size, int t)
{
    if (threadIdx.x + blockIdx.x * blockDim.x >= Size - 1 - t) return;
    *(m_cuda + Size * (blockDim.x * blockIdx.x + threadIdx.x + t + 1) + t) =
        *(a_cuda + Size * (blockDim.x * blockIdx.x + threadIdx.x + t + 1) + t) /
        *(a_cuda + Size * t + t);
}

__global__ void Fan2(float *m, float *a, float *b, int n, int t)
{
    if (threadIdx.x + blockIdx.x * blockDim.x >= n - 1 - t) return;
    if (threadIdx.y + blockIdx.y * blockDim.y >= n - t) return;
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    a[n * (x + 1 + t) + y + t] -= m[n * (x + 1 + t) + t] * a[n * t + y + t];
    if (y == 0) b[x + 1 + t] -= m[n * (x + 1 + t) + t] * b[t];
}

int main(int argc, char *argv[])
{
    struct timeval begin, end;
    gettimeofday(&begin, NULL);
    const int n = 64;
    std::vector<float> a(n * n), lu(n * n), b(n, 1.0f), x(n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] = 10 * expf(-0.01f * abs(i - j) * 8) + (i == j ? 9 : 0);
    float *d;
    checkCudaErrors(cudaMalloc((void **)&d, n * n * sizeof(float)));
    checkCudaErrors(cudaMemcpy(d, &a[0], n * n * sizeof(float), cudaMemcpyHostToDevice));
    int i;
    for (i = 0; i < n - BS; i += BS) {
        const int rest = (n - i) / BS - 1;
        lud_diagonal<<<1, BS>>>(d, n, i);
        lud_perimeter<<<rest, BS * 2>>>(d, n, i);
        lud_internal<<<dim3(rest, rest), dim3(BS, BS)>>>(d, n, i);
    }
    lud_diagonal<<<1, BS>>>(d, n, i);
    checkCudaErrors(cudaMemcpy(&lu[0], d, n * n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int r = 0; r < n; r++)
        for (int c = 0; c < n; c++) {
            double sum = 0;
            for (int k = 0; k <= r && k <= c; k++)
                sum += (k == r ? 1.0 : lu[r * n + k]) * lu[k * n + c];
            EXPECT(close_to(sum, a[r * n + c], 1e-4), "(%d, %d): %g", r, c, sum);
        }

    float *d_b, *d_m;
    checkCudaErrors(cudaMalloc((void **)&d_b, n * sizeof(float)));
    checkCudaErrors(cudaMalloc((void **)&d_m, n * n * sizeof(float)));
    checkCudaErrors(cudaMemcpy(d, &a[0], n * n * sizeof(float), cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemcpy(d_b, &b[0], n * sizeof(float), cudaMemcpyHostToDevice));
    for (int t = 0; t < n - 1; t++) {
        Fan1<<<(n + 511) / 512, 512>>>(d_m, d, n, t);
        cudaDeviceSynchronize();
        Fan2<<<dim3((n + 3) / 4, (n + 3) / 4), dim3(4, 4)>>>(d_m, d, d_b, n, t);
        cudaDeviceSynchronize();
        getLastCudaError("Fan2");
    }
    checkCudaErrors(cudaMemcpy(&lu[0], d, n * n * sizeof(float), cudaMemcpyDeviceToHost));
    checkCudaErrors(cudaMemcpy(&x[0], d_b, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int r = n - 1; r >= 0; r--) {
        for (int c = r + 1; c < n; c++) x[r] -= lu[r * n + c] * x[c];
        x[r] /= lu[r * n + r];
    }
    for (int r = 0; r < n; r++) {
        double sum = 0;
        for (int c = 0; c < n; c++) sum += (double)a[r * n + c] * x[c];
        EXPECT(close_to(sum, b[r], 1e-3), "row %d: %g", r, sum);
    }
    gettimeofday(&end, NULL);
    printf("%g s\n", end.tv_sec - begin.tv_sec + 1e-6 * (end.tv_usec - begin.tv_usec));
    return verdict();
}
