#ifndef _KMEANS_CUDA_KERNEL_H_
#define _KMEANS_CUDA_KERNEL_H_
#include <stdio.h>
#include <cuda.h>
#include "kmeans.h"
#define ASSUMED_NR_CLUSTERS 32
#define SDATA( index)      CUT_BANK_CHECKER(sdata, index)
__constant__ float c_clusters[ASSUMED_NR_CLUSTERS*34];

__global__ void invert_mapping(float *input, float *output, int npoints, int nfeatures)
{
	int point_id = threadIdx.x + blockDim.x*blockIdx.x;
	int i;
	if(point_id < npoints){
		for(i=0;i<nfeatures;i++)
			output[point_id + npoints*i] = input[point_id*nfeatures + i];
	}
	return;
}

__global__ void
kmeansPoint(cudaTextureObject_t t_features, int nfeatures, int npoints, int nclusters, int *membership)
{
	const unsigned int block_id = gridDim.x*blockIdx.y+blockIdx.x;
	const unsigned int point_id = block_id*blockDim.x*blockDim.y + threadIdx.x;
	int  index = -1;
	if (point_id < npoints)
	{
		int i, j;
		float min_dist = FLT_MAX;
		float dist;
		for (i=0; i<nclusters; i++) {
			int cluster_base_index = i*nfeatures;
			float ans=0.0;
			for (j=0; j < nfeatures; j++)
			{
				int addr = point_id + j*npoints;
				float diff = (tex1Dfetch<float>(t_features,addr) -  c_clusters[cluster_base_index + j]);
				ans += diff*diff;
			}
			dist = ans;
			if (dist < min_dist) {
				min_dist = dist;
				index    = i;
			}
		}
		membership[point_id] = index;
	}
}
#endif
