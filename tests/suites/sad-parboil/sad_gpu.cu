#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include "sad.h"
#define CHK(x)                                                                                     \
    do {                                                                                           \
        cudaError_t _e = (x);                                                                      \
        if (_e) {                                                                                  \
            fprintf(stderr, "%s: %s (%d)\n", #x, cudaGetErrorName(_e), __LINE__);                  \
            exit(9);                                                                               \
        }                                                                                          \
    } while (0)

/* SADs of 4x4 blocks for all search positions; the reference comes through a clamped texture */
__global__ void mb_sad_calc(unsigned short *blk_sad, unsigned short *frame, int pitch, int mb_width,
                            cudaTextureObject_t ref)
{
    int bx = blockIdx.x, by = blockIdx.y;
    __shared__ unsigned short cur[16];
    if (threadIdx.x < 16)
        cur[threadIdx.x] =
            frame[(4 * by + (threadIdx.x >> 2)) * pitch + 4 * bx + (threadIdx.x & 3)];
    __syncthreads();
    for (int pos = threadIdx.x; pos < MAX_POS; pos += blockDim.x) {
        int dx = pos % SIDE - SEARCH, dy = pos / SIDE - SEARCH;
        unsigned short sad = 0;
        for (int y = 0; y < 4; y++)
            for (int x = 0; x < 4; x++)
                sad += abs(
                    (unsigned short)tex2D<unsigned short>(ref, 4 * bx + x + dx, 4 * by + y + dy) -
                    cur[4 * y + x]);
        blk_sad[(by * mb_width + bx) * MAX_POS + pos] = sad;
    }
}

typedef struct {
    unsigned short a, b;
} __align__(4) us2;
__global__ void larger_sad_calc_8(unsigned short *sad8, const unsigned short *sad4, int w)
{
    int bx = blockIdx.x, by = blockIdx.y, t = threadIdx.x;
    const unsigned short *p = sad4 + ((2 * by) * w + 2 * bx) * MAX_POS;
    if (t < MAX_POS / 2) {
        us2 s;
        s.a = p[2 * t] + p[MAX_POS + 2 * t] + p[w * MAX_POS + 2 * t] + p[(w + 1) * MAX_POS + 2 * t];
        s.b = p[2 * t + 1] + p[MAX_POS + 2 * t + 1] + p[w * MAX_POS + 2 * t + 1] +
              p[(w + 1) * MAX_POS + 2 * t + 1];
        *reinterpret_cast<us2 *>(sad8 + (by * (w / 2) + bx) * (MAX_POS + 1) + 2 * t) = s;
    } else if (t == MAX_POS / 2)
        sad8[(by * (w / 2) + bx) * (MAX_POS + 1) + MAX_POS - 1] =
            p[MAX_POS - 1] + p[2 * MAX_POS - 1] + p[(w + 1) * MAX_POS - 1] +
            p[(w + 2) * MAX_POS - 1];
}

extern "C" void sad_on_gpu(const image_i16 *ref, const image_i16 *cur, unsigned short *sad4,
                           unsigned short *sad8)
{
    int w = ref->width, h = ref->height;
    cudaArray_t arr;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<unsigned short>();
    CHK(cudaMallocArray(&arr, &desc, w, h));
    CHK(cudaMemcpy2DToArray(arr, 0, 0, ref->data, w * 2, w * 2, h, cudaMemcpyHostToDevice));
    cudaResourceDesc rd = {};
    rd.resType = cudaResourceTypeArray;
    rd.res.array.array = arr;
    cudaTextureDesc td = {};
    td.addressMode[0] = td.addressMode[1] = cudaAddressModeClamp;
    td.filterMode = cudaFilterModePoint;
    cudaTextureObject_t tex = 0;
    CHK(cudaCreateTextureObject(&tex, &rd, &td, NULL));
    unsigned short *d_cur, *d_sad4, *d_sad8;
    size_t pitch;
    CHK(cudaMallocPitch((void **)&d_cur, &pitch, w * 2, h));
    CHK(cudaMemcpy2D(d_cur, pitch, cur->data, w * 2, w * 2, h, cudaMemcpyHostToDevice));
    int n4 = (w / 4) * (h / 4), n8 = n4 / 4;
    CHK(cudaMalloc((void **)&d_sad4, n4 * MAX_POS * 2));
    CHK(cudaMalloc((void **)&d_sad8, n8 * (MAX_POS + 1) * 2));
    cudaFuncSetCacheConfig(mb_sad_calc, cudaFuncCachePreferShared);
    mb_sad_calc<<<dim3(w / 4, h / 4), 61>>>(d_sad4, d_cur, pitch / 2, w / 4, tex);
    larger_sad_calc_8<<<dim3(w / 8, h / 8), 64>>>(d_sad8, d_sad4, w / 4);
    CHK(cudaGetLastError());
    CHK(cudaMemcpy(sad4, d_sad4, n4 * MAX_POS * 2, cudaMemcpyDeviceToHost));
    CHK(cudaMemcpy2D(sad8, MAX_POS * 2, d_sad8, (MAX_POS + 1) * 2, MAX_POS * 2, n8,
                     cudaMemcpyDeviceToHost));
    cudaDestroyTextureObject(tex);
    cudaFreeArray(arr);
    cudaFree(d_cur);
    cudaFree(d_sad4);
    cudaFree(d_sad8);
}
