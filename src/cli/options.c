#include "cli/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/memory-limit.h"
#include "common/text-table.h"

size_t cts_option_count(const struct cts_verb *verb)
{
    size_t count = 0;
    while (verb->options && verb->options[count].name) count++;
    return count;
}

const struct cts_verb *cts_find_verb(const char *name)
{
    for (const struct cts_verb *const *verb = cts_verbs; *verb; verb++)
        if (strcmp((*verb)->name, name) == 0) return *verb;
    return NULL;
}

/* ---- what was meant ---- */

enum { WORD_MAX = 32, NEAR = 2 };

/* Edits (insert, delete, replace, swap of neighbours) between two words. */
static unsigned distance(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b);
    if (n >= WORD_MAX || m >= WORD_MAX) return WORD_MAX;
    unsigned d[WORD_MAX][WORD_MAX];
    for (size_t i = 0; i <= n; i++) d[i][0] = (unsigned)i;
    for (size_t j = 0; j <= m; j++) d[0][j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            unsigned best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[n][m];
}

const char *cts_nearest_verb(const char *typed)
{
    const char *nearest = NULL;
    unsigned best = NEAR + 1;
    for (const struct cts_verb *const *verb = cts_verbs; *verb; verb++) {
        const unsigned edits = distance(typed, (*verb)->name);
        if (edits < best && edits < strlen((*verb)->name)) {
            best = edits;
            nearest = (*verb)->name;
        }
    }
    return nearest;
}

static const char *nearest_option(const struct cts_verb *verb, const char *typed)
{
    const char *nearest = NULL;
    unsigned best = NEAR + 1;
    for (size_t i = 0; i < cts_option_count(verb); i++) {
        if (!verb->options[i].help) continue;
        const unsigned edits = distance(typed, verb->options[i].name);
        if (edits < best) {
            best = edits;
            nearest = verb->options[i].name;
        }
    }
    return nearest;
}

/* ---- errors ---- */

/* Errors are in the form of what is printed; of a verb that writes files, --format is theirs. */
static bool wants_json(const struct cts_arguments *arguments)
{
    static const char printed[] = "table|";
    const char *const format = cts_argument(arguments, "format");
    if (!format || strcmp(format, "json") != 0) return false;
    const struct cts_option *option = arguments->verb->options;
    while (strcmp(option->name, "format") != 0) option++;
    return strncmp(option->argument, printed, strlen(printed)) == 0;
}

static void print_error(const struct cts_arguments *arguments, const char *status, const char *text)
{
    if (!wants_json(arguments)) {
        fprintf(stderr, "ctascope %s: ", arguments->verb->name);
        cts_print_plain(stderr, text);
        fputc('\n', stderr);
        return;
    }
    struct cts_json json;
    cts_json_begin(&json, stderr);
    cts_json_open_object_row(&json);
    cts_json_member_string(&json, "error", text);
    cts_json_member_string(&json, "status", status);
    cts_json_member_string(&json, "verb", arguments->verb->name);
    cts_json_close_object(&json);
    fputc('\n', stderr);
}

int cts_usage_error(const struct cts_arguments *arguments, const char *format, ...)
{
    char text[1200];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof text) length = (int)sizeof text - 1;
    snprintf(text + length, sizeof text - (size_t)length, "; see 'ctascope %s --help'",
             arguments->verb->name);
    print_error(arguments, "usage", text);
    return CTS_EXIT_USAGE;
}

int cts_report_error(const struct cts_arguments *arguments, const struct cts_error *error)
{
    static const struct {
        const char *name;
        int exit_code;
    } outcomes[CTS_STATUS_COUNT] = {
        [CTS_OK] = {"ok", CTS_EXIT_INPUT},
        [CTS_IO] = {"io", CTS_EXIT_INPUT},
        [CTS_FORMAT] = {"format", CTS_EXIT_INPUT},
        [CTS_VERSION] = {"version", CTS_EXIT_INPUT},
        [CTS_LIMIT] = {"limit", CTS_EXIT_INPUT},
        [CTS_MEMORY] = {"memory", CTS_EXIT_INPUT},
        [CTS_USAGE] = {"usage", CTS_EXIT_USAGE},
        [CTS_UNSUPPORTED] = {"unsupported", CTS_EXIT_MACHINE},
    };
    const unsigned status = (unsigned)error->status < CTS_STATUS_COUNT ? error->status : CTS_IO;
    char text[sizeof error->text + 100];
    const uint64_t needed = cts_memory_limit_needed();
    if (status == CTS_MEMORY && needed)
        snprintf(text, sizeof text, "%s: --memory-limit is too small: at least %lluM", error->text,
                 (unsigned long long)((needed + (1 << 20) - 1) >> 20));
    else
        snprintf(text, sizeof text, "%s", error->text);
    print_error(arguments, outcomes[status].name, text);
    return outcomes[status].exit_code;
}

/* ---- parsing ---- */

struct parser {
    const struct cts_verb *verb;
    struct cts_arguments *arguments;
    const char **values;
    int count, at;
    char **list;
};

/* Whether a value of some length is one of the words of "a|b|c". */
static bool is_one_of(const char *words, const char *value, size_t length)
{
    for (const char *word = words; word; word = strchr(word, '|')) {
        if (*word == '|') word++;
        if (strcspn(word, "|") == length && strncmp(word, value, length) == 0) return true;
    }
    return false;
}

/* "unknown --per value 'x' (one of: launch, kernel, cta)". */
static int refuse_word(const struct parser *parser, const struct cts_option *option,
                       const char *value, size_t length)
{
    char words[600];
    size_t end = 0;
    for (const char *c = option->argument; *c && end + 3 < sizeof words; c++) {
        words[end++] = *c == '|' ? ',' : *c;
        if (*c == '|') words[end++] = ' ';
    }
    words[end] = 0;
    return cts_usage_error(parser->arguments, "unknown --%s value '%.*s' (one of: %s)",
                           option->name, (int)length, value, words);
}

static int check_words(const struct parser *parser, const struct cts_option *option,
                       const char *value)
{
    if (!strchr(option->argument, '|')) return CTS_EXIT_OK;
    if (!option->is_list)
        return is_one_of(option->argument, value, strlen(value))
                   ? CTS_EXIT_OK
                   : refuse_word(parser, option, value, strlen(value));
    while (*value) {
        const size_t length = strcspn(value, ",");
        if (!is_one_of(option->argument, value, length))
            return refuse_word(parser, option, value, length);
        value += length + (value[length] == ',');
    }
    return CTS_EXIT_OK;
}

/* Where the value of option i is kept: a former spelling's with that of today's option. */
static size_t place_of(const struct cts_verb *verb, size_t i)
{
    const char *const name = verb->options[i].stands_for;
    if (!name) return i;
    for (size_t k = 0; k < cts_option_count(verb); k++)
        if (strcmp(verb->options[k].name, name) == 0) return k;
    return i;
}

/* Option i with what stands behind its '=' (or NULL). */
static int take_option(struct parser *parser, size_t i, const char *value)
{
    const struct cts_option *const option = &parser->verb->options[i];
    if (!option->argument) {
        if (value)
            return cts_usage_error(parser->arguments, "option '--%s' takes no argument",
                                   option->name);
        parser->values[i] = "";
        return CTS_EXIT_OK;
    }
    if (!value && parser->at == parser->count)
        return cts_usage_error(parser->arguments, "option '--%s' needs an argument (%s)",
                               option->name, option->argument);
    if (!value) value = parser->list[parser->at++];
    const int code = check_words(parser, option, value);
    if (!code) parser->values[place_of(parser->verb, i)] = value;
    return code;
}

static int parse_long(struct parser *parser, const char *text)
{
    char name[WORD_MAX * 2];
    const size_t length = strcspn(text, "=");
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1),
             text);
    for (size_t i = 0; i < cts_option_count(parser->verb); i++)
        if (strcmp(parser->verb->options[i].name, name) == 0)
            return take_option(parser, i, text[length] ? text + length + 1 : NULL);
    const char *const nearest = nearest_option(parser->verb, name);
    if (nearest)
        return cts_usage_error(parser->arguments, "unknown option '--%s'; did you mean '--%s'?",
                               name, nearest);
    return cts_usage_error(parser->arguments, "unknown option '--%s'", name);
}

static int parse_short(struct parser *parser, const char *text)
{
    for (size_t i = 0; i < cts_option_count(parser->verb); i++) {
        const struct cts_option *const option = &parser->verb->options[i];
        if (!option->short_name || option->short_name != text[0]) continue;
        return take_option(parser, i, text[1] ? text + 1 : NULL);
    }
    return cts_usage_error(parser->arguments, "unknown option '-%s'", text);
}

static bool is_help(const char *text)
{
    return strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0;
}

static int check_count(const struct cts_arguments *arguments)
{
    const struct cts_verb *const verb = arguments->verb;
    const int count = arguments->positional_count;
    if (count < verb->positional_min)
        return cts_usage_error(arguments, "missing argument; usage: ctascope %s %s", verb->name,
                               verb->synopsis);
    if (!verb->opens_traces && verb->positional_max >= 0 && count > verb->positional_max)
        return cts_usage_error(arguments, "unexpected argument '%s'",
                               arguments->positional[verb->positional_max]);
    return CTS_EXIT_OK;
}

int cts_parse_arguments(const struct cts_verb *verb, int argument_count, char **argument_list,
                        char **positional, struct cts_arguments *arguments)
{
    *arguments = (struct cts_arguments){.verb = verb,
                                        .positional = positional,
                                        .names = positional,
                                        .given_count = argument_count,
                                        .given = argument_list};
    if (verb->raw) {
        arguments->asks_help = argument_count == 1 && is_help(argument_list[0]);
        arguments->positional = argument_list;
        arguments->positional_count = argument_count;
        return CTS_EXIT_OK;
    }
    struct parser parser = {.verb = verb,
                            .arguments = arguments,
                            .values = arguments->values,
                            .count = argument_count,
                            .list = argument_list};
    bool options_ended = false;
    while (parser.at < parser.count) {
        char *const text = argument_list[parser.at++];
        int code = CTS_EXIT_OK;
        if (options_ended || text[0] != '-' || !text[1]) {
            positional[arguments->positional_count++] = text;
            options_ended |= verb->command;
        } else if (strcmp(text, "--") == 0) {
            options_ended = true;
        } else if (is_help(text)) {
            arguments->asks_help = true;
            return CTS_EXIT_OK;
        } else {
            code = text[1] == '-' ? parse_long(&parser, text + 2) : parse_short(&parser, text + 1);
        }
        if (code) return code;
    }
    return check_count(arguments);
}

/* ---- values ---- */

const char *cts_argument(const struct cts_arguments *arguments, const char *name)
{
    for (size_t i = 0; i < cts_option_count(arguments->verb); i++)
        if (strcmp(arguments->verb->options[i].name, name) == 0) return arguments->values[i];
    return NULL;
}

const char *cts_argument_next(const struct cts_arguments *arguments, const char *name, int *at)
{
    while (*at < arguments->given_count) {
        const char *const text = arguments->given[(*at)++];
        if (strcmp(text, "--") == 0) *at = arguments->given_count;
        if (strncmp(text, "--", 2) != 0) continue;
        const size_t length = strcspn(text + 2, "=");
        const bool wanted = strlen(name) == length && strncmp(text + 2, name, length) == 0;
        if (text[2 + length] == '=') {
            if (wanted) return text + 2 + length + 1;
            continue;
        }
        for (const struct cts_option *o = arguments->verb->options; o->name; o++)
            if (o->argument && strlen(o->name) == length &&
                strncmp(text + 2, o->name, length) == 0 && *at < arguments->given_count) {
                const char *const value = arguments->given[(*at)++];
                if (wanted) return value;
                break;
            }
    }
    return NULL;
}

bool cts_argument_given(const struct cts_arguments *arguments, const char *name)
{
    return cts_argument(arguments, name) != NULL;
}

bool cts_argument_u64(const struct cts_arguments *arguments, const char *name, uint64_t *value)
{
    const char *const text = cts_argument(arguments, name);
    char *end = NULL;
    errno = 0;
    const bool digit = text && *text >= '0' && *text <= '9';
    const unsigned long long number = digit ? strtoull(text, &end, 10) : 0;
    if (digit && !errno && !*end) {
        *value = number;
        return true;
    }
    cts_usage_error(arguments, "--%s takes a whole number, not '%s'", name, text ? text : "");
    return false;
}

bool cts_argument_bytes(const struct cts_arguments *arguments, const char *name, uint64_t *value)
{
    static const char units[] = "KMGT";
    const char *const text = cts_argument(arguments, name);
    char *end = NULL;
    const bool digit = text && *text >= '0' && *text <= '9';
    const double number = digit ? strtod(text, &end) : 0;
    if (digit) {
        double factor = 1;
        const char upper = *end >= 'a' && *end <= 'z' ? (char)(*end - 'a' + 'A') : *end;
        const char *const unit = upper ? strchr(units, upper) : NULL;
        if (unit)
            for (const char *u = units; u <= unit; u++) factor *= 1024;
        const char *rest = unit ? end + 1 : end;
        if (unit && rest[0] == 'i') rest++;
        if (rest[0] == 'B' || rest[0] == 'b') rest++;
        if (!*rest && number * factor < 18e18) {
            *value = (uint64_t)(number * factor);
            return true;
        }
    }
    cts_usage_error(arguments, "--%s takes a size such as 500M or 2G, not '%s'", name,
                    text ? text : "");
    return false;
}
