/* `eval "$(ctascope env)"`: the stand-in toolkit where unmodified build files look for CUDA's. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/verb.h"
#include "common/install.h"

/* A text in single quotes, for a shell. */
static void print_quoted(const char *text)
{
    putchar('\'');
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*text);
    }
    putchar('\'');
}

static void print_setting(const char *name, const char *part)
{
    printf("export %s=", name);
    print_quoted(cts_share_directory());
    print_quoted(part);
    putchar('\n');
}

/* Our folder comes first in a list of folders, and once, however often this is evaluated. */
static void print_list(const char *name, const char *part)
{
    printf("case \":${%s-}:\" in *:", name);
    print_quoted(cts_share_directory());
    print_quoted(part);
    printf(":*) ;; *) export %s=", name);
    print_quoted(cts_share_directory());
    print_quoted(part);
    printf("\"${%s:+:$%s}\" ;; esac\n", name, name);
}

static int run_env(const struct cts_arguments *arguments)
{
    static const char *const roots[] = {"CUDA_PATH",
                                        "CUDA_HOME",
                                        "CUDA_DIR",
                                        "CUDA_ROOT",
                                        "CUDA_INSTALL_PATH",
                                        "CUDAToolkit_ROOT",
                                        "CUDA_TOOLKIT_ROOT_DIR"};
    char nvcc[PATH_MAX];
    struct cts_error error;
    snprintf(nvcc, sizeof nvcc, "%s/nvcc/bin/nvcc", cts_share_directory());
    if (access(nvcc, X_OK) != 0) {
        (void)cts_fail_errno(&error, errno,
                             "this installation has no stand-in nvcc (the Debian package "
                             "ctascope-cpu is missing, or the installation is incomplete): "
                             "cannot run '%s'",
                             nvcc);
        error.status = CTS_UNSUPPORTED;
        return cts_report_error(arguments, &error);
    }
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) print_setting(roots[i], "/nvcc");
    print_setting("CUDACXX", "/nvcc/bin/nvcc");
    print_list("PATH", "/nvcc/bin");
    print_list("CPATH", "/nvcc/include");
    print_list("LIBRARY_PATH", "/nvcc/lib64");
    print_list("LD_RUN_PATH", "/nvcc/lib64");
    print_list("COMPILER_PATH", "/nvcc/link");
    return CTS_EXIT_OK;
}

const struct cts_verb cts_verb_env = {
    .name = "env",
    .synopsis = "",
    .summary = "Prints shell commands that make builds use 'ctascope cc' as nvcc",
    .description =
        "Run eval \"$(ctascope env)\" in a shell. From then on, unmodified Makefiles, configure\n"
        "scripts and CMake projects find ctascope's nvcc, headers and runtime where they look for\n"
        "CUDA's. PATH, CUDACXX, CUDA_PATH, CUDA_HOME, CUDA_DIR and similar variables point to a\n"
        "directory with the layout of a CUDA toolkit; CPATH, LIBRARY_PATH and LD_RUN_PATH point\n"
        "g++ and gcc to it. It also sets COMPILER_PATH, so that g++ and gcc link ctascope's "
        "runtime\n"
        "even if the build file names the directory of another toolkit, and a program never mixes\n"
        "two runtimes.",
    .run = run_env,
};
