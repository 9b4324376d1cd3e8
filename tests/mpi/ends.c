/* Programs that end in other ways than MPI_Finalize, or begin in another than MPI_Init.
 *
 *     ends MODE     exit: without MPI_Finalize · kill: rank 1 dies by a signal · abort:
 * MPI_Abort(5) late: MPI_Init is not seen · none: MPI is not used at all spawned: a child process
 * that uses no MPI */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

static int rank, count;

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    expect_collective("MPI_COMM_WORLD", 0, -1, 0, 0);
}

int main(int argc, char **argv)
{
    const char *const mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "none") == 0) return 7;
    if (strcmp(mode, "late") == 0)
        PMPI_Init(&argc, &argv);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    expect_open(rank);
    barrier();
    if (mode[0] != 'n') usleep(200000); /* whoever dies, dies after all have recorded the barrier */
    if (strcmp(mode, "exit") == 0) {
        expect_close();
        _exit(3);
    }
    if (strcmp(mode, "kill") == 0) {
        if (rank == 1) kill(getpid(), SIGKILL);
        barrier(); /* the others hang here until mpirun ends them */
    }
    if (strcmp(mode, "abort") == 0) {
        if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 5);
        barrier();
    }
    if (strcmp(mode, "spawned") == 0) {
        const pid_t child = fork();
        if (child == 0) execl("/bin/true", "true", (char *)NULL);
        waitpid(child, NULL, 0);
    }
    barrier();
    expect_close();
    MPI_Finalize();
    return 0;
}
