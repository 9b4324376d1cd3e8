/* `ctascope cc`: stands in for nvcc or clang++ in a Makefile or CMake (src/cc). */
#include <signal.h>
#include <stdio.h>

#include "cc/cc.h"
#include "cli/help.h"
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
    {"device", "cpu|cuda", "what kernels run on (default: cpu)", 0},
    {"toolkit", "DIR|none", "with cuda: the CUDA toolkit, or ctascope's own headers", 0},
    {"cuda-version", "12|13", "with cuda and no toolkit: the runtime it is for (default: 13)", 0},
    {"kernels", "REGEX", "kernels to instrument, by their name in the source", 0},
    {"sources", "REGEX", "source files to instrument", 0},
    {"locals", NULL, "record accesses to local memory, too", 0},
    {"values", NULL, "record the values loaded and stored", 0},
    {"host-accesses", NULL, "record the CPU's accesses to managed and mapped memory", 0},
    {"strict", NULL, "CPU device: an integer division by zero is a fault", 0},
    {"no-instrument", NULL, "record nothing", 0},
    {"keep", "DIR", "keep the intermediate files there", 0},
    {0},
};

const struct cts_verb cts_verb_cc = {
    .name = "cc",
    .synopsis = "[OPTIONS] FILE...",
    .summary = "Compiles a CUDA program so that it can be recorded",
    .description =
        "Stands in for nvcc or clang++ and takes the options of both; those that mean\n"
        "nothing here are accepted, unknown ones are refused by name. C and C++ sources\n"
        "and objects go to clang as they are. Device code is compiled for this machine\n"
        "(-march=native) unless -march= says otherwise. -v prints the commands, -### only\n"
        "prints them.",
    .options = options,
    .positional_max = -1,
    .raw = true,
    .run = run_cc,
};
