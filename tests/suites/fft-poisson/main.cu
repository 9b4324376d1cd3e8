#include <cmath>
#include <complex>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cufft.h>
template <typename T> void check(T s, const char *what)
{
    if (static_cast<int>(s) != 0)
        throw std::runtime_error(std::string(what) +
                                 " failed: " + std::to_string(static_cast<int>(s)));
}
#define CHECK(x) check((x), #x)
__global__ void divide(cufftDoubleComplex *f, int n, double scale)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, half = n / 2 + 1;
    if (x >= half) return;
    double kx = x, ky = y < n / 2 ? y : y - n, k2 = kx * kx + ky * ky;
    cufftDoubleComplex &v = f[y * half + x];
    double s = k2 > 0 ? -scale / k2 : 0;
    v.x *= s;
    v.y *= s;
}
int main()
try {
    const int n = 96;
    std::vector<double> f(n * n), u(n * n), back(n * n);
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            double X = 2 * M_PI * x / n, Y = 2 * M_PI * y / n;
            u[y * n + x] = std::sin(3 * X) * std::cos(2 * Y);
            f[y * n + x] = -13 * u[y * n + x];
        }
    double *d;
    cufftDoubleComplex *c;
    CHECK(cudaMalloc(&d, n * n * 8));
    CHECK(cudaMalloc(&c, n * (n / 2 + 1) * 16));
    CHECK(cudaMemcpy(d, f.data(), n * n * 8, cudaMemcpyHostToDevice));
    cufftHandle fwd, inv;
    CHECK(cufftPlan2d(&fwd, n, n, CUFFT_D2Z));
    int dims[2] = {n, n};
    size_t work;
    CHECK(cufftCreate(&inv));
    CHECK(cufftMakePlanMany(inv, 2, dims, nullptr, 1, 0, nullptr, 1, 0, CUFFT_Z2D, 1, &work));
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    CHECK(cufftSetStream(fwd, s));
    CHECK(cufftSetStream(inv, s));
    CHECK(cufftExecD2Z(fwd, d, c));
    divide<<<dim3(2, n), 32, 0, s>>>(c, n, 1.0 / (n * n));
    CHECK(cufftExecZ2D(inv, c, d));
    CHECK(cudaMemcpyAsync(back.data(), d, n * n * 8, cudaMemcpyDeviceToHost, s));
    CHECK(cudaStreamSynchronize(s));
    double err = 0;
    for (int i = 0; i < n * n; i++) err = std::fmax(err, std::fabs(back[i] - u[i]));
    cublasHandle_t h;
    CHECK(cublasCreate(&h));
    double nrm, dot;
    int imax;
    CHECK(cublasDnrm2(h, n * n, d, 1, &nrm));
    CHECK(cublasDdot(h, n * n, d, 1, d, 1, &dot));
    CHECK(cublasIdamax(h, n * n, d, 1, &imax));
    double want = n / 2.0;
    std::printf("error %g norm %g of %g, %d\n", err, nrm, want, imax);
    CHECK(cublasDestroy(h));
    cufftDestroy(fwd);
    cufftDestroy(inv);
    cudaFree(c);
    cudaFree(d);
    return err < 1e-10 && std::fabs(nrm - want) < 1e-8 && std::fabs(dot - want * want) < 1e-6 ? 0
                                                                                              : 1;
} catch (const std::exception &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
}
