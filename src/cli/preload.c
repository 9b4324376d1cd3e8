/* Which MPI a program uses decides which wrappers it gets: their handles differ. It is told by, in
 * this order, the library that the program's file names, the launcher that the program is, and the
 * launcher that started us. Programs without MPI get none. */
#include "cli/preload.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/verb.h"
#include "common/install.h"

/* The file that execvp() would take. */
static bool find_program(const char *program, char *path, size_t path_bytes)
{
    if (strchr(program, '/')) {
        snprintf(path, path_bytes, "%s", program);
        return access(path, X_OK) == 0;
    }
    const char *directory = getenv("PATH");
    if (!directory) directory = "/usr/local/bin:/usr/bin:/bin";
    while (*directory) {
        const size_t length = strcspn(directory, ":");
        snprintf(path, path_bytes, "%.*s/%s", (int)length, directory, program);
        if (access(path, X_OK) == 0) return true;
        directory += length;
        directory += *directory == ':';
    }
    return false;
}

/* The first of the libraries, that the program's file names; `count` of them:
 * none. */
static size_t library_of_file(const char *path, const char *const *libraries, size_t count)
{
    size_t i = count;
    struct stat status;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return count;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 4) {
        const size_t bytes = (size_t)status.st_size;
        char *const content = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
        if (content != MAP_FAILED) {
            const bool elf = memcmp(content, "\177ELF", 4) == 0;
            for (i = elf ? 0 : count; i < count; i++)
                if (memmem(content, bytes, libraries[i], strlen(libraries[i]))) break;
            munmap(content, bytes);
        }
    }
    close(file);
    return i;
}

static const char *mpi_of_file(const char *path)
{
    static const char *const libraries[] = {"libmpi.so.40",  "libmpi.so.20", "libmpi_cxx.so.40",
                                            "libmpich.so.1", "libmpi.so.12", "libmpifort.so.12"};
    static const char *const mpis[] = {"openmpi", "openmpi", "openmpi", "mpich",
                                       "mpich",   "mpich",   NULL};
    return mpis[library_of_file(path, libraries, sizeof libraries / sizeof *libraries)];
}

static const char *mpi_of_launcher(const char *path)
{
    static const struct {
        const char *name, *mpi;
    } known[] = {
        {"orterun", "openmpi"},
        {"prterun", "openmpi"},
        {"prun", "openmpi"},
        {"mpirun.openmpi", "openmpi"},
        {"mpiexec.openmpi", "openmpi"},
        {"mpiexec.hydra", "mpich"},
        {"hydra", "mpich"},
        {"mpich", "mpich"},
    };
    char real[PATH_MAX];
    if (!realpath(path, real)) return NULL;
    const char *const slash = strrchr(real, '/');
    const char *const name = slash ? slash + 1 : real;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(name, known[i].name)) return known[i].mpi;
    return NULL;
}

static const char *mpi_of_environment(void)
{
    if (getenv("OMPI_COMM_WORLD_SIZE")) return "openmpi";
    if (getenv("PMI_SIZE") || getenv("PMI_RANK")) return "mpich";
    return NULL;
}

/* Puts a library in front of what is preloaded, if it is there. */
static void preload(const char *name)
{
    char path[PATH_MAX];
    const char *const before = getenv("LD_PRELOAD");
    char *after = NULL;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", cts_library_directory(), name) >=
            sizeof path ||
        access(path, R_OK) != 0)
        return;
    if (strpbrk(path, ": ")) { /* the dynamic linker takes both as the end of a name */
        fprintf(stderr,
                "ctascope record: cannot preload '%s': its path contains a space or colon\n", path);
        return;
    }
    if (before && strstr(before, path)) return;
    if (asprintf(&after, "%s%s%s", path, before && *before ? ":" : "", before ? before : "") < 0)
        return;
    setenv("LD_PRELOAD", after, 1);
    free(after);
}

static void inject(const char *variable, const char *name)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", cts_library_directory(), name) < sizeof path &&
        access(path, R_OK) == 0)
        setenv(variable, path, 1);
}

void cts_preload_recorders(const char *program)
{
    char path[PATH_MAX], wrappers[64];
    const char *mpi = NULL;
    if (find_program(program, path, sizeof path)) {
        mpi = mpi_of_file(path);
        const char *const launcher = mpi_of_launcher(path);
        if (launcher) mpi = launcher;
    }
    if (!mpi) mpi = mpi_of_environment();
    preload("libctascope_functions.so");
    preload("libctascope_nccl.so");
    if (mpi) {
        snprintf(wrappers, sizeof wrappers, "libctascope_mpi_%s.so", mpi);
        preload(wrappers);
    }
    inject("CUDA_INJECTION64_PATH", "libctascope_cupti.so");
    inject("NVTX_INJECTION64_PATH", "libctascope_nvtx.so");
}

void cts_inject_memory_recorder(void)
{
    inject("CUDA_INJECTION64_PATH", "libctascope_memory.so");
}

void cts_watch_threads(const char *program)
{
    static const char *const sanitizer[] = {"libasan.so"};
    char path[PATH_MAX];
    /* It ends programs in which it is not the first library. */
    if (find_program(program, path, sizeof path) && library_of_file(path, sanitizer, 1) == 0)
        return;
    preload("libctascope_threads.so");
}

void cts_preload_replays(const char *program)
{
    static const char *const own[] = {"libctascope_cpu.so"};
    char path[PATH_MAX];
    if (find_program(program, path, sizeof path) && library_of_file(path, own, 1) == 0) return;
    preload("libctascope_try.so");
}

void cts_watch_ranges(void)
{
    preload("libctascope_functions.so"); /* for programs on the CPU device */
    inject("NVTX_INJECTION64_PATH", "libctascope_nvtx.so");
}
