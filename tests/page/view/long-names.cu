#include <cstdio>
namespace cutlass_like
{
namespace gemm
{
namespace kernel
{
template <int M, int N, int K> struct GemmShape {
};
template <typename T, typename Layout, int Alignment> struct TensorOperandDescriptor {
};
struct RowMajorInterleavedLayout {
};
struct ColumnMajorInterleavedLayout {
};
template <typename A, typename B, typename Shape, int Stages>
struct DefaultMultistagePipelinedMainloopConfiguration {
};
} // namespace kernel
} // namespace gemm
} // namespace cutlass_like
using namespace cutlass_like::gemm::kernel;
template <typename Mainloop, typename T, bool SplitK>
__global__ void epilogue_with_broadcast_and_reduction(const T *__restrict__ in, T *__restrict__ out,
                                                      int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    T sum = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) sum += in[(i * 8 + k) % n];
    out[i] = sum;
}
int main()
{
    typedef DefaultMultistagePipelinedMainloopConfiguration<
        TensorOperandDescriptor<float, RowMajorInterleavedLayout, 16>,
        TensorOperandDescriptor<double, ColumnMajorInterleavedLayout, 16>, GemmShape<128, 256, 64>,
        4>
        Loop;
    float *in, *out;
    const int n = 1 << 14;
    cudaMalloc(&in, n * sizeof *in);
    cudaMalloc(&out, n * sizeof *out);
    cudaMemset(in, 0, n * sizeof *in);
    for (int i = 0; i < 3; i++) {
        epilogue_with_broadcast_and_reduction<Loop, float, true><<<n / 8 / 256, 256>>>(in, out, n);
        epilogue_with_broadcast_and_reduction<Loop, float, false><<<n / 8 / 256, 256>>>(in, out, n);
    }
    cudaDeviceSynchronize();
    return 0;
}
