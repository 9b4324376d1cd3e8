/* Epochs of windows in which somebody is late, by 150 ms or the second argument. One kind a run:
 *   post      rank 1 posts late; the other ranks start an epoch with it
 *   complete  rank 0 completes late; rank 1 waits for it and for the others
 *   lock      rank 0 holds the exclusive lock of the last rank's memory; rank 1 asks for it
 * Each rank writes what it did between the barriers, so that what is found can be told apart. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INTS = 64 };
static int rank, count, value = 7, late_ms = 150;

static void work(int ms)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}

/* All but one start an epoch with that one. */
static void epoch(MPI_Win win, int target, int post_ms, int complete_ms)
{
    MPI_Group world, one, others;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &target, &one);
    MPI_Group_excl(world, 1, &target, &others);
    if (rank == target) {
        work(post_ms);
        MPI_Win_post(others, 0, win);
        MPI_Win_wait(win);
    } else {
        MPI_Win_start(one, 0, win);
        MPI_Put(&value, 1, MPI_INT, target, rank, 1, MPI_INT, win);
        if (rank == 0) work(complete_ms);
        MPI_Win_complete(win);
    }
    MPI_Group_free(&one);
    MPI_Group_free(&others);
    MPI_Group_free(&world);
}

static void locks(MPI_Win win, int target)
{
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
        MPI_Put(&value, 1, MPI_INT, target, 0, 1, MPI_INT, win);
        MPI_Win_flush(target, win); /* it has the lock now */
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        work(late_ms);
        MPI_Win_unlock(target, win);
    } else if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
        MPI_Put(&value, 1, MPI_INT, target, 1, 1, MPI_INT, win);
        MPI_Win_unlock(target, win);
    }
}

int main(int argc, char **argv)
{
    MPI_Win win;
    int *memory;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    const char *const kind = argc > 1 ? argv[1] : "";
    if (argc > 2) late_ms = (int)strtol(argv[2], NULL, 10);
    MPI_Win_allocate(INTS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(kind, "post")) epoch(win, 1, late_ms, 0);
    if (!strcmp(kind, "complete")) epoch(win, 1, 0, late_ms);
    if (!strcmp(kind, "lock")) locks(win, count - 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
