/* Options that several verbs take: one name, one meaning and one sentence for all of them. A verb's
 * table names those that it has, CTS_OPTION_THREADS, and adds its own.
 *
 * CTS_FORMER_... are spellings of earlier releases: accepted for one release, not shown in help. */
#ifndef CTS_CLI_SHARED_OPTIONS_H
#define CTS_CLI_SHARED_OPTIONS_H

#define CTS_OPTION_TEXT_(x) #x
#define CTS_OPTION_TEXT(x)  CTS_OPTION_TEXT_(x)

/* The words of an X-macro X(NAME, "word") as an argument "a|b|c". */
#define CTS_OPTION_WORD_(name, word) "|" word
#define CTS_OPTION_WORDS(list)       &"" list(CTS_OPTION_WORD_)[1]

/* `words`: the lists that the verb prints, "run|launch|kernel"; _LISTS: JSON takes several. */
#define CTS_OPTION_PER(words) {.name = "per", .argument = words, .help = "print one list"}
#define CTS_OPTION_PER_LISTS(words)                                                                \
    {.name = "per",                                                                                \
     .argument = words,                                                                            \
     .is_list = true,                                                                              \
     .help = "print one list; with --format json several, separated by commas"}
/* `words`: those of "table|json|csv" that the verb prints, and others. */
#define CTS_OPTION_FORMAT(words)                                                                   \
    {.name = "format", .argument = words, .help = "output format (default: table)"}
/* `rows`: a macro, how many rows a table has without the option; JSON and CSV have all. */
#define CTS_OPTION_LIMIT(rows)                                                                     \
    {.name = "limit",                                                                              \
     .argument = "N",                                                                              \
     .help = "print at most N rows; 0: all (default: " CTS_OPTION_TEXT(rows) " in tables, "        \
                                                                             "else all)"}
#define CTS_OPTION_SORT                                                                            \
    {.name = "sort",                                                                               \
     .argument = "COLUMN",                                                                         \
     .help = "sort by a column, named as in CSV; -COLUMN: smallest first"}
#define CTS_OPTION_THREADS                                                                         \
    {.name = "threads", .argument = "N", .help = "worker threads (default: one per processor)"}
#define CTS_OPTION_KERNEL_NAME(does)                                                               \
    {.name = "kernel-name",                                                                        \
     .argument = "NAME",                                                                           \
     .help = does " kernels with this name (namespaces, template arguments optional) or "          \
                  "regex:EXPRESSION (default: all)"}
/* main.c gives it effect, for the whole process. */
#define CTS_OPTION_MEMORY_LIMIT                                                                    \
    {.name = "memory-limit",                                                                       \
     .argument = "SIZE",                                                                           \
     .help = "use at most SIZE of memory and TMPDIR for the rest (default: half of the machine's " \
             "memory)"}
#define CTS_OPTION_FULL_NAMES                                                                      \
    {.name = "full-names", .help = "print names with namespaces, template arguments and parameters"}
#define CTS_OPTION_SOURCE_ROOT                                                                     \
    {.name = "source-root",                                                                        \
     .argument = "DIR",                                                                            \
     .help = "SARIF names files relative to this directory (default: the current one)"}
#define CTS_OPTION_FORCE                                                                           \
    {.name = "force", .help = "replace an existing run, unless it holds other files"}
#define CTS_OPTION_PAPER_MODEL                                                                     \
    {.name = "paper-model",                                                                        \
     .help = "ignore copies and frees; treat data that no kernel wrote as written by the host, "   \
             "as in Matz and Fröning (2019)"}
#define CTS_OPTION_NULL_STREAM                                                                     \
    {.name = "null-stream",                                                                        \
     .argument = "STREAM",                                                                         \
     .help = "name or number of the null stream, if the trace does not identify it"}
#define CTS_OPTION_API_TABLE                                                                       \
    {.name = "api-table",                                                                          \
     .argument = "FILE",                                                                           \
     .help = "meanings of additional API names (built in: share/ctascope/api-names.txt)"}

#define CTS_FORMER_TOP           {.name = "top", .argument = "N", .stands_for = "limit"}
#define CTS_FORMER_MEMORY(name_) {.name = name_, .argument = "SIZE", .stands_for = "memory-limit"}
/* Its value is an expression, with or without "regex:" in front; so it is an option of its own. */
#define CTS_FORMER_KERNEL {.name = "kernel", .argument = "REGEX"}

#endif
