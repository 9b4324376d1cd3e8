#ifndef _COMMON_H_
#define _COMMON_H_
#define Index3D(_nx,_ny,_i,_j,_k) ((_i)+_nx*((_j)+_ny*(_k)))
#ifdef __cplusplus
extern "C"
#endif
int run_stencil(float c0, float c1, float *A0, float *Anext, int nx, int ny, int nz, int iterations);
#endif
