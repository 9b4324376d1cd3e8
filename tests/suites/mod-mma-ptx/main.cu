// GEMM by mma.sync with ldmatrix, in half and in tf32; wmma for comparison.
#include <cstdio>
#include <cstdint>
#include <cmath>
#include <vector>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
__device__ __forceinline__ uint32_t smem_addr(const void *p)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void ldmatrix_x4(uint32_t (&r)[4], const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(smem_addr(p)));
}
__device__ __forceinline__ void ldmatrix_x2_trans(uint32_t (&r)[2], const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];\n"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(smem_addr(p)));
}
__device__ __forceinline__ void mma_f16(float (&d)[4], const uint32_t (&a)[4],
                                        const uint32_t (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                 "{%8,%9}, {%0,%1,%2,%3};\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__global__ void gemm_mma(const half *A, const half *B, float *C, int N, int K)
{
    __shared__ __align__(16) half As[16][24];
    __shared__ __align__(16) half Bs[16][8];
    int lane = threadIdx.x, m0 = blockIdx.y * 16, n0 = blockIdx.x * 8;
    float d[4] = {};
    for (int k0 = 0; k0 < K; k0 += 16) {
        for (int i = lane; i < 32; i += 32)
            *reinterpret_cast<int4 *>(&As[i / 2][(i % 2) * 8]) =
                *reinterpret_cast<const int4 *>(&A[(m0 + i / 2) * K + k0 + (i % 2) * 8]);
        if (lane < 16)
            *reinterpret_cast<float4 *>(&Bs[lane][0]) =
                *reinterpret_cast<const float4 *>(&B[(k0 + lane) * N + n0]);
        __syncwarp();
        uint32_t a[4], b[2];
        ldmatrix_x4(a, &As[lane % 16][(lane / 16) * 8]);
        ldmatrix_x2_trans(b, &Bs[lane % 16][0]);
        mma_f16(d, a, b);
        __syncwarp();
    }
    int r = m0 + lane / 4, c = n0 + (lane % 4) * 2;
    *reinterpret_cast<float2 *>(&C[r * N + c]) = make_float2(d[0], d[1]);
    *reinterpret_cast<float2 *>(&C[(r + 8) * N + c]) = make_float2(d[2], d[3]);
}
__global__ void gemm_tf32(const float *A, const float *B, float *C, int N, int K)
{
    int lane = threadIdx.x, m0 = blockIdx.y * 16, n0 = blockIdx.x * 8, g = lane >> 2, t = lane & 3;
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
    for (int k0 = 0; k0 < K; k0 += 8) {
        uint32_t a0, a1, a2, a3, b0, b1;
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(a0) : "f"(A[(m0 + g) * K + k0 + t]));
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(a1) : "f"(A[(m0 + g + 8) * K + k0 + t]));
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(a2) : "f"(A[(m0 + g) * K + k0 + t + 4]));
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(a3) : "f"(A[(m0 + g + 8) * K + k0 + t + 4]));
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(b0) : "f"(B[(k0 + t) * N + n0 + g]));
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(b1) : "f"(B[(k0 + t + 4) * N + n0 + g]));
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, "
                     "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                     : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    }
    C[(m0 + g) * N + n0 + 2 * t] = d0;
    C[(m0 + g) * N + n0 + 2 * t + 1] = d1;
    C[(m0 + g + 8) * N + n0 + 2 * t] = d2;
    C[(m0 + g + 8) * N + n0 + 2 * t + 1] = d3;
}
__global__ void gemm_wmma(const half *A, const half *B, float *C, int N, int K)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    for (int k = 0; k < K; k += 16) {
        wmma::load_matrix_sync(a, A + blockIdx.y * 16 * K + k, K);
        wmma::load_matrix_sync(b, B + k * N + blockIdx.x * 16, N);
        wmma::mma_sync(c, a, b, c);
    }
    for (int i = 0; i < c.num_elements; i++) c.x[i] *= 1.0f;
    wmma::store_matrix_sync(C + blockIdx.y * 16 * N + blockIdx.x * 16, c, N, wmma::mem_row_major);
}
int main()
{
    const int M = 64, N = 48, K = 80;
    std::vector<half> A(M * K), B(K * N);
    std::vector<float> Af(M * K), Bf(K * N), want(M * N), got(M * N);
    for (int i = 0; i < M * K; i++) {
        Af[i] = (i * 7 % 17) - 8;
        A[i] = __float2half(Af[i]);
    }
    for (int i = 0; i < K * N; i++) {
        Bf[i] = (i * 5 % 13) - 6;
        B[i] = __float2half(Bf[i]);
    }
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float s = 0;
            for (int k = 0; k < K; k++) s += Af[m * K + k] * Bf[k * N + n];
            want[m * N + n] = s;
        }
    half *dA, *dB;
    float *fA, *fB, *dC;
    cudaMalloc(&dA, M * K * 2);
    cudaMalloc(&dB, K * N * 2);
    cudaMalloc(&fA, M * K * 4);
    cudaMalloc(&fB, K * N * 4);
    cudaMalloc(&dC, M * N * 4);
    cudaMemcpy(dA, A.data(), M * K * 2, cudaMemcpyHostToDevice);
    cudaMemcpy(dB, B.data(), K * N * 2, cudaMemcpyHostToDevice);
    cudaMemcpy(fA, Af.data(), M * K * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(fB, Bf.data(), K * N * 4, cudaMemcpyHostToDevice);
    int bad = 0;
    for (int which = 0; which < 3; which++) {
        cudaMemset(dC, 0, M * N * 4);
        if (which == 0)
            gemm_mma<<<dim3(N / 8, M / 16), 32>>>(dA, dB, dC, N, K);
        else if (which == 1)
            gemm_tf32<<<dim3(N / 8, M / 16), 32>>>(fA, fB, dC, N, K);
        else
            gemm_wmma<<<dim3(N / 16, M / 16), 32>>>(dA, dB, dC, N, K);
        cudaMemcpy(got.data(), dC, M * N * 4, cudaMemcpyDeviceToHost);
        int b = 0;
        for (int i = 0; i < M * N; i++) b += got[i] != want[i];
        printf("%d: %d\n", which, b);
        bad += b;
    }
    return bad != 0 || cudaGetLastError() != cudaSuccess;
}
