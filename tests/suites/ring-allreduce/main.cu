#include <cstdio>
#include <thread>
#include <mutex>
#include <condition_variable>
#include <vector>
#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { std::fprintf(stderr, "%s:%d %s: %s\n", __FILE__, __LINE__, #x, cudaGetErrorString(e_)); std::exit(1); } } while (0)
class Barrier { std::mutex m; std::condition_variable cv; int n, left, phase = 0; public: explicit Barrier(int n_) : n(n_), left(n_) {} void wait() { std::unique_lock<std::mutex> l(m); int p = phase; if (--left == 0) { left = n; phase++; cv.notify_all(); } else cv.wait(l, [&] { return p != phase; }); } };
__global__ void add(double *__restrict__ a, const double *__restrict__ b, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) a[i] += b[i]; }
__global__ void fill(double *a, int n, double v) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] = v * i; }
int main() {
  int found = 0; CK(cudaGetDeviceCount(&found)); const int ranks = 4, chunk = 256, n = chunk * ranks; std::vector<double *> data(ranks), in(ranks); std::vector<cudaStream_t> st(ranks); Barrier bar(ranks); std::vector<int> bad(ranks, 0); auto dev = [&](int r) { return r % found; };
  auto work = [&](int r) { CK(cudaSetDevice(dev(r))); int next = (r + 1) % ranks, access = 0; if (dev(r) != dev(next)) { CK(cudaDeviceCanAccessPeer(&access, dev(r), dev(next))); if (access) { cudaError_t e = cudaDeviceEnablePeerAccess(dev(next), 0); if (e == cudaErrorPeerAccessAlreadyEnabled) cudaGetLastError(); else CK(e); } }
    CK(cudaMalloc(&data[r], n * sizeof(double))); CK(cudaMalloc(&in[r], chunk * sizeof(double))); CK(cudaStreamCreate(&st[r])); fill<<<(n + 127) / 128, 128, 0, st[r]>>>(data[r], n, r + 1); CK(cudaStreamSynchronize(st[r])); bar.wait();
    for (int s = 0; s < ranks - 1; s++) { int c = (r - s + ranks) % ranks, got = (r - s - 1 + 2 * ranks) % ranks; CK(cudaMemcpyPeerAsync(in[next], dev(next), data[r] + c * chunk, dev(r), chunk * sizeof(double), st[r])); CK(cudaStreamSynchronize(st[r])); bar.wait(); add<<<2, 64, 0, st[r]>>>(data[r] + got * chunk, in[r], chunk); CK(cudaGetLastError()); CK(cudaStreamSynchronize(st[r])); bar.wait(); }
    for (int s = 0; s < ranks - 1; s++) { int c = (r + 1 - s + ranks) % ranks; CK(cudaMemcpyPeerAsync(data[next] + c * chunk, dev(next), data[r] + c * chunk, dev(r), chunk * sizeof(double), st[r])); CK(cudaStreamSynchronize(st[r])); bar.wait(); }
    std::vector<double> h(n); CK(cudaMemcpy(h.data(), data[r], n * sizeof(double), cudaMemcpyDeviceToHost)); for (int i = 0; i < n; i++) bad[r] += h[i] != i * (ranks * (ranks + 1) / 2.0); CK(cudaStreamDestroy(st[r])); };
  std::vector<std::thread> t; for (int r = 0; r < ranks; r++) t.emplace_back(work, r); for (auto &x : t) x.join(); int total = 0; for (int b : bad) total += b; std::printf("%s on %d devices, %d wrong\n", total ? "FAILED" : "PASSED", found, total); return total != 0; }
