/* A program that uses every family of MPI's functions, and says what should be recorded of each
 * call (expect.h). For two ranks or more. */
#include <mpi.h>
#include <string.h>

#include "expect.h"

enum {
    BARRIER,
    BCAST,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    ALLREDUCE,
    REDUCE,
    REDUCE_SCATTER,
    SCAN,
    EXSCAN,
    REDUCE_SCATTER_BLOCK,
    CREATE,
    DESTROY
};
enum { RANKS_MAX = 16, TESTS_MAX = 1000000 };

static int rank, count, next, previous;
static int out[64 * RANKS_MAX], in[64 * RANKS_MAX];
static const char world[] = "MPI_COMM_WORLD";

static void name(MPI_Comm comm, const char *label)
{
    MPI_Comm_set_name(comm, label);
}

/* A ring on a communicator by Sendrecv: checks who its members are. */
static void ring(MPI_Comm comm, const char *label)
{
    int own, size;
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &size);
    const int to = (own + 1) % size, from = (own + size - 1) % size;
    MPI_Sendrecv(out, 3, MPI_INT, to, 77, in, 64, MPI_INT, from, 77, comm, MPI_STATUS_IGNORE);
    expect_message("SEND", label, to, 77, 12);
    expect_message("RECV", label, from, 77, 12);
}

/* ---- point to point ---- */

static void blocking(void)
{
    MPI_Status status;
    static char buffer[4096 + MPI_BSEND_OVERHEAD];
    void *detached;
    int size, flag = 0;
    MPI_Buffer_attach(buffer, sizeof(buffer));
    MPI_Bsend(out, 5, MPI_INT, next, 1, MPI_COMM_WORLD);
    MPI_Recv(in, 64, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&detached, &size);
    expect_message("SEND", world, next, 1, 20);
    expect_message("RECV", world, previous, 1, 20);
    /* Wildcards, on even and odd ranks in turn. */
    for (int turn = 0; turn < 2; turn++) {
        if (rank % 2 == turn) {
            MPI_Send(out, 7, MPI_DOUBLE, next, 2, MPI_COMM_WORLD);
            expect_message("SEND", world, next, 2, 56);
        }
        if (previous % 2 == turn) {
            MPI_Recv(in, 8, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            expect_message("RECV", world, previous, 2, 56);
            if (status.MPI_SOURCE != previous) abort();
        }
    }
    if (rank == 0) {
        MPI_Ssend(out, 0, MPI_INT, 1, 3, MPI_COMM_WORLD);
        expect_message("SEND", world, 1, 3, 0);
    }
    if (rank == 1) {
        MPI_Recv(in, 64, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect_message("RECV", world, 0, 3, 0);
    }
    MPI_Request posted;
    MPI_Irecv(in, 64, MPI_INT, previous, 7, MPI_COMM_WORLD, &posted);
    MPI_Barrier(MPI_COMM_WORLD); /* ready sends need it */
    MPI_Rsend(out, 9, MPI_INT, next, 7, MPI_COMM_WORLD);
    MPI_Wait(&posted, MPI_STATUS_IGNORE);
    expect("IRECV_REQUEST");
    expect_collective(world, BARRIER, -1, 0, 0);
    expect_message("SEND", world, next, 7, 36);
    expect_message("IRECV", world, previous, 7, 36);
    memcpy(in, out, sizeof(in));
    MPI_Sendrecv_replace(in, 4, MPI_INT, next, 4, previous, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_message("SEND", world, next, 4, 16);
    expect_message("RECV", world, previous, 4, 16);
    /* Nobody. */
    MPI_Send(out, 4, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
    MPI_Recv(in, 4, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, 1, MPI_INT, MPI_PROC_NULL, 5, in, 1, MPI_INT, MPI_PROC_NULL, 5,
                 MPI_COMM_WORLD, &status);
    /* Probes, all of which see a message to the rank itself. */
    MPI_Request request;
    MPI_Message message;
    for (int i = 0; i < 4; i++) {
        MPI_Isend(out, 1 + i, MPI_INT, rank, 6, MPI_COMM_WORLD, &request);
        expect_message("ISEND", world, rank, 6, 4 * (1 + i));
        if (i == 0) MPI_Probe(rank, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        while (i == 1 && !flag) MPI_Iprobe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &flag, &status);
        if (i < 2) {
            MPI_Recv(in, 64, MPI_INT, rank, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            expect_message("RECV", world, rank, 6, 4 * (1 + i));
        } else if (i == 2) {
            MPI_Mprobe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
            MPI_Mrecv(in, 64, MPI_INT, &message, MPI_STATUS_IGNORE);
            expect_message("RECV", world, rank, 6, 12);
        } else {
            MPI_Request received;
            flag = 0;
            while (!flag) MPI_Improbe(rank, 6, MPI_COMM_WORLD, &flag, &message, &status);
            MPI_Imrecv(in, 64, MPI_INT, &message, &received);
            expect("IRECV_REQUEST");
            MPI_Wait(&received, MPI_STATUS_IGNORE);
            expect_message("IRECV", world, rank, 6, 16);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect("ISEND_COMPLETE");
    }
}

typedef int isend_function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

/* Four requests, completed in the way `way`. */
static void complete(int way, MPI_Request *requests, int n)
{
    int index, done = 0, flag, some, indices[8];
    MPI_Status statuses[8];
    for (int tries = 0; done < n && tries < TESTS_MAX; tries++) {
        switch (way) {
        case 0:
            MPI_Wait(&requests[done++], MPI_STATUS_IGNORE);
            break;
        case 1:
            MPI_Waitany(n, requests, &index, MPI_STATUS_IGNORE), done++;
            break;
        case 2:
            MPI_Waitall(n, requests, MPI_STATUSES_IGNORE), done = n;
            break;
        case 3:
            MPI_Waitsome(n, requests, &some, indices, MPI_STATUSES_IGNORE), done += some;
            break;
        case 4:
            MPI_Test(&requests[done], &flag, MPI_STATUS_IGNORE), done += flag != 0;
            break;
        case 5:
            MPI_Testany(n, requests, &index, &flag, &statuses[0]), done += flag != 0;
            break;
        case 6:
            MPI_Testall(n, requests, &flag, MPI_STATUSES_IGNORE), done = flag ? n : 0;
            break;
        default:
            MPI_Testsome(n, requests, &some, indices, statuses), done += some;
            break;
        }
    }
    if (done != n) abort();
}

static void non_blocking(void)
{
    static char buffer[4096 + 8 * MPI_BSEND_OVERHEAD];
    void *detached;
    int size;
    MPI_Buffer_attach(buffer, sizeof(buffer));
    for (int way = 0; way < 8; way++) {
        static isend_function *const sends[] = {MPI_Isend, MPI_Ibsend, MPI_Issend, MPI_Irsend};
        MPI_Request requests[5];
        MPI_Irecv(in, 64, MPI_INT, way % 2 ? MPI_ANY_SOURCE : previous, 10 + way, MPI_COMM_WORLD,
                  &requests[0]);
        MPI_Irecv(in + 64, 64, MPI_INT, MPI_PROC_NULL, 10 + way, MPI_COMM_WORLD, &requests[1]);
        MPI_Barrier(MPI_COMM_WORLD); /* ready sends need it */
        expect_collective(world, BARRIER, -1, 0, 0);
        sends[way % 4](out, 2 + way, MPI_INT, next, 10 + way, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(out, 2, MPI_INT, MPI_PROC_NULL, 10 + way, MPI_COMM_WORLD, &requests[3]);
        requests[4] = MPI_REQUEST_NULL;
        expect("IRECV_REQUEST");
        expect_message("ISEND", world, next, 10 + way, 4 * (2 + way));
        complete(way, requests, 4);
        expect("ISEND_COMPLETE");
        expect_message("IRECV", world, previous, 10 + way, 4 * (2 + way));
        if (way == 2) MPI_Waitall(5, requests, MPI_STATUSES_IGNORE); /* nothing is left */
    }
    MPI_Buffer_detach(&detached, &size);
    /* A receive that is taken back. */
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(in, 1, MPI_INT, previous, 99, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    expect("IRECV_REQUEST");
    expect("REQUEST_CANCELLED");
    /* A send that nobody waits for. */
    MPI_Isend(out, 1, MPI_INT, next, 98, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Recv(in, 1, MPI_INT, previous, 98, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_message("ISEND", world, next, 98, 4);
    expect_message("RECV", world, previous, 98, 4);
}

static void persistent(void)
{
    MPI_Request requests[3];
    MPI_Send_init(out, 6, MPI_INT, next, 20, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(in, 64, MPI_INT, MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, &requests[1]);
    MPI_Send_init(out, 6, MPI_INT, MPI_PROC_NULL, 20, MPI_COMM_WORLD, &requests[2]);
    for (int i = 0; i < 3; i++) {
        if (i == 0) {
            for (int k = 0; k < 3; k++) MPI_Start(&requests[k]);
        } else {
            MPI_Startall(3, requests);
        }
        expect_message("ISEND", world, next, 20, 24);
        expect("IRECV_REQUEST");
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        expect("ISEND_COMPLETE");
        expect_message("IRECV", world, previous, 20, 24);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE); /* inactive */
    }
    for (int k = 0; k < 3; k++) MPI_Request_free(&requests[k]);
}

typedef int send_init_function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static void persistent_modes(void)
{
    static send_init_function *const inits[] = {MPI_Bsend_init, MPI_Ssend_init, MPI_Rsend_init};
    static char buffer[4096 + MPI_BSEND_OVERHEAD];
    void *detached;
    int size;
    MPI_Buffer_attach(buffer, sizeof(buffer));
    for (int mode = 0; mode < 3; mode++) {
        MPI_Request requests[2];
        inits[mode](out, 3 + mode, MPI_INT, next, 30 + mode, MPI_COMM_WORLD, &requests[0]);
        MPI_Recv_init(in, 64, MPI_INT, previous, 30 + mode, MPI_COMM_WORLD, &requests[1]);
        MPI_Start(&requests[1]);
        MPI_Barrier(MPI_COMM_WORLD); /* ready sends need it */
        MPI_Start(&requests[0]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int k = 0; k < 2; k++) MPI_Request_free(&requests[k]);
        expect("IRECV_REQUEST");
        expect_collective(world, BARRIER, -1, 0, 0);
        expect_message("ISEND", world, next, 30 + mode, 4 * (3 + mode));
        expect("ISEND_COMPLETE");
        expect_message("IRECV", world, previous, 30 + mode, 4 * (3 + mode));
    }
    MPI_Buffer_detach(&detached, &size);
}

/* Bytes are those of the datatype, also when another one gets its handle. */
static void datatypes(void)
{
    for (int length = 2; length < 4; length++) {
        MPI_Datatype type;
        MPI_Type_contiguous(length, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Sendrecv(out, 5, type, next, 50, in, 5, type, previous, 50, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Type_free(&type);
        expect_message("SEND", world, next, 50, 20 * length);
        expect_message("RECV", world, previous, 50, 20 * length);
    }
}

/* ---- collectives ---- */

static void collectives(MPI_Comm comm, const char *label, int own, int size)
{
    int counts[RANKS_MAX], displacements[RANKS_MAX], sum = 0;
    MPI_Datatype types[RANKS_MAX];
    const int root = size - 1, at_root = own == root;
    for (int i = 0; i < size; i++) {
        counts[i] = i + 1;
        displacements[i] = 4 * i;
        types[i] = MPI_INT;
        sum += i + 1;
    }
    int send_counts[RANKS_MAX]; /* to rank i what it expects: i sends us own + 1 */
    for (int i = 0; i < size; i++) send_counts[i] = own + 1;
    MPI_Barrier(comm);
    expect_collective(label, BARRIER, -1, 0, 0);
    MPI_Bcast(out, 5, MPI_INT, root, comm);
    expect_collective(label, BCAST, root, at_root ? 20 : 0, at_root ? 0 : 20);
    MPI_Gather(out, 2, MPI_INT, in, 2, MPI_INT, root, comm);
    expect_collective(label, GATHER, root, 8, at_root ? 8 * size : 0);
    MPI_Gather(at_root ? MPI_IN_PLACE : out, 2, MPI_INT, in, 2, MPI_INT, root, comm);
    expect_collective(label, GATHER, root, 8, at_root ? 8 * size : 0);
    MPI_Gatherv(out, own + 1, MPI_INT, in, counts, displacements, MPI_INT, root, comm);
    expect_collective(label, GATHERV, root, 4 * (own + 1), at_root ? 4 * sum : 0);
    MPI_Scatter(out, 2, MPI_INT, in, 2, MPI_INT, root, comm);
    expect_collective(label, SCATTER, root, at_root ? 8 * size : 0, 8);
    MPI_Scatterv(out, counts, displacements, MPI_INT, in, own + 1, MPI_INT, root, comm);
    expect_collective(label, SCATTERV, root, at_root ? 4 * sum : 0, 4 * (own + 1));
    MPI_Allgather(out, 3, MPI_INT, in, 3, MPI_INT, comm);
    expect_collective(label, ALLGATHER, -1, 12, 12 * size);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 3, MPI_INT, comm);
    expect_collective(label, ALLGATHER, -1, 12, 12 * size);
    MPI_Allgatherv(out, own + 1, MPI_INT, in, counts, displacements, MPI_INT, comm);
    expect_collective(label, ALLGATHERV, -1, 4 * (own + 1), 4 * sum);
    MPI_Alltoall(out, 2, MPI_INT, in, 2, MPI_INT, comm);
    expect_collective(label, ALLTOALL, -1, 8 * size, 8 * size);
    MPI_Alltoallv(out, counts, displacements, MPI_INT, in, send_counts, displacements, MPI_INT,
                  comm);
    expect_collective(label, ALLTOALLV, -1, 4 * sum, 4 * size * (own + 1));
    MPI_Alltoallw(out, counts, displacements, types, in, send_counts, displacements, types, comm);
    expect_collective(label, ALLTOALLW, -1, 4 * sum, 4 * size * (own + 1));
    MPI_Allreduce(out, in, 4, MPI_INT, MPI_SUM, comm);
    expect_collective(label, ALLREDUCE, -1, 16, 16);
    MPI_Reduce(out, in, 4, MPI_INT, MPI_SUM, root, comm);
    expect_collective(label, REDUCE, root, 16, at_root ? 16 : 0);
    MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, comm);
    expect_collective(label, REDUCE_SCATTER, -1, 4 * sum, 4 * (own + 1));
    MPI_Reduce_scatter_block(out, in, 2, MPI_INT, MPI_SUM, comm);
    expect_collective(label, REDUCE_SCATTER_BLOCK, -1, 8 * size, 8);
    MPI_Scan(out, in, 3, MPI_INT, MPI_SUM, comm);
    expect_collective(label, SCAN, -1, 12, 12);
    MPI_Exscan(out, in, 3, MPI_INT, MPI_SUM, comm);
    expect_collective(label, EXSCAN, -1, 12, own ? 12 : 0);
}

static void expect_icollective(const char *label, int operation, int root, long sent, long received)
{
    expect("ICOLLECTIVE_REQUEST");
    expect("ICOLLECTIVE_COMPLETE comm=%s op=%d root=%d sent=%ld received=%ld", label, operation,
           root, sent, received);
}

static void non_blocking_collectives(void)
{
    MPI_Request requests[24];
    int counts[RANKS_MAX], displacements[RANKS_MAX], bytes_apart[RANKS_MAX], n = 0;
    MPI_Datatype types[RANKS_MAX];
    static int sinks[16][64 * RANKS_MAX], bcast[8];
    for (int i = 0; i < count; i++) {
        counts[i] = 2;
        displacements[i] = 2 * i;
        bytes_apart[i] = 8 * i;
        types[i] = MPI_INT;
    }
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Ibarrier(comm, &requests[n++]);
    expect_icollective(world, BARRIER, -1, 0, 0);
    MPI_Ibcast(bcast, 5, MPI_INT, 0, comm, &requests[n++]);
    expect_icollective(world, BCAST, 0, rank ? 0 : 20, rank ? 20 : 0);
    MPI_Igather(out, 2, MPI_INT, sinks[0], 2, MPI_INT, 0, comm, &requests[n++]);
    expect_icollective(world, GATHER, 0, 8, rank ? 0 : 8 * count);
    MPI_Iscatter(out, 2, MPI_INT, sinks[1], 2, MPI_INT, 0, comm, &requests[n++]);
    expect_icollective(world, SCATTER, 0, rank ? 0 : 8 * count, 8);
    MPI_Iallgather(out, 2, MPI_INT, sinks[2], 2, MPI_INT, comm, &requests[n++]);
    expect_icollective(world, ALLGATHER, -1, 8, 8 * count);
    MPI_Ialltoall(out, 2, MPI_INT, sinks[3], 2, MPI_INT, comm, &requests[n++]);
    expect_icollective(world, ALLTOALL, -1, 8 * count, 8 * count);
    MPI_Ialltoallv(out, counts, displacements, MPI_INT, sinks[4], counts, displacements, MPI_INT,
                   comm, &requests[n++]);
    expect_icollective(world, ALLTOALLV, -1, 8 * count, 8 * count);
    MPI_Iallreduce(out, sinks[5], 3, MPI_INT, MPI_SUM, comm, &requests[n++]);
    expect_icollective(world, ALLREDUCE, -1, 12, 12);
    MPI_Ireduce(out, sinks[6], 3, MPI_INT, MPI_SUM, 0, comm, &requests[n++]);
    expect_icollective(world, REDUCE, 0, 12, rank ? 0 : 12);
    MPI_Ireduce_scatter_block(out, sinks[7], 3, MPI_INT, MPI_SUM, comm, &requests[n++]);
    expect_icollective(world, REDUCE_SCATTER_BLOCK, -1, 12 * count, 12);
    MPI_Iscan(out, sinks[8], 3, MPI_INT, MPI_SUM, comm, &requests[n++]);
    expect_icollective(world, SCAN, -1, 12, 12);
    MPI_Iexscan(out, sinks[9], 3, MPI_INT, MPI_SUM, comm, &requests[n++]);
    expect_icollective(world, EXSCAN, -1, 12, rank ? 12 : 0);
    MPI_Iallgatherv(out, 2, MPI_INT, sinks[10], counts, displacements, MPI_INT, comm,
                    &requests[n++]);
    expect_icollective(world, ALLGATHERV, -1, 8, 8 * count);
    MPI_Igatherv(out, 2, MPI_INT, sinks[11], counts, displacements, MPI_INT, 0, comm,
                 &requests[n++]);
    expect_icollective(world, GATHERV, 0, 8, rank ? 0 : 8 * count);
    MPI_Iscatterv(out, counts, displacements, MPI_INT, sinks[12], 2, MPI_INT, 0, comm,
                  &requests[n++]);
    expect_icollective(world, SCATTERV, 0, rank ? 0 : 8 * count, 8);
    MPI_Ialltoallw(out, counts, bytes_apart, types, sinks[13], counts, bytes_apart, types, comm,
                   &requests[n++]);
    expect_icollective(world, ALLTOALLW, -1, 8 * count, 8 * count);
    MPI_Ireduce_scatter(out, sinks[14], counts, MPI_INT, MPI_SUM, comm, &requests[n++]);
    expect_icollective(world, REDUCE_SCATTER, -1, 8 * count, 8);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

/* ---- communicators ---- */

static void expect_made(const char *parent)
{
    expect_collective(parent, CREATE, -1, 0, 0);
}

static void let_go(MPI_Comm *comm, const char *label)
{
    MPI_Comm_free(comm);
    expect_collective(label, DESTROY, -1, 0, 0);
}

/* On a ring that is a graph: one neighbour sends, and one receives. */
static void neighbors(MPI_Comm comm, const char *label)
{
    const int three = 3, five = 5, at = 0;
    const MPI_Aint start = 0;
    const MPI_Datatype type = MPI_INT, wide = MPI_DOUBLE;
    static int sinks[4][64];
    MPI_Request requests[4];
    MPI_Neighbor_allgatherv(out, 3, MPI_INT, in, &three, &at, MPI_INT, comm);
    expect_collective(label, ALLGATHERV, -1, 12, 12);
    MPI_Neighbor_alltoallv(out, &five, &at, MPI_INT, in, &five, &at, MPI_INT, comm);
    expect_collective(label, ALLTOALLV, -1, 20, 20);
    MPI_Neighbor_alltoallw(out, &three, &start, &wide, in, &three, &start, &wide, comm);
    expect_collective(label, ALLTOALLW, -1, 24, 24);
    MPI_Ineighbor_allgather(out, 4, MPI_INT, sinks[0], 4, MPI_INT, comm, &requests[0]);
    expect_icollective(label, ALLGATHER, -1, 16, 16);
    MPI_Ineighbor_allgatherv(out, 3, MPI_INT, sinks[1], &three, &at, MPI_INT, comm, &requests[1]);
    expect_icollective(label, ALLGATHERV, -1, 12, 12);
    MPI_Ineighbor_alltoallv(out, &five, &at, MPI_INT, sinks[2], &five, &at, MPI_INT, comm,
                            &requests[2]);
    expect_icollective(label, ALLTOALLV, -1, 20, 20);
    MPI_Ineighbor_alltoallw(out, &three, &start, &type, sinks[3], &three, &start, &type, comm,
                            &requests[3]);
    expect_icollective(label, ALLTOALLW, -1, 12, 12);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void topologies(void)
{
    MPI_Comm comm, sub;
    int extents[1] = {count}, periods[1] = {1}, keep[1] = {1}, index[RANKS_MAX],
        edges[2 * RANKS_MAX];
    MPI_Cart_create(MPI_COMM_WORLD, 1, extents, periods, 0, &comm);
    expect_made(world);
    name(comm, "cart");
    ring(comm, "cart");
    MPI_Neighbor_alltoall(out, 2, MPI_INT, in, 2, MPI_INT, comm);
    expect_collective("cart", ALLTOALL, -1, 16, 16);
    MPI_Neighbor_allgather(out, 2, MPI_INT, in, 2, MPI_INT, comm);
    expect_collective("cart", ALLGATHER, -1, 8, 16);
    MPI_Request request;
    MPI_Ineighbor_alltoall(out, 3, MPI_INT, in, 3, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_icollective("cart", ALLTOALL, -1, 24, 24);
    MPI_Cart_sub(comm, keep, &sub);
    expect_made("cart");
    name(sub, "cart sub");
    ring(sub, "cart sub");
    let_go(&sub, "cart sub");
    let_go(&comm, "cart");
    for (int i = 0; i < count; i++) {
        edges[i] = (i + 1) % count;
        index[i] = i + 1;
    }
    MPI_Graph_create(MPI_COMM_WORLD, count, index, edges, 0, &comm);
    expect_made(world);
    name(comm, "graph");
    ring(comm, "graph");
    let_go(&comm, "graph");
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &previous, MPI_UNWEIGHTED, 1, &next,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    expect_made(world);
    name(comm, "distributed graph");
    MPI_Neighbor_allgather(out, 2, MPI_INT, in, 2, MPI_INT, comm);
    expect_collective("distributed graph", ALLGATHER, -1, 8, 8);
    neighbors(comm, "distributed graph");
    let_go(&comm, "distributed graph");
    const int one = 1;
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                          &comm);
    expect_made(world);
    name(comm, "graph of edges");
    ring(comm, "graph of edges");
    MPI_Neighbor_alltoall(out, 2, MPI_INT, in, 2, MPI_INT, comm);
    expect_collective("graph of edges", ALLTOALL, -1, 8, 8);
    let_go(&comm, "graph of edges");
}

static void intercommunicators(void)
{
    MPI_Comm half, inter, merged;
    const int odd = rank % 2;
    int place, local, remote;
    MPI_Comm_split(MPI_COMM_WORLD, odd, rank, &half);
    expect_made(world);
    name(half, odd ? "odd" : "even");
    ring(half, odd ? "odd" : "even");
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !odd, 5, &inter);
    name(inter, "inter");
    MPI_Comm_rank(half, &place);
    MPI_Comm_size(half, &local);
    MPI_Comm_remote_size(inter, &remote);
    MPI_Barrier(inter);
    /* Each talks to its partner, where there is one; groups lie one behind the other. */
    const int partner = place < remote ? place : MPI_PROC_NULL;
    MPI_Sendrecv(out, 2, MPI_INT, partner, 8, in, 2, MPI_INT, partner, 8, inter, MPI_STATUS_IGNORE);
    expect("INTER SEND partner=%d tag=8 bytes=8", partner);
    MPI_Bcast(out, 2, MPI_INT, odd ? 0 : place ? MPI_PROC_NULL : MPI_ROOT, inter);
    MPI_Bcast(out, 2, MPI_INT, !odd ? 0 : place ? MPI_PROC_NULL : MPI_ROOT, inter);
    MPI_Intercomm_merge(inter, odd, &merged);
    name(merged, "merged");
    ring(merged, "merged");
    let_go(&merged, "merged");
    MPI_Comm_free(&inter);
    let_go(&half, odd ? "odd" : "even");
}

static void communicators(void)
{
    MPI_Comm comm;
    MPI_Group group, pair;
    MPI_Request request;
    int own, size, first[2] = {0, 1};
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    expect_made(world);
    name(comm, "dup");
    collectives(comm, "dup", rank, count);
    let_go(&comm, "dup");
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm); /* in reverse */
    expect_made(world);
    name(comm, "reverse");
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &size);
    if (own != count - 1 - rank) abort();
    ring(comm, "reverse");
    collectives(comm, "reverse", own, size);
    let_go(&comm, "reverse");
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, 0, &comm);
    expect_made(world);
    if (comm != MPI_COMM_NULL) {
        name(comm, "all but one");
        ring(comm, "all but one");
        let_go(&comm, "all but one");
    }
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group_incl(group, 2, first, &pair);
    MPI_Comm_create(MPI_COMM_WORLD, pair, &comm);
    expect_made(world);
    if (rank < 2) {
        name(comm, "pair");
        ring(comm, "pair");
        let_go(&comm, "pair");
        MPI_Comm_create_group(MPI_COMM_WORLD, pair, 3, &comm);
        name(comm, "group pair");
        ring(comm, "group pair");
        let_go(&comm, "group pair");
    }
    MPI_Group_free(&pair);
    MPI_Group_free(&group);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &comm);
    expect_made(world);
    name(comm, "node");
    ring(comm, "node");
    let_go(&comm, "node");
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    name(comm, "idup");
    ring(comm, "idup");
    let_go(&comm, "idup");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm);
    expect_made(world);
    name(comm, "dup with info");
    ring(comm, "dup with info");
    MPI_Comm_disconnect(&comm);
    expect_collective("dup with info", DESTROY, -1, 0, 0);
    // Open MPI 5 has it, although it says to be MPI 3.1.
#if MPI_VERSION >= 4 || defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
    MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    name(comm, "idup with info");
    ring(comm, "idup with info");
    let_go(&comm, "idup with info");
#endif
    ring(MPI_COMM_SELF, "MPI_COMM_SELF");
}

/* ---- one-sided ---- */

static void free_window(MPI_Win *win)
{
    MPI_Win_free(win);
    expect("RMA_COLLECTIVE_END op=%d", DESTROY);
    expect("WIN_DESTROY");
}

/* Operations that end with their requests, and one that a flush of all ends. */
static void with_requests(MPI_Win win)
{
    MPI_Request request;
    int one = 1, result[4];
    MPI_Win_lock_all(0, win);
    expect("ACQUIRE_LOCK remote=-1 op=1");
    MPI_Rget(in, 3, MPI_INT, next, 0, 3, MPI_INT, win, &request);
    expect("GET remote=%d bytes=12", next);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("OP_COMPLETE_NON_BLOCKING");
    MPI_Raccumulate(out, 2, MPI_INT, next, 4, 2, MPI_INT, MPI_SUM, win, &request);
    expect("ATOMIC remote=%d bytes=8", next);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("OP_COMPLETE_NON_BLOCKING");
    MPI_Rget_accumulate(&one, 1, MPI_INT, result, 1, MPI_INT, next, 8, 1, MPI_INT, MPI_SUM, win,
                        &request);
    expect("ATOMIC remote=%d bytes=4", next);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("OP_COMPLETE_NON_BLOCKING");
    MPI_Put(out, 4, MPI_INT, next, 10, 4, MPI_INT, win);
    expect("PUT remote=%d bytes=16", next);
    MPI_Win_flush_local_all(win);
    expect("OP_COMPLETE_NON_BLOCKING");
    MPI_Win_unlock_all(win);
    expect("OP_COMPLETE_REMOTE");
    expect("RELEASE_LOCK remote=-1");
}

static void one_sided(void)
{
    static int memory[64 * RANKS_MAX], one = 1, result;
    MPI_Win win;
    MPI_Group group, to, from;
    MPI_Request request;
    int *allocated;
    MPI_Win_create(memory, sizeof(memory), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    expect("WIN_CREATE");
    expect("RMA_COLLECTIVE_END op=%d", CREATE);
    MPI_Win_fence(0, win);
    expect("RMA_COLLECTIVE_END op=0");
    MPI_Put(out, 5, MPI_INT, next, 0, 5, MPI_INT, win);
    expect("PUT remote=%d bytes=20", next);
    MPI_Get(in, 3, MPI_INT, next, 10, 3, MPI_INT, win);
    expect("GET remote=%d bytes=12", next);
    MPI_Put(out, 5, MPI_INT, MPI_PROC_NULL, 0, 5, MPI_INT, win);
    MPI_Win_fence(0, win);
    expect("RMA_COLLECTIVE_END op=0");
    expect("OP_COMPLETE_REMOTE"); /* one target */
    /* General active target. */
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group_incl(group, 1, &next, &to);
    MPI_Group_incl(group, 1, &previous, &from);
    MPI_Win_post(from, 0, win);
    MPI_Win_start(to, 0, win);
    MPI_Accumulate(&one, 1, MPI_INT, next, 20, 1, MPI_INT, MPI_SUM, win);
    expect("ATOMIC remote=%d bytes=4", next);
    MPI_Win_complete(win);
    expect("OP_COMPLETE_REMOTE");
    MPI_Win_wait(win);
    expect("GROUP_SYNC group=%d", previous); /* post, then start, complete, wait */
    expect("GROUP_SYNC group=%d", next);
    expect("GROUP_SYNC group=%d", next);
    expect("GROUP_SYNC group=%d", previous);
    /* Two members, in the group's order; the wait is a test. */
    const int origins[2] = {previous, rank}, targets[2] = {next, rank};
    MPI_Group two_origins, two_targets;
    MPI_Group_incl(group, 2, origins, &two_origins);
    MPI_Group_incl(group, 2, targets, &two_targets);
    MPI_Win_post(two_origins, 0, win);
    MPI_Win_start(two_targets, 0, win);
    MPI_Win_complete(win);
    int flag = 0;
    while (!flag) MPI_Win_test(win, &flag);
    MPI_Group_free(&two_origins);
    MPI_Group_free(&two_targets);
    for (int i = 0; i < 2; i++) expect("GROUP_SYNC group=%d,%d", previous, rank);
    for (int i = 0; i < 2; i++) expect("GROUP_SYNC group=%d,%d", next, rank);
    /* Locks. */
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
    expect("ACQUIRE_LOCK remote=%d op=0", next);
    MPI_Fetch_and_op(&one, &result, MPI_INT, next, 21, MPI_SUM, win);
    expect("ATOMIC remote=%d bytes=4", next);
    MPI_Win_flush_local(next, win);
    expect("OP_COMPLETE_NON_BLOCKING");
    MPI_Win_flush(next, win);
    expect("OP_COMPLETE_REMOTE");
    MPI_Win_flush(next, win); /* nothing left */
    MPI_Compare_and_swap(&one, &one, &result, MPI_INT, next, 22, win);
    expect("ATOMIC remote=%d bytes=4", next);
    MPI_Win_unlock(next, win);
    expect("OP_COMPLETE_REMOTE");
    expect("RELEASE_LOCK remote=%d", next);
    MPI_Win_lock_all(0, win);
    expect("ACQUIRE_LOCK remote=-1 op=1");
    MPI_Rput(out, 2, MPI_INT, next, 30, 2, MPI_INT, win, &request);
    expect("PUT remote=%d bytes=8", next);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("OP_COMPLETE_NON_BLOCKING");
    MPI_Get_accumulate(&one, 1, MPI_INT, &result, 1, MPI_INT, next, 23, 1, MPI_INT, MPI_SUM, win);
    expect("ATOMIC remote=%d bytes=4", next);
    MPI_Win_flush_all(win);
    expect("OP_COMPLETE_REMOTE");
    MPI_Win_unlock_all(win);
    expect("RELEASE_LOCK remote=-1");
    MPI_Group_free(&group);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    free_window(&win);
    MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &allocated, &win);
    expect("WIN_CREATE");
    expect("RMA_COLLECTIVE_END op=21");
    with_requests(win);
    free_window(&win);
    MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &allocated, &win);
    expect("WIN_CREATE");
    expect("RMA_COLLECTIVE_END op=21");
    free_window(&win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    expect("WIN_CREATE");
    expect("RMA_COLLECTIVE_END op=%d", CREATE);
    free_window(&win);
}

/* ---- errors ---- */

static void errors(void)
{
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    expect_made(world);
    name(comm, "errors");
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* MPICH asks this of a Waitall */
    if (MPI_Send(out, 1, MPI_INT, count + 5, 1, comm) == MPI_SUCCESS) abort();
    if (MPI_Isend(out, 1, MPI_INT, count + 5, 1, comm, &request) == MPI_SUCCESS) abort();
    if (MPI_Bcast(out, 1, MPI_INT, count + 5, comm) == MPI_SUCCESS) abort();
#ifdef MPICH /* MPI 1's name, which Open MPI no longer has */
    MPI_Errhandler_set(comm, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_set(comm, MPI_ERRORS_RETURN);
    if (MPI_Send(out, 1, MPI_INT, count + 5, 1, comm) == MPI_SUCCESS) abort();
#endif
    /* A message that is too long for its receive. */
    MPI_Request requests[2];
    MPI_Irecv(in, 1, MPI_INT, previous, 666, comm, &requests[0]);
    MPI_Isend(out, 4, MPI_INT, next, 666, comm, &requests[1]);
    if (MPI_Wait(&requests[0], MPI_STATUS_IGNORE) == MPI_SUCCESS) abort();
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    expect("IRECV_REQUEST");
    expect_message("ISEND", "errors", next, 666, 16);
    expect("ISEND_COMPLETE");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    ring(comm, "errors");
    let_go(&comm, "errors");
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    next = (rank + 1) % count;
    previous = (rank + count - 1) % count;
    expect_open(rank);
    blocking();
    non_blocking();
    persistent();
    persistent_modes();
    datatypes();
    collectives(MPI_COMM_WORLD, world, rank, count);
    non_blocking_collectives();
    communicators();
    topologies();
    intercommunicators();
    one_sided();
    errors();
    expect_close();
    MPI_Finalize();
    return 0;
}
