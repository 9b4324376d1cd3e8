// Executes a script of device operations, a line each, so that random programs need no compiler.
//
//   interpreter SCRIPT [--skip N]... [--twice N]... [--swap N,M] [--no-sync]
//
// Lines are numbered from 0. Buffers are 0 to 7, streams 0 (the legacy default stream) to 3. Each
// operation waits, by events, for what other streams did before with its buffers; `bare` in front
// of an operation leaves that out. The stretch lies between the lines `begin` and `end`. At its end
// the program prints a checksum of all buffers and of all that was copied to the host.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

static const int BUFFERS = 8, STREAMS = 4, COUNT = 2048;

__global__ void set(uint32_t *x, uint32_t seed, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = (seed + i) * 2654435761u;
}

__global__ void mix(const uint32_t *x, uint32_t *y, int n, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint32_t value = x[i];
    for (int k = 0; k < rounds; k++) value = value * 1664525u + x[(i + k) % n];
    y[i] = value;
}

__global__ void add(const uint32_t *x, const uint32_t *y, uint32_t *z, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = x[i] + 3 * y[i];
}

__global__ void advance(uint32_t *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * 5 + 1;
}

__global__ void count(const uint32_t *x, uint32_t *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&y[x[i] % 64], 1u);
}

struct buffer {
    uint32_t *device;
    int last_stream;       // that used it; -1: none
    std::set<int> streams; // that used it
};

static buffer buffers[BUFFERS];
static cudaStream_t streams[STREAMS];
static uint32_t *pinned;
static std::vector<std::vector<uint32_t>> brought;
static bool is_bare, is_recorded;

// The stream comes after everything that other streams did with the buffer.
static void follow(int buffer_index, int stream)
{
    for (int other : buffers[buffer_index].streams) {
        if (other == stream || is_bare) continue;
        cudaEvent_t event;
        cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
        cudaEventRecord(event, streams[other]);
        cudaStreamWaitEvent(streams[stream], event, 0);
        cudaEventDestroy(event);
    }
    buffers[buffer_index].streams.insert(stream);
}

static void copy_to_host(int from, int stream, bool to_pinned)
{
    std::vector<uint32_t> values(COUNT);
    uint32_t *const target = to_pinned ? pinned : values.data();
    cudaMemcpyAsync(target, buffers[from].device, COUNT * 4, cudaMemcpyDeviceToHost,
                    streams[stream]);
    if (to_pinned) {
        cudaStreamSynchronize(streams[stream]);
        memcpy(values.data(), pinned, COUNT * 4);
    }
    if (is_recorded) brought.push_back(values);
}

static void copy_from_host(int to, int stream, uint32_t seed, bool from_pinned)
{
    std::vector<uint32_t> values(COUNT);
    for (int i = 0; i < COUNT; i++) values[i] = (seed ^ i) * 40503u;
    if (from_pinned) {
        cudaDeviceSynchronize();
        memcpy(pinned + COUNT, values.data(), COUNT * 4);
    }
    cudaMemcpyAsync(buffers[to].device, from_pinned ? pinned + COUNT : values.data(), COUNT * 4,
                    cudaMemcpyHostToDevice, streams[stream]);
}

static void execute(const std::string &op, int a, int b, int c, int stream)
{
    const dim3 grid((COUNT + 127) / 128), block(128);
    uint32_t *const x = buffers[a % BUFFERS].device, *const y = buffers[b % BUFFERS].device;
    uint32_t *const z = buffers[c % BUFFERS].device;
    const cudaStream_t s = streams[stream];
    follow(a % BUFFERS, stream);
    if (op == "mix" || op == "add" || op == "count" || op == "copy") follow(b % BUFFERS, stream);
    if (op == "add") follow(c % BUFFERS, stream);
    if (op == "set") set<<<grid, block, 0, s>>>(x, b * 7 + c, COUNT);
    if (op == "mix") mix<<<grid, block, 0, s>>>(x, y, COUNT, c % 20);
    if (op == "add") add<<<grid, block, 0, s>>>(x, y, z, COUNT);
    if (op == "advance") advance<<<grid, block, 0, s>>>(x, COUNT);
    if (op == "count") count<<<grid, block, 0, s>>>(x, y, COUNT);
    if (op == "copy" && x != y) cudaMemcpyAsync(y, x, COUNT * 4, cudaMemcpyDeviceToDevice, s);
    if (op == "zero") cudaMemsetAsync(x, b & 255, COUNT * 4, s);
    if (op == "down") copy_to_host(a % BUFFERS, stream, b % 2);
    if (op == "up") copy_from_host(a % BUFFERS, stream, b * 31 + c, b % 2);
}

static uint64_t sum(uint64_t hash, const uint32_t *values)
{
    for (int i = 0; i < COUNT; i++) hash = (hash ^ values[i]) * 1099511628211u;
    return hash;
}

static void print_sums()
{
    std::vector<uint32_t> values(COUNT);
    uint64_t hash = 14695981039346656037u;
    for (int i = 0; i < BUFFERS; i++) {
        cudaMemcpy(values.data(), buffers[i].device, COUNT * 4, cudaMemcpyDeviceToHost);
        hash = sum(hash, values.data());
    }
    printf("memory %016llx\n", (unsigned long long)hash);
    for (const auto &copy : brought)
        printf("copy %016llx\n", (unsigned long long)sum(7, copy.data()));
}

static void line(const std::string &text, bool no_sync)
{
    std::istringstream in(text);
    std::string op;
    int a = 0, b = 0, c = 0, stream = 0;
    in >> op;
    is_bare = op == "bare";
    if (is_bare) in >> op;
    in >> a >> b >> c >> stream;
    stream %= STREAMS;
    if (op == "begin") {
        cudaDeviceSynchronize();
        brought.clear();
        is_recorded = true;
        cudaProfilerStart();
    } else if (op == "end") {
        cudaProfilerStop();
        cudaDeviceSynchronize();
        print_sums();
    } else if (op == "pause") {
        usleep(a * 1000);
    } else if (op == "sync") {
        if (no_sync) return;
        if (a % 2)
            cudaDeviceSynchronize();
        else
            cudaStreamSynchronize(streams[stream]);
    } else {
        execute(op, a, b, c, stream);
    }
}

int main(int argc, char **argv)
{
    std::vector<std::string> lines;
    std::set<int> skipped, doubled;
    bool no_sync = false;
    std::ifstream file(argv[1]);
    for (std::string text; std::getline(file, text);) lines.push_back(text);
    for (int i = 2; i < argc; i++) {
        int first, second;
        if (!strcmp(argv[i], "--no-sync")) no_sync = true;
        if (!strcmp(argv[i], "--skip"))
            skipped.insert(atoi(argv[++i]));
        else if (!strcmp(argv[i], "--twice"))
            doubled.insert(atoi(argv[++i]));
        else if (!strcmp(argv[i], "--swap") && sscanf(argv[++i], "%d,%d", &first, &second) == 2)
            std::swap(lines[first], lines[second]);
    }
    for (int i = 0; i < BUFFERS; i++) {
        cudaMalloc(&buffers[i].device, COUNT * 4);
        cudaMemset(buffers[i].device, i, COUNT * 4);
    }
    for (int i = 1; i < STREAMS; i++)
        cudaStreamCreateWithFlags(&streams[i], i == 3 ? cudaStreamNonBlocking : 0);
    cudaMallocHost(&pinned, 2 * COUNT * 4);
    cudaDeviceSynchronize();
    for (size_t i = 0; i < lines.size(); i++) {
        if (skipped.count((int)i)) continue;
        line(lines[i], no_sync);
        if (doubled.count((int)i)) line(lines[i], no_sync);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
