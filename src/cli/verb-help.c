#include <stdio.h>
#include <string.h>

#include "cli/help.h"
#include "cli/options.h"
#include "cli/verb.h"

static int run_help(const struct cts_arguments *arguments)
{
    if (cts_argument_given(arguments, "man")) {
        cts_help_man(stdout);
        return CTS_EXIT_OK;
    }
    if (cts_argument_given(arguments, "completion")) {
        cts_help_bash(stdout);
        return CTS_EXIT_OK;
    }
    if (!arguments->positional_count) {
        cts_help_overview(stdout);
        return CTS_EXIT_OK;
    }
    const char *const name = arguments->positional[0];
    const struct cts_verb *const verb = cts_find_verb(name);
    if (verb) {
        cts_help_verb(stdout, verb);
        return CTS_EXIT_OK;
    }
    const char *const nearest = cts_nearest_verb(name);
    if (nearest)
        return cts_usage_error(arguments, "unknown verb '%s'; did you mean '%s'?", name, nearest);
    return cts_usage_error(arguments, "unknown verb '%s'", name);
}

static const struct cts_option help_options[] = {
    {.name = "man", .help = "print the manual page in roff format: ctascope help --man | man -l -"},
    {.name = "completion",
     .argument = "bash",
     .help = "print shell completion: source <(ctascope help --completion bash)"},
    {0},
};

const struct cts_verb cts_verb_help = {
    .name = "help",
    .synopsis = "[VERB | --man | --completion bash]",
    .summary = "Prints help, the manual page or the shell completion",
    .options = help_options,
    .positional_max = 1,
    .run = run_help,
};
