/* The bridge to one MPI: compiled by that MPI's compiler into a library of its own.
 *
 * MPI counts are ints: blocks beyond 1 GiB travel in portions. Waiting gives the processor away,
 * since an analysis may run with more processes than there are cores, and MPICH does not by itself.
 * A failing call ends all processes (MPI_ERRORS_ARE_FATAL, MPI's default). */
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>

#include "common/processes.h"

enum { PORTION_BYTES = 1 << 30, PORTION_WORDS = 1 << 26 };

__attribute__((visibility("default"))) enum cts_status
cts_processes_bridge_open(struct cts_processes *processes, struct cts_error *error);

static void close_bridge(void *state)
{
    (void)state;
    MPI_Finalize();
}

static void wait_for(MPI_Request *requests, int count)
{
    int is_done = 0;
    for (;;) {
        MPI_Testall(count, requests, &is_done, MPI_STATUSES_IGNORE);
        if (is_done) return;
        sched_yield();
    }
}

static void barrier(void *state)
{
    MPI_Request request;
    (void)state;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    wait_for(&request, 1);
}

static MPI_Op operation_of(enum cts_reduction reduction)
{
    switch (reduction) {
    case CTS_REDUCE_MIN:
        return MPI_MIN;
    case CTS_REDUCE_MAX:
        return MPI_MAX;
    case CTS_REDUCE_OR:
        return MPI_BOR;
    case CTS_REDUCE_SUM:
        break;
    }
    return MPI_SUM;
}

/* MPICH 4.0 compares unsigned numbers as signed ones, and so do we: with the highest bit the other
 * way round signed numbers are ordered as the unsigned ones were. */
static void flip_highest(uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) values[i] ^= UINT64_C(1) << 63;
}

static void reduce_u64(void *state, uint64_t *values, size_t count, enum cts_reduction reduction)
{
    const bool is_ordered = reduction == CTS_REDUCE_MIN || reduction == CTS_REDUCE_MAX;
    (void)state;
    if (is_ordered) flip_highest(values, count);
    for (size_t done = 0; done < count;) {
        const size_t left = count - done;
        const int portion = (int)(left < PORTION_WORDS ? left : PORTION_WORDS);
        MPI_Request request;
        MPI_Iallreduce(MPI_IN_PLACE, values + done, portion,
                       is_ordered ? MPI_INT64_T : MPI_UINT64_T, operation_of(reduction),
                       MPI_COMM_WORLD, &request);
        wait_for(&request, 1);
        done += (size_t)portion;
    }
    if (is_ordered) flip_highest(values, count);
}

static void broadcast(void *state, void *data, size_t size, unsigned root)
{
    (void)state;
    for (size_t done = 0; done < size;) {
        const size_t left = size - done;
        const int portion = (int)(left < PORTION_BYTES ? left : PORTION_BYTES);
        MPI_Request request;
        MPI_Ibcast((char *)data + done, portion, MPI_BYTE, (int)root, MPI_COMM_WORLD, &request);
        wait_for(&request, 1);
        done += (size_t)portion;
    }
}

static void copy(char *to, const char *from, size_t size)
{
    for (size_t i = 0; i < size; i++) to[i] = from[i];
}

/* Every process's block is broadcast in its turn: sizes may differ and exceed an int. */
static void all_gather(void *state, const void *mine, void *all, const size_t *sizes)
{
    int rank, count;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    char *to = all;
    for (int i = 0; i < count; i++) {
        if (i == rank) copy(to, mine, sizes[i]);
        broadcast(state, to, sizes[i], (unsigned)i);
        to += sizes[i];
    }
}

struct outgoing {
    const char *bytes;
    size_t left_bytes;
    int to;
};

struct incoming {
    char *bytes;
    size_t left_bytes;
    int from;
};

/* Sends one block and receives another at the same time, portion by portion. */
static void exchange(struct outgoing sent, struct incoming received)
{
    while (sent.left_bytes || received.left_bytes) {
        const int out = (int)(sent.left_bytes < PORTION_BYTES ? sent.left_bytes : PORTION_BYTES);
        const int in =
            (int)(received.left_bytes < PORTION_BYTES ? received.left_bytes : PORTION_BYTES);
        MPI_Request requests[2];
        MPI_Irecv(received.bytes, in, MPI_BYTE, in ? received.from : MPI_PROC_NULL, 0,
                  MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(sent.bytes, out, MPI_BYTE, out ? sent.to : MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                  &requests[1]);
        wait_for(requests, 2);
        sent.bytes += out;
        sent.left_bytes -= (size_t)out;
        received.bytes += in;
        received.left_bytes -= (size_t)in;
    }
}

static size_t sum(const size_t *sizes, int count)
{
    size_t total = 0;
    for (int i = 0; i < count; i++) total += sizes[i];
    return total;
}

/* In step k each process sends to the k-th after it and receives from the k-th before it. */
static void all_to_all(void *state, const void *send, const size_t *send_sizes, void *receive,
                       const size_t *receive_sizes)
{
    int rank, count;
    (void)state;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    copy((char *)receive + sum(receive_sizes, rank), (const char *)send + sum(send_sizes, rank),
         send_sizes[rank]);
    for (int step = 1; step < count; step++) {
        const int to = (rank + step) % count, from = (rank - step + count) % count;
        exchange((struct outgoing){(const char *)send + sum(send_sizes, to), send_sizes[to], to},
                 (struct incoming){(char *)receive + sum(receive_sizes, from), receive_sizes[from],
                                   from});
    }
}

enum cts_status cts_processes_bridge_open(struct cts_processes *processes, struct cts_error *error)
{
    static const struct cts_processes_operations operations = {.version = CTS_PROCESSES_VERSION,
                                                               .close = close_bridge,
                                                               .barrier = barrier,
                                                               .reduce_u64 = reduce_u64,
                                                               .broadcast = broadcast,
                                                               .all_gather = all_gather,
                                                               .all_to_all = all_to_all};
    int rank, count, provided;
    (void)error; /* MPI itself ends a process that cannot join */
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    *processes = (struct cts_processes){
        .rank = (unsigned)rank, .count = (unsigned)count, .operations = &operations};
    return CTS_OK;
}
