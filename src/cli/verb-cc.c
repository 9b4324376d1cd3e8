/* `ctascope cc`: stands in for nvcc or clang++ in a Makefile or CMake (src/cc). */
#include <signal.h>
#include <stdio.h>

#include "cc/cc.h"
#include "cli/help.h"
#include "cli/shared-options.h"
#include "cli/verb.h"

static int exit_code(const struct cts_error *error)
{
    switch (error->status) {
    case CTS_USAGE:
        return CTS_EXIT_USAGE;
    case CTS_UNSUPPORTED:
        return CTS_EXIT_MACHINE;
    default:
        return CTS_EXIT_INPUT;
    }
}

static int fail(const struct cts_error *error)
{
    fprintf(stderr, "ctascope cc: %s\n", error->text);
    return exit_code(error);
}

static int run_cc(const struct cts_arguments *arguments)
{
    struct cc_request request;
    struct cc_session session = {.request = &request};
    struct cts_error error = {0};
    int status = 0;
    if (cc_request_parse(&request, arguments->positional_count, arguments->positional, &error)) {
        status = fail(&error);
    } else if (request.stage == CC_HELP) {
        cts_help_verb(stdout, arguments->verb);
    } else if (request.for_cuda && cc_find_toolkit(&request, &error)) {
        status = fail(&error);
    } else if (cc_session_open(&session, &request, &error)) {
        status = fail(&error);
    } else {
        status = cc_request_run(&session);
        cc_session_close(&session);
    }
    cc_request_release(&request);
    if (cc_stopped()) {
        signal(cc_stopped(), SIG_DFL);
        raise(cc_stopped());
    }
    return status;
}

/* For help, the man page and completion: cc parses its command line itself (cc-options.c). */
static const struct cts_option options[] = {
    {.name = "device", .argument = "cpu|cuda", .help = "device that runs kernels (default: cpu)"},
    {.name = "toolkit",
     .argument = "DIR|none",
     .help = "with --device cuda: the CUDA toolkit to use; none: ctascope's own headers"},
    {.name = "cuda-version",
     .argument = "12|13",
     .help = "version of CUDA's API (default: 12; with --device cuda and no toolkit: 13)"},
    CTS_OPTION_KERNEL_NAME("instrument only"),
    {.name = "sources",
     .argument = "REGEX",
     .help = "instrument only source files whose path matches (default: all)"},
    {.name = "locals", .help = "also record accesses to local memory"},
    {.name = "values",
     .help = "make the values loaded and stored recordable (with 'record --values')"},
    {.name = "host-accesses",
     .help = "make the CPU's accesses to managed, mapped and pinned memory recordable (with "
             "'record --host-accesses'); those in .c and .cpp files are not"},
    {.name = "strict", .help = "CPU device: treat an integer division by zero as a fault"},
    {.name = "no-instrument",
     .help = "do not instrument; a recording of the program has no accesses"},
    {.name = "precompile-headers",
     .help = "compile no program, but precompile the CUDA headers, which makes later compiles "
             "faster; the result is stored next to ctascope's libraries"},
    {.name = "keep",
     .argument = "DIR",
     .help = "keep intermediate files in this directory (default: delete them)"},
    {0},
};

const struct cts_verb cts_verb_cc = {
    .name = "cc",
    .synopsis = "[OPTIONS] FILE...",
    .summary = "Compiles a CUDA program so that it can be recorded",
    .description =
        "Replaces nvcc or clang++ and takes the options of both. Known options that have no "
        "effect\n"
        "here are ignored; unknown options are errors. C and C++ sources and object files go to\n"
        "clang unchanged. Device code is compiled for this machine (-march=native) unless -march=\n"
        "is given. -v prints the commands; -### prints them without running them.",
    .options = options,
    .positional_max = -1,
    .raw = true,
    .run = run_cc,
};
