#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <omp.h>
#include <cuda.h>
#define Real double
#define NUM  64
const Real omega = 1.9;
#define TEMP(I, J) temp_black[((I) * ((NUM >> 1) + 2)) + (J)]
template <int COLOR>
__global__ void sor_kernel(const Real *__restrict__ f, const Real *__restrict__ other,
                           Real *__restrict__ mine, Real *__restrict__ norm_L2)
{
    int row = (blockIdx.x * blockDim.x) + threadIdx.x + 1;
    int col = (blockIdx.y * blockDim.y) + threadIdx.y + 1;
    int ind = col * ((NUM >> 1) + 2) + row;
    Real t = mine[ind];
    int shift = COLOR ? (col & 1) : -((col + 1) & 1) + ((col + 1) & 1) * 0 + (1 - (col & 1)) * 0;
    int side = COLOR == 0 ? ((col & 1) ? -1 : 1) : ((col & 1) ? 1 : -1);
    (void)shift;
    Real res = 0.25 * (other[ind - ((NUM >> 1) + 2)] + other[ind + ((NUM >> 1) + 2)] + other[ind] +
                       other[ind + side] + f[ind]);
    Real n = t * (1.0 - omega * 0.5) + omega * 0.5 * res;
    mine[ind] = n;
    extern __shared__ Real s[];
    int tid = threadIdx.y * blockDim.x + threadIdx.x;
    s[tid] = (n - t) * (n - t);
    __syncthreads();
    for (int k = blockDim.x * blockDim.y / 2; k > 0; k /= 2) {
        if (tid < k) s[tid] += s[tid + k];
        __syncthreads();
    }
    if (tid == 0) norm_L2[blockIdx.y * gridDim.x + blockIdx.x] = s[0];
}
static void sor_host(int color, const Real *f, const Real *other, Real *mine, Real *norm)
{
    const int w = (NUM >> 1) + 2;
    Real sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int col = 1; col <= NUM; col++)
        for (int row = 1; row <= NUM / 2; row++) {
            int ind = col * w + row,
                side = color == 0 ? ((col & 1) ? -1 : 1) : ((col & 1) ? 1 : -1);
            Real t = mine[ind],
                 n = t * (1.0 - omega * 0.5) + omega * 0.5 * 0.25 *
                                                   (other[ind - w] + other[ind + w] + other[ind] +
                                                    other[ind + side] + f[ind]);
            mine[ind] = n;
            sum += (n - t) * (n - t);
        }
    *norm = sum;
}
int main()
{
    const size_t n = ((NUM >> 1) + 2) * (NUM + 2);
    Real *f = new Real[n], *r = new Real[n](), *b = new Real[n](), *hr = new Real[n];
    for (size_t i = 0; i < n; i++) f[i] = sin(0.1 * i);
    Real *df, *dr, *db, *dn;
    cudaMalloc(&df, n * 8);
    cudaMalloc(&dr, n * 8);
    cudaMalloc(&db, n * 8);
    cudaMalloc(&dn, 64 * 8);
    cudaMemcpy(df, f, n * 8, cudaMemcpyHostToDevice);
    cudaMemset(dr, 0, n * 8);
    cudaMemset(db, 0, n * 8);
    dim3 block(8, 16), grid(NUM / 2 / 8, NUM / 16);
    Real hn[64];
    int bad = 0;
    for (int it = 0; it < 40; it++) {
        Real norm = 0, want, sum = 0;
        sor_kernel<0><<<grid, block, block.x * block.y * sizeof(Real)>>>(df, db, dr, dn);
        cudaMemcpy(hn, dn, grid.x * grid.y * 8, cudaMemcpyDeviceToHost);
        for (unsigned k = 0; k < grid.x * grid.y; k++) norm += hn[k];
        sor_host(0, f, b, r, &want);
        sum += fabs(norm - want) > 1e-9 * (1 + want);
        sor_kernel<1><<<grid, block, block.x * block.y * sizeof(Real)>>>(df, dr, db, dn);
        sor_host(1, f, r, b, &want);
        bad += sum;
    }
    cudaMemcpy(hr, dr, n * 8, cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < n; i++) bad += fabs(hr[i] - r[i]) > 1e-9;
    printf("threads %d bad %d\n", omp_get_max_threads(), bad);
    return bad != 0;
}
