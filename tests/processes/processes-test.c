/* Every operation of common/processes.h, on however many processes this is started as. Sizes differ
 * from process to process, some are 0. Prints nothing when all is well. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/processes.h"

static struct cts_processes processes;

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "process %u of %u, line %d: %s\n", processes.rank, processes.count,    \
                    __LINE__, #condition);                                                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static size_t size_of(unsigned from, unsigned to)
{
    return from == 1 ? 0 : 1 + 1000u * from + 70000u * to;
}

static unsigned char byte_of(unsigned from, unsigned to, size_t i)
{
    return (unsigned char)(from * 31 + to * 7 + i * 13);
}

static void reduces(void)
{
    const uint64_t n = processes.count;
    uint64_t sums[3] = {1, processes.rank, UINT64_C(1) << 40};
    cts_processes_reduce_u64(&processes, sums, 3, CTS_REDUCE_SUM);
    EXPECT(sums[0] == n && sums[1] == n * (n - 1) / 2 && sums[2] == n << 40);
    uint64_t value = 100 + processes.rank;
    cts_processes_reduce_u64(&processes, &value, 1, CTS_REDUCE_MIN);
    EXPECT(value == 100);
    value = UINT64_MAX - processes.rank;
    cts_processes_reduce_u64(&processes, &value, 1, CTS_REDUCE_MAX);
    EXPECT(value == UINT64_MAX);
    /* beyond half of what 64 bits hold: no signed numbers */
    value = processes.rank ? UINT64_MAX : 5;
    cts_processes_reduce_u64(&processes, &value, 1, CTS_REDUCE_MIN);
    EXPECT(value == 5);
    value = processes.rank ? UINT64_MAX : 5;
    cts_processes_reduce_u64(&processes, &value, 1, CTS_REDUCE_MAX);
    EXPECT(value == (processes.count > 1 ? UINT64_MAX : 5));
    value = UINT64_C(1) << processes.rank;
    cts_processes_reduce_u64(&processes, &value, 1, CTS_REDUCE_OR);
    EXPECT(value == (UINT64_C(1) << n) - 1);
}

static void broadcasts(void)
{
    for (unsigned root = 0; root < processes.count; root++) {
        char text[40] = "nothing";
        if (root == processes.rank) snprintf(text, sizeof text, "from %u", root);
        cts_processes_broadcast(&processes, text, sizeof text, root);
        char wanted[40];
        snprintf(wanted, sizeof wanted, "from %u", root);
        EXPECT(!strcmp(text, wanted));
    }
}

static void gathers(void)
{
    struct cts_error error;
    void *all;
    size_t *offsets;
    const size_t size = size_of(processes.rank, 0);
    unsigned char *const mine = malloc(size + 1);
    for (size_t i = 0; i < size; i++) mine[i] = byte_of(processes.rank, 0, i);
    EXPECT(!cts_processes_all_gather(&processes, (struct cts_sent_block){mine, size}, &all,
                                     &offsets, &error));
    for (unsigned from = 0; from < processes.count; from++) {
        EXPECT(offsets[from + 1] - offsets[from] == size_of(from, 0));
        for (size_t i = 0; i < size_of(from, 0); i++)
            EXPECT(((unsigned char *)all)[offsets[from] + i] == byte_of(from, 0, i));
    }
    free(mine);
    free(all);
    free(offsets);
}

static void exchanges(void)
{
    struct cts_error error;
    void *received;
    size_t *offsets, sizes[64], total = 0;
    for (unsigned to = 0; to < processes.count; to++)
        total += sizes[to] = size_of(processes.rank, to);
    unsigned char *const send = malloc(total + 1), *at = send;
    for (unsigned to = 0; to < processes.count; to++)
        for (size_t i = 0; i < sizes[to]; i++) *at++ = byte_of(processes.rank, to, i);
    EXPECT(!cts_processes_all_to_all(&processes, (struct cts_sent_blocks){send, sizes}, &received,
                                     &offsets, &error));
    for (unsigned from = 0; from < processes.count; from++) {
        EXPECT(offsets[from + 1] - offsets[from] == size_of(from, processes.rank));
        for (size_t i = 0; i < size_of(from, processes.rank); i++)
            EXPECT(((unsigned char *)received)[offsets[from] + i] ==
                   byte_of(from, processes.rank, i));
    }
    free(send);
    free(received);
    free(offsets);
}

/* One fails: all know, the others with its words. */
static void agrees(void)
{
    struct cts_error error = {0};
    enum cts_status status = CTS_OK;
    EXPECT(cts_processes_agree(&processes, &status, &error));
    const unsigned culprit = processes.count - 1;
    if (processes.rank == culprit) status = cts_fail(&error, CTS_LIMIT, "too much");
    EXPECT(!cts_processes_agree(&processes, &status, &error));
    EXPECT(status == CTS_LIMIT);
    char wanted[40];
    snprintf(wanted, sizeof wanted, "process %u: too much", culprit);
    EXPECT(!strcmp(error.text, processes.rank == culprit ? "too much" : wanted));
}

int main(int argc, char **argv)
{
    struct cts_error error;
    if (argc != 3) return 2;
    if (cts_processes_open(argv[1], &processes, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 4;
    }
    EXPECT(processes.count == strtoul(argv[2], NULL, 10));
    reduces();
    broadcasts();
    gathers();
    exchanges();
    agrees();
    cts_processes_barrier(&processes);
    cts_processes_close(&processes);
    return 0;
}
