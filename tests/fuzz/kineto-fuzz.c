/* Fuzz target of the reader of PyTorch's traces. Whatever the bytes: events that are given are
 * counted once, items come sorted, and name threads, streams and regions that exist. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "import/kineto-read.h"
#include "fuzz/profile-check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const unused[2] = {"/dev/null/a", "/dev/null/b"};
    struct cts_profile_rank rank;
    struct cts_profile_file file;
    struct cts_error error;
    char path[40];
    const int memory = memfd_create("trace", MFD_CLOEXEC);
    if (memory < 0 || write(memory, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    bool is_trace;
    (void)!cts_kineto_is_trace(path, &is_trace, &error);
    cts_profile_rank_begin(&rank, unused);
    if (!cts_kineto_read(path, &file, cts_profile_rank_take, &rank, &error)) profile_check(&rank);
    cts_profile_file_release(&file);
    cts_profile_rank_release(&rank);
    close(memory);
    return 0;
}
