// Executes a script of device operations, a line each, so that random programs need no compiler.
//
//   interpreter SCRIPT [--skip N]... [--twice N]... [--swap N,M] [--no-sync] [--graph] [--delay
//   N,US]
//                      [--overlap N,M] [--away N] [--addresses]
//
// Lines are numbered from 0. Buffers are 0 to 7, streams 0 (the legacy default stream) to 3. Each
// operation waits, by events, for what other streams did before with its buffers; `bare` in front
// of an operation leaves that out. --overlap: line M begins after what was requested before line N,
// in a stream of its own, and all that follows comes after it. --graph: what lies between two waits
// of the host is captured and launched as a graph. --away: a copy is left out, and its readers read
// the source until the copy's destination is rewritten. The stretch lies between the lines
// `begin` and `end`. At its end the program prints a checksum of all buffers and of all that was
// copied to the host.
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
static bool uses_graphs, is_capturing;
static cudaStream_t capture_streams[STREAMS], own_stream;
static cudaStream_t forced_stream; // for all operations; nullptr: none
static int away_destination = -1, away_source = -1;

static cudaStream_t stream_of(int stream)
{
    if (forced_stream) return forced_stream;
    return is_capturing ? capture_streams[stream] : streams[stream];
}

static void order(cudaStream_t first, cudaStream_t second)
{
    cudaEvent_t event;
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaEventRecord(event, first);
    cudaStreamWaitEvent(second, event, 0);
    cudaEventDestroy(event);
}

static void begin_graph()
{
    if (!uses_graphs || !is_recorded || is_capturing) return;
    cudaDeviceSynchronize();
    cudaStreamBeginCapture(capture_streams[0], cudaStreamCaptureModeRelaxed);
    for (int i = 1; i < STREAMS; i++) order(capture_streams[0], capture_streams[i]);
    is_capturing = true;
}

static void end_graph()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    if (!is_capturing) return;
    for (int i = 1; i < STREAMS; i++) order(capture_streams[i], capture_streams[0]);
    cudaStreamEndCapture(capture_streams[0], &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, capture_streams[0]);
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    is_capturing = false;
}

// The stream comes after everything that other streams did with the buffer.
static void follow(int buffer_index, int stream)
{
    for (int other : buffers[buffer_index].streams)
        if (other != stream && !is_bare && !forced_stream)
            order(stream_of(other), stream_of(stream));
    buffers[buffer_index].streams.insert(stream);
}

static void copy_to_host(const uint32_t *from, int stream, bool to_pinned)
{
    std::vector<uint32_t> values(COUNT);
    uint32_t *const target = to_pinned ? pinned : values.data();
    cudaMemcpyAsync(target, from, COUNT * 4, cudaMemcpyDeviceToHost, streams[stream]);
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

// Where an operation reads a buffer.
static uint32_t *read_place(int index)
{
    return buffers[index == away_destination ? away_source : index].device;
}

// A copy that was left out does not matter any more.
static void note_written(const std::string &op, int a, int b, int c)
{
    int written = -1;
    if (op == "set" || op == "zero" || op == "up") written = a % BUFFERS;
    if (op == "mix" || op == "copy") written = b % BUFFERS;
    if (op == "add") written = c % BUFFERS;
    if (written == away_destination) away_destination = -1;
}

static void execute(const std::string &op, int a, int b, int c, int stream)
{
    const dim3 grid((COUNT + 127) / 128), block(128);
    const bool reads_first =
        op == "mix" || op == "add" || op == "count" || op == "copy" || op == "down";
    uint32_t *const x = reads_first ? read_place(a % BUFFERS) : buffers[a % BUFFERS].device;
    uint32_t *const y = op == "add" ? read_place(b % BUFFERS) : buffers[b % BUFFERS].device;
    uint32_t *const z = buffers[c % BUFFERS].device;
    if (op == "down" || op == "up")
        end_graph();
    else
        begin_graph();
    const cudaStream_t s = stream_of(stream);
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
    note_written(op, a, b, c);
    if (op == "down") copy_to_host(x, stream, b % 2);
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
        cudaMemcpy(values.data(), read_place(i), COUNT * 4, cudaMemcpyDeviceToHost);
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
        end_graph();
        cudaProfilerStop();
        cudaDeviceSynchronize();
        print_sums();
    } else if (op == "pause") {
        usleep(a * 1000);
    } else if (op == "sync") {
        if (no_sync) return;
        end_graph();
        if (a % 2)
            cudaDeviceSynchronize();
        else
            cudaStreamSynchronize(streams[stream]);
    } else {
        execute(op, a, b, c, stream);
    }
}

static void pause_stream(void *us)
{
    usleep((useconds_t)(uintptr_t)us);
}

struct changes {
    std::set<int> skipped, doubled;
    int delayed = -1, delay_us = 0, first = -1, second = -1, away = -1;
};

static void run_line(const std::vector<std::string> &lines, int i, const changes &c, bool no_sync)
{
    if (i == c.first) // the second begins after what was requested up to here
        for (int k = 0; k < STREAMS; k++) order(streams[k], own_stream);
    if (i == c.delayed)
        cudaLaunchHostFunc(streams[(lines[i].back() - '0') % STREAMS], pause_stream,
                           (void *)(uintptr_t)c.delay_us);
    if (i == c.second) forced_stream = own_stream;
    line(lines[i], no_sync);
    if (i != c.second) return;
    forced_stream = nullptr;
    for (int k = 0; k < STREAMS; k++) order(own_stream, streams[k]);
}

int main(int argc, char **argv)
{
    std::vector<std::string> lines;
    changes c;
    bool no_sync = false, tells_addresses = false;
    std::ifstream file(argv[1]);
    for (std::string text; std::getline(file, text);) lines.push_back(text);
    for (int i = 2; i < argc; i++) {
        int first, second;
        const std::string option = argv[i];
        if (option == "--no-sync") no_sync = true;
        if (option == "--graph") uses_graphs = true;
        if (option == "--addresses") tells_addresses = true;
        if (i + 1 == argc || option == argv[i + 1]) continue;
        if (option == "--skip") c.skipped.insert(atoi(argv[++i]));
        if (option == "--twice") c.doubled.insert(atoi(argv[++i]));
        if (option == "--away") c.away = atoi(argv[++i]);
        if (option == "--swap" && sscanf(argv[++i], "%d,%d", &first, &second) == 2)
            std::swap(lines[first], lines[second]);
        if (option == "--delay") sscanf(argv[++i], "%d,%d", &c.delayed, &c.delay_us);
        if (option == "--overlap") sscanf(argv[++i], "%d,%d", &c.first, &c.second);
    }
    for (int i = 0; i < BUFFERS; i++) {
        cudaMalloc(&buffers[i].device, COUNT * 4);
        cudaMemset(buffers[i].device, i, COUNT * 4);
    }
    for (int i = 1; i < STREAMS; i++)
        cudaStreamCreateWithFlags(&streams[i], i == 3 ? cudaStreamNonBlocking : 0);
    for (int i = 0; i < STREAMS; i++)
        cudaStreamCreateWithFlags(&capture_streams[i], cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&own_stream, cudaStreamNonBlocking);
    if (tells_addresses)
        for (int i = 0; i < BUFFERS; i++) printf("%p\n", (void *)buffers[i].device);
    cudaMallocHost(&pinned, 2 * COUNT * 4);
    cudaDeviceSynchronize();
    for (size_t i = 0; i < lines.size(); i++) {
        if (c.skipped.count((int)i)) continue;
        if (c.away == (int)i) {
            int stream;
            char op[16];
            sscanf(lines[i].c_str(), "%15s %d %d %*d %d", op, &away_source, &away_destination,
                   &stream);
            away_source %= BUFFERS;
            away_destination %= BUFFERS;
            continue;
        }
        run_line(lines, (int)i, c, no_sync);
        if (c.doubled.count((int)i)) line(lines[i], no_sync);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
