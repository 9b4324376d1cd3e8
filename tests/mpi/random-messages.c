/* Random messages, all of which match: every rank draws the same schedule from the seed, and does
 * its part of it, in each thread on a communicator of its own.
 *
 *     random-messages SEED ROUNDS THREADS
 *
 * A round has messages of unique tags between random ranks (oneself, too). First, receives are
 * posted (non-blocking or persistent), then messages are sent in all ways, then received blocking
 * where they were not posted, and all is completed in one of eight ways. */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "expect.h"

enum { MESSAGES_MAX = 12, THREADS_MAX = 8, INTS_MAX = 300 };
enum receive_mode { IRECV, RECV_INIT, RECV, MRECV, RECEIVE_MODES };
enum send_mode { ISEND, IBSEND, ISSEND, SEND_INIT, SSEND, SEND, SEND_MODES, ALWAYS_SAFE = SSEND };

struct message {
    int from, to, ints;
    bool any_source, any_tag;
    enum receive_mode receive;
    enum send_mode send;
};

struct worker {
    pthread_t thread;
    MPI_Comm comm;
    char name[32];
    uint64_t random;
    int rounds, rank, count;
};
static pthread_mutex_t expect_lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned draw(struct worker *worker, unsigned limit)
{
    worker->random = worker->random * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(worker->random >> 33) % limit;
}

static void say(const char *kind, const struct worker *worker, int peer, int tag, int ints)
{
    pthread_mutex_lock(&expect_lock);
    if (peer >= 0)
        expect_message(kind, worker->name, peer, tag, 4L * ints);
    else
        expect("%s", kind);
    pthread_mutex_unlock(&expect_lock);
}

static int draw_messages(struct worker *worker, struct message *messages)
{
    const int n = 1 + (int)draw(worker, MESSAGES_MAX);
    for (int i = 0; i < n; i++) {
        struct message *const m = &messages[i];
        m->from = (int)draw(worker, (unsigned)worker->count);
        m->to = (int)draw(worker, (unsigned)worker->count);
        m->ints = (int)draw(worker, INTS_MAX);
        m->any_source = draw(worker, 3) == 0;
        m->any_tag = false;
        m->receive = (enum receive_mode)draw(worker, RECEIVE_MODES);
        /* What is received late must not be waited for by its sender. */
        const bool posted = m->receive == IRECV || m->receive == RECV_INIT;
        m->send = (enum send_mode)draw(worker, posted ? SEND_MODES : ALWAYS_SAFE);
    }
    return n;
}

/* The only message of its sender to its receiver may be received with any tag. */
static void draw_any_tags(struct worker *worker, struct message *messages, int n)
{
    for (int i = 0; i < n; i++) {
        bool alone = !messages[i].any_source && draw(worker, 2) == 0;
        for (int k = 0; k < n; k++)
            if (k != i && messages[k].to == messages[i].to) alone = false;
        messages[i].any_tag = alone;
    }
}

static void post(struct worker *worker, const struct message *m, int tag, int *buffer,
                 MPI_Request *request)
{
    const int source = m->any_source ? MPI_ANY_SOURCE : m->from;
    const int wanted = m->any_tag ? MPI_ANY_TAG : tag;
    if (m->receive == IRECV) {
        MPI_Irecv(buffer, INTS_MAX, MPI_INT, source, wanted, worker->comm, request);
    } else {
        MPI_Recv_init(buffer, INTS_MAX, MPI_INT, source, wanted, worker->comm, request);
        MPI_Start(request);
    }
    say("IRECV_REQUEST", worker, -1, 0, 0);
    say("IRECV", worker, m->from, tag, m->ints);
}

static void send_message(struct worker *worker, const struct message *m, int tag, int *buffer,
                         MPI_Request *request)
{
    MPI_Comm comm = worker->comm;
    const bool blocks = m->send == SEND || m->send == SSEND;
    switch (m->send) {
    case ISEND:
        MPI_Isend(buffer, m->ints, MPI_INT, m->to, tag, comm, request);
        break;
    case IBSEND:
        MPI_Ibsend(buffer, m->ints, MPI_INT, m->to, tag, comm, request);
        break;
    case ISSEND:
        MPI_Issend(buffer, m->ints, MPI_INT, m->to, tag, comm, request);
        break;
    case SEND_INIT:
        MPI_Send_init(buffer, m->ints, MPI_INT, m->to, tag, comm, request);
        MPI_Startall(1, request);
        break;
    case SSEND:
        MPI_Ssend(buffer, m->ints, MPI_INT, m->to, tag, comm);
        break;
    default:
        MPI_Send(buffer, m->ints, MPI_INT, m->to, tag, comm);
        break;
    }
    say(blocks ? "SEND" : "ISEND", worker, m->to, tag, m->ints);
    if (!blocks) say("ISEND_COMPLETE", worker, -1, 0, 0);
}

static void receive_late(struct worker *worker, const struct message *m, int tag, int *buffer)
{
    const int source = m->any_source ? MPI_ANY_SOURCE : m->from;
    const int wanted = m->any_tag ? MPI_ANY_TAG : tag;
    if (m->receive == RECV) {
        MPI_Recv(buffer, INTS_MAX, MPI_INT, source, wanted, worker->comm, MPI_STATUS_IGNORE);
    } else {
        MPI_Message message;
        MPI_Mprobe(source, wanted, worker->comm, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(buffer, INTS_MAX, MPI_INT, &message, MPI_STATUS_IGNORE);
    }
    say("RECV", worker, m->from, tag, m->ints);
}

/* Requests that are persistent stay, inactive, and count as done by their index. */
static void complete(struct worker *worker, MPI_Request *requests, int n)
{
    const unsigned way = draw(worker, 8);
    MPI_Status statuses[2 * MESSAGES_MAX];
    int indices[2 * MESSAGES_MAX], index, flag, some, done = 0;
    MPI_Status *const all = way % 2 ? statuses : MPI_STATUSES_IGNORE;
    while (done < n) {
        switch (way) {
        case 0:
            MPI_Wait(&requests[done++], all);
            break;
        case 1:
            done += MPI_Waitany(n, requests, &index, all) == MPI_SUCCESS;
            break;
        case 2:
            MPI_Waitall(n, requests, all), done = n;
            break;
        case 3:
            MPI_Waitsome(n, requests, &some, indices, all), done += some;
            break;
        case 4:
            MPI_Test(&requests[done], &flag, all), done += flag != 0;
            break;
        case 5:
            MPI_Testany(n, requests, &index, &flag, all), done += flag != 0;
            break;
        case 6:
            MPI_Testall(n, requests, &flag, all), done = flag ? n : 0;
            break;
        default:
            MPI_Testsome(n, requests, &some, indices, all), done += some;
            break;
        }
    }
}

static void play(struct worker *worker)
{
    static __thread int buffers[2 * MESSAGES_MAX][INTS_MAX];
    struct message messages[MESSAGES_MAX];
    MPI_Request requests[2 * MESSAGES_MAX];
    bool persistent[2 * MESSAGES_MAX] = {0};
    int n = 0;
    const int count = draw_messages(worker, messages);
    draw_any_tags(worker, messages, count);
    for (int i = 0; i < count; i++) {
        const struct message *const m = &messages[i];
        if (m->to != worker->rank || m->receive >= RECV) continue;
        persistent[n] = m->receive == RECV_INIT;
        post(worker, m, i, buffers[i], &requests[n++]);
    }
    for (int i = 0; i < count; i++) {
        const struct message *const m = &messages[i];
        if (m->from != worker->rank) continue;
        persistent[n] = m->send == SEND_INIT;
        send_message(worker, m, i, buffers[MESSAGES_MAX + i], &requests[n]);
        n += m->send < ALWAYS_SAFE;
    }
    for (int i = 0; i < count; i++)
        if (messages[i].to == worker->rank && messages[i].receive >= RECV)
            receive_late(worker, &messages[i], i, buffers[i]);
    uint64_t schedule = worker->random; /* completing draws differently on each rank */
    worker->random ^= (uint64_t)worker->rank * 77;
    complete(worker, requests, n);
    worker->random = schedule;
    for (int i = 0; i < n; i++)
        if (persistent[i]) MPI_Request_free(&requests[i]);
}

static void *work(void *argument)
{
    struct worker *const worker = argument;
    for (int i = 0; i < worker->rounds; i++) {
        play(worker);
        MPI_Barrier(worker->comm);
        pthread_mutex_lock(&expect_lock);
        expect_collective(worker->name, 0, -1, 0, 0);
        pthread_mutex_unlock(&expect_lock);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct worker workers[THREADS_MAX];
    static char attached[1 << 22];
    int provided, rank, count;
    if (argc != 4) return 2;
    const int seed = (int)strtol(argv[1], NULL, 10), rounds = (int)strtol(argv[2], NULL, 10);
    const int threads = (int)strtol(argv[3], NULL, 10);
    if (threads < 1 || threads > THREADS_MAX) return 2;
    MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    if (threads > 1 && provided < MPI_THREAD_MULTIPLE) return 3;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    MPI_Buffer_attach(attached, sizeof(attached));
    expect_open(rank);
    for (int i = 0; i < threads; i++) {
        struct worker *const worker = &workers[i];
        worker->random = (uint64_t)seed * 1000 + (uint64_t)i;
        worker->rounds = rounds;
        worker->rank = rank;
        worker->count = count;
        snprintf(worker->name, sizeof(worker->name), "thread-%d", i);
        MPI_Comm_dup(MPI_COMM_WORLD, &worker->comm);
        expect_collective("MPI_COMM_WORLD", 17, -1, 0, 0);
        MPI_Comm_set_name(worker->comm, worker->name);
    }
    for (int i = 1; i < threads; i++) pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    work(&workers[0]);
    for (int i = 1; i < threads; i++) pthread_join(workers[i].thread, NULL);
    expect_close();
    MPI_Finalize();
    return 0;
}
