// What shared accesses of a warp cost: wavefronts [SEED = 1] makes, for loads and stores of 1, 2
// and 4 words, one launch of one warp per pattern of addresses: regular ones first, then random
// ones. `load` fills the array before; what its loads cost, and the stores of `store`, is the
// pattern's. Prints words, pattern and the lanes' cells; a negative cell: the lane makes no access.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t status = (call);                                                         \
        if (status != cudaSuccess) {                                                               \
            fprintf(stderr, "wavefronts: %s\n", cudaGetErrorString(status));                       \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { CELLS = 1024, REGULAR = 22, PATTERNS = 150 };

template <typename T> __global__ void load(const int *cells, const T *in, T *out)
{
    __shared__ T memory[CELLS];
    for (int i = threadIdx.x; i < CELLS; i += 32) memory[i] = in[threadIdx.x];
    __syncwarp();
    const int cell = cells[threadIdx.x];
    if (cell >= 0) out[threadIdx.x] = memory[cell];
}

template <typename T> __global__ void store(const int *cells, const T *in, T *out)
{
    __shared__ T memory[CELLS];
    const int cell = cells[threadIdx.x], other = cells[31 - threadIdx.x];
    if (cell >= 0) memory[cell] = in[threadIdx.x];
    __syncwarp();
    if (other >= 0) out[threadIdx.x] = memory[other];
}

static int regular(int pattern, int lane)
{
    switch (pattern) {
    case 0:
        return lane;
    case 1:
        return 0;
    case 2:
        return lane / 16;
    case 3:
        return lane / 8;
    case 4:
        return lane / 4;
    case 5:
        return lane / 2;
    case 6:
        return (lane & 1) | (lane >> 2 << 1);
    case 7:
        return lane % 16;
    case 8:
        return lane % 8;
    case 9:
        return lane % 4;
    case 10:
        return lane % 2;
    case 11:
        return 2 * lane;
    case 12:
        return 4 * lane;
    case 13:
        return 8 * lane;
    case 14:
        return 31 - lane;
    case 15:
        return lane / 16 * 8;
    case 16:
        return lane / 16 * 32;
    case 17:
        return lane < 8 ? lane : -1;
    case 18:
        return lane % 16 ? -1 : lane;
    case 19:
        return lane % 2 ? -1 : lane;
    case 20:
        return lane % 4 < 2 ? lane : -1;
    default:
        return lane / 2 * 33 % CELLS;
    }
}

static unsigned state;
static int random_below(int n)
{
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 8) % (unsigned)n);
}

// From few cells to many, in six ways: as they come; with lanes left out; equal pairs; equal pairs
// with lanes left out; pairs in one half of the warp alone; pairs of neighbours in one, of others
// in the other.
static void random_cells(int pattern, int *cells)
{
    const int many = 1 << (1 + pattern % 9), way = pattern % 6;
    for (int lane = 0; lane < 32; lane++) cells[lane] = random_below(many);
    for (int lane = 0; lane < 32; lane++) {
        const int step = way < 2 || (way == 4 && lane >= 16)            ? 0
                         : (way == 5 && lane >= 16) || pattern % 7 == 0 ? 2
                                                                        : 1;
        cells[lane] = cells[lane & ~step];
    }
    for (int lane = 0; lane < 32; lane++)
        if ((way == 1 || way == 3) && random_below(3) == 0) cells[lane] = -1;
    cells[0] = cells[0] < 0 ? 0 : cells[0];
}

template <typename T> static void probe(int words, int *cells, int *on_device)
{
    T *in, *out;
    CHECK(cudaMalloc(&in, 32 * sizeof(T)));
    CHECK(cudaMalloc(&out, 32 * sizeof(T)));
    CHECK(cudaMemset(in, 0, 32 * sizeof(T)));
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
        for (int lane = 0; lane < 32; lane++) cells[lane] = regular(pattern, lane);
        if (pattern >= REGULAR) random_cells(pattern, cells);
        printf("%d %d", words, pattern);
        for (int lane = 0; lane < 32; lane++) printf(" %d", cells[lane]);
        printf("\n");
        CHECK(cudaMemcpy(on_device, cells, 32 * sizeof *cells, cudaMemcpyHostToDevice));
        load<T><<<1, 32>>>(on_device, in, out);
        store<T><<<1, 32>>>(on_device, in, out);
        CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
}

int main(int argc, char **argv)
{
    int cells[32], *on_device;
    state = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    CHECK(cudaMalloc(&on_device, sizeof cells));
    probe<float>(1, cells, on_device);
    probe<float2>(2, cells, on_device);
    probe<float4>(4, cells, on_device);
    CHECK(cudaFree(on_device));
    return 0;
}
