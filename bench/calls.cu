// What a call of the API costs, in ns: the best of several batches, and the median.
// calls NAME
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

static cudaEvent_t event;
static cudaStream_t stream;
static char *memory, *pinned;

__global__ void nothing() {}

static void query()
{
    cudaEventQuery(event);
}
static void launch()
{
    nothing<<<1, 1, 0, stream>>>();
}
static void record()
{
    cudaEventRecord(event, stream);
}
static void copy()
{
    cudaMemcpy(memory, pinned, 4, cudaMemcpyHostToDevice);
}
static void attributes()
{
    cudaStreamGetDevice(stream, (int *)pinned);
}

int main(int argc, char **argv)
{
    const struct {
        const char *name;
        void (*call)();
        int batch; // small where calls queue work
    } calls[] = {{"cudaStreamGetDevice", attributes, 100000},
                 {"cudaEventQuery", query, 100000},
                 {"cudaMemcpy", copy, 20000},
                 {"cudaEventRecord", record, 2000},
                 {"cudaLaunchKernel", launch, 2000}};
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreate(&event);
    cudaEventRecord(event, stream);
    cudaMalloc(&memory, 4);
    cudaMallocHost(&pinned, 4);
    for (const auto &call : calls) {
        if (argc != 2 || strcmp(argv[1], call.name) != 0) continue;
        enum { BATCHES = 41 };
        double all_ns[BATCHES];
        for (double &ns : all_ns) {
            cudaDeviceSynchronize();
            const auto start = std::chrono::steady_clock::now();
            for (int i = 0; i < call.batch; i++) call.call();
            ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start)
                     .count() /
                 call.batch;
        }
        std::sort(all_ns, all_ns + BATCHES);
        printf("%s %.1f %.1f\n", call.name, all_ns[0], all_ns[BATCHES / 2]);
        return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
    }
    return 2;
}
