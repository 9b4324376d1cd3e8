#include <cuda_runtime.h>
#include <memory>
#include <numeric>
#include <vector>

namespace host
{
double mean(const float *values, int n)
{
    /* through the device, without a kernel */
    float *device = nullptr;
    if (cudaMalloc(&device, n * sizeof(float)) != cudaSuccess) return 1e9;
    cudaMemcpy(device, values, n * sizeof(float), cudaMemcpyHostToDevice);
    std::vector<float> back(n);
    cudaMemcpy(back.data(), device, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device);
    const dim3 size(n);
    return std::accumulate(back.begin(), back.end(), 0.0) / size.x;
}
} // namespace host
