#include <cuda.h>
#include <stdio.h>
#include <unistd.h>
#include <getopt.h>
#include <stdlib.h>
#include <assert.h>
#include <math.h>
static int do_verify = 1;
static struct option long_options[] = {
  /* name, has_arg, flag, val */
  {"size", 1, NULL, 's'},
  {"verify", 0, NULL, 'v'},
  {0,0,0,0}
};
extern void lud_cuda(float *d_m, int matrix_dim);
int main ( int argc, char *argv[] )
{
  int matrix_dim = 96; /* default matrix_dim */
  int opt, option_index=0;
  while ((opt = getopt_long(argc, argv, "::vs:", long_options, &option_index)) != -1 ) {
    switch(opt){
    case 'v': do_verify = 1; break;
    case 's': matrix_dim = atoi(optarg); break;
    case '?': fprintf(stderr, "invalid option\n"); break;
    case ':': fprintf(stderr, "missing argument\n"); break;
    default: fprintf(stderr, "Usage: %s [-v] [-s matrix_size]\n", argv[0]); exit(EXIT_FAILURE);
    }
  }
  int n = matrix_dim, bytes = n*n*sizeof(float);
  float *m = (float*)malloc(bytes), *mm = (float*)malloc(bytes), *d_m;
  for (int i = 0; i < n*n; i++) m[i] = mm[i] = (i % (n+1) == 0 ? n : 0) + (float)((i*7919) % 97)/97.0f;
  cudaMalloc((void**)&d_m, bytes);
  cudaEvent_t start, stop; float ms;
  cudaEventCreate(&start); cudaEventCreate(&stop);
  cudaEventRecord(start, 0);
  cudaMemcpy(d_m, m, bytes, cudaMemcpyHostToDevice);
  lud_cuda(d_m, n);
  cudaMemcpy(m, d_m, bytes, cudaMemcpyDeviceToHost);
  cudaEventRecord(stop, 0); cudaEventSynchronize(stop); cudaEventElapsedTime(&ms, start, stop);
  printf("Time consumed(ms): %lf\n", ms);
  double worst = 0;
  if (do_verify)
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k <= (i < j ? i : j); k++) sum += (i == k ? 1.0 : m[i*n+k]) * m[k*n+j];
      worst = fmax(worst, fabs(sum - mm[i*n+j]));
    }
  printf("%s %g\n", worst < 1e-2 ? "PASSED" : "FAILED", worst);
  cudaFree(d_m);
  return worst >= 1e-2;
}
