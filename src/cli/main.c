/* The program: finds the verb, parses its arguments, runs it. What a verb is: verb.h. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/help.h"
#include "cli/open-traces.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "common/memory-limit.h"
#include "common/terminal.h"
#include "common/wrap/memory-wrap.h"

static int unknown_verb(const char *name)
{
    const char *const nearest = cts_nearest_verb(name);
    const char *const kind = name[0] == '-' ? "option" : "verb";
    if (nearest)
        fprintf(stderr, "ctascope: unknown %s '%s'; did you mean '%s'?\n", kind, name, nearest);
    else
        fprintf(stderr, "ctascope: unknown %s '%s'; see 'ctascope --help'\n", kind, name);
    return CTS_EXIT_USAGE;
}

/* Whether the verb's output is data: JSON and CSV. */
static bool is_for_programs(const struct cts_arguments *arguments)
{
    for (size_t i = 0; i < cts_option_count(arguments->verb); i++)
        if (!strcmp(arguments->verb->options[i].name, "format") && arguments->values[i])
            return strcmp(arguments->values[i], "table") != 0;
    return arguments->verb->raw; /* what compilers print */
}

/* --memory-limit holds for the process, whatever the verb does; without the option half of the
 * machine's memory does. An exit code, 0 for fine. */
static int limit_memory(const struct cts_arguments *arguments)
{
    for (size_t i = 0; i < cts_option_count(arguments->verb); i++) {
        if (strcmp(arguments->verb->options[i].name, "memory-limit") != 0) continue;
        struct cts_memory_options options = {.limit_bytes = cts_memory_limit_default()};
        struct cts_error error;
        options.watches = cts_argument_given(arguments, "memory-limit");
        if (options.watches && !cts_argument_bytes(arguments, "memory-limit", &options.limit_bytes))
            return CTS_EXIT_USAGE;
#ifdef CTS_MEMORY_WRAP
        options.plain = &cts_memory_plain;
        if (cts_memory_limit_begin(&options, &error) && options.watches)
            return cts_report_error(arguments, &error);
#else
        (void)error;
#endif
    }
    return 0;
}

static int run_verb(const struct cts_verb *verb, int argument_count, char **argument_list)
{
    char **const positional = calloc((size_t)argument_count + 1, sizeof *positional);
    if (!positional) {
        fputs("ctascope: out of memory\n", stderr);
        return strcmp(verb->name, "record") == 0 ? CTS_EXIT_RECORD : CTS_EXIT_INPUT;
    }
    struct cts_arguments arguments;
    int code = cts_parse_arguments(verb, argument_count, argument_list, positional, &arguments);
    const bool help = arguments.asks_help;
    if (help)
        cts_help_verb(stdout, verb);
    else if (!code && is_for_programs(&arguments))
        cts_terminal_pass_stdout();
    if (!help && !code) code = limit_memory(&arguments);
    struct cts_opened_traces opened = {.count = 0};
    if (!help && !code) code = cts_traces_open(&arguments, &opened);
    if (!help && !code) code = verb->run(&arguments);
    cts_traces_close(&opened);
    free(positional);
    return code;
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        cts_help_overview(stderr);
        return CTS_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        cts_help_overview(stdout);
        return CTS_EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("ctascope %s\n", CTASCOPE_VERSION);
        return CTS_EXIT_OK;
    }
    const struct cts_verb *const verb = cts_find_verb(argv[1]);
    return verb ? run_verb(verb, argc - 2, argv + 2) : unknown_verb(argv[1]);
}

/* A file that may not grow further is an error of the write, with a text. A handler, since programs
 * that we start would inherit a signal that is ignored. */
static void pass_over(int signal_number)
{
    (void)signal_number;
}

int main(int argc, char **argv)
{
    signal(SIGXFSZ, pass_over);
    cts_terminal_guard();
    const int code = run(argc, argv);
    if ((fflush(stdout) == 0 && !ferror(stdout)) || code) return code;
    fprintf(stderr, "ctascope: cannot write to standard output: %s\n",
            strerror(cts_terminal_errno(stdout)));
    return CTS_EXIT_INPUT;
}
