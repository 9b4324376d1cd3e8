#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cmath>
#include <iostream>
#include <string>
using namespace std;
#define CHECK(call) do { const cudaError_t e_ = (call); if (e_ != cudaSuccess) { cerr << __FILE__ << ":" << __LINE__ << " " << cudaGetErrorName(e_) << endl; exit(1); } } while (0)
typedef unsigned int uint;
template <typename T> struct texReader { cudaTextureObject_t obj; __device__ __forceinline__ T operator()(int i) const { return tex1Dfetch<T>(obj, i); } };
template <> struct texReader<double> { cudaTextureObject_t obj;
  __device__ __forceinline__ double operator()(int i) const { int2 v = tex1Dfetch<int2>(obj, i); return __hiloint2double(v.y, v.x); } };
template <typename fpType, typename reader, int WARP>
__global__ void spmv_csr_vector(const fpType * __restrict__ val, const int * __restrict__ cols, const int * __restrict__ rowDelimiters,
                                reader x, const int dim, fpType * __restrict__ out)
{
    int t = threadIdx.x, id = t & (WARP - 1), warpsPerBlock = blockDim.x / WARP, myRow = (blockIdx.x * warpsPerBlock) + (t / WARP);
    __shared__ volatile fpType partialSums[128];
    if (myRow < dim)
    {
        int warpStart = rowDelimiters[myRow], warpEnd = rowDelimiters[myRow+1];
        fpType mySum = 0;
        for (int j = warpStart + id; j < warpEnd; j += WARP) mySum += val[j] * x(cols[j]);
        partialSums[t] = mySum;
        if (id < 16) partialSums[t] += partialSums[t+16];
        if (id <  8) partialSums[t] += partialSums[t+ 8];
        if (id <  4) partialSums[t] += partialSums[t+ 4];
        if (id <  2) partialSums[t] += partialSums[t+ 2];
        if (id <  1) partialSums[t] += partialSums[t+ 1];
        if (id == 0) out[myRow] = partialSums[t];
    }
}
template <typename T> cudaChannelFormatDesc desc();
template <> cudaChannelFormatDesc desc<float>() { return cudaCreateChannelDesc<float>(); }
template <> cudaChannelFormatDesc desc<double>() { return cudaCreateChannelDesc(32, 32, 0, 0, cudaChannelFormatKindSigned); }
template <typename T> bool RunTest(const string &name, int n)
{
    int *rows, *cols; T *val, *x, *out, *dval, *dx, *dout; int *drows, *dcols;
    CHECK(cudaMallocHost(&rows, (n+1) * sizeof(int))); CHECK(cudaMallocHost(&cols, n * 40 * sizeof(int)));
    CHECK(cudaMallocHost(&val, n * 40 * sizeof(T))); CHECK(cudaMallocHost((void **)&x, n * sizeof(T))); CHECK(cudaMallocHost(&out, n * sizeof(T)));
    int nnz = 0; srand48(8675309L);
    for (int r = 0; r < n; r++) { rows[r] = nnz; for (int c = 0; c < 1 + r % 39; c++) { cols[nnz] = (r * 7 + c * 13) % n; val[nnz++] = drand48(); } x[r] = drand48(); }
    rows[n] = nnz;
    CHECK(cudaMalloc(&drows, (n+1) * sizeof(int))); CHECK(cudaMalloc(&dcols, nnz * sizeof(int))); CHECK(cudaMalloc(&dval, nnz * sizeof(T)));
    CHECK(cudaMalloc(&dx, n * sizeof(T))); CHECK(cudaMalloc(&dout, n * sizeof(T)));
    CHECK(cudaMemcpy(drows, rows, (n+1) * sizeof(int), cudaMemcpyHostToDevice)); CHECK(cudaMemcpy(dcols, cols, nnz * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dval, val, nnz * sizeof(T), cudaMemcpyHostToDevice)); CHECK(cudaMemcpy(dx, x, n * sizeof(T), cudaMemcpyHostToDevice));
    cudaResourceDesc res; memset(&res, 0, sizeof res);
    res.resType = cudaResourceTypeLinear; res.res.linear.devPtr = dx; res.res.linear.desc = desc<T>(); res.res.linear.sizeInBytes = n * sizeof(T);
    cudaTextureDesc td = {}; td.readMode = cudaReadModeElementType;
    texReader<T> reader; CHECK(cudaCreateTextureObject(&reader.obj, &res, &td, NULL));
    cudaEvent_t start, stop; CHECK(cudaEventCreate(&start)); CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start, 0));
    spmv_csr_vector<T, texReader<T>, 32><<<(n + 3) / 4, 128>>>(dval, dcols, drows, reader, n, dout);
    CHECK(cudaEventRecord(stop, 0)); CHECK(cudaEventSynchronize(stop));
    float ms = 0; CHECK(cudaEventElapsedTime(&ms, start, stop));
    CHECK(cudaMemcpy(out, dout, n * sizeof(T), cudaMemcpyDeviceToHost));
    double worst = 0;
    for (int r = 0; r < n; r++) { double s = 0; for (int j = rows[r]; j < rows[r+1]; j++) s += (double)val[j] * x[cols[j]]; worst = max(worst, fabs(s - out[r])); }
    cout << name << " " << (worst < 1e-4 ? "Passed" : "FAILED") << " error " << worst << endl;
    CHECK(cudaDestroyTextureObject(reader.obj)); CHECK(cudaFreeHost(rows)); CHECK(cudaFree(dval));
    return worst < 1e-4;
}
int main(int, char **) { bool good = RunTest<float>("CSR-Vector-SP", 300) & RunTest<double>("CSR-Vector-DP", 300); return good ? 0 : 1; }
