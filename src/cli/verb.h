/* Verbs: one file each, and one line in verbs.c. Verb NAME is `const struct cts_verb cts_verb_NAME`
 * in src/cli/verb-NAME.c. The entry carries everything that help, the man page and completion are
 * made from. */
#ifndef CTS_CLI_VERB_H
#define CTS_CLI_VERB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

enum cts_exit {
    CTS_EXIT_OK = 0,
    CTS_EXIT_INPUT = 1, /* the input cannot be read or is inconsistent */
    CTS_EXIT_USAGE = 2,
    CTS_EXIT_THRESHOLD = 3, /* access, diff: a condition of --fail-on or --fail-above is met */
    CTS_EXIT_MACHINE = 4,   /* this machine lacks what was asked for */
    CTS_EXIT_RECORD = 125,  /* record: the run could not be set up, */
    CTS_EXIT_NOT_EXECUTABLE = 126, /* the program cannot be executed, */
    CTS_EXIT_NOT_FOUND = 127       /* or is not found; as shells do */
};

/* An option of a verb: --name, --name VALUE or --name=VALUE, or -c with `short_name`. An argument
 * "a|b|c" takes one of these words, with `is_list` "a,c" as well, and nothing else; the parser
 * checks it. Every verb has --help. Those of several verbs stand in cli/shared-options.h. */
struct cts_option {
    const char *name;
    const char
        *argument;    /* NULL: a flag; else its name in the help, "N", "REGEX", "table|json|csv" */
    const char *help; /* one line; NULL: a former spelling, which help does not show */
    const char *stands_for; /* a former spelling of this option of the verb; NULL: of none */
    char short_name;        /* 0: none */
    bool is_list;
};

/* The arguments of a verb after parsing: for each option of its table, in the same order, how often
 * it was given and its last value; then the positional arguments. Borrowed from argv. */
enum { CTS_OPTIONS_MAX = 32 };

struct cts_arguments {
    const struct cts_verb *verb;
    bool asks_help;                      /* then nothing else was checked */
    const char *values[CTS_OPTIONS_MAX]; /* per option: NULL when not given; "": a given flag */
    int positional_count;
    char *const *positional;
    char *const
        *names;      /* of these, for people: a trace's own where a temporary run stands for it */
    int given_count; /* all arguments as they were given */
    char *const *given;
};

struct cts_verb {
    const char *name;
    const char *synopsis;             /* "RUN [--format table|json|csv]" without the verb's name */
    const char *summary;              /* one line, for the list of verbs */
    const char *description;          /* some lines, for --help and the man page */
    const struct cts_option *options; /* ends with a NULL name */
    int positional_min, positional_max; /* max -1: any number */
    bool raw;          /* run() gets all arguments as positional ones: no parsing (cc) */
    bool opens_traces; /* positional arguments may be traces of time of other tools */
    bool command;      /* options end at the first positional argument, a program's name (record) */
    int (*run)(
        const struct cts_arguments *arguments); /* returns enum cts_exit or a child's status */
};

/* The table, ended by a NULL name. */
extern const struct cts_verb *const cts_verbs[];

/* The value of option `name` (which must be in the verb's table), or NULL when not given. */
const char *cts_argument(const struct cts_arguments *arguments, const char *name);

/* The values of an option that may be given several times, in their order; *at is 0 before the
 * first. NULL: no more. */
const char *cts_argument_next(const struct cts_arguments *arguments, const char *name, int *at);

/* Parses a whole decimal number; prints usage trouble to stderr and returns false when it is none.
 */
bool cts_argument_u64(const struct cts_arguments *arguments, const char *name, uint64_t *value);

/* Whether an option was given; for flags. */
bool cts_argument_given(const struct cts_arguments *arguments, const char *name);

/* "1048576", "1M", "1.5G", "64KiB" in bytes; usage trouble as above. */
bool cts_argument_bytes(const struct cts_arguments *arguments, const char *name, uint64_t *value);

/* Prints "ctascope VERB: text; see 'ctascope VERB --help'" to stderr; returns CTS_EXIT_USAGE. */
int cts_usage_error(const struct cts_arguments *arguments, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints "ctascope VERB: text" (with --format json: {"error": ...}) to stderr and returns the exit
 * code that belongs to the status. */
int cts_report_error(const struct cts_arguments *arguments, const struct cts_error *error);

#endif
