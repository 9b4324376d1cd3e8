#include <cassert>
#include <cfloat>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <iostream>
#include <stdlib.h>
#include <string.h>
#include <vector>
#include "OptionParser.h"
#include "sort_kernel.h"
#define CUDA_SAFE_CALL(call)                                                                       \
    do {                                                                                           \
        cudaError err = call;                                                                      \
        if (cudaSuccess != err) {                                                                  \
            std::cerr << "Cuda error in file '" << __FILE__ << "' in line " << __LINE__ << " : "   \
                      << cudaGetErrorString(err) << ".\n";                                         \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    } while (0)
#define CHECK_CUDA_ERROR()                                                                         \
    {                                                                                              \
        cudaError_t err = cudaGetLastError();                                                      \
        if (err != cudaSuccess) {                                                                  \
            printf("error=%d name=%s at ln: %d\n ", err, cudaGetErrorString(err), __LINE__);       \
            exit(-1);                                                                              \
        }                                                                                          \
    }
using namespace std;
void addBenchmarkSpecOptions(OptionParser &op)
{
    op.addOption("size", OPT_INT, "4096", "elements");
    op.addOption("iterations", OPT_INT, "2", "specify iterations");
}
bool verifySort(uint *keys, uint *vals, const uint *orig, const size_t size)
{
    bool passed = true;
    for (unsigned int i = 0; i < size - 1; i++)
        if (keys[i] > keys[i + 1]) {
            passed = false;
            cout << "Failure: at idx: " << i << endl;
            break;
        }
    for (unsigned int i = 0; i < size; i++)
        if (orig[vals[i]] != keys[i]) passed = false;
    cout << "Test " << (passed ? "Passed" : "Failed") << endl;
    return passed;
}
int main(int argc, char *argv[])
{
    OptionParser op;
    addBenchmarkSpecOptions(op);
    op.parse(argc, argv);
    int size = op.getOptionInt("size"), iterations = op.getOptionInt("iterations");
    unsigned int bytes = size * sizeof(uint);
    uint *hKeys, *hVals;
    CUDA_SAFE_CALL(cudaMallocHost((void **)&hKeys, bytes));
    CUDA_SAFE_CALL(cudaMallocHost((void **)&hVals, bytes));
    uint *dKeys, *dVals, *dTempKeys, *dTempVals;
    CUDA_SAFE_CALL(cudaMalloc((void **)&dKeys, bytes));
    CUDA_SAFE_CALL(cudaMalloc((void **)&dVals, bytes));
    CUDA_SAFE_CALL(cudaMalloc((void **)&dTempKeys, bytes));
    CUDA_SAFE_CALL(cudaMalloc((void **)&dTempVals, bytes));
    bool ok = true;
    for (int it = 0; it < iterations; it++) {
        srand48(8650341L);
        for (int i = 0; i < size; i++) {
            hKeys[i] = (uint)lrand48();
            hVals[i] = i;
        }
        vector<uint> orig(hKeys, hKeys + size);
        CUDA_SAFE_CALL(cudaMemcpy(dKeys, hKeys, bytes, cudaMemcpyHostToDevice));
        CUDA_SAFE_CALL(cudaMemcpy(dVals, hVals, bytes, cudaMemcpyHostToDevice));
        cudaEvent_t start, stop;
        cudaEventCreate(&start);
        cudaEventCreate(&stop);
        cudaEventRecord(start, 0);
        radixSortBlocks<<<size / 512, SORT_BLOCK_SIZE>>>(
            32, 0, (uint4 *)dTempKeys, (uint4 *)dTempVals, (uint4 *)dKeys, (uint4 *)dVals);
        CHECK_CUDA_ERROR();
        for (int run = 512; run < size; run *= 2) {
            mergeRanks<uint, 4>
                <<<(size + 255) / 256, 256>>>(dTempKeys, dTempVals, dKeys, dVals, run, size);
            swap(dKeys, dTempKeys);
            swap(dVals, dTempVals);
        }
        cudaEventRecord(stop, 0);
        CUDA_SAFE_CALL(cudaEventSynchronize(stop));
        float ms;
        cudaEventElapsedTime(&ms, start, stop);
        CUDA_SAFE_CALL(cudaMemcpy(hKeys, dTempKeys, bytes, cudaMemcpyDeviceToHost));
        CUDA_SAFE_CALL(cudaMemcpy(hVals, dTempVals, bytes, cudaMemcpyDeviceToHost));
        ok &= verifySort(hKeys, hVals, orig.data(), size);
        cout << (bytes / (1000. * 1000. * 1000.)) / (ms / 1000) << " GB/s" << endl;
    }
    CUDA_SAFE_CALL(cudaFreeHost(hKeys));
    CUDA_SAFE_CALL(cudaFreeHost(hVals));
    return ok ? 0 : 1;
}
