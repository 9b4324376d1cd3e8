// Modules of the driver API: the program loads itself, compiled once more as a module.
// options: -lcuda
#include <cuda.h>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "check.h"

#define DRIVER(call)                                                                               \
    do {                                                                                           \
        const CUresult result = call;                                                              \
        CHECK(result == CUDA_SUCCESS, "%s: %d", #call, (int)result);                               \
    } while (0)
#define REFUSED(call, wanted) CHECK((call) == (wanted), "%s", #call)

__constant__ float factor;
__device__ int calls;
extern "C" __global__ void scale(float *values, char step, double base, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i * step] = factor * (float)base * (float)i;
    if (i == 0) calls++;
}
extern "C" __global__ void count(int *out)
{
    *out = calls;
}

#ifndef AS_MODULE
static std::vector<char> read(const std::string &path)
{
    std::ifstream in(path, std::ios::binary);
    return std::vector<char>(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

static void set_factor(CUmodule module, float value)
{
    CUdeviceptr address;
    size_t bytes;
    DRIVER(cuModuleGetGlobal(&address, &bytes, module, "factor"));
    CHECK(bytes == sizeof value, "%zu", bytes);
    DRIVER(cuMemcpyHtoD(address, &value, sizeof value));
}

// One module twice: each has variables of its own.
static void test_module(CUmodule module, float value, int launches)
{
    CUfunction kernel, counter;
    enum { N = 100 };
    float *const values = managed<float>(2 * N);
    int *const counted = managed<int>(1);
    set_factor(module, value);
    DRIVER(cuModuleGetFunction(&kernel, module, "scale"));
    DRIVER(cuModuleGetFunction(&counter, module, "count"));
    char step = 2;
    double base = 0.5;
    int n = N;
    float *pointer = values;
    void *parameters[] = {&pointer, &step, &base, &n};
    DRIVER(cuLaunchKernel(kernel, 2, 1, 1, 64, 1, 1, 0, NULL, parameters, NULL));
    DRIVER(cuCtxSynchronize());
    for (int i = 0; i < N; i++) CHECK(values[2 * i] == value * 0.5f * (float)i, "%d", i);

    char buffer[64] = {}; // the same, one behind the other
    step = 1;
    memcpy(buffer, &pointer, 8);
    memcpy(buffer + 8, &step, 1);
    memcpy(buffer + 16, &base, 8);
    memcpy(buffer + 24, &n, 4);
    size_t bytes = 28;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    DRIVER(cuLaunchKernel(kernel, 2, 1, 1, 64, 1, 1, 0, NULL, NULL, extra));
    DRIVER(cuCtxSynchronize());
    for (int i = 0; i < N; i++) CHECK(values[i] == value * 0.5f * (float)i, "%d", i);
    bytes = 27;
    REFUSED(cuLaunchKernel(kernel, 2, 1, 1, 64, 1, 1, 0, NULL, NULL, extra),
            CUDA_ERROR_INVALID_VALUE);

    int *out = counted, threads = 0;
    void *count_parameters[] = {&out};
    DRIVER(cuLaunchKernel(counter, 1, 1, 1, 1, 1, 1, 0, NULL, count_parameters, NULL));
    DRIVER(cuCtxSynchronize());
    CHECK(*counted == launches, "%d launches", *counted);
    DRIVER(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel));
    CHECK(threads == 1024, "%d", threads);
    REFUSED(cuModuleGetFunction(&kernel, module, "absent"), CUDA_ERROR_NOT_FOUND);
}

int main(int, char **arguments)
{
    const std::string program = arguments[0], directory = program.substr(0, program.rfind('/'));
    const std::string path = directory + "/module.fatbin";
    const std::string command =
        std::string(getenv("CTASCOPE")) + " cc -O1 -DAS_MODULE -fatbin -o " + path + " " __FILE__;
    CHECK(system(command.c_str()) == 0, "%s", command.c_str());
    CUmodule one, two, other;
    CUdevice device;
    CUcontext context;
    DRIVER(cuInit(0));
    DRIVER(cuDeviceGet(&device, 0));
    DRIVER(cuDevicePrimaryCtxRetain(&context, device));
    DRIVER(cuCtxSetCurrent(context));
    DRIVER(cuModuleLoad(&one, path.c_str()));
    const std::vector<char> image = read(path);
    DRIVER(cuModuleLoadDataEx(&two, image.data(), 0, NULL, NULL));
    test_module(one, 2, 2);
    test_module(two, 3, 2);
    test_module(one, 4, 4);
    DRIVER(cuModuleUnload(one));
    test_module(two, 5, 4);
    DRIVER(cuModuleUnload(two));

    REFUSED(cuModuleLoad(&other, "absent.fatbin"), CUDA_ERROR_FILE_NOT_FOUND);
    REFUSED(cuModuleLoad(&other, __FILE__), CUDA_ERROR_INVALID_IMAGE);
    REFUSED(cuModuleLoadData(&other, ".version 8.0\n.target sm_80\n"), CUDA_ERROR_INVALID_IMAGE);
    REFUSED(cuModuleLoadData(&other, NULL), CUDA_ERROR_INVALID_VALUE);
    return finish();
}
#endif
