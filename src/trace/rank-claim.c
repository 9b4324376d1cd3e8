/* Ranks are claimed by making the directory rank-N: mkdir() is atomic, so two processes never get
 * the same. What ties a process to its rank is a symbolic link, made atomically as well:
 *
 *     run/.process-<boot>-<pid namespace>-<pid>-<start time> -> rank-N
 *
 * The start time tells a process from a later one of the same number. */
#include "trace/rank-claim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/own-rights.h"

enum { RANKS_MAX = 1 << 20 };

static const char link_prefix[] = ".process-";

static bool environment_u32(const char *name, uint32_t *value)
{
    const char *const text = getenv(name);
    if (!text || *text < '0' || *text > '9') return false;
    char *end;
    errno = 0;
    const unsigned long number = strtoul(text, &end, 10);
    if (errno || *end || number >= RANKS_MAX) return false;
    *value = (uint32_t)number;
    return true;
}

/* The rank and number of ranks that an MPI launcher gave this process. */
static bool mpi_rank(uint32_t *rank, uint32_t *size)
{
    static const char *const names[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                           {"PMI_RANK", "PMI_SIZE"},
                                           {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (environment_u32(names[i][0], rank) && environment_u32(names[i][1], size)) return true;
    return false;
}

/* 1: claimed, 0: taken, -1: errno tells. */
static int claim_number(const char *run_path, uint32_t rank)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s/rank-%u", run_path, rank) >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (cts_make_directory(path) == 0) return 1;
    return errno == EEXIST ? 0 : -1;
}

enum cts_status cts_rank_claim_new(const char *run_path, uint32_t *rank, struct cts_error *error)
{
    uint32_t first = 0, mine, size;
    int claimed = 0;
    if (mpi_rank(&mine, &size)) {
        *rank = mine;
        claimed = claim_number(run_path, mine);
        first = size; /* a second process of an MPI rank does not take another rank's number */
    }
    for (uint32_t n = first; claimed == 0 && n < RANKS_MAX; n++) {
        *rank = n;
        claimed = claim_number(run_path, n);
    }
    if (claimed > 0) return CTS_OK;
    if (claimed == 0) return cts_fail(error, CTS_LIMIT, "'%s' has too many ranks", run_path);
    return cts_fail_errno(error, errno, "cannot make '%s/rank-%u'", run_path, *rank);
}

/* ---- which process has which ---- */

/* When the process started, in clock ticks since the boot: field 22 of /proc/self/stat. */
static unsigned long long start_time(void)
{
    char text[1024];
    const int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    const ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0) return 0;
    text[length] = 0;
    const char *at = strrchr(text, ')'); /* the name before it may hold anything */
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

static bool link_path(const char *run_path, char *path, size_t path_bytes)
{
    char boot[16] = "";
    struct stat namespace = {0};
    const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        const ssize_t length = read(file, boot, 8);
        boot[length > 0 ? length : 0] = 0;
        close(file);
    }
    if (stat("/proc/self/ns/pid", &namespace)) namespace.st_ino = 0;
    const int length = snprintf(path, path_bytes, "%s/%s%s-%llu-%d-%llu", run_path, link_prefix,
                                boot, (unsigned long long)namespace.st_ino, getpid(), start_time());
    return length > 0 && (size_t)length < path_bytes;
}

static bool read_claim(const char *path, uint32_t *rank)
{
    char target[64];
    const ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 5 || memcmp(target, "rank-", 5) != 0) return false;
    target[length] = 0;
    *rank = (uint32_t)strtoul(target + 5, NULL, 10);
    return true;
}

enum cts_status cts_rank_claim(const char *run_path, bool again, uint32_t *rank,
                               struct cts_error *error)
{
    char path[PATH_MAX], directory[PATH_MAX], target[32];
    if (!link_path(run_path, path, sizeof path))
        return cts_fail(error, CTS_USAGE, "the path '%.100s...' is too long", run_path);
    if (again) unlink(path);
    if (read_claim(path, rank)) return CTS_OK;
    const enum cts_status status = cts_rank_claim_new(run_path, rank, error);
    if (status) return status;
    snprintf(target, sizeof target, "rank-%u", *rank);
    if (symlink(target, path) == 0) return CTS_OK;
    const int errnum = errno;
    uint32_t other;
    if (errnum == EEXIST && read_claim(path, &other)) { /* another recorder was faster */
        if ((size_t)snprintf(directory, sizeof directory, "%s/%s", run_path, target) <
            sizeof directory)
            rmdir(directory);
        *rank = other;
        return CTS_OK;
    }
    return cts_fail_errno(error, errnum, "cannot make '%s'", path);
}

void cts_rank_claims_forget(const char *run_path)
{
    DIR *const directory = opendir(run_path);
    if (!directory) return;
    struct dirent *entry;
    while ((entry = readdir(directory)))
        if (strncmp(entry->d_name, link_prefix, sizeof link_prefix - 1) == 0)
            unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
}
