/* Textures and surfaces as samples have them: a volume with linear filtering and normalized
 * coordinates, layers, a surface that is rotated, wrap and border, four channels, updates of a
 * texture between launches, and an array of texture objects in device memory. */
#include "helper.h"
#include <vector>

struct Camera {
    float3 origin, step;
};
__constant__ Camera camera;

__global__ void march(float *out, cudaTextureObject_t volume, int w, int h, int steps)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float3 at = camera.origin;
    at.x += (x + 0.5f) / w;
    at.y += (y + 0.5f) / h;
    float most = 0;
    for (int i = 0; i < steps; i++) {
        most = fmaxf(most, tex3D<float>(volume, at.x, at.y, at.z));
        at.x += camera.step.x, at.y += camera.step.y, at.z += camera.step.z;
    }
    out[y * w + x] = most;
}

__global__ void layers(float4 *out, cudaTextureObject_t t, int w, int h, int layer)
{
    const int x = threadIdx.x, y = blockIdx.x;
    const float4 v = tex2DLayered<float4>(t, (x + 0.5f) / w, (y + 0.5f) / h, layer);
    out[y * w + x] = make_float4(v.w, v.z, v.y, v.x);
}

__global__ void paint(cudaSurfaceObject_t out, int w, int h, float phase)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) surf2Dwrite((float)(x + w * y) + phase, out, x * sizeof(float), y);
}

__global__ void transform(float *out, int w, int h, float theta, cudaTextureObject_t t)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const float u = (float)x / w - 0.5f, v = (float)y / h - 0.5f;
    const float tu = u * cosf(theta) - v * sinf(theta) + 0.5f,
                tv = v * cosf(theta) + u * sinf(theta) + 0.5f;
    out[y * w + x] = tex2D<float>(t, tu + 0.5f / w, tv + 0.5f / h);
}

__global__ void gather(int *out, const cudaTextureObject_t *textures, int count, int n)
{
    const int i = threadIdx.x;
    int sum = 0;
    for (int k = 0; k < count; k++) sum += (k + 1) * tex1Dfetch<int>(textures[k], (i * 7 + k) % n);
    out[i] = sum;
}

static cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureAddressMode mode,
                                      cudaTextureFilterMode filter, bool normalized)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = mode;
    how.filterMode = filter;
    how.normalizedCoords = normalized;
    cudaTextureObject_t t;
    checkCudaErrors(cudaCreateTextureObject(&t, &resource, &how, NULL));
    return t;
}

int main()
{
    /* a linear function of the place: linear filtering gives it back exactly inside */
    const int n = 16, w = 24, h = 20;
    std::vector<float> volume(n * n * n), image(w * h);
    for (int i = 0; i < n * n * n; i++) volume[i] = i % n + 2 * (i / n % n) + 4 * (i / n / n);
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    checkCudaErrors(cudaMalloc3DArray(&array, &format, make_cudaExtent(n, n, n)));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(&volume[0], n * sizeof(float), n, n);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(n, n, n);
    copy.kind = cudaMemcpyHostToDevice;
    checkCudaErrors(cudaMemcpy3D(&copy));
    const cudaTextureObject_t t3 =
        texture_of(array, cudaAddressModeClamp, cudaFilterModeLinear, true);
    const Camera c = {{0, 0, 0.125f}, {0, 0, 0.0625f}};
    checkCudaErrors(cudaMemcpyToSymbol(camera, &c, sizeof c));
    float *d;
    checkCudaErrors(cudaMalloc(&d, 4096 * sizeof(float)));
    march<<<dim3(2, 2), dim3(16, 16)>>>(d, t3, w, h, 10);
    checkCudaErrors(cudaMemcpy(&image[0], d, w * h * 4, cudaMemcpyDeviceToHost));
    for (int y = 1; y < h - 1; y++)
        for (int x = 1; x < w - 1; x++) {
            const float u = (x + 0.5f) / w * n - 0.5f, v = (y + 0.5f) / h * n - 0.5f,
                        depth = (0.125f + 9 * 0.0625f) * n - 0.5f;
            EXPECT(fabsf(image[y * w + x] - (u + 2 * v + 4 * depth)) < 0.03f, "(%d, %d): %g", x, y,
                   image[y * w + x]);
        }
    checkCudaErrors(cudaDestroyTextureObject(t3));
    checkCudaErrors(cudaFreeArray(array));

    const int lw = 8, lh = 4, count = 3;
    std::vector<float4> quads(lw * lh * count), got(lw * lh);
    for (int i = 0; i < lw * lh * count; i++) quads[i] = make_float4(i, 2 * i, -i, 0.5f * i);
    format = cudaCreateChannelDesc<float4>();
    checkCudaErrors(
        cudaMalloc3DArray(&array, &format, make_cudaExtent(lw, lh, count), cudaArrayLayered));
    copy.srcPtr = make_cudaPitchedPtr(&quads[0], lw * sizeof(float4), lw, lh);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(lw, lh, count);
    checkCudaErrors(cudaMemcpy3D(&copy));
    const cudaTextureObject_t tl =
        texture_of(array, cudaAddressModeWrap, cudaFilterModePoint, true);
    for (int layer = 0; layer < count; layer++) {
        layers<<<lh, lw>>>((float4 *)d, tl, lw, lh, layer);
        checkCudaErrors(
            cudaMemcpy(&got[0], d, got.size() * sizeof(float4), cudaMemcpyDeviceToHost));
        for (int i = 0; i < lw * lh; i++) {
            const float4 want = quads[layer * lw * lh + i];
            EXPECT(got[i].x == want.w && got[i].y == want.z && got[i].w == want.x,
                   "layer %d %d: %g", layer, i, got[i].x);
        }
    }
    checkCudaErrors(cudaFreeArray(array));

    /* written through a surface, read as a texture, twice */
    format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    checkCudaErrors(cudaMallocArray(&array, &format, w, h, cudaArraySurfaceLoadStore));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface;
    checkCudaErrors(cudaCreateSurfaceObject(&surface, &resource));
    const cudaTextureObject_t t2 =
        texture_of(array, cudaAddressModeWrap, cudaFilterModePoint, true);
    for (int round = 0; round < 2; round++) {
        paint<<<dim3(3, 3), dim3(8, 8)>>>(surface, w, h, round * 1000);
        transform<<<dim3(3, 3), dim3(8, 8)>>>(d, w, h, 3.14159265f, t2);
        checkCudaErrors(cudaMemcpy(&image[0], d, w * h * 4, cudaMemcpyDeviceToHost));
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                const int want = (w - x) % w + w * ((h - y) % h) + round * 1000;
                EXPECT(image[y * w + x] == want, "(%d, %d): %g, not %d", x, y, image[y * w + x],
                       want);
            }
    }
    checkCudaErrors(cudaDestroySurfaceObject(surface));

    const int textures = 4, length = 100;
    cudaTextureObject_t host[textures], *device;
    int *ints, *out, results[64];
    checkCudaErrors(cudaMallocManaged(&ints, textures * length * 4));
    for (int i = 0; i < textures * length; i++) ints[i] = i * 3;
    for (int k = 0; k < textures; k++) {
        cudaResourceDesc linear = {};
        linear.resType = cudaResourceTypeLinear;
        linear.res.linear.devPtr = ints + k * 64; /* aligned as textures must be */
        linear.res.linear.desc = cudaCreateChannelDesc<int>();
        linear.res.linear.sizeInBytes = length * sizeof(int);
        cudaTextureDesc how = {};
        checkCudaErrors(cudaCreateTextureObject(&host[k], &linear, &how, NULL));
    }
    checkCudaErrors(cudaMalloc(&device, sizeof host));
    checkCudaErrors(cudaMalloc(&out, sizeof results));
    checkCudaErrors(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
    gather<<<1, 64>>>(out, device, textures, length);
    checkCudaErrors(cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) {
        int want = 0;
        for (int k = 0; k < textures; k++) want += (k + 1) * ints[k * 64 + (i * 7 + k) % length];
        EXPECT(results[i] == want, "%d: %d, not %d", i, results[i], want);
    }
    return verdict();
}
