// A radix-2 Stockham FFT, one launch a stage, two buffers in ping-pong. Stage s pairs elements half
// the array apart and spreads them, so who talks to whom changes with the stage.
// fft [LOG2 OF ELEMENTS = 16]
#include "common.h"
#include <cmath>
#include <complex>
#include <vector>

__global__ void stage(const float2 *in, float2 *out, int half, int width)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= half) return;
    const int k = i & (width - 1);
    const float2 a = in[i], b = in[i + half];
    float s, c;
    sincospif(-(float)k / (float)width, &s, &c);
    const float2 t = make_float2(c * b.x - s * b.y, s * b.x + c * b.y);
    const int j = (i - k) * 2 + k;
    out[j] = make_float2(a.x + t.x, a.y + t.y);
    out[j + width] = make_float2(a.x - t.x, a.y - t.y);
}

int main(int argc, char **argv)
{
    const int bits = argument(argc, argv, 1, 16);
    if (bits > 24) {
        fprintf(stderr, "fft: at most 2^24 elements\n");
        return 2;
    }
    const int n = 1 << bits, frequency = 3 % n;
    std::vector<float2> signal(n), spectrum(n);
    for (int i = 0; i < n; i++) { // one pure tone and a constant: two lines in the spectrum
        const double angle = 2 * M_PI * frequency * i / n;
        signal[i] = make_float2((float)std::cos(angle) + 0.5f, (float)std::sin(angle));
    }
    float2 *from = device_copy(signal.data(), n), *to;
    CHECK(cudaMalloc(&to, n * sizeof(float2)));
    for (int width = 1; width < n; width *= 2) {
        stage<<<(n / 2 + 255) / 256, 256>>>(from, to, n / 2, width);
        CHECK(cudaGetLastError());
        float2 *const swap = from;
        from = to, to = swap;
    }
    CHECK(cudaMemcpy(spectrum.data(), from, n * sizeof(float2), cudaMemcpyDeviceToHost));

    bool right = true;
    for (int k = 0; k < n; k++) {
        const float expected = (k == frequency ? n : 0.0f) + (k == 0 ? n / 2.0f : 0.0f);
        right &= std::hypot(spectrum[k].x - expected, spectrum[k].y) < 1e-3f * n;
    }
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
    return verdict("fft", right);
}
