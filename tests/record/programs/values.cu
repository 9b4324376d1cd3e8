// Loads and stores of every width and kind of type, of values that the test knows.
#include <cstdio>

struct alignas(4) Pair {
    short a, b;
};

__global__ void copy_all(const float *f, const int *i, const double *d, const float4 *v,
                         const bool *b, const unsigned char *c, const Pair *p, float *out_f,
                         int *out_i, double *out_d, float4 *out_v, bool *out_b,
                         unsigned char *out_c, Pair *out_p)
{
    const int t = threadIdx.x;
    out_f[t] = f[t] * 2;
    out_i[t] = i[t] - 1;
    out_d[t] = d[t] / 4;
    const float4 x = v[t];
    out_v[t] = make_float4(x.w, x.z, x.y, x.x);
    out_b[t] = !b[t];
    out_c[t] = c[t] ^ 0xff;
    out_p[t] = {p[t].b, p[t].a};
}

__global__ void count(unsigned *counter, int *seen)
{
    seen[threadIdx.x] = (int)atomicAdd(counter, 2);
}

enum { N = 48 }; // a whole warp and a half

template <class T, class F> static T *filled(F value)
{
    T host[N];
    for (int k = 0; k < N; k++) host[k] = value(k);
    T *device;
    cudaMalloc(&device, sizeof host);
    cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
    return device;
}

int main()
{
    float *const f = filled<float>([](int k) { return 0.5f + k; });
    int *const i = filled<int>([](int k) { return -1000 * k; });
    double *const d = filled<double>([](int k) { return 1e10 + k; });
    float4 *const v =
        filled<float4>([](int k) { return make_float4(k, k + 0.25f, k + 0.5f, k + 0.75f); });
    bool *const b = filled<bool>([](int k) { return k % 3 == 0; });
    unsigned char *const c = filled<unsigned char>([](int k) { return 5 * k; });
    Pair *const p = filled<Pair>([](int k) { return Pair{(short)-k, (short)(k + 300)}; });
    float *const out_f = filled<float>([](int) { return 0.0f; });
    int *const out_i = filled<int>([](int) { return 0; });
    double *const out_d = filled<double>([](int) { return 0.0; });
    float4 *const out_v = filled<float4>([](int) { return make_float4(0, 0, 0, 0); });
    bool *const out_b = filled<bool>([](int) { return false; });
    unsigned char *const out_c = filled<unsigned char>([](int) { return 0; });
    Pair *const out_p = filled<Pair>([](int) { return Pair{0, 0}; });
    copy_all<<<1, N>>>(f, i, d, v, b, c, p, out_f, out_i, out_d, out_v, out_b, out_c, out_p);
    unsigned *counter;
    cudaMalloc(&counter, sizeof *counter);
    cudaMemset(counter, 0, sizeof *counter);
    count<<<1, N>>>(counter, out_i);
    return cudaDeviceSynchronize();
}
