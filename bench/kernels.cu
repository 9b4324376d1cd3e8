// The kernels that ./run bench times. Prints one line: the kernel, threads per launch, and the
// median time of a launch in ns, from the launch to the end of the synchronisation after it.
// kernels NAME LAUNCHES
#include "../examples/bfs.h"
#include "../examples/common.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

enum { LARGE = 1 << 24, EDGE = 4096, CACHED = 1 << 14, TILE = 16, MATMUL_EDGE = 512 };

__global__ void vectoradd(const float *a, const float *b, float *c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

__global__ void stencil(const float *in, float *out, int n)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
    const int i = y * n + x;
    out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
}

__global__ void gather(const int *index, const float *in, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[index[i]];
}

// Sixty-four barriers and next to nothing between them.
__global__ void barriers(int *out)
{
    int sum = threadIdx.x;
    for (int k = 0; k < 64; k++) {
        sum += k ^ sum;
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void matmul(const float *a, const float *b, float *c, int n)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
    for (int start = 0; start < n; start += TILE) {
        tile_a[threadIdx.y][threadIdx.x] = a[y * n + start + threadIdx.x];
        tile_b[threadIdx.y][threadIdx.x] = b[(start + threadIdx.y) * n + x];
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = sum;
}

static float *numbers(size_t count)
{
    std::vector<float> host(count);
    for (size_t i = 0; i < count; i++) host[i] = (float)(i % 1021) / 1024.0f;
    return device_copy(host.data(), count);
}

// A search over a random graph of a million nodes with six edges each; what is timed is the kernels
// and the copies of the flag between them.
struct Graph {
    enum { NODES = 1000000, DEGREE = 6 };
    int *first_edge, *edges, *distance, *more;
    bool *frontier, *seen, *marked;
    Graph()
    {
        std::vector<int> first(NODES + 1), to((size_t)NODES * DEGREE);
        Random random;
        for (int node = 0; node <= NODES; node++) first[node] = node * DEGREE;
        for (int &edge : to) edge = random.next() % NODES;
        first_edge = device_copy(first.data(), first.size());
        edges = device_copy(to.data(), to.size());
        CHECK(cudaMalloc(&distance, NODES * sizeof(int)));
        CHECK(cudaMalloc(&more, sizeof(int)));
        CHECK(cudaMalloc(&frontier, NODES));
        CHECK(cudaMalloc(&seen, NODES));
        CHECK(cudaMalloc(&marked, NODES));
    }
    void search()
    {
        CHECK(cudaMemset(frontier, 0, NODES));
        CHECK(cudaMemset(seen, 0, NODES));
        CHECK(cudaMemset(marked, 0, NODES));
        CHECK(cudaMemset(frontier, 1, 1));
        CHECK(cudaMemset(seen, 1, 1));
        CHECK(cudaMemset(distance, 0, NODES * sizeof(int)));
        for (int again = 1; again;) {
            CHECK(cudaMemset(more, 0, sizeof(int)));
            expand<<<(NODES + 511) / 512, 512>>>(first_edge, edges, frontier, seen, marked,
                                                 distance, NODES);
            settle<<<(NODES + 511) / 512, 512>>>(frontier, seen, marked, more, NODES);
            CHECK(cudaMemcpy(&again, more, sizeof(int), cudaMemcpyDeviceToHost));
        }
    }
};

template <class Launch>
static void measure(const char *name, int launches, long threads, Launch launch)
{
    using clock = std::chrono::steady_clock;
    std::vector<double> times;
    for (int i = 0; i < launches; i++) {
        const auto start = clock::now();
        launch(i);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        times.push_back(std::chrono::duration<double, std::nano>(clock::now() - start).count());
    }
    std::sort(times.begin(), times.end());
    printf("%s %ld %.0f\n", name, threads, times[times.size() / 2]);
}

int main(int argc, char **argv)
{
    const char *const name = argc > 1 ? argv[1] : "";
    const int launches = argument(argc, argv, 2, 5);
    if (!strcmp(name, "vectoradd") || !strcmp(name, "cached")) {
        const int n = name[0] == 'v' ? LARGE : CACHED;
        float *a = numbers(n), *b = numbers(n), *c = numbers(n);
        measure(name, launches, n, [=](int) { vectoradd<<<n / 256, 256>>>(a, b, c, n); });
    } else if (!strcmp(name, "stencil32x8") || !strcmp(name, "stencil16x16")) {
        const dim3 block = name[7] == '3' ? dim3(32, 8) : dim3(16, 16);
        const dim3 grid(EDGE / block.x, EDGE / block.y);
        float *a = numbers((size_t)EDGE * EDGE), *b = numbers((size_t)EDGE * EDGE);
        measure(name, launches, (long)EDGE * EDGE,
                [=](int i) { stencil<<<grid, block>>>(i % 2 ? b : a, i % 2 ? a : b, EDGE); });
    } else if (!strcmp(name, "gather")) {
        std::vector<int> where(LARGE);
        Random random;
        for (int &w : where) w = random.next() % LARGE;
        int *index = device_copy(where.data(), where.size());
        float *a = numbers(LARGE), *b = numbers(LARGE);
        measure(name, launches, LARGE,
                [=](int) { gather<<<LARGE / 256, 256>>>(index, a, b, LARGE); });
    } else if (!strcmp(name, "barriers")) {
        int *out;
        CHECK(cudaMalloc(&out, 1024 * sizeof(int)));
        measure(name, launches, 1024L * 256, [=](int) { barriers<<<1024, 256>>>(out); });
    } else if (!strcmp(name, "matmul")) {
        const int n = MATMUL_EDGE;
        float *a = numbers(n * n), *b = numbers(n * n), *c = numbers(n * n);
        const dim3 block(TILE, TILE), grid(n / TILE, n / TILE);
        measure(name, launches, (long)n * n, [=](int) { matmul<<<grid, block>>>(a, b, c, n); });
    } else if (!strcmp(name, "bfs")) {
        Graph graph;
        measure(name, launches, Graph::NODES, [&](int) { graph.search(); });
    } else {
        fprintf(stderr, "kernels: no kernel '%s'\n", name);
        return 2;
    }
    return 0;
}
