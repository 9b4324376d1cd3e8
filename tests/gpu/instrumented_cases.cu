// What an instrumented build has to get right on a GPU: instrumented_cases CASE does it and prints
// how many accesses each launch makes, in the order of the calls: "launch ACCESSES".
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call) check(call, #call)
static void check(cudaError_t status, const char *call)
{
    if (status == cudaSuccess) return;
    fprintf(stderr, "instrumented_cases: %s: %s\n", call, cudaGetErrorString(status));
    exit(1);
}

enum { N = 4096, BLOCK = 128 };

__global__ void touch(int *data, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) data[i] = i;
}
static void tell(long accesses)
{
    printf("launch %ld\n", accesses);
}

static int *device_ints(int count)
{
    int *data;
    CHECK(cudaMalloc(&data, sizeof(int) * count));
    CHECK(cudaMemset(data, 0, sizeof(int) * count));
    return data;
}

static void launch(int *data, int count, cudaStream_t stream)
{
    touch<<<N / BLOCK, BLOCK, 0, stream>>>(data, count);
    CHECK(cudaGetLastError());
}

/* One kernel in several streams at once. */
static void streams()
{
    cudaStream_t stream[4];
    int *const data = device_ints(4 * N);
    for (auto &s : stream) CHECK(cudaStreamCreate(&s));
    for (int i = 0; i < 40; i++) {
        launch(data + i % 4 * N, 100 * i, stream[i % 4]);
        tell(100 * i < N ? 100 * i : N);
    }
}

/* Two nodes of one kernel, replayed, and launches of it beside. */
static void graph()
{
    cudaStream_t stream, beside;
    cudaGraph_t made;
    cudaGraphExec_t ready;
    int *const data = device_ints(N);
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreate(&beside));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    launch(data, 1000, stream);
    launch(data, 2000, stream);
    CHECK(cudaStreamEndCapture(stream, &made));
    CHECK(cudaGraphInstantiate(&ready, made, 0));
    for (int i = 0; i < 5; i++) {
        launch(data, i, beside);
        tell(i);
        CHECK(cudaGraphLaunch(ready, stream));
        tell(1000);
        tell(2000);
    }
}

__device__ unsigned arrived;
__global__ void together(int *data, unsigned ctas)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&arrived, 1u);
        while (atomicAdd(&arrived, 0u) < ctas) {
        }
    }
}
static void cooperative()
{
    int *data = device_ints(N);
    unsigned ctas = 8;
    void *arguments[] = {&data, &ctas};
    CHECK(cudaLaunchCooperativeKernel((const void *)together, dim3(ctas), dim3(BLOCK), arguments, 0,
                                      0));
    printf("launch at least %u\n", ctas * (BLOCK + 2));
}

/* Atomics, shared memory, a pointer to either, a function that is called, a range. */
__device__ __noinline__ int called(const int *from, int i)
{
    return from[i];
}
__global__ void kinds(int *data, int *sums, int which)
{
    __shared__ int part[BLOCK];
    int *const place = which ? part : data;
    part[threadIdx.x] = (int)threadIdx.x; // shared store
    __syncthreads();
    atomicAdd(&sums[0], part[threadIdx.x ^ 1]);     // shared load, atomic
    atomicMax(&sums[1], called(data, threadIdx.x)); // load, atomic
    atomicCAS(&sums[2 + threadIdx.x % 2], 0, 1);
    place[threadIdx.x] = 7; // either
}
static void spaces()
{
    int *const data = device_ints(N), *const sums = device_ints(8);
    for (int which = 0; which < 2; which++) {
        kinds<<<2, BLOCK>>>(data, sums, which);
        CHECK(cudaGetLastError());
        tell(2 * BLOCK * 7);
    }
}

/* Parts of warps, with lists, at sites of their own. */
__global__ void diverging(int *data, const int *from)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 3 == 0)
        data[from[i]] = 1;
    else if (i % 3 == 1)
        data[i]++;
    else
        atomicAdd(&data[i & ~31], 1);
}
static void divergence()
{
    int *const data = device_ints(N), *const from = device_ints(N), host[N];
    for (int i = 0; i < N; i++) host[i] = (int)(i * 2654435761u % N);
    CHECK(cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice));
    diverging<<<N / BLOCK, BLOCK>>>(data, from);
    long accesses = 0;
    for (int i = 0; i < N; i++) accesses += i % 3 == 2 ? 1 : 2;
    tell(accesses);
}

/* Another context, in which nothing of the first may be used. */
static void reset()
{
    for (int i = 0; i < 2; i++) {
        launch(device_ints(N), 1000 + i, 0);
        CHECK(cudaDeviceSynchronize());
        tell(1000 + i);
        CHECK(cudaDeviceReset());
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)();
    } cases[] = {{"streams", streams}, {"graph", graph},           {"cooperative", cooperative},
                 {"spaces", spaces},   {"divergence", divergence}, {"reset", reset}};
    for (const auto &c : cases)
        if (argc > 1 && strcmp(argv[1], c.name) == 0) {
            c.run();
            CHECK(cudaDeviceSynchronize());
            return 0;
        }
    fprintf(stderr, "instrumented_cases: no such case\n");
    return 2;
}
