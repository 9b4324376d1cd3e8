#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <omp.h>
#include "kmeans.h"
extern double wtime(void);

__inline static float euclid_dist_2(float *pt1, float *pt2, int numdims)
{
    int i;
    float ans = 0.0;
    for (i = 0; i < numdims; i++) ans += (pt1[i] - pt2[i]) * (pt1[i] - pt2[i]);
    return (ans);
}

float rms_err(float **feature, int nfeatures, int npoints, float **cluster_centres, int nclusters)
{
    int i, j;
    float sum_euclid = 0.0;
#pragma omp parallel for shared(feature, cluster_centres)                                          \
    firstprivate(npoints, nfeatures) private(i, j) schedule(static) reduction(+ : sum_euclid)
    for (i = 0; i < npoints; i++) {
        float best = FLT_MAX;
        for (j = 0; j < nclusters; j++) {
            float d = euclid_dist_2(feature[i], cluster_centres[j], nfeatures);
            if (d < best) best = d;
        }
        sum_euclid += best;
    }
    return sqrt(sum_euclid / npoints);
}
