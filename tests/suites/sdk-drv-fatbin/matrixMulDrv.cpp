#include <cuda.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>
#define checkCudaErrors(err) __checkCudaErrors(err, __FILE__, __LINE__)
inline void __checkCudaErrors(CUresult err, const char *file, const int line)
{
    if (CUDA_SUCCESS != err) {
        const char *s = NULL;
        cuGetErrorString(err, &s);
        fprintf(stderr, "error = %04d \"%s\" from file <%s>, line %i.\n", err, s, file, line);
        exit(EXIT_FAILURE);
    }
}
int main(int argc, char **argv)
{
    CUdevice dev;
    CUcontext ctx;
    CUmodule mod;
    CUfunction f;
    char name[100];
    int major = 0, minor = 0, bad = 0;
    size_t mem;
    checkCudaErrors(cuInit(0));
    int count;
    checkCudaErrors(cuDeviceGetCount(&count));
    checkCudaErrors(cuDeviceGet(&dev, 0));
    checkCudaErrors(
        cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, dev));
    checkCudaErrors(
        cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, dev));
    checkCudaErrors(cuDeviceGetName(name, 100, dev));
    checkCudaErrors(cuDeviceTotalMem(&mem, dev));
    printf("> %s sm_%d%d %zu bytes\n", name, major, minor, mem);
    checkCudaErrors(cuDevicePrimaryCtxRetain(&ctx, dev));
    checkCudaErrors(cuCtxSetCurrent(ctx));
    std::string dir = argv[0];
    dir = dir.substr(0, dir.rfind('/') + 1);
    std::ifstream in(dir + "matrixMul_kernel64.fatbin", std::ios::binary);
    std::vector<char> image((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (image.empty()) {
        fprintf(stderr, "no fatbin\n");
        return 1;
    }
    checkCudaErrors(cuModuleLoadData(&mod, image.data()));
    CUdeviceptr sym;
    size_t bytes;
    checkCudaErrors(cuModuleGetGlobal(&sym, &bytes, mod, "alpha"));
    float alpha = 2;
    bad += bytes != 4;
    checkCudaErrors(cuMemcpyHtoD(sym, &alpha, 4));
    const int WA = 64, HA = 96, WB = 128;
    std::vector<float> A(WA * HA), B(WB * WA), C(WB * HA);
    for (size_t i = 0; i < A.size(); i++) A[i] = i % 7;
    for (size_t i = 0; i < B.size(); i++) B[i] = i % 5;
    CUdeviceptr dA, dB, dC;
    checkCudaErrors(cuMemAlloc(&dA, A.size() * 4));
    checkCudaErrors(cuMemAlloc(&dB, B.size() * 4));
    checkCudaErrors(cuMemAlloc(&dC, C.size() * 4));
    checkCudaErrors(cuMemcpyHtoD(dA, A.data(), A.size() * 4));
    checkCudaErrors(cuMemcpyHtoD(dB, B.data(), B.size() * 4));
    for (int bs = 16; bs <= 32; bs += 16) {
        checkCudaErrors(cuModuleGetFunction(
            &f, mod, bs == 16 ? "matrixMul_bs16_64bit" : "matrixMul_bs32_64bit"));
        int shared;
        checkCudaErrors(cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f));
        printf("shared %d\n", shared);
        checkCudaErrors(cuMemsetD32(dC, 0, C.size()));
        size_t wa = WA, wb = WB;
        if (bs == 16) {
            void *args[5] = {&dC, &dA, &dB, &wa, &wb};
            checkCudaErrors(cuLaunchKernel(f, WB / bs, HA / bs, 1, bs, bs, 1, 0, NULL, args, NULL));
        } else {
            char buf[256];
            int off = 0;
            memcpy(buf + off, &dC, 8);
            off += 8;
            memcpy(buf + off, &dA, 8);
            off += 8;
            memcpy(buf + off, &dB, 8);
            off += 8;
            memcpy(buf + off, &wa, 8);
            off += 8;
            memcpy(buf + off, &wb, 8);
            off += 8;
            size_t size = off;
            void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buf, CU_LAUNCH_PARAM_BUFFER_SIZE,
                             &size, CU_LAUNCH_PARAM_END};
            checkCudaErrors(
                cuLaunchKernel(f, WB / bs, HA / bs, 1, bs, bs, 1, 0, NULL, NULL, extra));
        }
        checkCudaErrors(cuMemcpyDtoH(C.data(), dC, C.size() * 4));
        for (int y = 0; y < HA; y++)
            for (int x = 0; x < WB; x++) {
                float s = 0;
                for (int k = 0; k < WA; k++) s += A[y * WA + k] * B[k * WB + x];
                bad += fabsf(2 * s - C[y * WB + x]) > 1e-3f;
            }
    }
    bad += cuModuleGetFunction(&f, mod, "absent") != CUDA_ERROR_NOT_FOUND;
    checkCudaErrors(cuMemFree(dA));
    checkCudaErrors(cuMemFree(dB));
    checkCudaErrors(cuMemFree(dC));
    checkCudaErrors(cuModuleUnload(mod));
    checkCudaErrors(cuDevicePrimaryCtxRelease(dev));
    printf("bad %d\n", bad);
    return bad != 0;
}
