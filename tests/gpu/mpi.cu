// Ranks in a ring: a kernel, a copy to the host, MPI, a copy back; MPI's wrappers and CUPTI record
// in one process.
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>
#include <mpi.h>

__global__ void step(float *data, float add)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += add;
}

int main(int argc, char **argv)
{
    enum { N = 4096, ROUNDS = 10 };
    int rank, ranks, devices;
    float *device, *host, *received, sum = 0.0f, total = 0.0f;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (cudaGetDeviceCount(&devices) || cudaSetDevice(rank % devices)) return 1;
    if (cudaMalloc(&device, N * 4) || cudaMallocHost(&host, N * 4) ||
        cudaMallocHost(&received, N * 4))
        return 2;
    cudaMemset(device, 0, N * 4);
    for (int round = 0; round < ROUNDS; round++) {
        step<<<N / 128, 128>>>(device, 1.0f + (float)rank);
        cudaMemcpy(host, device, N * 4, cudaMemcpyDeviceToHost);
        MPI_Sendrecv(host, N, MPI_FLOAT, (rank + 1) % ranks, 0, received, N, MPI_FLOAT,
                     (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        cudaMemcpy(device, received, N * 4, cudaMemcpyHostToDevice);
        sum += received[7];
    }
    MPI_Allreduce(&sum, &total, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("expect kernel step(float*, float) %d\n", ROUNDS * ranks);
        printf("expect copy device-to-host %d\n", ROUNDS * ranks);
        printf("expect copy host-to-device %d\n", ROUNDS * ranks);
        printf("expect calls MPI_Sendrecv %d\n", ROUNDS * ranks);
        printf("expect calls MPI_Allreduce %d\n", ranks);
        printf("expect processes %d\n", ranks);
    }
    MPI_Finalize();
    return total > 0.0f ? 0 : 3;
}
