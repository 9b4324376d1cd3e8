/* Calls of NCCL, as a program makes them. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    char internal[128];
} unique_id;
int ncclAllReduce(const void *, void *, size_t, int, int, void *, void *);
int ncclBcast(void *, size_t, int, int, void *, void *);
int ncclSend(const void *, size_t, int, int, void *, void *);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclCommInitRank(void **, int, unique_id, int);
int ncclCommSplit(void *, int, int, void **, void *);
int ncclCommDestroy(void *);

static void check(int result)
{
    if (result == 0) return;
    fprintf(stderr, "an argument did not come through\n");
    exit(1);
}

int main(void)
{
    unique_id id = {{0}};
    void *comm, *half;
    id.internal[127] = 9;
    check(ncclCommInitRank(&comm, 2, id, 1));
    check(ncclAllReduce(NULL, NULL, 1000, 7, 3, comm, (void *)0x50));
    check(ncclGroupStart());
    check(ncclBcast(NULL, 10, 8, 1, comm, NULL));
    check(ncclSend(NULL, 3, 9, 2, comm, (void *)0x50));
    check(ncclGroupEnd());
    check(ncclCommSplit(comm, 1, 0, &half, NULL));
    check(ncclAllReduce(NULL, NULL, 1000, 7, 3, half, (void *)0x60));
    check(ncclCommDestroy(half));
    check(ncclCommDestroy(comm));
    return 0;
}
