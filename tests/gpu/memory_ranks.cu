// MPI ranks, each on a device of its own where there are several: a kernel, and a ring over MPI.
#include <cstdio>

#include <cuda_runtime.h>
#include <mpi.h>

__global__ void step(float *data, float add)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += add;
}

int main(int argc, char **argv)
{
    enum { N = 4096, ROUNDS = 3 };
    int rank, ranks, devices;
    float *data, host[N], received[N];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (cudaGetDeviceCount(&devices) || cudaSetDevice(rank % devices)) return 1;
    if (cudaMalloc(&data, sizeof host) || cudaMemset(data, 0, sizeof host)) return 2;
    for (int round = 0; round < ROUNDS; round++) {
        step<<<N / 128, 128>>>(data, 1.0f + (float)rank);
        cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
        MPI_Sendrecv(host, N, MPI_FLOAT, (rank + 1) % ranks, 0, received, N, MPI_FLOAT,
                     (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        cudaMemcpy(data, received, sizeof host, cudaMemcpyHostToDevice);
    }
    if (rank == 0) {
        printf("expect processes %d\n", ranks);
        printf("expect launches %d\n", ROUNDS * ranks);
        printf("expect accesses %d\n", 2 * N * ROUNDS * ranks);
        printf("expect devices used %d\n", devices < ranks ? devices : ranks);
    }
    MPI_Finalize();
    return received[7] > 0.0f ? 0 : 3;
}
