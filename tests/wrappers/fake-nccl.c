/* NCCL and the little of CUDA's driver that finds a stream: enough to see what the wrappers pass on
 * and report. ncclBcast calls ncclBroadcast, as NCCL's does. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
    char internal[128];
} unique_id;

int ncclBroadcast(const void *send, void *receive, size_t count, int type, int root, void *comm,
                  void *stream);

int ncclAllReduce(const void *send, void *receive, size_t count, int type, int op, void *comm,
                  void *stream)
{
    (void)send, (void)receive, (void)comm, (void)stream;
    return count == 1000 && type == 7 && op == 3 ? 0 : 4;
}
int ncclBroadcast(const void *send, void *receive, size_t count, int type, int root, void *comm,
                  void *stream)
{
    (void)send, (void)receive, (void)comm, (void)stream;
    return count == 10 && type == 8 && root == 1 ? 0 : 4;
}
int ncclBcast(void *buffer, size_t count, int type, int root, void *comm, void *stream)
{
    return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}
int ncclSend(const void *send, size_t count, int type, int peer, void *comm, void *stream)
{
    (void)send, (void)comm, (void)stream;
    return count == 3 && type == 9 && peer == 2 ? 0 : 4;
}
int ncclGroupStart(void)
{
    return 0;
}
int ncclGroupEnd(void)
{
    return 0;
}
int ncclCommInitRank(void **comm, int count, unique_id id, int rank)
{
    *comm = malloc(1);
    return count == 2 && id.internal[127] == 9 && rank == 1 ? 0 : 4;
}
int ncclCommSplit(void *comm, int color, int key, void **made, void *config)
{
    (void)comm, (void)key, (void)config;
    *made = color < 0 ? NULL : malloc(1);
    return 0;
}
int ncclCommDestroy(void *comm)
{
    free(comm);
    return 0;
}

int cuStreamGetCtx(void *stream, void **context)
{
    (void)stream;
    *context = (void *)0x100;
    return 0;
}
int cuCtxGetCurrent(void **context)
{
    *context = (void *)0x200;
    return 0;
}
int cuCtxGetId(void *context, unsigned long long *id)
{
    *id = (uintptr_t)context;
    return 0;
}
int cuStreamGetId(void *stream, unsigned long long *id)
{
    *id = (uintptr_t)stream * 10;
    return 0;
}
int cuCtxGetDevice(int *device)
{
    *device = 3;
    return 0;
}
