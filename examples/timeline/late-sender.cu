// A late sender: in each round the ranks of a pair start together, the even one runs a kernel of
// DELAY_MS before it sends, the odd one receives at once and waits for about as long. What the odd
// ranks wait for is the kernel.
// late-sender [DELAY_MS = 20] [ROUNDS = 5]; an even number of ranks
#include "spin.h"
#include "world.h"

__global__ void prepare(int *value, int round, unsigned long long ns)
{
    spin_for(ns);
    *value = round * 7 + 1;
}

static void send_late(int partner, int delay_ms, int round, int *device_value)
{
    int value;
    prepare<<<1, 1>>>(device_value, round, ns_of_ms(delay_ms));
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&value, device_value, sizeof value, cudaMemcpyDeviceToHost));
    MPI_Send(&value, 1, MPI_INT, partner, round, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    World world(&argc, &argv);
    const int delay_ms = argument(argc, argv, 1, 20), rounds = argument(argc, argv, 2, 5);
    const int partner = world.rank ^ 1;
    if (world.size % 2) {
        fprintf(stderr, "late-sender: an odd number of ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int *device_value;
    CHECK(cudaMalloc(&device_value, sizeof *device_value));
    bool right = true;
    for (int round = 0; round < rounds; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (world.rank % 2 == 0) {
            send_late(partner, delay_ms, round, device_value);
        } else {
            int value;
            MPI_Recv(&value, 1, MPI_INT, partner, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            right &= value == round * 7 + 1;
        }
    }
    CHECK(cudaFree(device_value));
    return world.verdict_of_all("late-sender", right);
}
