#include <mpi.h>
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <vector>
#define CUDA_RT_CALL(call) { cudaError_t status_ = call; if (cudaSuccess != status_) { fprintf(stderr, "CUDA call %s failed: %s\n", #call, cudaGetErrorString(status_)); MPI_Abort(MPI_COMM_WORLD, 1); } }
void launch_step(const double *in, double *out, int w, int h, cudaStream_t s);
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size; MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int w = 48, rows = 24 / size * size, h = rows / size, iters = 6;
  int devices = 0; CUDA_RT_CALL(cudaGetDeviceCount(&devices)); CUDA_RT_CALL(cudaSetDevice(rank % devices));
  double *a, *b; const size_t bytes = sizeof(double) * w * (h + 2);
  CUDA_RT_CALL(cudaMalloc(&a, bytes)); CUDA_RT_CALL(cudaMalloc(&b, bytes)); CUDA_RT_CALL(cudaMemset(a, 0, bytes)); CUDA_RT_CALL(cudaMemset(b, 0, bytes));
  auto value = [=](int y, int x) { return std::sin(0.1 * x) + y * 0.01; };
  std::vector<double> host(w * (h + 2)), top(w), bottom(w), rt(w), rb(w);
  for (int y = 0; y < h + 2; y++) for (int x = 0; x < w; x++) { int gy = rank * h + y - 1; host[y * w + x] = gy < 0 || gy >= rows ? 0 : value(gy, x); }
  CUDA_RT_CALL(cudaMemcpy(a, host.data(), bytes, cudaMemcpyHostToDevice));
  cudaStream_t s; CUDA_RT_CALL(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  int up = rank ? rank - 1 : MPI_PROC_NULL, down = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  for (int it = 0; it < iters; it++) {
    launch_step(a, b, w, h, s); CUDA_RT_CALL(cudaGetLastError()); CUDA_RT_CALL(cudaStreamSynchronize(s));
    CUDA_RT_CALL(cudaMemcpy(top.data(), b + w, w * 8, cudaMemcpyDeviceToHost)); CUDA_RT_CALL(cudaMemcpy(bottom.data(), b + w * h, w * 8, cudaMemcpyDeviceToHost));
    MPI_Sendrecv(top.data(), w, MPI_DOUBLE, up, 0, rb.data(), w, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(bottom.data(), w, MPI_DOUBLE, down, 1, rt.data(), w, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (up != MPI_PROC_NULL) CUDA_RT_CALL(cudaMemcpy(b, rt.data(), w * 8, cudaMemcpyHostToDevice));
    if (down != MPI_PROC_NULL) CUDA_RT_CALL(cudaMemcpy(b + w * (h + 1), rb.data(), w * 8, cudaMemcpyHostToDevice));
    std::swap(a, b);
  }
  CUDA_RT_CALL(cudaMemcpy(host.data(), a, bytes, cudaMemcpyDeviceToHost));
  double sum = 0, total, ref = 0;
  for (int i = w; i < w * (h + 1); i++) sum += host[i];
  MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  std::vector<double> p(w * (rows + 2)), q(p);
  for (int y = 0; y < rows; y++) for (int x = 0; x < w; x++) p[(y + 1) * w + x] = value(y, x);
  for (int it = 0; it < iters; it++) { for (int y = 1; y <= rows; y++) for (int x = 0; x < w; x++) { int i = y * w + x; q[i] = !x || x == w - 1 ? p[i] : 0.25 * (p[i-1] + p[i+1] + p[i-w] + p[i+w]); } p.swap(q); }
  for (int i = w; i < w * (rows + 1); i++) ref += p[i];
  bool ok = std::fabs(ref - total) < 1e-9 * std::fabs(ref);
  if (!rank) printf("%s: %.12f of %.12f on %d ranks\n", ok ? "PASSED" : "FAILED", total, ref, size);
  MPI_Finalize();
  return !ok;
}
