// Layered 2-D and cubemap textures, a 3-D texture with linear filtering, a 3-D surface.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <cuda_runtime.h>
#define checkCudaErrors(val) check((val), #val, __FILE__, __LINE__)
template <typename T>
void check(T result, char const *const func, const char *const file, int const line)
{
    if (result) {
        fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\" \n", file, line,
                static_cast<unsigned int>(result), cudaGetErrorName(result), func);
        exit(EXIT_FAILURE);
    }
}
__global__ void layered(float *out, int width, int height, int layer, cudaTextureObject_t tex)
{
    unsigned int x = blockIdx.x * blockDim.x + threadIdx.x,
                 y = blockIdx.y * blockDim.y + threadIdx.y;
    float u = (x + 0.5f) / (float)width, v = (y + 0.5f) / (float)height;
    out[layer * width * height + y * width + x] = -tex2DLayered<float>(tex, u, v, layer) + layer;
}
__global__ void cube(float *out, int width, cudaTextureObject_t tex)
{
    unsigned int x = blockIdx.x * blockDim.x + threadIdx.x,
                 y = blockIdx.y * blockDim.y + threadIdx.y;
    float u = ((x + 0.5f) / (float)width) * 2.f - 1.f, v = ((y + 0.5f) / (float)width) * 2.f - 1.f;
    for (int face = 0; face < 6; face++) {
        float cx, cy, cz;
        if (face == 0) {
            cx = 1;
            cy = -v;
            cz = -u;
        } else if (face == 1) {
            cx = -1;
            cy = -v;
            cz = u;
        } else if (face == 2) {
            cx = u;
            cy = 1;
            cz = v;
        } else if (face == 3) {
            cx = u;
            cy = -1;
            cz = -v;
        } else if (face == 4) {
            cx = u;
            cy = -v;
            cz = 1;
        } else {
            cx = -u;
            cy = -v;
            cz = -1;
        }
        out[face * width * width + y * width + x] = -texCubemap<float>(tex, cx, cy, cz);
    }
}
__global__ void fillVolume(cudaSurfaceObject_t surf, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
    if (x < n)
        surf3Dwrite(make_float2(x + 10 * y + 100 * z, -x), surf, x * sizeof(float2), y, z,
                    cudaBoundaryModeTrap);
}
__global__ void sampleVolume(float2 *out, cudaTextureObject_t tex, int n)
{
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    out[(z * n + y) * n + x] = tex3D<float2>(tex, x + 1.0f, y + 0.5f, z + 0.5f);
}
int main(int argc, char **argv)
{
    const unsigned width = 64, layers = 5;
    size_t bytes = width * width * layers * sizeof(float);
    float *h = (float *)malloc(bytes), *back = (float *)malloc(bytes), *d;
    int bad = 0;
    for (unsigned l = 0; l < layers; l++)
        for (unsigned i = 0; i < width * width; i++) h[l * width * width + i] = (float)i + l;
    checkCudaErrors(cudaMalloc((void **)&d, 6 * 32 * 32 * 4 + bytes));
    cudaChannelFormatDesc desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    cudaArray *a3;
    checkCudaErrors(
        cudaMalloc3DArray(&a3, &desc, make_cudaExtent(width, width, layers), cudaArrayLayered));
    cudaMemcpy3DParms p = {0};
    p.srcPos = make_cudaPos(0, 0, 0);
    p.dstPos = make_cudaPos(0, 0, 0);
    p.srcPtr = make_cudaPitchedPtr(h, width * sizeof(float), width, width);
    p.dstArray = a3;
    p.extent = make_cudaExtent(width, width, layers);
    p.kind = cudaMemcpyHostToDevice;
    checkCudaErrors(cudaMemcpy3D(&p));
    cudaTextureObject_t tex;
    cudaResourceDesc r;
    memset(&r, 0, sizeof(r));
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a3;
    cudaTextureDesc t;
    memset(&t, 0, sizeof(t));
    t.normalizedCoords = true;
    t.filterMode = cudaFilterModeLinear;
    t.addressMode[0] = t.addressMode[1] = cudaAddressModeWrap;
    t.readMode = cudaReadModeElementType;
    checkCudaErrors(cudaCreateTextureObject(&tex, &r, &t, NULL));
    for (unsigned l = 0; l < layers; l++)
        layered<<<dim3(8, 8), dim3(8, 8)>>>(d, width, width, l, tex);
    checkCudaErrors(cudaMemcpy(back, d, bytes, cudaMemcpyDeviceToHost));
    for (unsigned l = 0; l < layers; l++)
        for (unsigned i = 0; i < width * width; i++)
            bad += fabs(back[l * width * width + i] + h[l * width * width + i] - l) > 1e-3;
    printf("layered: %d\n", bad);

    const unsigned cw = 32;
    cudaArray *ac;
    float *hc = (float *)malloc(6 * cw * cw * 4);
    for (unsigned i = 0; i < 6 * cw * cw; i++) hc[i] = i;
    checkCudaErrors(cudaMalloc3DArray(&ac, &desc, make_cudaExtent(cw, cw, 6), cudaArrayCubemap));
    cudaMemcpy3DParms pc = {};
    pc.srcPtr = make_cudaPitchedPtr(hc, cw * 4, cw, cw);
    pc.dstArray = ac;
    pc.extent = make_cudaExtent(cw, cw, 6);
    pc.kind = cudaMemcpyHostToDevice;
    checkCudaErrors(cudaMemcpy3D(&pc));
    r.res.array.array = ac;
    cudaTextureObject_t ct;
    t.filterMode = cudaFilterModePoint;
    checkCudaErrors(cudaCreateTextureObject(&ct, &r, &t, NULL));
    cube<<<dim3(4, 4), dim3(8, 8)>>>(d, cw, ct);
    checkCudaErrors(cudaGetLastError());
    checkCudaErrors(cudaMemcpy(back, d, 6 * cw * cw * 4, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < 6 * cw * cw; i++) bad += back[i] != -hc[i];
    printf("cube: %d\n", bad);

    const int n = 16;
    cudaArray_t av;
    cudaChannelFormatDesc d2 = cudaCreateChannelDesc<float2>();
    checkCudaErrors(
        cudaMalloc3DArray(&av, &d2, make_cudaExtent(n, n, n), cudaArraySurfaceLoadStore));
    r.res.array.array = av;
    cudaSurfaceObject_t surf;
    checkCudaErrors(cudaCreateSurfaceObject(&surf, &r));
    fillVolume<<<dim3(1, n, n), 32>>>(surf, n);
    cudaTextureDesc tv = {};
    tv.filterMode = cudaFilterModeLinear;
    for (int i = 0; i < 3; i++) tv.addressMode[i] = cudaAddressModeClamp;
    cudaTextureObject_t vt;
    checkCudaErrors(cudaCreateTextureObject(&vt, &r, &tv, NULL));
    float2 *dv, *hv = (float2 *)malloc(n * n * n * 8);
    checkCudaErrors(cudaMalloc(&dv, n * n * n * 8));
    sampleVolume<<<dim3(n, n), n>>>(dv, vt, n);
    checkCudaErrors(cudaMemcpy(hv, dv, n * n * n * 8, cudaMemcpyDeviceToHost));
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                float fx = x + 1 < n ? x + 0.5f : x;
                float2 g = hv[(z * n + y) * n + x];
                bad += fabsf(g.x - (fx + 10 * y + 100 * z)) > 0.02f || fabsf(g.y + fx) > 0.01f;
            }
    printf("all: %d\n", bad);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
