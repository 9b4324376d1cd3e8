// Function pointers in device code: tables in constant memory, pointers read by the host,
// templates.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
typedef unsigned char (*blockFunction_t)(unsigned char, unsigned char, unsigned char, unsigned char,
                                         unsigned char, unsigned char, unsigned char, unsigned char,
                                         unsigned char, float);
typedef unsigned char (*pointFunction_t)(unsigned char, float);
__device__ unsigned char ComputeSobel(unsigned char ul, unsigned char um, unsigned char ur,
                                      unsigned char ml, unsigned char mm, unsigned char mr,
                                      unsigned char ll, unsigned char lm, unsigned char lr,
                                      float fScale)
{
    short Horz = ur + 2 * mr + lr - ul - 2 * ml - ll;
    short Vert = ul + 2 * um + ur - ll - 2 * lm - lr;
    short Sum = (short)(fScale * (abs((int)Horz) + abs((int)Vert)));
    return (unsigned char)((Sum < 0) ? 0 : ((Sum > 255) ? 255 : Sum));
}
__device__ unsigned char ComputeBox(unsigned char ul, unsigned char um, unsigned char ur,
                                    unsigned char ml, unsigned char mm, unsigned char mr,
                                    unsigned char ll, unsigned char lm, unsigned char lr,
                                    float fscale)
{
    short Sum = (short)(ul + um + ur + ml + mm + mr + ll + lm + lr) / 9;
    Sum *= fscale;
    return (unsigned char)((Sum < 0) ? 0 : ((Sum > 255) ? 255 : Sum));
}
__device__ unsigned char Threshold(unsigned char in, float thresh)
{
    if (in > thresh)
        return 0xFF;
    else
        return 0;
}
__device__ unsigned char Half(unsigned char in, float)
{
    return in >> 1;
}
__device__ blockFunction_t varFunctionTable[2];
__device__ pointFunction_t pointTable[] = {Threshold, Half, NULL};
__device__ blockFunction_t pComputeSobel = ComputeSobel;
__device__ blockFunction_t pComputeBox = ComputeBox;
__constant__ int blockFunction_d;
__global__ void filter(const unsigned char *in, unsigned char *out, int w, int h, float scale,
                       int point)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < 1 || x >= w - 1 || y < 1 || y >= h - 1) return;
    const unsigned char *p = in + y * w + x;
    unsigned char v = (*(varFunctionTable[blockFunction_d]))(
        p[-w - 1], p[-w], p[-w + 1], p[-1], p[0], p[1], p[w - 1], p[w], p[w + 1], scale);
    if (pointTable[point] != NULL) v = (*pointTable[point])(v, 100.0f);
    out[y * w + x] = v;
}
template <typename T> using op_t = T (*)(T, T);
template <typename T> __device__ T add(T a, T b)
{
    return a + b;
}
template <typename T> __device__ T mul(T a, T b)
{
    return a * b;
}
template <typename T> __device__ op_t<T> d_add = add<T>;
template <typename T> __device__ op_t<T> d_mul = mul<T>;
template <typename T> __global__ void fold(const T *v, int n, op_t<T> f, T *out)
{
    T r = v[0];
    for (int i = 1; i < n; i++) r = f(r, v[i]);
    *out = r;
}
template <typename T> T run(op_t<T> *const &symbol_value, const T *v, int n, T *out)
{
    T r;
    fold<T><<<1, 1>>>(v, n, *symbol_value, out);
    cudaMemcpy(&r, out, sizeof r, cudaMemcpyDeviceToHost);
    return r;
}
int main()
{
    blockFunction_t h_table[2];
    cudaMemcpyFromSymbol(&h_table[0], pComputeSobel, sizeof(blockFunction_t));
    cudaMemcpyFromSymbol(&h_table[1], pComputeBox, sizeof(blockFunction_t));
    cudaMemcpyToSymbol(varFunctionTable, h_table, sizeof(blockFunction_t) * 2);
    const int w = 100, h = 40;
    unsigned char *a = (unsigned char *)malloc(w * h), *b = (unsigned char *)calloc(w, h), *da, *db;
    int bad = 0;
    for (int i = 0; i < w * h; i++) a[i] = (i * i) % 255;
    cudaMalloc(&da, w * h);
    cudaMalloc(&db, w * h);
    cudaMemcpy(da, a, w * h, cudaMemcpyHostToDevice);
    for (int f = 0; f < 2; f++)
        for (int point = 0; point < 3; point++) {
            cudaMemcpyToSymbol(blockFunction_d, &f, sizeof f);
            filter<<<dim3((w + 63) / 64, h), 64>>>(da, db, w, h, 0.5f, point);
            cudaMemcpy(b, db, w * h, cudaMemcpyDeviceToHost);
            for (int y = 1; y < h - 1; y++)
                for (int x = 1; x < w - 1; x++) {
                    unsigned char *p = a + y * w + x;
                    int v;
                    if (f == 0) {
                        int H = p[-w + 1] + 2 * p[1] + p[w + 1] - p[-w - 1] - 2 * p[-1] - p[w - 1],
                            V = p[-w - 1] + 2 * p[-w] + p[-w + 1] - p[w - 1] - 2 * p[w] - p[w + 1];
                        v = (int)(0.5f * (abs(H) + abs(V)));
                        if (v > 255) v = 255;
                    } else {
                        v = 0;
                        for (int j = -1; j < 2; j++)
                            for (int i = -1; i < 2; i++) v += p[j * w + i];
                        v = (v / 9) * 0.5f;
                    }
                    if (point == 0)
                        v = v > 100 ? 255 : 0;
                    else if (point == 1)
                        v >>= 1;
                    bad += v != b[y * w + x];
                }
        }
    long long v[10], *dv, *out;
    for (int i = 0; i < 10; i++) v[i] = i + 1;
    cudaMalloc(&dv, sizeof v);
    cudaMalloc(&out, 8);
    cudaMemcpy(dv, v, sizeof v, cudaMemcpyHostToDevice);
    op_t<long long> ha, hm;
    cudaMemcpyFromSymbol(&ha, d_add<long long>, sizeof ha);
    cudaMemcpyFromSymbol(&hm, d_mul<long long>, sizeof hm);
    bad += run<long long>(&ha, dv, 10, out) != 55;
    bad += run<long long>(&hm, dv, 10, out) != 3628800;
    printf("bad %d: %s\n", bad, cudaGetErrorString(cudaGetLastError()));
    return bad != 0;
}
