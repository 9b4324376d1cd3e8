#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>
#include <omp.h>
#include <cuda.h>
#define THREADS_PER_DIM   16
#define BLOCKS_PER_DIM    16
#define THREADS_PER_BLOCK THREADS_PER_DIM *THREADS_PER_DIM
#include "kmeans_cuda_kernel.cu"

static float *feature_d, *feature_flipped_d;
static int *membership_d, *membership_new;
static cudaTextureObject_t tex;

extern "C" void setup_cuda(float **feature, int npoints, int nfeatures)
{
    cudaMalloc((void **)&feature_flipped_d, npoints * nfeatures * sizeof(float));
    cudaMemcpy(feature_flipped_d, feature[0], npoints * nfeatures * sizeof(float),
               cudaMemcpyHostToDevice);
    cudaMalloc((void **)&feature_d, npoints * nfeatures * sizeof(float));
    int num_blocks = (int)ceil((float)npoints / (THREADS_PER_BLOCK));
    invert_mapping<<<num_blocks, THREADS_PER_BLOCK>>>(feature_flipped_d, feature_d, npoints,
                                                      nfeatures);
    cudaMalloc((void **)&membership_d, npoints * sizeof(int));
    membership_new = (int *)malloc(npoints * sizeof(int));
    struct cudaResourceDesc r;
    memset(&r, 0, sizeof(r));
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = feature_d;
    r.res.linear.desc = cudaCreateChannelDesc<float>();
    r.res.linear.sizeInBytes = npoints * nfeatures * sizeof(float);
    struct cudaTextureDesc t = {};
    t.readMode = cudaReadModeElementType;
    if (cudaCreateTextureObject(&tex, &r, &t, NULL) != cudaSuccess) {
        printf("Couldn't bind features array to texture!\n");
        exit(1);
    }
}

extern "C" int kmeansCuda(float **feature, int nfeatures, int npoints, int nclusters,
                          int *membership, float **clusters, int *new_centers_len,
                          float **new_centers)
{
    int delta = 0;
    int num_blocks_perdim = sqrt((double)((npoints + THREADS_PER_BLOCK - 1) / (THREADS_PER_BLOCK)));
    while (num_blocks_perdim * num_blocks_perdim * THREADS_PER_BLOCK < npoints) num_blocks_perdim++;
    cudaMemcpyToSymbol(c_clusters, clusters[0], nclusters * nfeatures * sizeof(float), 0,
                       cudaMemcpyHostToDevice);
    dim3 grid(num_blocks_perdim, num_blocks_perdim);
    dim3 threads(THREADS_PER_BLOCK);
    kmeansPoint<<<grid, threads>>>(tex, nfeatures, npoints, nclusters, membership_d);
    cudaDeviceSynchronize();
    cudaMemcpy(membership_new, membership_d, npoints * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < npoints; i++) {
        int cluster_id = membership_new[i];
        new_centers_len[cluster_id]++;
        if (membership_new[i] != membership[i]) {
            delta++;
            membership[i] = membership_new[i];
        }
        for (int j = 0; j < nfeatures; j++) new_centers[cluster_id][j] += feature[i][j];
    }
    return delta;
}

extern "C" void deallocateMemory()
{
    cudaDestroyTextureObject(tex);
    free(membership_new);
    cudaFree(feature_d);
    cudaFree(feature_flipped_d);
    cudaFree(membership_d);
}
