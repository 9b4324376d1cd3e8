// Every kind of call that a timeline knows, a known number of times; calls.py counts them.
// calls PART
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <cuda.h>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t check_error = (call);                                                    \
        if (check_error != cudaSuccess) {                                                          \
            fprintf(stderr, "%d: %s: %s\n", __LINE__, #call, cudaGetErrorString(check_error));     \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void add(int *data, int n, int value)
{
    __shared__ int shared[64];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    shared[threadIdx.x % 64] = value;
    __syncthreads();
    if (i < n) data[i] += shared[threadIdx.x % 64];
}

static void count_up(void *data)
{
    ++*(int *)data;
}

static void CUDART_CB callback(cudaStream_t, cudaError_t, void *data)
{
    ++*(int *)data;
}

// Copies of every kind: 4000 bytes each where nothing else is said.
static void copies()
{
    int *device, *other, *pinned, pageable[1000];
    CHECK(cudaMalloc(&device, 4000));
    CHECK(cudaMalloc(&other, 4000));
    CHECK(cudaMallocHost(&pinned, 4000));
    memset(pageable, 0, sizeof pageable);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMemcpy(device, pageable, 4000, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(other, device, 4000, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy(pageable, other, 4000, cudaMemcpyDefault));
    CHECK(cudaMemcpyAsync(device, pinned, 4000, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(pinned, device, 4000, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemcpy2D(device, 400, pageable, 100, 100, 10, cudaMemcpyHostToDevice)); // 1000 bytes
    cudaMemcpy3DParms parameters = {};
    parameters.srcPtr = make_cudaPitchedPtr(device, 20, 20, 5);
    parameters.dstPtr = make_cudaPitchedPtr(pageable, 20, 20, 5);
    parameters.extent = make_cudaExtent(20, 5, 3); // 300 bytes
    parameters.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3DAsync(&parameters, stream));
    CHECK(cudaMemset(device, 1, 4000));
    CHECK(cudaMemset2DAsync(device, 200, 1, 100, 10, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(pageable, pageable + 500, 2000, cudaMemcpyHostToHost));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(device));
    CHECK(cudaFree(other));
    CHECK(cudaFreeHost(pinned));
}

// Functions of the host, stream-ordered memory, a launch that fails.
static void others()
{
    int count = 0, *memory;
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -1));
    CHECK(cudaMallocAsync(&memory, 4000, stream));
    CHECK(cudaMemsetAsync(memory, 0, 4000, stream));
    add<<<dim3(4, 2, 1), dim3(32, 2, 1), 256, stream>>>(memory, 64, 3);
    CHECK(cudaLaunchHostFunc(stream, count_up, &count));
    CHECK(cudaStreamAddCallback(stream, callback, &count, 0));
    CHECK(cudaFreeAsync(memory, stream));
    CHECK(cudaStreamSynchronize(stream));
    add<<<1, 2048, 0, stream>>>(memory, 64, 3);
    if (cudaGetLastError() != cudaErrorInvalidConfiguration || count != 2) exit(1);
    CHECK(cudaStreamDestroy(stream));
}

static cudaGraph_t captured(cudaStream_t stream, int *memory)
{
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(memory, 0, 4000, stream));
    for (int i = 0; i < 3; i++) add<<<2, 64, 0, stream>>>(memory, 100, i);
    CHECK(cudaStreamEndCapture(stream, &graph));
    return graph;
}

// A captured graph of a memset and three kernels, launched twice.
static void graphs()
{
    int *memory, result[100];
    cudaStream_t stream;
    cudaGraphExec_t exec;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&memory, 4000));
    const cudaGraph_t graph = captured(stream, memory);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; i++) CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(result, memory, sizeof result, cudaMemcpyDeviceToHost));
    if (result[99] != 0 + 1 + 2) exit(1);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFree(memory));
}

// Two devices, a copy between them.
static void devices()
{
    int *memory[2];
    cudaStream_t streams[2];
    for (int device = 0; device < 2; device++) {
        CHECK(cudaSetDevice(device));
        CHECK(cudaMalloc(&memory[device], 4000));
        CHECK(cudaStreamCreate(&streams[device]));
        CHECK(cudaMemsetAsync(memory[device], 0, 4000, streams[device]));
        add<<<8, 64, 0, streams[device]>>>(memory[device], 500, device);
        CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaMemcpyPeerAsync(memory[1], 1, memory[0], 0, 4000, streams[1]));
    CHECK(cudaStreamSynchronize(streams[1]));
}

static void thread_work(int number)
{
    int *memory;
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&memory, 4000));
    CHECK(cudaMemsetAsync(memory, 0, 4000, stream));
    for (int i = 0; i < number + 1; i++) add<<<2, 64, 0, stream>>>(memory, 100, i);
    CHECK(cudaStreamSynchronize(stream));
}

__global__ void slow(unsigned long long ns)
{
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < ns);
}

__global__ void until(const volatile int *go)
{
    while (!*go) {
    }
}

// Calls that wait for a kernel, each for one of 30 ms that was launched just before. The calls that
// do not wait come while a kernel runs that ends only after them.
static void waits()
{
    const unsigned long long ns = 30000000;
    int *memory, *other, value = 0;
    cudaStream_t stream, free_one;
    cudaEvent_t event;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreateWithFlags(&free_one, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CHECK(cudaMalloc(&memory, 4000));
    CHECK(cudaMalloc(&other, 4000));
    volatile int *go;
    CHECK(cudaMallocHost((void **)&go, sizeof *go));
    *go = 0;
    slow<<<1, 1, 0, stream>>>(ns);
    CHECK(cudaStreamSynchronize(stream));
    slow<<<1, 1, 0, stream>>>(ns);
    CHECK(cudaEventRecord(event, stream));
    CHECK(cudaEventSynchronize(event));
    slow<<<1, 1, 0, free_one>>>(ns);
    CHECK(cudaDeviceSynchronize());
    slow<<<1, 1, 0, stream>>>(ns);
    CHECK(cudaMemcpy(memory, &value, 4, cudaMemcpyHostToDevice)); // the null stream's rule
    slow<<<1, 1, 0, free_one>>>(ns);
    CHECK(cudaFree(other));
    until<<<1, 1, 0, free_one>>>(go);
    CHECK(cudaMemcpy(memory, &value, 4, cudaMemcpyHostToDevice)); // which leaves this one out
    CHECK(cudaStreamDestroy(free_one));                           // and this waits for nothing
    *go = 1;
    CHECK(cudaDeviceSynchronize());
}

// The driver API's names.
static void driver()
{
    CUcontext context;
    CUstream stream;
    CUevent event;
    CUdeviceptr memory;
    int host[1000] = {0};
    if (cuInit(0) || cuCtxCreate(&context, 0, 0) || cuStreamCreate(&stream, 0) ||
        cuEventCreate(&event, 0) || cuMemAlloc(&memory, 4000) || cuMemcpyHtoD(memory, host, 4000) ||
        cuMemsetD32Async(memory, 7, 1000, stream) ||
        cuMemcpyDtoHAsync(host, memory, 4000, stream) || cuEventRecord(event, stream) ||
        cuEventSynchronize(event) || cuStreamSynchronize(stream) || cuEventDestroy(event) ||
        cuStreamDestroy(stream) || cuMemFree(memory) || cuCtxSynchronize() || host[999] != 7)
        exit(1);
}

// Three threads; thread t launches t + 1 kernels.
static void threads()
{
    std::vector<std::thread> all;
    for (int t = 0; t < 3; t++) all.emplace_back(thread_work, t);
    for (std::thread &one : all) one.join();
}

int main(int argc, char **argv)
{
    const struct {
        const char *name;
        void (*function)();
    } parts[] = {{"copies", copies},   {"others", others}, {"graphs", graphs}, {"devices", devices},
                 {"threads", threads}, {"driver", driver}, {"waits", waits}};
    for (const auto &part : parts)
        if (argc == 2 && strcmp(argv[1], part.name) == 0) {
            part.function();
            return 0;
        }
    return 2;
}
