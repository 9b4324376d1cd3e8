#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kmeans.h"

static float **alloc2(int n, int m)
{
    int i;
    float **a = (float**)malloc(n * sizeof(float*));
    a[0] = (float*)calloc(n * m, sizeof(float));
    for (i = 1; i < n; i++) a[i] = a[i-1] + m;
    return a;
}

int main(int argc, char **argv)
{
    int npoints = 2000, nfeatures = 6, nclusters = 5, i, j, delta, loop = 0, bad = 0;
    float **feature = alloc2(npoints, nfeatures), **clusters = alloc2(nclusters, nfeatures), **sums = alloc2(nclusters, nfeatures);
    int *len = (int*)calloc(nclusters, sizeof(int)), *membership = (int*)malloc(npoints * sizeof(int));
    srand(7);
    for (i = 0; i < npoints; i++)
        for (j = 0; j < nfeatures; j++) feature[i][j] = 4.0f * (i % nclusters) + (float)rand() / RAND_MAX;
    for (i = 0; i < nclusters; i++) memcpy(clusters[i], feature[i], nfeatures * sizeof(float));
    for (i = 0; i < npoints; i++) membership[i] = -1;
    setup_cuda(feature, npoints, nfeatures);
    do {
        delta = kmeansCuda(feature, nfeatures, npoints, nclusters, membership, clusters, len, sums);
        for (i = 0; i < nclusters; i++) {
            for (j = 0; j < nfeatures; j++) { if (len[i] > 0) clusters[i][j] = sums[i][j] / len[i]; sums[i][j] = 0; }
            len[i] = 0;
        }
    } while (delta > 0 && loop++ < 50);
    for (i = 0; i < npoints; i++) bad += membership[i] != membership[i % nclusters];
    printf("loops %d rmse %f wrong %d\n", loop, rms_err(feature, nfeatures, npoints, clusters, nclusters), bad);
    if (rms_err(feature, nfeatures, npoints, clusters, nclusters) > 1.0) bad++;
    deallocateMemory();
    return bad ? 1 : 0;
}
