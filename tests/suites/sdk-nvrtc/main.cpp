#include <nvrtc.h>
#include <cuda.h>
#include <iostream>
#include <string>
#include <vector>
#define NVRTC_SAFE_CALL(x)                                                                         \
    do {                                                                                           \
        nvrtcResult result = x;                                                                    \
        if (result != NVRTC_SUCCESS) {                                                             \
            std::cerr << "\nerror: " #x " failed with error " << nvrtcGetErrorString(result)       \
                      << '\n';                                                                     \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define CUDA_SAFE_CALL(x)                                                                          \
    do {                                                                                           \
        CUresult result = x;                                                                       \
        if (result != CUDA_SUCCESS) {                                                              \
            const char *msg;                                                                       \
            cuGetErrorName(result, &msg);                                                          \
            std::cerr << "\nerror: " #x " failed with error " << msg << '\n';                      \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
const char *saxpy = "                                           \n\
extern \"C\" __global__                                         \n\
void saxpy(float a, float *x, float *y, float *out, size_t n)   \n\
{                                                               \n\
  size_t tid = blockIdx.x * blockDim.x + threadIdx.x;           \n\
  if (tid < n) {                                                \n\
    out[tid] = SCALE * a * x[tid] + y[tid];                     \n\
  }                                                             \n\
}                                                               \n\
template <typename T> __global__ void fill(T *p, T v) { p[threadIdx.x] = v; } \n";
int main()
{
    nvrtcProgram prog;
    int major, minor;
    NVRTC_SAFE_CALL(nvrtcVersion(&major, &minor));
    std::cout << "NVRTC " << major << "." << minor << "\n";
    NVRTC_SAFE_CALL(nvrtcCreateProgram(&prog, saxpy, "saxpy.cu", 0, NULL, NULL));
    NVRTC_SAFE_CALL(nvrtcAddNameExpression(prog, "fill<int>"));
    const char *opts[] = {"--fmad=false", "--gpu-architecture=compute_80", "-DSCALE=2.0f",
                          "--std=c++17"};
    nvrtcResult compileResult = nvrtcCompileProgram(prog, 4, opts);
    size_t logSize;
    NVRTC_SAFE_CALL(nvrtcGetProgramLogSize(prog, &logSize));
    std::vector<char> log(logSize);
    NVRTC_SAFE_CALL(nvrtcGetProgramLog(prog, log.data()));
    std::cout << log.data() << '\n';
    if (compileResult != NVRTC_SUCCESS) exit(1);
    const char *lowered;
    NVRTC_SAFE_CALL(nvrtcGetLoweredName(prog, "fill<int>", &lowered));
    std::string fill_name = lowered;
    size_t ptxSize;
    NVRTC_SAFE_CALL(nvrtcGetPTXSize(prog, &ptxSize));
    std::vector<char> ptx(ptxSize);
    NVRTC_SAFE_CALL(nvrtcGetPTX(prog, ptx.data()));
    NVRTC_SAFE_CALL(nvrtcDestroyProgram(&prog));
    CUdevice dev;
    CUcontext ctx;
    CUmodule module;
    CUfunction kernel, fill;
    CUDA_SAFE_CALL(cuInit(0));
    CUDA_SAFE_CALL(cuDeviceGet(&dev, 0));
    CUDA_SAFE_CALL(cuDevicePrimaryCtxRetain(&ctx, dev));
    CUDA_SAFE_CALL(cuCtxSetCurrent(ctx));
    CUDA_SAFE_CALL(cuModuleLoadDataEx(&module, ptx.data(), 0, 0, 0));
    CUDA_SAFE_CALL(cuModuleGetFunction(&kernel, module, "saxpy"));
    CUDA_SAFE_CALL(cuModuleGetFunction(&fill, module, fill_name.c_str()));
    size_t n = 128 * 32, bytes = n * sizeof(float);
    float a = 5.1f;
    std::vector<float> x(n), y(n), out(n);
    for (size_t i = 0; i < n; ++i) {
        x[i] = i;
        y[i] = i * 2;
    }
    CUdeviceptr dX, dY, dOut;
    CUDA_SAFE_CALL(cuMemAlloc(&dX, bytes));
    CUDA_SAFE_CALL(cuMemcpyHtoD(dX, x.data(), bytes));
    CUDA_SAFE_CALL(cuMemAlloc(&dY, bytes));
    CUDA_SAFE_CALL(cuMemcpyHtoD(dY, y.data(), bytes));
    CUDA_SAFE_CALL(cuMemAlloc(&dOut, bytes));
    void *args[] = {&a, &dX, &dY, &dOut, &n};
    CUDA_SAFE_CALL(cuLaunchKernel(kernel, 32, 1, 1, 128, 1, 1, 0, NULL, args, 0));
    CUDA_SAFE_CALL(cuCtxSynchronize());
    CUDA_SAFE_CALL(cuMemcpyDtoH(out.data(), dOut, bytes));
    int bad = 0;
    for (size_t i = 0; i < n; ++i) {
        volatile float p = 2.0f * a * x[i];
        bad += out[i] != p + y[i];
    }
    int v = 77, got[64];
    void *fargs[] = {&dX, &v};
    CUDA_SAFE_CALL(cuLaunchKernel(fill, 1, 1, 1, 64, 1, 1, 0, NULL, fargs, 0));
    CUDA_SAFE_CALL(cuMemcpyDtoH(got, dX, sizeof got));
    for (int g : got) bad += g != 77;
    NVRTC_SAFE_CALL(nvrtcCreateProgram(&prog, "__global__ void broken() { undefined_name = 1; }",
                                       "broken.cu", 0, NULL, NULL));
    bad += nvrtcCompileProgram(prog, 0, NULL) != NVRTC_ERROR_COMPILATION;
    NVRTC_SAFE_CALL(nvrtcGetProgramLogSize(prog, &logSize));
    log.resize(logSize);
    nvrtcGetProgramLog(prog, log.data());
    bad += std::string(log.data()).find("undefined_name") == std::string::npos;
    nvrtcDestroyProgram(&prog);
    std::cout << "bad " << bad << "\n";
    return bad != 0;
}
