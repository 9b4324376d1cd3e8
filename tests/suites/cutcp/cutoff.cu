#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include "cutoff.h"
#ifdef __DEVICE_EMULATION__
#define DEBUG
#define KERN(gd, bd)                                                                               \
    ({                                                                                             \
        int t = 0;                                                                                 \
        t;                                                                                         \
    })
#else
#define KERN(gd, bd)
#endif
#define NBRLIST_DIM    11
#define NBRLIST_MAXLEN (NBRLIST_DIM * NBRLIST_DIM * NBRLIST_DIM)
__constant__ int NbrListLen;
__constant__ int3 NbrList[NBRLIST_MAXLEN];
#define BIN_LENGTH 4.f
#define BIN_INVLEN (1.f / BIN_LENGTH)
#define MY_CUDA_CHECK(call)                                                                        \
    {                                                                                              \
        cudaError err = call;                                                                      \
        if (cudaSuccess != err) {                                                                  \
            fprintf(stderr, "Cuda error in file '%s' in line %i : %s.\n", __FILE__, __LINE__,      \
                    cudaGetErrorString(err));                                                      \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    }

__global__ static void cuda_cutoff_potential_lattice6overlap(int binDim_x, int binDim_y,
                                                             float4 *binBaseAddr, float h,
                                                             float cutoff2, float inv_cutoff2,
                                                             float *regionZeroAddr,
                                                             int zRegionIndex)
{
    __shared__ float AtomBinCache[BIN_DEPTH * 4];
    __shared__ float *myRegionAddr;
    __shared__ int3 myBinIndex;
    const int xRegionIndex = blockIdx.x;
    const int yRegionIndex = blockIdx.y;
    const int tid = threadIdx.z * 64 + threadIdx.y * 8 + threadIdx.x;
    if (tid == 0) {
        myRegionAddr = regionZeroAddr +
                       ((zRegionIndex * gridDim.y + yRegionIndex) * gridDim.x + xRegionIndex) * 512;
        myBinIndex.x = (int)floorf((8 * xRegionIndex + 4) * h * BIN_INVLEN);
        myBinIndex.y = (int)floorf((8 * yRegionIndex + 4) * h * BIN_INVLEN);
        myBinIndex.z = (int)floorf((8 * zRegionIndex + 4) * h * BIN_INVLEN);
    }
    __syncthreads();
    float x = (8 * xRegionIndex + threadIdx.x) * h;
    float y = (8 * yRegionIndex + threadIdx.y) * h;
    float z[4], energy[4] = {0.f, 0.f, 0.f, 0.f};
#pragma unroll 4
    for (int k = 0; k < 4; k++) z[k] = (8 * zRegionIndex + 2 * k + threadIdx.z) * h;
    for (int n = 0; n < NbrListLen; n++) {
        int ib = myBinIndex.x + NbrList[n].x, jb = myBinIndex.y + NbrList[n].y,
            kb = myBinIndex.z + NbrList[n].z;
        __syncthreads();
        if (tid < BIN_SIZE)
            AtomBinCache[tid] =
                ((float *)(binBaseAddr + ((kb * binDim_y + jb) * binDim_x + ib) * BIN_DEPTH))[tid];
        __syncthreads();
        for (int i = 0; i < BIN_DEPTH; i++) {
            float aq = AtomBinCache[i * 4 + 3];
            if (0.f == aq) break;
            float dx = AtomBinCache[i * 4] - x, dy = AtomBinCache[i * 4 + 1] - y,
                  dxdy2 = dx * dx + dy * dy;
            if (dxdy2 < cutoff2) {
                for (int k = 0; k < 4; k++) {
                    float dz = AtomBinCache[i * 4 + 2] - z[k];
                    float r2 = dz * dz + dxdy2;
                    if (r2 < cutoff2) {
                        float s = (1.f - r2 * inv_cutoff2);
                        energy[k] += aq * rsqrtf(r2) * s * s;
                    }
                }
            }
        }
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
        myRegionAddr[((2 * k + threadIdx.z) * 8 + threadIdx.y) * 8 + threadIdx.x] = energy[k];
}

extern "C" int gpu_compute_cutoff_potential_lattice(float *lattice, Lattice dim, float cutoff,
                                                    const Atom *atoms, int natoms)
{
    int c = (int)ceilf(cutoff * BIN_INVLEN) + 1;
    int nb[3] = {(int)(dim.nx * dim.h * BIN_INVLEN) + 2 * c + 2,
                 (int)(dim.ny * dim.h * BIN_INVLEN) + 2 * c + 2,
                 (int)(dim.nz * dim.h * BIN_INVLEN) + 2 * c + 2};
    int nbins = nb[0] * nb[1] * nb[2];
    float4 *bins = (float4 *)calloc(nbins * BIN_DEPTH, sizeof(float4)), *bins_d;
    int *count = (int *)calloc(nbins, sizeof(int));
    int3 nbr[NBRLIST_MAXLEN];
    int len = 0;
    for (int n = 0; n < natoms; n++) {
        int i = (int)floorf(atoms[n].x * BIN_INVLEN) + c,
            j = (int)floorf(atoms[n].y * BIN_INVLEN) + c,
            k = (int)floorf(atoms[n].z * BIN_INVLEN) + c;
        int b = (k * nb[1] + j) * nb[0] + i;
        if (count[b] == BIN_DEPTH) {
            fprintf(stderr, "bin overflow\n");
            return -1;
        }
        bins[b * BIN_DEPTH + count[b]++] =
            make_float4(atoms[n].x, atoms[n].y, atoms[n].z, atoms[n].q);
    }
    for (int k = -c; k <= c; k++)
        for (int j = -c; j <= c; j++)
            for (int i = -c; i <= c; i++) {
                nbr[len].x = i;
                nbr[len].y = j;
                nbr[len].z = k;
                len++;
            }
    MY_CUDA_CHECK(cudaMemcpyToSymbol(NbrListLen, &len, sizeof(int), 0));
    MY_CUDA_CHECK(cudaMemcpyToSymbol(NbrList, nbr, len * sizeof(int3), 0));
    dim3 gridDim, blockDim;
    gridDim.x = dim.nx / 8;
    gridDim.y = dim.ny / 8;
    gridDim.z = 1;
    blockDim.x = 8;
    blockDim.y = 8;
    blockDim.z = 2;
    float *regions, *regionsDev;
    size_t bytes = dim.nx * dim.ny * dim.nz * sizeof(float);
    regions = (float *)malloc(bytes);
    MY_CUDA_CHECK(cudaMalloc((void **)&regionsDev, bytes));
    MY_CUDA_CHECK(cudaMalloc((void **)&bins_d, nbins * BIN_DEPTH * sizeof(float4)));
    MY_CUDA_CHECK(
        cudaMemcpy(bins_d, bins, nbins * BIN_DEPTH * sizeof(float4), cudaMemcpyHostToDevice));
    cudaStream_t cutoffstream;
    cudaStreamCreate(&cutoffstream);
    for (int z = 0; z < dim.nz / 8; z++)
        cuda_cutoff_potential_lattice6overlap<<<gridDim, blockDim, 0, cutoffstream>>>(
            nb[0], nb[1], bins_d + ((c * nb[1] + c) * nb[0] + c) * BIN_DEPTH, dim.h,
            cutoff * cutoff, 1.f / (cutoff * cutoff), regionsDev, z);
    cudaStreamSynchronize(cutoffstream);
    cudaStreamDestroy(cutoffstream);
    MY_CUDA_CHECK(cudaMemcpy(regions, regionsDev, bytes, cudaMemcpyDeviceToHost));
    for (int k = 0; k < dim.nz; k++)
        for (int j = 0; j < dim.ny; j++)
            for (int i = 0; i < dim.nx; i++)
                lattice[(k * dim.ny + j) * dim.nx + i] =
                    regions[(((k >> 3) * gridDim.y + (j >> 3)) * gridDim.x + (i >> 3)) * 512 +
                            ((k & 7) * 8 + (j & 7)) * 8 + (i & 7)];
    cudaFree(bins_d);
    cudaFree(regionsDev);
    free(bins);
    free(count);
    free(regions);
    return 0;
}
