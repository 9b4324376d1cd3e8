/* Fuzz target of the reader of Nsight Systems' exports. Whatever the database: a process's events
 * are counted once, items come sorted, and name threads, streams and regions that exist. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz/profile-check.h"
#include "import/nsys-read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[80];

static void remove_file(void)
{
    unlink(path);
}

/* SQLite opens no file that has no name. */
static int open_file(void)
{
    static int file = -1;
    if (file >= 0) return file;
    snprintf(path, sizeof path, "%s/ctascope-nsys-fuzz-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    file = mkostemp(path, O_CLOEXEC);
    if (file < 0) abort();
    atexit(remove_file);
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const unused[2] = {"/dev/null/a", "/dev/null/b"};
    struct cts_nsys nsys;
    struct cts_error error;
    bool is_export;
    const int file = open_file();
    if (ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size) abort();
    (void)!cts_nsys_is_export(path, &is_export, &error);
    const enum cts_status status = cts_nsys_open(path, &nsys, &error);
    for (size_t i = 0; i < nsys.process_count && i < 4 && !status; i++) {
        struct cts_profile_rank rank;
        struct cts_profile_file facts;
        cts_profile_rank_begin(&rank, unused);
        if (!cts_nsys_read(&nsys, i, &rank, &facts, &error)) profile_check(&rank);
        cts_profile_file_release(&facts);
        cts_profile_rank_release(&rank);
    }
    cts_nsys_close(&nsys);
    return 0;
}
