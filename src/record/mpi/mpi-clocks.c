/* Readings of rank 0's clock by the ranks whose clock is another: those on a machine that was
 * booted apart (/proc/sys/kernel/random/boot_id). Each such rank asks rank 0 a few times; of the
 * question that was answered fastest, rank 0's time belongs to the middle (Cristian's method), so
 * the error is at most half that round trip. Rank 0 serves one rank after the other. Messages go
 * over a communicator of their own, where the program's receives do not see them.
 *
 * CTASCOPE_MPI_CLOCKS=always reads the clocks of ranks on one machine too. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/hash.h"
#include "record/mpi/wrap.h"

enum { QUESTIONS = 10 };

static bool *others; /* on rank 0: which ranks ask */
static bool asks;    /* this rank does */
static bool ready;   /* `comm` exists */
static MPI_Comm comm;

/* A number of this boot of this machine; 0: unknown, and then each rank has its own clock. */
static uint64_t boot_number(void)
{
    char text[64] = {0};
    const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    const ssize_t length = read(file, text, sizeof(text) - 1);
    close(file);
    return length > 0 ? cts_hash_bytes(CTS_HASH_START, text, (size_t)length) : 0;
}

void cts_clocks_begin(void)
{
    const char *wish = getenv("CTASCOPE_MPI_CLOCKS");
    const bool always = wish && strcmp(wish, "always") == 0;
    uint64_t own = always ? cts_mpi.rank + 1 : boot_number();
    uint64_t *const boots = malloc(cts_mpi.count * sizeof(*boots));
    uint64_t ignored;
    if (!boots) return; /* no memory on one rank would hang the others: they abort in MPI anyway */
    if (cts_real.Allgather(&own, sizeof(own), cts_handles.byte, boots, sizeof(own),
                           cts_handles.byte, cts_handles.comm_world) != MPI_SUCCESS)
        goto out;
    ignored = 0;
    for (uint32_t rank = 1; rank < cts_mpi.count; rank++)
        ignored += boots[rank] != boots[0] || !boots[0];
    if (!ignored) goto out;
    others = calloc(cts_mpi.count, sizeof(*others));
    if (!others) goto out;
    for (uint32_t rank = 1; rank < cts_mpi.count; rank++)
        others[rank] = boots[rank] != boots[0] || !boots[0];
    asks = others[cts_mpi.rank];
    ready = cts_real.Comm_dup(cts_handles.comm_world, &comm) == MPI_SUCCESS;
out:
    free(boots);
}

static void answer(int rank)
{
    uint64_t now_ns = 0;
    for (int i = 0; i < QUESTIONS; i++) {
        cts_real.Recv(NULL, 0, cts_handles.byte, rank, 0, comm, MPI_STATUS_IGNORE);
        now_ns = cts_mpi.recorder->now_ns();
        cts_real.Send(&now_ns, sizeof(now_ns), cts_handles.byte, rank, 0, comm);
    }
}

static void ask(void)
{
    uint64_t best_ns = UINT64_MAX, local_ns = 0, theirs_ns = 0, answer_ns = 0;
    for (int i = 0; i < QUESTIONS; i++) {
        const uint64_t start_ns = cts_mpi.recorder->now_ns();
        cts_real.Send(NULL, 0, cts_handles.byte, 0, 0, comm);
        cts_real.Recv(&answer_ns, sizeof(answer_ns), cts_handles.byte, 0, 0, comm,
                      MPI_STATUS_IGNORE);
        const uint64_t trip_ns = cts_mpi.recorder->now_ns() - start_ns;
        if (trip_ns >= best_ns) continue;
        best_ns = trip_ns;
        local_ns = start_ns + trip_ns / 2;
        theirs_ns = answer_ns;
    }
    cts_mpi.recorder->clock_reading(local_ns, (int64_t)(theirs_ns - local_ns));
}

void cts_clocks_read(void)
{
    if (!ready) return;
    if (asks) ask();
    for (uint32_t rank = 1; cts_mpi.rank == 0 && rank < cts_mpi.count; rank++)
        if (others[rank]) answer((int)rank);
}
