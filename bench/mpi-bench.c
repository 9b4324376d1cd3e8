/* What a call of MPI costs: 8-byte messages to and fro between pairs of ranks.
 *
 *     mpi-bench ITERATIONS      prints the ns of a call (of a receive's begin, its wait, or a
 * send), the least of several repeats on the slowest pair
 *
 * One rank alone sends to itself: then nobody waits for anybody, and what is recorded shows by
 * itself. With more ranks than cores, an MPI whose waits never give the core away (MPICH) would
 * measure the system's time slices, a few ms for each message; so who waits for a message looks for
 * it, past recorders, by PMPI, and yields in between. Repeats end after SECONDS_MAX in any case. */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPEATS = 9, CALLS = 3, SECONDS_MAX = 4 };

static void receive(MPI_Request *request)
{
    for (int arrived = 0; !arrived;) {
        PMPI_Request_get_status(*request, &arrived, MPI_STATUS_IGNORE);
        if (!arrived) sched_yield();
    }
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void ping_pong(int partner, int first, int iterations)
{
    double from = 0, to = 0;
    MPI_Request request;
    for (int i = 0; i < iterations; i++) {
        MPI_Irecv(&to, 1, MPI_DOUBLE, partner, 1, MPI_COMM_WORLD, &request);
        if (first) MPI_Send(&from, 1, MPI_DOUBLE, partner, 1, MPI_COMM_WORLD);
        receive(&request);
        if (!first) MPI_Send(&from, 1, MPI_DOUBLE, partner, 1, MPI_COMM_WORLD);
    }
}

static double call_ns(int rank, int count, int iterations)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    ping_pong(count == 1 ? 0 : rank ^ 1, rank % 2 == 0, iterations);
    return (MPI_Wtime() - start) * 1e9 / CALLS / iterations;
}

int main(int argc, char **argv)
{
    int rank, count, go_on = 1;
    double best = 1e30, slowest;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    const int iterations = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 10000;
    if ((count > 1 && count % 2) || iterations < 1) MPI_Abort(MPI_COMM_WORLD, 2);
    const double start = MPI_Wtime();
    for (int repeat = 0; repeat < REPEATS && go_on; repeat++) {
        const double ns = call_ns(rank, count, iterations);
        if (ns < best) best = ns;
        go_on = MPI_Wtime() - start < SECONDS_MAX;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Reduce(&best, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%.0f\n", slowest);
    MPI_Finalize();
    return 0;
}
