#include "cli/help.h"

#include <string.h>

#include "cli/options.h"

enum { NAME_COLUMNS = 10, OPTION_COLUMNS = 28, LINE_COLUMNS = 96 };

static const struct {
    int code;
    const char *text;
} exit_codes[] = {
    {CTS_EXIT_OK, "success"},
    {CTS_EXIT_INPUT,
     "the input cannot be read or is inconsistent; try: the program ended too early"},
    {CTS_EXIT_USAGE, "invalid command line; try: the program has no such stretch"},
    {CTS_EXIT_THRESHOLD, "access, diff, flow: a --fail-on or --fail-above condition is met"},
    {CTS_EXIT_MACHINE,
     "this machine lacks what the command needs; try: the stretch cannot be replayed"},
    {CTS_EXIT_RECORD, "record: the run could not be set up"},
    {CTS_EXIT_NOT_EXECUTABLE, "record: the program cannot be executed"},
    {CTS_EXIT_NOT_FOUND, "record: the program is not found"},
};

static void print_exit_codes(FILE *file)
{
    fputs("\nExit codes:\n", file);
    for (size_t i = 0; i < sizeof exit_codes / sizeof *exit_codes; i++)
        fprintf(file, "  %-*d %s\n", NAME_COLUMNS, exit_codes[i].code, exit_codes[i].text);
}

/* Of the list of verbs. */
static int name_columns(void)
{
    size_t columns = NAME_COLUMNS;
    for (const struct cts_verb *const *verb = cts_verbs; *verb; verb++)
        if (strlen((*verb)->name) > columns) columns = strlen((*verb)->name);
    return (int)columns;
}

void cts_help_overview(FILE *file)
{
    const int columns = name_columns();
    fputs(
        "ctascope records the memory accesses of a CUDA program's kernels, or a timeline of the\n"
        "program. It finds slow access patterns, races and needless work, and shows which thread\n"
        "blocks communicate and what the program waits for.\n\n"
        "Usage: ctascope VERB [ARGUMENTS], ctascope --version\n\n"
        "Verbs:\n",
        file);
    for (const struct cts_verb *const *verb = cts_verbs; *verb; verb++)
        fprintf(file, "  %-*s %s\n", columns, (*verb)->name, (*verb)->summary);
    fputs("\nFirst steps:\n"
          "  ctascope cc -O2 app.cu -o app     # no GPU; with a GPU, record your nvcc binary as it "
          "is\n"
          "  ctascope record -o run -- ./app\n"
          "  ctascope access run\n\n"
          "A run (RUN) is a directory with a recording. A launch is one execution of a kernel, a "
          "CTA one "
          "of\n"
          "its thread blocks, a site one memory instruction in the source.\n\n"
          "'ctascope VERB --help' describes a verb. Results go to standard output, messages to "
          "standard\n"
          "error. Tables fit the terminal (or $COLUMNS), except in a pipe or file.\n",
          file);
    print_exit_codes(file);
}

/* Text in the right column, from where the line stands; words end at any of `separators`. */
static void print_wrapped(FILE *file, const char *text, const char *separators, int column)
{
    while (*text) {
        const int length = (int)strcspn(text, separators);
        const bool last = !text[length] || !text[length + 1];
        const char *const between = last ? "" : *separators == '|' ? "," : "";
        if (column + 1 + length + (int)strlen(between) > LINE_COLUMNS) {
            fprintf(file, "\n%*s", OPTION_COLUMNS + 4, "");
            column = OPTION_COLUMNS + 4;
        } else if (column > OPTION_COLUMNS + 4) {
            fputc(' ', file);
            column++;
        }
        column += fprintf(file, "%.*s%s", length, text, between);
        text += length;
        if (*text) text++;
    }
    fputc('\n', file);
}

static void print_option(FILE *file, const struct cts_option *option)
{
    const char *argument = option->argument ? option->argument : "";
    const bool many =
        strchr(argument, '|') && (option->is_list || strlen(argument) > OPTION_COLUMNS - 8);
    char text[80];
    const int length = snprintf(text, sizeof text, "--%s%s%s", option->name, *argument ? " " : "",
                                !many             ? argument
                                : option->is_list ? "LIST"
                                                  : "WORD");
    char shortened[8] = "    ";
    if (option->short_name) snprintf(shortened, sizeof shortened, "-%c, ", option->short_name);
    fprintf(file, "  %s%-*s  ", shortened, OPTION_COLUMNS - 4, text);
    if (length > OPTION_COLUMNS - 4) fprintf(file, "\n%*s", OPTION_COLUMNS + 4, "");
    print_wrapped(file, option->help, " ", OPTION_COLUMNS + 4);
    if (!many) return;
    const char *const before = option->is_list ? "any of:" : "one of:";
    fprintf(file, "%*s%s", OPTION_COLUMNS + 4, "", before);
    print_wrapped(file, argument, "|", OPTION_COLUMNS + 4 + (int)strlen(before));
}

void cts_help_verb(FILE *file, const struct cts_verb *verb)
{
    static const struct cts_option help = {
        .name = "help", .help = "print this help", .short_name = 'h'};
    fprintf(file, "Usage: ctascope %s%s%s\n\n%s.\n", verb->name, *verb->synopsis ? " " : "",
            verb->synopsis, verb->summary);
    if (verb->description) fprintf(file, "\n%s\n", verb->description);
    fputs("\nOptions:\n", file);
    for (size_t i = 0; i < cts_option_count(verb); i++)
        if (verb->options[i].help) print_option(file, &verb->options[i]);
    print_option(file, &help);
}

/* ---- man page ---- */

/* Text as roff takes it: no accidental requests, minus signs that can be copied. */
static void print_roff(FILE *file, const char *text)
{
    bool line_start = true;
    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\'')) fputs("\\&", file);
        if (*text == '-')
            fputs("\\-", file);
        else if (*text == '\\')
            fputs("\\e", file);
        else
            fputc(*text, file);
        line_start = *text == '\n';
    }
}

static void print_roff_option(FILE *file, const struct cts_option *option)
{
    fputs(".TP\n", file);
    if (option->short_name) fprintf(file, "\\fB\\-%c\\fR, ", option->short_name);
    fputs("\\fB\\-\\-", file);
    print_roff(file, option->name);
    fputs("\\fR", file);
    if (option->argument) {
        fputs(" \\fI", file);
        for (const char *c = option->argument; *c; c++)
            if (*c == '|')
                fputs("|\\:", file); /* a line may break there */
            else
                print_roff(file, (const char[]){*c, 0});
        fputs("\\fR", file);
    }
    fputc('\n', file);
    print_roff(file, option->help);
    fputc('\n', file);
}

static void print_roff_verb(FILE *file, const struct cts_verb *verb)
{
    fprintf(file, ".SS ctascope %s ", verb->name);
    print_roff(file, verb->synopsis);
    fputs("\n", file);
    print_roff(file, verb->summary);
    fputs(".\n", file);
    if (verb->description) {
        fputs(".PP\n.nf\n", file); /* descriptions are laid out by hand */
        print_roff(file, verb->description);
        fputs("\n.fi\n", file);
    }
    for (size_t i = 0; i < cts_option_count(verb); i++)
        if (verb->options[i].help) print_roff_option(file, &verb->options[i]);
}

void cts_help_man(FILE *file)
{
    fprintf(file, ".TH CTASCOPE 1 \"\" \"ctascope %s\" \"User Commands\"\n", CTASCOPE_VERSION);
    fputs(
        ".ad l\n.SH NAME\nctascope \\- records and explains the memory accesses of CUDA programs\n"
        ".SH SYNOPSIS\n.B ctascope\n.I VERB\n[\\fIARGUMENTS\\fR]\n"
        ".SH DESCRIPTION\nctascope records the memory accesses of a CUDA program's kernels, or a "
        "timeline of the program, into a run directory. It finds slow access patterns, races and "
        "needless work, and shows which thread blocks communicate and what the program waits for. "
        "Results go to standard output, messages to standard error.\n"
        ".SH VERBS\n",
        file);
    for (const struct cts_verb *const *verb = cts_verbs; *verb; verb++)
        print_roff_verb(file, *verb);
    fputs(".SH EXIT STATUS\n", file);
    for (size_t i = 0; i < sizeof exit_codes / sizeof *exit_codes; i++)
        fprintf(file, ".TP\n%d\n%s\n", exit_codes[i].code, exit_codes[i].text);
    fputs("Otherwise \\fBrecord\\fR exits with the status of the program.\n"
          ".SH ENVIRONMENT\n.TP\nNO_COLOR\nIf set and not empty, output has no colours.\n"
          ".TP\nCOLUMNS\nThe width of tables and sentences, instead of the terminal's. A row that "
          "does not "
          "fit continues on the next line. Without it, output to a pipe or file is as wide as it "
          "gets.\n",
          file);
}

/* ---- completion ---- */

static void print_bash_option_words(FILE *file, const struct cts_verb *verb)
{
    for (size_t i = 0; i < cts_option_count(verb); i++) {
        const struct cts_option *const option = &verb->options[i];
        if (!option->argument || !strchr(option->argument, '|')) continue;
        fprintf(file, "    %s:--%s) words=\"", verb->name, option->name);
        for (const char *c = option->argument; *c; c++) fputc(*c == '|' ? ' ' : *c, file);
        fputs("\" ;;\n", file);
    }
}

void cts_help_bash(FILE *file)
{
    fputs("# bash completion of ctascope: source <(ctascope help --completion bash)\n"
          "_ctascope() {\n"
          "  local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
          "  local verb=\"${COMP_WORDS[1]}\" words=\"\"\n"
          "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "    COMPREPLY=($(compgen -W \"",
          file);
    for (const struct cts_verb *const *verb = cts_verbs; *verb; verb++)
        fprintf(file, "%s ", (*verb)->name);
    fputs("--help --version\" -- \"$word\"))\n    return\n  fi\n  case \"$verb:$before\" in\n",
          file);
    for (const struct cts_verb *const *verb = cts_verbs; *verb; verb++)
        print_bash_option_words(file, *verb);
    fputs("  esac\n"
          "  if [ -z \"$words\" ] && [[ \"$word\" == -* ]]; then\n"
          "    case \"$verb\" in\n",
          file);
    for (const struct cts_verb *const *verb = cts_verbs; *verb; verb++) {
        fprintf(file, "    %s) words=\"--help", (*verb)->name);
        for (size_t i = 0; i < cts_option_count(*verb); i++)
            if ((*verb)->options[i].help) fprintf(file, " --%s", (*verb)->options[i].name);
        fputs("\" ;;\n", file);
    }
    fputs("    esac\n  fi\n"
          "  if [ -n \"$words\" ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$word\")); fi\n"
          "}\n"
          "complete -o default -o bashdefault -F _ctascope ctascope\n",
          file);
}
