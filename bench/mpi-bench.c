/* What a call of MPI costs: 8-byte messages to and fro between pairs of ranks.
 *
 *     mpi-bench ITERATIONS      prints the ns of a call (a send or a receive), the least of several
 *                               repeats on the slowest pair
 *
 * One rank alone sends to itself (a receive, a send and a wait): then nobody waits for anybody, and
 * what is recorded shows by itself. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPEATS = 9 };

static void ping_pong(int partner, int first, int iterations)
{
    double message = 0;
    for (int i = 0; i < iterations; i++) {
        if (first) MPI_Send(&message, 1, MPI_DOUBLE, partner, 1, MPI_COMM_WORLD);
        MPI_Recv(&message, 1, MPI_DOUBLE, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!first) MPI_Send(&message, 1, MPI_DOUBLE, partner, 1, MPI_COMM_WORLD);
    }
}

static void alone(int iterations)
{
    double from = 0, to = 0;
    MPI_Request request;
    for (int i = 0; i < iterations; i++) {
        MPI_Irecv(&to, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &request);
        MPI_Send(&from, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int rank, count;
    double best = 1e30, slowest;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    const int iterations = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 10000;
    if ((count > 1 && count % 2) || iterations < 1) MPI_Abort(MPI_COMM_WORLD, 2);
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        if (count == 1)
            alone(iterations);
        else
            ping_pong(rank ^ 1, rank % 2 == 0, iterations);
        const double calls = (count == 1 ? 3.0 : 2.0) * iterations;
        const double ns = (MPI_Wtime() - start) * 1e9 / calls;
        if (ns < best) best = ns;
    }
    MPI_Reduce(&best, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%.0f\n", slowest);
    MPI_Finalize();
    return 0;
}
