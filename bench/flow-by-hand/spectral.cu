// Signals are filtered in the frequency domain (cuFFT) and projected on features (cuBLAS), as a
// first version is written: one kernel or call a thought.
// spectral before|after [REPEATS] [SIGNALS = 4096] [SAMPLES = 8192] [FEATURES = 256]
#include <cstdio>
#include <cublas_v2.h>
#include <cufft.h>

#include "../../examples/common.h"
#include "measure.h"

#define LIBRARY(call)                                                                              \
    do {                                                                                           \
        if ((call) != 0) {                                                                         \
            fprintf(stderr, "%s:%d: %s failed\n", __FILE__, __LINE__, #call);                      \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

struct Shape {
    int signals, samples, features;
    int padded() const { return 2 * samples; }
    int bins() const { return samples + 1; }
    size_t spectrum() const { return (size_t)signals * bins(); }
};

// Each bin times the filter's response.
__global__ void apply_filter(float2 *spectrum, const float2 *response, int bins, size_t count)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float2 a = spectrum[i], b = response[i % bins];
    spectrum[i] = make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// Bins below the threshold are noise.
__global__ void denoise(float2 *spectrum, float threshold, float scale, size_t count)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float2 a = spectrum[i];
    const bool is_noise = a.x * a.x + a.y * a.y < threshold * threshold;
    spectrum[i] = is_noise ? make_float2(0, 0) : make_float2(a.x * scale, a.y * scale);
}

__global__ void filter_and_denoise(float2 *spectrum, const float2 *response, int bins,
                                   float threshold, float scale, size_t count)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float2 s = spectrum[i], b = response[i % bins];
    const float2 a = make_float2(s.x * b.x - s.y * b.y, s.x * b.y + s.y * b.x);
    const bool is_noise = a.x * a.x + a.y * a.y < threshold * threshold;
    spectrum[i] = is_noise ? make_float2(0, 0) : make_float2(a.x * scale, a.y * scale);
}

__global__ void activate(float *features, const float *bias, int count, int total)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < total) features[i] = fmaxf(features[i] + bias[i % count], 0.0f);
}

struct Buffers {
    float *signals, *padded, *weights, *features, *bias;
    float2 *spectrum, *response;
    cufftHandle forward, inverse;
    cublasHandle_t blas;
};

static Buffers prepare(const Shape &shape)
{
    Buffers b;
    Random random;
    std::vector<float> signals((size_t)shape.signals * shape.samples);
    std::vector<float> weights((size_t)shape.samples * shape.features), bias(shape.features);
    std::vector<float2> response(shape.bins());
    for (float &x : signals) x = random.unit() - 0.5f;
    for (float &x : weights) x = random.unit() - 0.5f;
    for (float &x : bias) x = random.unit() - 0.5f;
    for (float2 &x : response) x = make_float2(random.unit(), random.unit());
    b.signals = device_copy(signals.data(), signals.size());
    b.weights = device_copy(weights.data(), weights.size());
    b.bias = device_copy(bias.data(), bias.size());
    b.response = device_copy(response.data(), response.size());
    CHECK(cudaMalloc(&b.padded, (size_t)shape.signals * shape.padded() * sizeof(float)));
    CHECK(cudaMalloc(&b.spectrum, shape.spectrum() * sizeof(float2)));
    CHECK(cudaMalloc(&b.features, (size_t)shape.signals * shape.features * sizeof(float)));
    LIBRARY(cufftPlan1d(&b.forward, shape.padded(), CUFFT_R2C, shape.signals));
    LIBRARY(cufftPlan1d(&b.inverse, shape.padded(), CUFFT_C2R, shape.signals));
    LIBRARY(cublasCreate(&b.blas));
    return b;
}

static void pad(const Shape &s, const Buffers &b, bool is_after)
{
    const size_t row = s.samples * sizeof(float), pitch = 2 * row;
    // `after`: only the half that no copy fills.
    if (is_after)
        CHECK(cudaMemset2DAsync(b.padded + s.samples, pitch, 0, row, s.signals));
    else
        CHECK(cudaMemsetAsync(b.padded, 0, pitch * s.signals));
    CHECK(cudaMemcpy2DAsync(b.padded, pitch, b.signals, row, row, s.signals,
                            cudaMemcpyDeviceToDevice));
}

static void filter(const Shape &s, const Buffers &b, bool is_after)
{
    const size_t count = s.spectrum();
    const int blocks = (int)((count + 255) / 256);
    const float threshold = 0.2f * sqrtf((float)s.samples), scale = 1.0f / s.padded();
    if (is_after) {
        filter_and_denoise<<<blocks, 256>>>(b.spectrum, b.response, s.bins(), threshold, scale,
                                            count);
    } else {
        apply_filter<<<blocks, 256>>>(b.spectrum, b.response, s.bins(), count);
        denoise<<<blocks, 256>>>(b.spectrum, threshold, scale, count);
    }
    CHECK(cudaGetLastError());
}

// features = weights^T signals, then bias and activation
static void project(const Shape &s, const Buffers &b)
{
    const float one = 1.0f, zero = 0.0f;
    LIBRARY(cublasSgemm(b.blas, CUBLAS_OP_T, CUBLAS_OP_N, s.features, s.signals, s.samples, &one,
                        b.weights, s.samples, b.padded, s.padded(), &zero, b.features, s.features));
    const int total = s.signals * s.features;
    activate<<<(total + 255) / 256, 256>>>(b.features, b.bias, s.features, total);
    CHECK(cudaGetLastError());
}

int main(int argc, char **argv)
{
    const Variant variant = variant_of(argc, argv);
    const char *const only = getenv("ONLY"); // "memset" or "fusion": one change of the two
    const bool memset_after = variant.is_after && (!only || !strcmp(only, "memset"));
    const bool fusion_after = variant.is_after && (!only || !strcmp(only, "fusion"));
    const Shape shape = {argument(argc, argv, 3, 4096), argument(argc, argv, 4, 8192),
                         argument(argc, argv, 5, 256)};
    const Buffers b = prepare(shape);
    const auto step = [&](auto mark) {
        mark();
        pad(shape, b, memset_after);
        LIBRARY(cufftExecR2C(b.forward, b.padded, b.spectrum));
        filter(shape, b, fusion_after);
        LIBRARY(cufftExecC2R(b.inverse, b.spectrum, b.padded));
        project(shape, b);
    };
    return measure("spectral", variant, step,
                   [&] { return sum_of(b.features, (size_t)shape.signals * shape.features); });
}
