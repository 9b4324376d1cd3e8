// Host and device code, the preprocessor and the runtime agree on CUDA's version; __CUDA_ARCH__ is
// defined in device code alone.
#include <cuda.h>
#include <cuda_runtime.h>

#include "check.h"

struct versions {
    int runtime, driver, compiler, has_architecture;
};

__host__ __device__ static versions seen()
{
    versions here = {CUDART_VERSION, CUDA_VERSION,
                     __CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10, 0};
#ifdef __CUDA_ARCH__
    here.has_architecture = __CUDA_ARCH__ >= 300;
#endif
    return here;
}

__global__ void look(versions *out)
{
    *out = seen();
}

int main()
{
    versions *const device = managed<versions>(1), host = seen();
    look<<<1, 1>>>(device);
    CUDA(cudaDeviceSynchronize());
    int runtime, driver;
    CUDA(cudaRuntimeGetVersion(&runtime));
    CUDA(cudaDriverGetVersion(&driver));
    CHECK(host.runtime == device->runtime && host.driver == device->driver &&
          host.compiler == device->compiler);
    CHECK(host.runtime == runtime && host.runtime == host.driver && host.runtime == host.compiler,
          "%d, %d, %d, %d", host.runtime, runtime, host.driver, host.compiler);
    CHECK(driver >= runtime);
    CHECK(!host.has_architecture && device->has_architecture);
    return finish();
}
