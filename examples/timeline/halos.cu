// Halos in a ring with Isend and Irecv: each rank has ELEMENTS values and one halo value at each
// end. A round exchanges the halos while a kernel does the interior, and then does the two values
// that needed them. After ROUNDS rounds of adding the neighbours (modulo a prime) the result is
// compared with what one rank alone gets.
// halos [ELEMENTS = 4096] [ROUNDS = 10], at least 3 elements; any number of ranks
#include "world.h"
#include <vector>

static const int PRIME = 10007;

__host__ __device__ static int next_value(int left, int self, int right)
{
    return (left + 2 * self + right) % PRIME;
}

// Values first .. last of 1 .. n, whose halos are 0 and n + 1.
__global__ void advance(int *next, const int *now, int first, int last)
{
    const int i = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= last) next[i] = next_value(now[i - 1], now[i], now[i + 1]);
}

static int start_value(int global)
{
    return (int)((long long)global * 31 % PRIME);
}

static void exchange(const World &world, const int *ends, int *halos, MPI_Request *requests)
{
    const int left = (world.rank + world.size - 1) % world.size;
    const int right = (world.rank + 1) % world.size;
    MPI_Irecv(&halos[0], 1, MPI_INT, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&halos[1], 1, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&ends[1], 1, MPI_INT, right, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&ends[0], 1, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[3]);
}

static void round_of(const World &world, int *now, int *next, int n, cudaStream_t stream)
{
    int ends[2], halos[2];
    MPI_Request requests[4];
    CHECK(cudaMemcpy(&ends[0], now + 1, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&ends[1], now + n, sizeof(int), cudaMemcpyDeviceToHost));
    advance<<<(n - 2 + 127) / 128, 128, 0, stream>>>(next, now, 2, n - 1);
    CHECK(cudaGetLastError());
    exchange(world, ends, halos, requests);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    CHECK(cudaMemcpy(now, &halos[0], sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(now + n + 1, &halos[1], sizeof(int), cudaMemcpyHostToDevice));
    advance<<<1, 1, 0, stream>>>(next, now, 1, 1);
    advance<<<1, 1, 0, stream>>>(next, now, n, n);
    CHECK(cudaStreamSynchronize(stream));
}

static std::vector<int> alone(int total, int rounds)
{
    std::vector<int> now(total), next(total);
    for (int i = 0; i < total; i++) now[i] = start_value(i);
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < total; i++)
            next[i] = next_value(now[(i + total - 1) % total], now[i], now[(i + 1) % total]);
        now.swap(next);
    }
    return now;
}

int main(int argc, char **argv)
{
    World world(&argc, &argv);
    const int n = argument(argc, argv, 1, 4096), rounds = argument(argc, argv, 2, 10);
    if (n < 3) {
        fprintf(stderr, "halos: fewer than 3 elements\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    std::vector<int> mine(n + 2);
    for (int i = 1; i <= n; i++) mine[i] = start_value(world.rank * n + i - 1);
    int *now = device_copy(mine.data(), n + 2), *next = device_copy(mine.data(), n + 2);
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int round = 0; round < rounds; round++) {
        round_of(world, now, next, n, stream);
        int *const swap = now;
        now = next;
        next = swap;
    }
    CHECK(cudaMemcpy(mine.data(), now, (n + 2) * sizeof(int), cudaMemcpyDeviceToHost));
    const std::vector<int> expected = alone(n * world.size, rounds);
    bool right = true;
    for (int i = 1; i <= n; i++) right &= mine[i] == expected[world.rank * n + i - 1];
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(now));
    CHECK(cudaFree(next));
    return world.verdict_of_all("halos", right);
}
