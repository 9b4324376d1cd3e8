#include <cstdio>
#include <cstring>
#include <cmath>
#include <vector>
#include <algorithm>
#include <cuda_runtime.h>
__constant__ float cGaussian[64];
__device__ float euclideanLen(float4 a, float4 b, float d)
{
    float mod = (b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y) + (b.z - a.z) * (b.z - a.z);
    return __expf(-mod / (2.f * d * d));
}
__device__ unsigned int rgbaFloatToInt(float4 rgba)
{
    rgba.x = __saturatef(fabsf(rgba.x));
    rgba.y = __saturatef(fabsf(rgba.y));
    rgba.z = __saturatef(fabsf(rgba.z));
    rgba.w = __saturatef(fabsf(rgba.w));
    return ((unsigned)(rgba.w * 255.0f) << 24) | ((unsigned)(rgba.z * 255.0f) << 16) |
           ((unsigned)(rgba.y * 255.0f) << 8) | (unsigned)(rgba.x * 255.0f);
}
__global__ void d_bilateral_filter(unsigned *od, int w, int h, float e_d, int r,
                                   cudaTextureObject_t rgbaTex, cudaSurfaceObject_t out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float sum = 0.0f;
    float4 t = {0.f, 0.f, 0.f, 0.f};
    float4 center = tex2D<float4>(rgbaTex, x, y);
    for (int i = -r; i <= r; i++)
        for (int j = -r; j <= r; j++) {
            float4 p = tex2D<float4>(rgbaTex, x + j, y + i);
            float factor = cGaussian[i + r] * cGaussian[j + r] * euclideanLen(p, center, e_d);
            t.x += factor * p.x;
            t.y += factor * p.y;
            t.z += factor * p.z;
            t.w += factor * p.w;
            sum += factor;
        }
    t.x /= sum;
    t.y /= sum;
    t.z /= sum;
    t.w /= sum;
    od[y * w + x] = rgbaFloatToInt(t);
    surf2Dwrite(make_uchar4(x, y, 7, od[y * w + x] & 255), out, x * sizeof(uchar4), y);
}
__global__ void copyBack(cudaSurfaceObject_t s, uchar4 *o, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < w) {
        uchar4 v;
        surf2Dread(&v, s, x * 4, y, cudaBoundaryModeClamp);
        o[y * w + x] = v;
    }
}
int main()
{
    const int w = 70, h = 40, r = 3;
    std::vector<uchar4> img(w * h), back(w * h);
    std::vector<unsigned> o(w * h);
    for (int i = 0; i < w * h; i++) img[i] = make_uchar4(i * 7, i * 3, i * 11, 255);
    float g[64];
    for (int i = 0; i <= 2 * r; i++) g[i] = expf(-((i - r) * (i - r)) / 8.0f);
    cudaMemcpyToSymbol(cGaussian, g, sizeof(float) * (2 * r + 1));
    uchar4 *d;
    size_t pitch;
    cudaMallocPitch(&d, &pitch, w * 4, h);
    cudaMemcpy2D(d, pitch, img.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice);
    cudaResourceDesc rd;
    memset(&rd, 0, sizeof rd);
    rd.resType = cudaResourceTypePitch2D;
    rd.res.pitch2D.devPtr = d;
    rd.res.pitch2D.desc = cudaCreateChannelDesc<uchar4>();
    rd.res.pitch2D.width = w;
    rd.res.pitch2D.height = h;
    rd.res.pitch2D.pitchInBytes = pitch;
    cudaTextureDesc td;
    memset(&td, 0, sizeof td);
    td.addressMode[0] = td.addressMode[1] = cudaAddressModeClamp;
    td.readMode = cudaReadModeNormalizedFloat;
    td.filterMode = cudaFilterModePoint;
    cudaTextureObject_t tex;
    if (cudaCreateTextureObject(&tex, &rd, &td, NULL)) return 2;
    cudaArray_t arr;
    cudaChannelFormatDesc cd = cudaCreateChannelDesc<uchar4>();
    cudaMallocArray(&arr, &cd, w, h, cudaArraySurfaceLoadStore);
    cudaResourceDesc sd = {};
    sd.resType = cudaResourceTypeArray;
    sd.res.array.array = arr;
    cudaSurfaceObject_t surf;
    cudaCreateSurfaceObject(&surf, &sd);
    unsigned *od;
    uchar4 *oc;
    cudaMalloc(&od, w * h * 4);
    cudaMalloc(&oc, w * h * 4);
    d_bilateral_filter<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(od, w, h, 0.1f, r, tex,
                                                                             surf);
    copyBack<<<dim3(2, h), 64>>>(surf, oc, w, h);
    cudaMemcpy(o.data(), od, w * h * 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(back.data(), oc, w * h * 4, cudaMemcpyDeviceToHost);
    int bad = 0;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            double s = 0, t = 0;
            uchar4 c = img[y * w + x];
            for (int i = -r; i <= r; i++)
                for (int j = -r; j <= r; j++) {
                    uchar4 p = img[std::min(std::max(y + i, 0), h - 1) * w +
                                   std::min(std::max(x + j, 0), w - 1)];
                    double q = (pow(p.x - c.x, 2) + pow(p.y - c.y, 2) + pow(p.z - c.z, 2)) /
                               65025.0,
                           f = g[i + r] * g[j + r] * exp(-q / 0.02);
                    s += f;
                    t += f * p.x / 255.0;
                }
            int want = (int)(t / s * 255);
            uchar4 b = back[y * w + x];
            bad += abs(want - (int)(o[y * w + x] & 255)) > 1 || b.x != x || b.y != y ||
                   b.w != (o[y * w + x] & 255);
        }
    printf("bad %d %s\n", bad, cudaGetErrorString(cudaGetLastError()));
    return bad != 0;
}
