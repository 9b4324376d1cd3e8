// Jacobi's method for Laplace's equation on a grid of ROWS x COLUMNS between fixed borders (the top
// one is hot), on several ranks, each of which shares its rows between its device and itself:
//
//     rank r    row 0            halo: the last row of rank r - 1, or the border
//               rows 1 .. d      on the device, DEVICE_PERCENT of the rank's rows
//               rows d+1 .. n    on the host
//               row n + 1        halo: the first row of rank r + 1, or the border
//
// In each iteration the device's rows are computed while the host computes its own; then the rows
// at the seam and at the ranks' edges are exchanged (copies; Isend, Irecv and Waitall), and an
// Allreduce of the largest change says whether to go on. The result is compared with that of the
// same number of iterations on one host, unless that would take very long.
//
// The host has as many threads as OpenMP gives it; compiled without, one. Of several, the first one
// calls the device and the others begin with the host's rows meanwhile. Compilers vectorise the
// loop if the maximum need not look out for NaNs (-ffast-math).
//
// jacobi [ROWS = 256] [COLUMNS = 256] [ITERATIONS = 100] [DEVICE_PERCENT = 100]
#include "world.h"
#include <cmath>
#include <ctascope/record.h>
#include <cstring>
#include <vector>
#ifdef _OPENMP
#include <omp.h>
#endif

static const float TOLERANCE = 1e-6f, HOT = 100;

struct Shape {
    int rows, columns, first_row, device_rows; // rows: of this rank, which starts at first_row
};

// Two grids of `rows + 2` rows: `now` is read, `next` written.
struct Grids {
    float *now, *next;
    void swap()
    {
        float *const other = now;
        now = next;
        next = other;
    }
};

// ---- the method ----

__host__ __device__ static float average(const float *grid, size_t i, int columns)
{
    return 0.25f * (grid[i - columns] + grid[i + columns] + grid[i - 1] + grid[i + 1]);
}

// Rows 1 .. rows. Changes are not negative, so that they are ordered as their bits are.
__global__ void update(float *next, const float *now, int rows, int columns, int *largest_change)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (row > rows || column < 1 || column >= columns - 1) return;
    const size_t i = (size_t)row * columns + column;
    next[i] = average(now, i, columns);
    const int change = __float_as_int(fabsf(next[i] - now[i]));
    if (change > *largest_change) atomicMax(largest_change, change);
}

static void set_start(float *grid, const Shape &shape)
{
    memset(grid, 0, (size_t)(shape.rows + 2) * shape.columns * sizeof *grid);
    if (shape.first_row == 0)
        for (int column = 0; column < shape.columns; column++) grid[column] = HOT;
}

// ---- the device's share ----

struct Device {
    Grids grids;
    int *change;
    float *host_change; // pinned
    cudaStream_t stream;
};

static Device start_device(const Shape &shape, const float *start)
{
    Device device = {};
    const size_t count = (size_t)(shape.device_rows + 2) * shape.columns;
    device.grids.now = device_copy(start, count);
    device.grids.next = device_copy(start, count);
    CHECK(cudaMalloc(&device.change, sizeof(int)));
    CHECK(cudaMallocHost(&device.host_change, sizeof(float)));
    CHECK(cudaStreamCreateWithFlags(&device.stream, cudaStreamNonBlocking));
    return device;
}

static void launch(const Device &device, const Shape &shape)
{
    const dim3 block(32, 8);
    const dim3 grid((shape.columns + 31) / 32, (shape.device_rows + 7) / 8);
    CHECK(cudaMemsetAsync(device.change, 0, sizeof(int), device.stream));
    update<<<grid, block, 0, device.stream>>>(device.grids.next, device.grids.now,
                                              shape.device_rows, shape.columns, device.change);
    CHECK(cudaGetLastError());
}

static void copy_row(float *to, const float *from, int row, const Shape &shape, cudaMemcpyKind kind,
                     cudaStream_t stream)
{
    const size_t at = (size_t)row * shape.columns;
    CHECK(cudaMemcpyAsync(to + at, from + at, shape.columns * sizeof(float), kind, stream));
}

// What others need of the device's rows: its first and its last one, and the change.
static void fetch(const Device &device, const Shape &shape, float *host_next)
{
    copy_row(host_next, device.grids.next, 1, shape, cudaMemcpyDeviceToHost, device.stream);
    copy_row(host_next, device.grids.next, shape.device_rows, shape, cudaMemcpyDeviceToHost,
             device.stream);
    CHECK(cudaMemcpyAsync(device.host_change, device.change, sizeof(float), cudaMemcpyDeviceToHost,
                          device.stream));
}

// And what the device needs of others' rows. The next iteration's kernel is behind it in the
// stream; the host leaves these rows alone until it has synchronised with that.
static void supply(const Device &device, const Shape &shape, const float *host_next)
{
    copy_row(device.grids.next, host_next, 0, shape, cudaMemcpyHostToDevice, device.stream);
    copy_row(device.grids.next, host_next, shape.device_rows + 1, shape, cudaMemcpyHostToDevice,
             device.stream);
}

static void end_device(const Device &device, const Shape &shape, float *result)
{
    CHECK(cudaMemcpyAsync(result + shape.columns, device.grids.now + shape.columns,
                          (size_t)shape.device_rows * shape.columns * sizeof(float),
                          cudaMemcpyDeviceToHost, device.stream));
    CHECK(cudaStreamSynchronize(device.stream));
    CHECK(cudaFree(device.grids.now));
    CHECK(cudaFree(device.grids.next));
    CHECK(cudaFree(device.change));
    CHECK(cudaFreeHost(device.host_change));
    CHECK(cudaStreamDestroy(device.stream));
}

// ---- the host's share ----

struct Team {
    int threads, own; // own: 0 calls the device, if there is one; the others need not wait for that
};

static Team team()
{
#ifdef _OPENMP
    return {omp_get_num_threads(), omp_get_thread_num()};
#else
    return {1, 0};
#endif
}

static float update_rows(float *next, const float *now, int first, int end, int columns)
{
    float largest = 0;
    for (int row = first; row < end; row++)
        for (int column = 1; column < columns - 1; column++) {
            const size_t i = (size_t)row * columns + column;
            next[i] = average(now, i, columns);
            largest = fmaxf(largest, fabsf(next[i] - now[i]));
        }
    return largest;
}

// This thread's block of the host's rows, the same in every iteration: it stays in its core's
// cache.
static float update_block(const Team &team, const Shape &shape, const Grids &host)
{
    const int idle = shape.device_rows && team.threads > 1; // calls the device
    if (team.own < idle) return 0;
    const long long count = shape.rows - shape.device_rows, parts = team.threads - idle;
    const int place = team.own - idle, first = shape.device_rows + 1;
    return update_rows(host.next, host.now, first + (int)(count * place / parts),
                       first + (int)(count * (place + 1) / parts), shape.columns);
}

// ---- the ranks ----

// Begins the device's share and computes the host's; the largest change of the latter.
static float update_both(const Device &device, const Shape &shape, const Grids &host)
{
    float largest = 0;
#ifdef _OPENMP
#pragma omp parallel reduction(max : largest)
#endif
    {
        const Team threads = team();
        if (threads.own == 0) {
            if (shape.device_rows) {
                launch(device, shape);
                fetch(device, shape, host.next);
            }
            cts_region_begin("update on the host");
        }
        largest = update_block(threads, shape, host);
    }
    cts_region_end();
    return largest;
}

static void exchange_halos(const World &world, const Shape &shape, float *grid)
{
    MPI_Request requests[4];
    int count = 0;
    float *const last = grid + (size_t)shape.rows * shape.columns;
    if (world.rank > 0) {
        MPI_Irecv(grid, shape.columns, MPI_FLOAT, world.rank - 1, 0, MPI_COMM_WORLD,
                  &requests[count++]);
        MPI_Isend(grid + shape.columns, shape.columns, MPI_FLOAT, world.rank - 1, 1, MPI_COMM_WORLD,
                  &requests[count++]);
    }
    if (world.rank < world.size - 1) {
        MPI_Irecv(last + shape.columns, shape.columns, MPI_FLOAT, world.rank + 1, 1, MPI_COMM_WORLD,
                  &requests[count++]);
        MPI_Isend(last, shape.columns, MPI_FLOAT, world.rank + 1, 0, MPI_COMM_WORLD,
                  &requests[count++]);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

struct Steps {
    int count;
    double seconds; // without starting and ending the device
};

// The result is in `host.now`.
static Steps solve(const World &world, const Shape &shape, int iterations, Grids &host)
{
    Device device = {};
    if (shape.device_rows) device = start_device(shape, host.now);
    int iteration = 0;
    cts_region_begin("iterations");
    const double start_s = MPI_Wtime();
    for (float all = HOT; iteration < iterations && all > TOLERANCE; iteration++) {
        float change = update_both(device, shape, host);
        if (shape.device_rows) {
            CHECK(cudaStreamSynchronize(device.stream));
            change = fmaxf(change, *device.host_change);
        }
        exchange_halos(world, shape, host.next);
        if (shape.device_rows) supply(device, shape, host.next);
        MPI_Allreduce(&change, &all, 1, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
        device.grids.swap();
        host.swap();
    }
    const double seconds = MPI_Wtime() - start_s;
    cts_region_end();
    if (shape.device_rows) end_device(device, shape, host.now);
    return {iteration, seconds};
}

// ---- checking ----

static bool is_right(const Shape &shape, int total_rows, int iterations, const float *result)
{
    const double work = (double)total_rows * shape.columns * iterations;
    if (work > 2e9) {
        if (shape.first_row == 0) printf("not compared: too large\n");
        return true;
    }
    cts_region_begin("solution on one host");
    const Shape whole = {total_rows, shape.columns, 0, 0};
    std::vector<float> one((size_t)(total_rows + 2) * shape.columns), other;
    set_start(one.data(), whole);
    other = one;
    Grids grids = {one.data(), other.data()};
    for (int i = 0; i < iterations; i++) {
        update_rows(grids.next, grids.now, 1, total_rows + 1, shape.columns);
        grids.swap();
    }
    const float *const expected = grids.now + (size_t)shape.first_row * shape.columns;
    bool right = true;
    for (size_t i = shape.columns; i < (size_t)(shape.rows + 1) * shape.columns; i++)
        right &= fabsf(result[i] - expected[i]) < 1e-3f;
    cts_region_end();
    return right;
}

static int percentage(int argc, char **argv, int index, int otherwise)
{
    if (index < argc && strcmp(argv[index], "0") == 0) return 0;
    const int value = argument(argc, argv, index, otherwise);
    if (value <= 100) return value;
    fprintf(stderr, "jacobi: '%s' is more than 100%%\n", argv[index]);
    exit(2);
}

int main(int argc, char **argv)
{
    World world(&argc, &argv);
    const int total_rows = argument(argc, argv, 1, 256), columns = argument(argc, argv, 2, 256);
    const int iterations = argument(argc, argv, 3, 100), percent = percentage(argc, argv, 4, 100);
    if (total_rows < world.size) {
        fprintf(stderr, "jacobi: fewer rows than ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const int first = (int)((long long)total_rows * world.rank / world.size);
    const int end = (int)((long long)total_rows * (world.rank + 1) / world.size);
    const Shape shape = {end - first, columns, first,
                         (int)((long long)(end - first) * percent / 100)};
    const size_t bytes = (size_t)(shape.rows + 2) * columns * sizeof(float);
    Grids host;
    CHECK(cudaMallocHost(&host.now, bytes));
    CHECK(cudaMallocHost(&host.next, bytes));
    set_start(host.now, shape);
    set_start(host.next, shape);

    const Steps done = solve(world, shape, iterations, host);
    const bool right = is_right(shape, total_rows, done.count, host.now);
    if (world.rank == 0)
        printf("%d iterations, %d%% of the rows on devices, %.6f s\n", done.count, percent,
               done.seconds);
    CHECK(cudaFreeHost(host.now));
    CHECK(cudaFreeHost(host.next));
    return world.verdict_of_all("jacobi", right);
}
