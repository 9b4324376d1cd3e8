/* Loads, stores and reduces tiles of a matrix by TMA; prints where its tensors lie, and whether the
 * result is right: the program of tests/fixtures/gpu/tensor-copies.
 * With a cubin as argument, the kernels are taken from that file; with `packed` as the second one,
 * their parameters are in one buffer (CU_LAUNCH_PARAM_BUFFER_POINTER). */
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define ROWS        256
#define COLUMNS     512
#define BOX_ROWS    16
#define BOX_COLUMNS 64
#define BYTES       (BOX_ROWS * BOX_COLUMNS * 4)

__device__ static uint32_t at_shared(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

/* One tile per CTA and step: out = in + 1. The CTA's tiles are those of a column of tiles. */
extern "C" __global__ void tiles(const __grid_constant__ CUtensorMap in,
                                 const __grid_constant__ CUtensorMap out, int steps, float add)
{
    __shared__ alignas(128) float tile[BOX_ROWS * BOX_COLUMNS];
    __shared__ alignas(8) uint64_t barrier;
    const uint32_t bar = at_shared(&barrier), to = at_shared(tile);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
        asm volatile("fence.proxy.async.shared::cta;");
    }
    __syncthreads();
    for (int step = 0; step < steps; step++) {
        const int x = blockIdx.x * BOX_COLUMNS, y = (blockIdx.y * steps + step) * BOX_ROWS;
        if (threadIdx.x == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar),
                         "r"(BYTES));
            asm volatile(
                "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                "l"(&in), "r"(x), "r"(y), "r"(bar)
                : "memory");
        }
        asm volatile("{ .reg .pred p;\n"
                     "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                     "@!p bra again; }" ::"r"(bar),
                     "r"(step & 1)
                     : "memory");
        for (int i = threadIdx.x; i < BOX_ROWS * BOX_COLUMNS; i += blockDim.x) tile[i] += add;
        asm volatile("fence.proxy.async.shared::cta;");
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile(
                "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
                    &out),
                "r"(x), "r"(y), "r"(to)
                : "memory");
            asm volatile("cp.async.bulk.commit_group;");
            asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        }
        __syncthreads();
    }
}

/* Adds a tile of ones to every tile, after a prefetch. */
extern "C" __global__ void adds(const __grid_constant__ CUtensorMap out)
{
    __shared__ alignas(128) float tile[BOX_ROWS * BOX_COLUMNS];
    const uint32_t from = at_shared(tile);
    const int x = blockIdx.x * BOX_COLUMNS, y = blockIdx.y * BOX_ROWS;
    for (int i = threadIdx.x; i < BOX_ROWS * BOX_COLUMNS; i += blockDim.x) tile[i] = 1;
    asm volatile("fence.proxy.async.shared::cta;");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(&out));
        asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global [%0, {%1, %2}];" ::"l"(&out),
                     "r"(x), "r"(y));
        asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%1, "
                     "%2}], [%3];" ::"l"(&out),
                     "r"(x), "r"(y), "r"(from)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

#ifndef DEVICE_ONLY
#define CHECK(call)                                                                                \
    do {                                                                                           \
        int r_ = (int)(call);                                                                      \
        if (r_) {                                                                                  \
            printf("%s: %d\n", #call, r_);                                                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* By cuModuleLoadData: a recorder can change which image that is. */
static int load(CUmodule *module, const char *path)
{
    FILE *const file = fopen(path, "rb");
    if (!file) return -1;
    std::vector<char> image(1 << 20);
    const size_t size = fread(image.data(), 1, image.size(), file);
    fclose(file);
    return size ? (int)cuModuleLoadData(module, image.data()) : -1;
}

int main(int argc, char **argv)
{
    float *in, *out;
    const size_t bytes = ROWS * COLUMNS * 4;
    CHECK(cudaMalloc(&in, bytes));
    CHECK(cudaMalloc(&out, bytes));
    std::vector<float> host(ROWS * COLUMNS);
    for (size_t i = 0; i < host.size(); i++) host[i] = (float)(i % 1000);
    CHECK(cudaMemcpy(in, host.data(), bytes, cudaMemcpyHostToDevice));
    void *found = nullptr;
    cudaDriverEntryPointQueryResult status;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                           cudaEnableDefault, &status));
    const auto encode = (decltype(&cuTensorMapEncodeTiled))found;
    alignas(128) CUtensorMap maps[2];
    for (int i = 0; i < 2; i++) {
        const cuuint64_t dims[2] = {COLUMNS, ROWS}, strides[1] = {COLUMNS * 4};
        const cuuint32_t box[2] = {BOX_COLUMNS, BOX_ROWS}, steps[2] = {1, 1};
        CHECK(encode(&maps[i], CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, i ? out : in, dims, strides, box,
                     steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                     CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    }
    printf("in %p out %p: %d rows of %d floats\n", (void *)in, (void *)out, ROWS, COLUMNS);
    const int steps = 4;
    const dim3 grid(COLUMNS / BOX_COLUMNS, ROWS / BOX_ROWS / steps);
    const dim3 grid2(COLUMNS / BOX_COLUMNS, ROWS / BOX_ROWS);
    float one = 1;
    if (argc > 1) {
        CUmodule module;
        CUfunction f, g;
        CHECK(load(&module, argv[1]));
        CHECK(cuModuleGetFunction(&f, module, "tiles"));
        CHECK(cuModuleGetFunction(&g, module, "adds"));
        if (argc > 2) {
            size_t at[4], bytes[4],
                size = 0; /* the first begins at 112: the maps are aligned to 128 in the bank */
            const void *const values[4] = {&maps[0], &maps[1], &steps, &one};
            static char all[1024];
            for (int i = 0; i < 4; i++) {
                CHECK(cuFuncGetParamInfo(f, i, &at[i], &bytes[i]));
                memcpy(all + at[i], values[i], bytes[i]);
                size = at[i] + bytes[i];
            }
            printf("parameters at %zu %zu %zu %zu\n", at[0], at[1], at[2], at[3]);
            void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, all, CU_LAUNCH_PARAM_BUFFER_SIZE,
                             &size, CU_LAUNCH_PARAM_END};
            CHECK(cuLaunchKernel(f, grid.x, grid.y, 1, 128, 1, 1, 0, 0, nullptr, extra));
        } else {
            int s = steps;
            void *all[] = {&maps[0], &maps[1], &s, &one};
            CHECK(cuLaunchKernel(f, grid.x, grid.y, 1, 128, 1, 1, 0, 0, all, nullptr));
        }
        void *all[] = {&maps[1]};
        CHECK(cuLaunchKernel(g, grid2.x, grid2.y, 1, 128, 1, 1, 0, 0, all, nullptr));
    } else {
        tiles<<<grid, 128>>>(maps[0], maps[1], steps, one);
        adds<<<grid2, 128>>>(maps[1]);
    }
    CHECK(cudaDeviceSynchronize());
    std::vector<float> result(ROWS * COLUMNS);
    CHECK(cudaMemcpy(result.data(), out, bytes, cudaMemcpyDeviceToHost));
    size_t wrong = 0;
    for (size_t i = 0; i < host.size(); i++) wrong += result[i] != host[i] + 2;
    printf("%zu wrong\n", wrong);
    return wrong != 0;
}
#endif
