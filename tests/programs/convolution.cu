/* Separable convolution with its kernel in __constant__ memory: rows and columns through shared
 * memory with halos, and the same from a 2-D texture of a CUDA array and from pitched memory. */
#include "helper.h"

#define KERNEL_RADIUS 4
#define KERNEL_LENGTH (2 * KERNEL_RADIUS + 1)
#define ROWS_X        16
#define ROWS_Y        4
#define ROWS_STEPS    4
#define IMAD(a, b, c) (__mul24((a), (b)) + (c))

__constant__ float c_Kernel[KERNEL_LENGTH];

extern "C" void setConvolutionKernel(float *h_Kernel)
{
    cudaMemcpyToSymbol(c_Kernel, h_Kernel, KERNEL_LENGTH * sizeof(float));
}

__global__ void rows(float *dst, const float *src, int w, int pitch)
{
    __shared__ float s[ROWS_Y][(ROWS_STEPS + 2) * ROWS_X];
    const int baseX = (blockIdx.x * ROWS_STEPS - 1) * ROWS_X + threadIdx.x;
    const int baseY = blockIdx.y * ROWS_Y + threadIdx.y;
    src += baseY * pitch + baseX;
    dst += baseY * pitch + baseX;
#pragma unroll
    for (int i = 0; i < ROWS_STEPS + 2; i++) {
        const int x = baseX + i * ROWS_X;
        s[threadIdx.y][threadIdx.x + i * ROWS_X] = x >= 0 && x < w ? src[i * ROWS_X] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int i = 1; i <= ROWS_STEPS; i++) {
        float sum = 0;
#pragma unroll
        for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++)
            sum += c_Kernel[KERNEL_RADIUS - j] * s[threadIdx.y][threadIdx.x + i * ROWS_X + j];
        dst[i * ROWS_X] = sum;
    }
}

__global__ void columns(float *dst, cudaTextureObject_t src, int w, int h, int pitch)
{
    const int ix = IMAD(blockDim.x, blockIdx.x, threadIdx.x);
    const int iy = IMAD(blockDim.y, blockIdx.y, threadIdx.y);
    const float x = (float)ix + 0.5f, y = (float)iy + 0.5f;
    if (ix >= w || iy >= h) return;
    float sum = 0;
    for (int k = -KERNEL_RADIUS; k <= KERNEL_RADIUS; k++)
        sum += tex2D<float>(src, x, y + (float)k) * c_Kernel[KERNEL_RADIUS - k];
    dst[IMAD(iy, pitch, ix)] = sum;
}

int main()
{
    const int w = 128, h = 48;
    static float in[h][w], row_want[h][w], want[h][w], got[h][w], kernel[KERNEL_LENGTH];
    for (int i = 0; i < KERNEL_LENGTH; i++) kernel[i] = (float)(i * i % 7) / 16;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) in[y][x] = (float)((x * 31 + y * 17) % 29);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            for (int k = -KERNEL_RADIUS; k <= KERNEL_RADIUS; k++)
                if (x + k >= 0 && x + k < w)
                    row_want[y][x] += in[y][x + k] * kernel[KERNEL_RADIUS - k];
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            for (int k = -KERNEL_RADIUS; k <= KERNEL_RADIUS; k++) {
                const int at = y + k < 0 ? 0 : y + k >= h ? h - 1 : y + k; /* clamped */
                want[y][x] += row_want[at][x] * kernel[KERNEL_RADIUS - k];
            }
    setConvolutionKernel(kernel);

    float *src, *mid;
    size_t pitch;
    checkCudaErrors(cudaMallocPitch(&src, &pitch, w * sizeof(float), h));
    checkCudaErrors(cudaMallocPitch(&mid, &pitch, w * sizeof(float), h));
    checkCudaErrors(cudaMemcpy2D(src, pitch, in, w * sizeof(float), w * sizeof(float), h,
                                 cudaMemcpyHostToDevice));
    const int pitch_floats = (int)(pitch / sizeof(float));
    rows<<<dim3(w / (ROWS_X * ROWS_STEPS), h / ROWS_Y), dim3(ROWS_X, ROWS_Y)>>>(mid, src, w,
                                                                                pitch_floats);
    getLastCudaError("rows");
    checkCudaErrors(cudaMemcpy2D(got, w * sizeof(float), mid, pitch, w * sizeof(float), h,
                                 cudaMemcpyDeviceToHost));
    for (int i = 0; i < w * h; i++)
        EXPECT(close_to(got[0][i], row_want[0][i], 1e-5), "rows %d: %g", i, got[0][i]);

    cudaArray *array;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    checkCudaErrors(cudaMallocArray(&array, &format, w, h));
    checkCudaErrors(cudaMemcpy2DToArray(array, 0, 0, mid, pitch, w * sizeof(float), h,
                                        cudaMemcpyDeviceToDevice));
    for (int kind = 0; kind < 2; kind++) {
        cudaResourceDesc resource;
        memset(&resource, 0, sizeof resource);
        if (kind == 0) {
            resource.resType = cudaResourceTypeArray;
            resource.res.array.array = array;
        } else {
            resource.resType = cudaResourceTypePitch2D;
            resource.res.pitch2D.devPtr = mid;
            resource.res.pitch2D.desc = format;
            resource.res.pitch2D.width = w;
            resource.res.pitch2D.height = h;
            resource.res.pitch2D.pitchInBytes = pitch;
        }
        cudaTextureDesc how;
        memset(&how, 0, sizeof how);
        how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
        how.filterMode = cudaFilterModePoint;
        how.readMode = cudaReadModeElementType;
        cudaTextureObject_t texture;
        checkCudaErrors(cudaCreateTextureObject(&texture, &resource, &how, NULL));
        checkCudaErrors(cudaMemset2D(src, pitch, 0, w * sizeof(float), h));
        columns<<<dim3(w / 16, h / 12), dim3(16, 12)>>>(src, texture, w, h, pitch_floats);
        checkCudaErrors(cudaMemcpy2D(got, w * sizeof(float), src, pitch, w * sizeof(float), h,
                                     cudaMemcpyDeviceToHost));
        for (int i = 0; i < w * h; i++)
            EXPECT(close_to(got[0][i], want[0][i], 1e-5), "columns %d %d: %g", kind, i, got[0][i]);
        checkCudaErrors(cudaDestroyTextureObject(texture));
    }
    checkCudaErrors(cudaFreeArray(array));
    cudaFree(src);
    cudaFree(mid);
    return verdict();
}
