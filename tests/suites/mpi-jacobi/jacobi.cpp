#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <vector>
#include <mpi.h>
#include <cuda_runtime.h>
#ifdef USE_NVTX
#include <nvtx3/nvToolsExt.h>
const uint32_t colors[] = {0x0000ff00, 0x000000ff, 0x00ffff00};
#define PUSH_RANGE(name, cid)                                                                      \
    {                                                                                              \
        nvtxEventAttributes_t eventAttrib = {0};                                                   \
        eventAttrib.version = NVTX_VERSION;                                                        \
        eventAttrib.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;                                          \
        eventAttrib.colorType = NVTX_COLOR_ARGB;                                                   \
        eventAttrib.color = colors[cid % 3];                                                       \
        eventAttrib.messageType = NVTX_MESSAGE_TYPE_ASCII;                                         \
        eventAttrib.message.ascii = name;                                                          \
        nvtxRangePushEx(&eventAttrib);                                                             \
    }
#define POP_RANGE nvtxRangePop();
#endif
#define MPI_CALL(call)                                                                             \
    {                                                                                              \
        int mpi_status = call;                                                                     \
        if (0 != mpi_status) {                                                                     \
            fprintf(stderr, "MPI error %d line %d\n", mpi_status, __LINE__);                       \
            exit(mpi_status);                                                                      \
        }                                                                                          \
    }
typedef float real;
#define MPI_REAL_TYPE MPI_FLOAT
void launch_initialize_boundaries(real *__restrict__ const a_new, real *__restrict__ const a,
                                  const real pi, const int offset, const int nx, const int my_ny,
                                  const int ny);
void launch_jacobi_kernel(real *__restrict__ const a_new, const real *__restrict__ const a,
                          real *__restrict__ const l2_norm, const int iy_start, const int iy_end,
                          const int nx, const bool calculate_norm, cudaStream_t stream);
int main(int argc, char *argv[])
{
    MPI_CALL(MPI_Init(&argc, &argv));
    int rank, size;
    MPI_CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MPI_CALL(MPI_Comm_size(MPI_COMM_WORLD, &size));
    int num_devices = 0;
    cudaGetDeviceCount(&num_devices);
    int local_rank = -1;
    {
        MPI_Comm local_comm;
        MPI_CALL(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL,
                                     &local_comm));
        MPI_CALL(MPI_Comm_rank(local_comm, &local_rank));
        MPI_CALL(MPI_Comm_free(&local_comm));
    }
    cudaSetDevice(local_rank % num_devices);
    cudaFree(0);
    const int nx = 128, ny = 64, iters = 60;
    const real pi = 2 * std::asin(1.0);
    int chunk = (ny - 2) / size + ((ny - 2) % size > rank),
        first = 1 + rank * ((ny - 2) / size) + std::min(rank, (ny - 2) % size);
    real *a, *a_new, *norm_d, *norm_h;
    size_t bytes = nx * (chunk + 2) * sizeof(real);
    cudaMalloc(&a, bytes);
    cudaMalloc(&a_new, bytes);
    cudaMemset(a, 0, bytes);
    cudaMemset(a_new, 0, bytes);
    cudaMalloc(&norm_d, sizeof(real));
    cudaMallocHost(&norm_h, sizeof(real));
    launch_initialize_boundaries(a, a_new, pi, first - 1, nx, chunk + 2, ny);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaDeviceSynchronize();
    std::vector<real> send(2 * nx), recv(2 * nx);
    const int top = rank > 0 ? rank - 1 : (size - 1), bottom = (rank + 1) % size;
    real l2 = 1;
    for (int it = 0; it < iters; it++) {
        PUSH_RANGE("Jacobi solve", 0)
        cudaMemsetAsync(norm_d, 0, sizeof(real), stream);
        launch_jacobi_kernel(a_new, a, norm_d, 1, chunk + 1, nx, true, stream);
        cudaMemcpyAsync(norm_h, norm_d, sizeof(real), cudaMemcpyDeviceToHost, stream);
        cudaMemcpyAsync(&send[0], a_new + nx, nx * sizeof(real), cudaMemcpyDeviceToHost, stream);
        cudaMemcpyAsync(&send[nx], a_new + chunk * nx, nx * sizeof(real), cudaMemcpyDeviceToHost,
                        stream);
        cudaStreamSynchronize(stream);
        PUSH_RANGE("MPI", 1)
        MPI_CALL(MPI_Sendrecv(&send[0], nx, MPI_REAL_TYPE, top, 0, &recv[nx], nx, MPI_REAL_TYPE,
                              bottom, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI_CALL(MPI_Sendrecv(&send[nx], nx, MPI_REAL_TYPE, bottom, 1, &recv[0], nx, MPI_REAL_TYPE,
                              top, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI_CALL(MPI_Allreduce(norm_h, &l2, 1, MPI_REAL_TYPE, MPI_SUM, MPI_COMM_WORLD));
        POP_RANGE
        cudaMemcpyAsync(a_new, &recv[0], nx * sizeof(real), cudaMemcpyHostToDevice, stream);
        cudaMemcpyAsync(a_new + (chunk + 1) * nx, &recv[nx], nx * sizeof(real),
                        cudaMemcpyHostToDevice, stream);
        std::swap(a_new, a);
        POP_RANGE
    }
    std::vector<real> mine(nx * (chunk + 2)), ref(nx * ny, 0), next;
    cudaStreamSynchronize(stream);
    cudaMemcpy(mine.data(), a, bytes, cudaMemcpyDeviceToHost);
    for (int y = 0; y < ny; y++)
        ref[y * nx] = ref[y * nx + nx - 1] = std::sin(2.0 * pi * y / (ny - 1));
    next = ref;
    for (int it = 0; it < iters; it++) {
        for (int y = 1; y < ny - 1; y++)
            for (int x = 1; x < nx - 1; x++)
                next[y * nx + x] = 0.25f * (ref[y * nx + x + 1] + ref[y * nx + x - 1] +
                                            ref[(y + 1) * nx + x] + ref[(y - 1) * nx + x]);
        for (int x = 0; x < nx; x++)
            if (x && x < nx - 1) {
                next[x] = next[(ny - 2) * nx + x];
                next[(ny - 1) * nx + x] = next[nx + x];
            }
        std::swap(ref, next);
    }
    int bad = 0, all = 0;
    for (int y = 1; y <= chunk; y++)
        for (int x = 0; x < nx; x++)
            bad += std::fabs(mine[y * nx + x] - ref[(first - 1 + y) * nx + x]) > 1e-4;
    MPI_CALL(MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    if (rank == 0) printf("ranks %d norm %g bad %d\n", size, std::sqrt(l2), all);
    cudaFree(a);
    cudaFree(a_new);
    cudaFree(norm_d);
    cudaFreeHost(norm_h);
    MPI_CALL(MPI_Finalize());
    return all != 0;
}
