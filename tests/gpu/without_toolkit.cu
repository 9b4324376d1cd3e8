// What a program that is compiled without a toolkit needs of ctascope's own headers and device
// library: mathematics, cooperative launches, properties, managed memory, symbols, printf. Prints
// what is wrong; exits with 1 then. Runs on the CPU device, too.
#include <cooperative_groups.h>
#include <cmath>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

static int failures;

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t error = (call);                                                          \
        if (error != cudaSuccess) {                                                                \
            printf("%s: %s\n", #call, cudaGetErrorString(error));                                  \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

// clang-format off
#define FUNCTIONS(X) \
    X(sin, x) X(cos, x) X(tan, x) X(exp, x) X(exp2, x) X(expm1, x) X(log, x) X(log2, x) \
    X(log10, x) X(log1p, x) X(sqrt, x) X(cbrt, x) X(sinh, x) X(cosh, x) X(tanh, x) \
    X(asinh, x) X(acosh, x + 1) X(atanh, x / 50) X(asin, x / 50) X(acos, x / 50) \
    X(atan, x) X(erf, x / 10) X(erfc, x / 10) X(tgamma, x / 4) X(lgamma, x) X(floor, x) \
    X(ceil, x) X(rint, x) X(round, x) X(trunc, x) X(fabs, -x) X(logb, x)
// clang-format on

enum function {
#define NAME(f, argument) INDEX_##f,
    FUNCTIONS(NAME)
#undef NAME
        INDEX_pow,
    INDEX_atan2,
    INDEX_hypot,
    INDEX_fmod,
    INDEX_large_sine,
    FUNCTION_COUNT
};
static const char *const names[] = {
#define NAME(f, argument) #f,
    FUNCTIONS(NAME)
#undef NAME
        "pow",
    "atan2", "hypot", "fmod", "sin of large ones"};

template <class T> __host__ __device__ void evaluate(T x, T *out)
{
#define VALUE(f, argument) out[INDEX_##f] = f(argument);
    FUNCTIONS(VALUE)
#undef VALUE
    out[INDEX_pow] = pow(x, x / 9);
    out[INDEX_atan2] = atan2(x, T(3));
    out[INDEX_hypot] = hypot(x, T(4));
    out[INDEX_fmod] = fmod(x, T(1.25));
    out[INDEX_large_sine] = sin(x * T(1e7));
}

template <class T> __global__ void mathematics(const T *x, T *out, int n)
{
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) evaluate(x[i], out + i * FUNCTION_COUNT);
}

/* Compares with the host's long double, in units of the type's last place. */
template <class T> static void check_mathematics(const char *type, double unit, double most)
{
    enum { N = 512 };
    T *x, *out;
    CHECK(cudaMallocManaged(&x, N * sizeof(T)));
    CHECK(cudaMallocManaged(&out, N * FUNCTION_COUNT * sizeof(T)));
    for (int i = 0; i < N; i++) x[i] = T(0.037) + T(i) * T(0.0811);
    CHECK(cudaMemPrefetchAsync(x, N * sizeof(T), 0));
    mathematics<<<4, 128>>>(x, out, N);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    double worst[FUNCTION_COUNT] = {};
    for (int i = 0; i < N; i++) {
        double expected[FUNCTION_COUNT];
        evaluate<double>(double(x[i]), expected);
        // arguments as the device computed them
        expected[INDEX_atanh] = atanh(double(x[i] / T(50)));
        expected[INDEX_asin] = asin(double(x[i] / T(50)));
        expected[INDEX_acos] = acos(double(x[i] / T(50)));
        expected[INDEX_acosh] = acosh(double(x[i] + T(1)));
        expected[INDEX_erf] = erf(double(x[i] / T(10)));
        expected[INDEX_erfc] = erfc(double(x[i] / T(10)));
        expected[INDEX_tgamma] = tgamma(double(x[i] / T(4)));
        expected[INDEX_pow] = pow(double(x[i]), double(x[i] / T(9)));
        expected[INDEX_large_sine] = sin(double(x[i] * T(1e7)));
        for (int f = 0; f < FUNCTION_COUNT; f++) {
            const double size = fmax(fabs(expected[f]), f == INDEX_lgamma ? 1 : 1e-30);
            const double error = fabs(double(out[i * FUNCTION_COUNT + f]) - expected[f]) / size;
            if (!(error <= worst[f])) worst[f] = error;
        }
    }
    for (int f = 0; f < FUNCTION_COUNT; f++)
        if (!(worst[f] <= (f == INDEX_tgamma ? 150 : most) * unit)) {
            printf("%s of %s is off by %g units in the last place\n", names[f], type,
                   worst[f] / unit);
            failures++;
        }
    CHECK(cudaFree(x));
    CHECK(cudaFree(out));
}

/* Each CTA adds what all wrote before. */
__global__ void together(int *cells, int *sums, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    const int cta = blockIdx.x;
    for (int r = 0; r < rounds; r++) {
        if (threadIdx.x == 0) cells[cta] = r + cta;
        grid.sync();
        if (threadIdx.x == 0) {
            int sum = 0;
            for (int i = 0; i < (int)gridDim.x; i++) sum += ((volatile int *)cells)[i];
            sums[r * gridDim.x + cta] = sum;
        }
        grid.sync();
    }
}

static void check_cooperative()
{
    int ctas = 16, rounds = 8, *cells, *sums;
    CHECK(cudaMalloc(&cells, ctas * sizeof(int)));
    CHECK(cudaMalloc(&sums, ctas * rounds * sizeof(int)));
    void *arguments[] = {&cells, &sums, &rounds};
    CHECK(cudaLaunchCooperativeKernel((void *)together, dim3(ctas), dim3(64), arguments, 0, 0));
    std::vector<int> found(ctas * rounds);
    CHECK(cudaMemcpy(found.data(), sums, found.size() * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < ctas * rounds; i++)
        if (found[i] != i / ctas * ctas + ctas * (ctas - 1) / 2) {
            printf("round %d, CTA %d: sum %d\n", i / ctas, i % ctas, found[i]);
            failures++;
            break;
        }
    CHECK(cudaFree(cells));
    CHECK(cudaFree(sums));
}

__constant__ int weights[4];
__device__ int answer;
__global__ void weigh()
{
    answer = weights[0] + 10 * weights[1] + 100 * weights[2] + 1000 * weights[3];
    printf("the device says %d\n", answer);
}

static void check_rest()
{
    const int host[4] = {4, 3, 2, 1};
    int result = 0, count = 0;
    cudaDeviceProp p;
    cudaStream_t stream;
    cudaEvent_t from, to;
    float ms = -1;
    CHECK(cudaGetDeviceProperties(&p, 0));
    CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
    if (p.multiProcessorCount != count || p.warpSize != 32 || p.maxThreadsPerBlock != 1024 ||
        p.unifiedAddressing != 1 || p.cooperativeLaunch != 1 || p.sharedMemPerBlock < 16384) {
        printf("properties are not what attributes say\n");
        failures++;
    }
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&from));
    CHECK(cudaEventCreate(&to));
    CHECK(cudaMemcpyToSymbol(weights, host, sizeof host));
    CHECK(cudaEventRecord(from, stream));
    weigh<<<1, 1, 0, stream>>>();
    CHECK(cudaEventRecord(to, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaEventElapsedTime(&ms, from, to));
    CHECK(cudaMemcpyFromSymbol(&result, answer, sizeof result));
    int *memory;
    cudaPointerAttributes where[2];
    CHECK(cudaMalloc(&memory, 4));
    CHECK(cudaPointerGetAttributes(where, memory));
    if (result != 1234 || !(ms >= 0) || where->type != cudaMemoryTypeDevice) {
        printf("symbol %d, %g ms, memory of type %d\n", result, ms, (int)where->type);
        failures++;
    }
    CHECK(cudaFree(memory));
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, weigh));
    CHECK(cudaEventDestroy(from));
    CHECK(cudaEventDestroy(to));
    CHECK(cudaStreamDestroy(stream));
}

int main()
{
    check_mathematics<float>("float", 1.1920929e-7, 8);
    check_mathematics<double>("double", 2.220446049250313e-16, 16);
    check_cooperative();
    check_rest();
    puts(failures ? "failed" : "right");
    return failures != 0;
}
