#ifndef _H_KMEANS
#define _H_KMEANS
#ifndef FLT_MAX
#define FLT_MAX 3.40282347e+38
#endif
#ifdef __cplusplus
extern "C" {
#endif
void setup_cuda(float **feature, int npoints, int nfeatures);
int kmeansCuda(float **feature, int nfeatures, int npoints, int nclusters, int *membership,
               float **clusters, int *new_centers_len, float **new_centers);
void deallocateMemory(void);
float rms_err(float **feature, int nfeatures, int npoints, float **cluster_centres, int nclusters);
#ifdef __cplusplus
}
#endif
#endif
