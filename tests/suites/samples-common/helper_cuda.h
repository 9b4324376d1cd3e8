// Helper functions of a sample: they exist for whichever API is included
#ifndef COMMON_HELPER_CUDA_H_
#define COMMON_HELPER_CUDA_H_
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
#ifdef __DRIVER_TYPES_H__
static const char *_cudaGetErrorEnum(cudaError_t error) { return cudaGetErrorName(error); }
#endif
#ifdef CUDA_DRIVER_API
static const char *_cudaGetErrorEnum(CUresult error) { static char unknown[] = "<unknown>"; const char *ret = NULL; cuGetErrorName(error, &ret); return ret ? ret : unknown; }
#endif
#ifdef CUBLAS_API_H_
static const char *_cudaGetErrorEnum(cublasStatus_t error) { return error == CUBLAS_STATUS_SUCCESS ? "CUBLAS_STATUS_SUCCESS" : "CUBLAS_STATUS"; }
#endif
#ifdef _CUFFT_H_
static const char *_cudaGetErrorEnum(cufftResult error) { return error == CUFFT_SUCCESS ? "CUFFT_SUCCESS" : "CUFFT"; }
#endif
#ifdef CURAND_H_
static const char *_cudaGetErrorEnum(curandStatus_t error) { return error == CURAND_STATUS_SUCCESS ? "CURAND_STATUS_SUCCESS" : "CURAND"; }
#endif
template <typename T>
void check(T result, char const *const func, const char *const file, int const line) {
  if (result) {
    fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\" \n", file, line, static_cast<unsigned int>(result), _cudaGetErrorEnum(result), func);
    exit(EXIT_FAILURE);
  }
}
#ifdef __DRIVER_TYPES_H__
#define checkCudaErrors(val) check((val), #val, __FILE__, __LINE__)
#define getLastCudaError(msg) __getLastCudaError(msg, __FILE__, __LINE__)
inline void __getLastCudaError(const char *errorMessage, const char *file, const int line) {
  cudaError_t err = cudaGetLastError();
  if (cudaSuccess != err) { fprintf(stderr, "%s(%i) : getLastCudaError() CUDA error : %s : (%d) %s.\n", file, line, errorMessage, static_cast<int>(err), cudaGetErrorString(err)); exit(EXIT_FAILURE); }
}
#endif
#ifdef __CUDA_RUNTIME_H__
inline int findCudaDevice(int argc, const char **argv) {
  int devID = 0, count = 0, major = 0, minor = 0;
  checkCudaErrors(cudaGetDeviceCount(&count));
  checkCudaErrors(cudaSetDevice(devID));
  checkCudaErrors(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, devID));
  checkCudaErrors(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, devID));
  printf("GPU Device %d: compute capability %d.%d (%s)\n\n", devID, major, minor, argv[0]);
  return devID;
}
#endif
#endif
