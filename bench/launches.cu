// Programs whose analysis is slow where it is not careful: many small launches, and scattered
// updates. Prints the number of launches and the seconds that they took with their set-up.
//
//     launches grid SCALE     a solver on an unstructured grid: 8 launches a step, 1,750 steps,
//     each
//                             cell reads its neighbours through an index (SCALE * 1,000 cells)
//     launches gram SCALE     Gram-Schmidt as PolyBench does it: 3 launches a column,
//                             SCALE * 64 columns
//     launches fdtd SCALE     finite differences in time: 3 launches a step, 500 steps,
//                             SCALE * 64 squared
//     launches tiny SCALE     SCALE * 1,000 launches of one warp
//     launches arrays SCALE   SCALE * 1,000 launches on four streams over 1,000 arrays, each c = a
//     + b of
//                             3,334 numbers, with copies, memsets, events and waits between them
//     launches updates SCALE  one launch, SCALE million times a[r] += x, r uniform over 2^26 ints
#include "../examples/common.h"
#include <chrono>
#include <cstring>
#include <vector>

enum { VARIABLES = 5, NEIGHBOURS = 4, BLOCK = 192 };

static int launches;

static int blocks(int threads, int block)
{
    launches++;
    return (threads + block - 1) / block;
}

// ---- a solver on an unstructured grid: variables by cell, as in Euler's equations ----

__global__ void keep(float *old, const float *now, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) old[i] = now[i];
}

__global__ void step_factor(const float *now, const float *areas, float *factors, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float density = now[i], energy = now[i + 4 * n];
    float speed = 0;
    for (int k = 1; k < 4; k++) speed += now[i + k * n] * now[i + k * n];
    factors[i] = 0.5f / (areas[i] * (speed / density + energy));
}

__global__ void flux(const int *neighbours, const float *normals, const float *now, float *fluxes,
                     int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sums[VARIABLES] = {}, mine[VARIABLES];
    for (int k = 0; k < VARIABLES; k++) mine[k] = now[i + k * n];
    for (int j = 0; j < NEIGHBOURS; j++) {
        const int other = neighbours[i + j * n];
        if (other < 0) continue;
        float along = 0;
        for (int d = 0; d < 3; d++) along += normals[i + (j * 3 + d) * n];
        for (int k = 0; k < VARIABLES; k++) sums[k] += along * (now[other + k * n] - mine[k]);
    }
    for (int k = 0; k < VARIABLES; k++) fluxes[i + k * n] = sums[k];
}

__global__ void advance(int part, const float *old, float *now, const float *factors,
                        const float *fluxes, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float factor = factors[i] / (float)part;
    for (int k = 0; k < VARIABLES; k++)
        now[i + k * n] = old[i + k * n] + factor * fluxes[i + k * n];
}

static float *numbers(size_t count)
{
    std::vector<float> host(count);
    Random random;
    for (float &number : host) number = 0.5f + random.unit();
    return device_copy(host.data(), count);
}

// Three neighbours nearby, one anywhere; some cells are at the border.
static int *grid_neighbours(int n)
{
    std::vector<int> host((size_t)n * NEIGHBOURS);
    Random random;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < NEIGHBOURS; j++) {
            const int near = i + (int)(random.next() % 97) - 48, far = (int)(random.next() % n);
            const int other = j < 3 ? near : far;
            host[i + (size_t)j * n] = other >= 0 && other < n ? other : -1;
        }
    return device_copy(host.data(), host.size());
}

static void grid(int scale)
{
    const int n = scale * 1000, b = BLOCK;
    int *const neighbours = grid_neighbours(n);
    float *const normals = numbers((size_t)n * NEIGHBOURS * 3), *const areas = numbers(n);
    float *const now = numbers((size_t)n * VARIABLES), *const old = numbers((size_t)n * VARIABLES);
    float *const fluxes = numbers((size_t)n * VARIABLES), *const factors = numbers(n);
    for (int step = 0; step < 1750; step++) {
        keep<<<blocks(n * VARIABLES, b), b>>>(old, now, n * VARIABLES);
        step_factor<<<blocks(n, b), b>>>(now, areas, factors, n);
        for (int part = 3; part >= 1; part--) {
            flux<<<blocks(n, b), b>>>(neighbours, normals, now, fluxes, n);
            advance<<<blocks(n, b), b>>>(part, old, now, factors, fluxes, n);
        }
    }
}

// ---- Gram-Schmidt: column k is made of length 1 and taken from the columns after it ----

__global__ void length(const float *a, float *r, int k, int n)
{
    if (blockIdx.x * blockDim.x + threadIdx.x) return;
    float sum = 0;
    for (int i = 0; i < n; i++) sum += a[i * n + k] * a[i * n + k];
    r[k * n + k] = sqrtf(sum) + 1e-3f;
}

__global__ void scale_column(const float *a, const float *r, float *q, int k, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) q[i * n + k] = a[i * n + k] / r[k * n + k];
}

__global__ void take_away(float *a, float *r, const float *q, int k, int n)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j <= k || j >= n) return;
    float sum = 0;
    for (int i = 0; i < n; i++) sum += q[i * n + k] * a[i * n + j];
    r[k * n + j] = sum;
    for (int i = 0; i < n; i++) a[i * n + j] -= q[i * n + k] * sum;
}

static void gram(int scale)
{
    const int n = scale * 64;
    const size_t size = (size_t)n * n;
    float *const a = numbers(size), *const r = numbers(size), *const q = numbers(size);
    for (int k = 0; k < n; k++) {
        length<<<blocks(1, 256), 256>>>(a, r, k, n);
        scale_column<<<blocks(n, 256), 256>>>(a, r, q, k, n);
        take_away<<<blocks(n, 256), 256>>>(a, r, q, k, n);
    }
}

// ---- finite differences in time ----

__global__ void fdtd_y(const float *hz, float *ey, float fresh, int n)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int i = y * n + x;
    if (x < n && y < n) ey[i] = y ? ey[i] - 0.5f * (hz[i] - hz[i - n]) : fresh;
}

__global__ void fdtd_x(const float *hz, float *ex, int n)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int i = y * n + x;
    if (x && x < n && y < n) ex[i] -= 0.5f * (hz[i] - hz[i - 1]);
}

__global__ void fdtd_z(const float *ex, const float *ey, float *hz, int n)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int i = y * n + x;
    if (x < n - 1 && y < n - 1) hz[i] -= 0.7f * (ex[i + 1] - ex[i] + ey[i + n] - ey[i]);
}

static void fdtd(int scale)
{
    const int n = scale * 64;
    const size_t size = (size_t)n * n;
    float *const ex = numbers(size), *const ey = numbers(size), *const hz = numbers(size);
    const dim3 block(32, 8), grid(blocks(n, 32), blocks(n, 8));
    launches = 0;
    for (int step = 0; step < 500; step++) {
        fdtd_y<<<grid, block>>>(hz, ey, (float)step, n);
        fdtd_x<<<grid, block>>>(hz, ex, n);
        fdtd_z<<<grid, block>>>(ex, ey, hz, n);
        launches += 3;
    }
}

// ---- launches of one warp; scattered updates ----

static void tiny(int scale)
{
    float *const a = numbers(32), *const b = numbers(32);
    for (int i = 0; i < scale * 1000; i++) {
        float *const from = i & 1 ? a : b, *const to = i & 1 ? b : a;
        keep<<<blocks(32, 32), 32>>>(to, from, 32);
    }
}

__global__ void add(const float *a, const float *b, float *c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

// Every stream picks from its own quarter of the arrays, now and then from the next quarter after
// an event; one pick in 50 forgets the event: races, as programs have them.
static void arrays(int scale)
{
    enum { COUNT = 1000, STREAMS = 4, SIZE = 3334, QUARTER = COUNT / STREAMS };
    float *all[COUNT];
    cudaStream_t streams[STREAMS];
    cudaEvent_t event;
    Random random;
    for (auto &array : all) array = numbers(SIZE);
    for (auto &stream : streams) CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    const auto pick = [&](int quarter) {
        return all[quarter % STREAMS * QUARTER + random.next() % QUARTER];
    };
    for (int i = 0; i < scale * 1000; i++) {
        const int mine = random.next() % STREAMS, kind = random.next() % 50;
        cudaStream_t stream = streams[mine];
        if (kind < 5) {
            CHECK(cudaEventRecord(event, streams[(mine + 1) % STREAMS]));
            CHECK(cudaStreamWaitEvent(stream, event, 0));
        }
        float *const a = pick(kind < 6 ? mine + 1 : mine), *const b = pick(mine),
                     *const c = pick(mine);
        add<<<blocks(SIZE, 256), 256, 0, stream>>>(a, b, c, SIZE);
        if (kind == 10) CHECK(cudaMemsetAsync(pick(mine), 0, SIZE * sizeof(float), stream));
        if (kind == 11)
            CHECK(cudaMemcpyAsync(pick(mine), c, SIZE * sizeof(float), cudaMemcpyDeviceToDevice,
                                  stream));
        if (kind == 12) CHECK(cudaStreamSynchronize(stream));
    }
}

__global__ void update(int *a, unsigned size, long long count)
{
    const long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        unsigned long long r = (unsigned long long)i * 0x9e3779b97f4a7c15ull;
        r = (r ^ r >> 30) * 0xbf58476d1ce4e5b9ull;
        r = (r ^ r >> 27) * 0x94d049bb133111ebull;
        a[(r >> 32) % size] += (int)i;
    }
}

static void updates(int scale)
{
    int *a;
    const unsigned size = 1u << 26;
    const long long count = scale * 1000000ll;
    CHECK(cudaMalloc(&a, size * sizeof *a));
    CHECK(cudaMemset(a, 0, size * sizeof *a));
    launches++;
    update<<<2048, 256>>>(a, size, count);
}

int main(int argc, char **argv)
{
    const struct {
        const char *name;
        void (*run)(int scale);
    } programs[] = {{"grid", grid}, {"gram", gram},     {"fdtd", fdtd},
                    {"tiny", tiny}, {"arrays", arrays}, {"updates", updates}};
    const int scale = argument(argc, argv, 2, 1);
    for (const auto &program : programs) {
        if (argc < 2 || strcmp(program.name, argv[1]) != 0) continue;
        const auto start = std::chrono::steady_clock::now();
        program.run(scale);
        CHECK(cudaDeviceSynchronize());
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        printf("%d %.3f\n", launches, seconds.count());
        return 0;
    }
    fprintf(stderr, "usage: launches grid|gram|fdtd|tiny|arrays|updates SCALE\n");
    return 2;
}
