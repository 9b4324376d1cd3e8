// A stencil over cells of 32 bytes, on one device or split by hand over two that read each other's
// borders in place (peer access). What crosses the cut in a step is one row (or column) of cells
// each way: EDGE * 32 bytes. On one device the same traffic is what `ctascope partition -n 2`
// predicts for the mapping that cuts there: lexicographic = rows, colexicographic = columns. A cell
// fills a sector, so that a column costs no more than its bytes.
// halo [EDGE = 256] [STEPS = 4] [DEVICES = 1] [rows | columns]
#include "common.h"
#include <cmath>
#include <cstring>
#include <vector>

struct alignas(16) Cell {
    float4 low, high;
};

// A rectangle of the domain and the memory that holds it, row by row.
struct Part {
    int x, y, width, height;
    Cell *cells[2]; // in ping-pong
};

__device__ float4 add(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

__device__ float4 toward(float4 here, float4 sum)
{
    return make_float4(
        here.x + 0.125f * (sum.x - 4 * here.x), here.y + 0.125f * (sum.y - 4 * here.y),
        here.z + 0.125f * (sum.z - 4 * here.z), here.w + 0.125f * (sum.w - 4 * here.w));
}

// The cell at (x, y) of the domain: in the own part or, across the cut, in the other.
__device__ Cell cell_at(const Part &own, const Part &other, int now, int x, int y)
{
    const bool inside = x >= own.x && x < own.x + own.width && y >= own.y && y < own.y + own.height;
    const Part &part = inside ? own : other;
    const Cell *cell = part.cells[now] + (size_t)(y - part.y) * part.width + (x - part.x);
    Cell copy;
    copy.low = cell->low;
    copy.high = cell->high;
    return copy;
}

__global__ void step(Part own, Part other, int now, int edge)
{
    const int x = own.x + blockIdx.x * blockDim.x + threadIdx.x;
    const int y = own.y + blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= own.x + own.width || y >= own.y + own.height) return;
    const Cell here = cell_at(own, other, now, x, y);
    const Cell west = x > 0 ? cell_at(own, other, now, x - 1, y) : here;
    const Cell east = x < edge - 1 ? cell_at(own, other, now, x + 1, y) : here;
    const Cell north = y > 0 ? cell_at(own, other, now, x, y - 1) : here;
    const Cell south = y < edge - 1 ? cell_at(own, other, now, x, y + 1) : here;
    Cell *out = own.cells[1 - now] + (size_t)(y - own.y) * own.width + (x - own.x);
    out->low = toward(here.low, add(add(west.low, east.low), add(north.low, south.low)));
    out->high = toward(here.high, add(add(west.high, east.high), add(north.high, south.high)));
}

static void copy_part(const Part &part, Cell *domain, int edge, int now, bool up)
{
    Cell *const corner = domain + (size_t)part.y * edge + part.x;
    const size_t width = part.width * sizeof(Cell), pitch = edge * sizeof(Cell);
    if (up)
        CHECK(cudaMemcpy2D(part.cells[now], width, corner, pitch, width, part.height,
                           cudaMemcpyHostToDevice));
    else
        CHECK(cudaMemcpy2D(corner, pitch, part.cells[now], width, width, part.height,
                           cudaMemcpyDeviceToHost));
}

// STEPS steps of `domain` on `devices` devices.
static void run(std::vector<Cell> &domain, int edge, int steps, int devices, bool rows)
{
    const int half = edge / 2;
    Part parts[2] = {{0, 0, edge, edge, {}}, {}};
    if (devices == 2) {
        parts[0] = rows ? Part{0, 0, edge, half, {}} : Part{0, 0, half, edge, {}};
        parts[1] =
            rows ? Part{0, half, edge, edge - half, {}} : Part{half, 0, edge - half, edge, {}};
    }
    cudaStream_t streams[2];
    cudaEvent_t done[2];
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        if (devices == 2) CHECK(cudaDeviceEnablePeerAccess(1 - d, 0));
        CHECK(cudaStreamCreate(&streams[d]));
        CHECK(cudaEventCreateWithFlags(&done[d], cudaEventDisableTiming));
        for (Cell *&cells : parts[d].cells)
            CHECK(cudaMalloc(&cells, (size_t)parts[d].width * parts[d].height * sizeof(Cell)));
        copy_part(parts[d], domain.data(), edge, 0, true);
    }
    for (int s = 0; s < steps; s++)
        for (int phase = 0; phase < 2; phase++)
            for (int d = 0; d < devices; d++) {
                CHECK(cudaSetDevice(d));
                if (phase == 1) { // a step reads what the other device's last one wrote
                    CHECK(cudaStreamWaitEvent(streams[d], done[devices - 1 - d], 0));
                    continue;
                }
                const dim3 block(32, 8);
                const dim3 grid((parts[d].width + 31) / 32, (parts[d].height + 7) / 8);
                step<<<grid, block, 0, streams[d]>>>(parts[d], parts[devices - 1 - d], s % 2, edge);
                CHECK(cudaGetLastError());
                CHECK(cudaEventRecord(done[d], streams[d]));
            }
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamSynchronize(streams[d]));
    }
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        copy_part(parts[d], domain.data(), edge, steps % 2, false);
        for (Cell *cells : parts[d].cells) CHECK(cudaFree(cells));
        if (devices == 2) CHECK(cudaDeviceDisablePeerAccess(1 - d));
        CHECK(cudaEventDestroy(done[d]));
        CHECK(cudaStreamDestroy(streams[d]));
    }
}

// One step on the host, of the cells' first component (all components do the same).
static void step_host(const std::vector<float> &in, std::vector<float> &out, int n)
{
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            const size_t i = (size_t)y * n + x;
            const float here = in[i];
            const float west = x > 0 ? in[i - 1] : here, east = x < n - 1 ? in[i + 1] : here;
            const float north = y > 0 ? in[i - n] : here, south = y < n - 1 ? in[i + n] : here;
            out[i] = here + 0.125f * (west + east + (north + south) - 4.0f * here);
        }
}

int main(int argc, char **argv)
{
    const int edge = argument(argc, argv, 1, 256), steps = argument(argc, argv, 2, 4);
    const int devices = argument(argc, argv, 3, 1);
    const bool rows = argc < 5 || strcmp(argv[4], "columns") != 0;
    if (devices > 2 || edge < 2) {
        fprintf(stderr, "halo: one or two devices, and two rows at least\n");
        return 2;
    }
    std::vector<Cell> domain((size_t)edge * edge);
    std::vector<float> reference(domain.size()), next(domain.size());
    Random random;
    for (size_t i = 0; i < domain.size(); i++) {
        const float value = reference[i] = random.unit();
        domain[i].low = domain[i].high = make_float4(value, value, value, value);
    }
    run(domain, edge, steps, devices, rows);
    for (int s = 0; s < steps; s++) {
        step_host(reference, next, edge);
        reference.swap(next);
    }
    bool right = true;
    for (size_t i = 0; i < domain.size(); i++)
        right = right && std::fabs(domain[i].low.x - reference[i]) < 1e-4f &&
                std::fabs(domain[i].high.w - reference[i]) < 1e-4f;
    return verdict("halo", right);
}
