#include "cli/try-options.h"

#include <stdlib.h>
#include <string.h>

#include "cli/list-options.h"
#include "cli/shared-options.h"
#include "cli/try-cta-file.h"

#define REPLAYS_DEFAULT 20

/* ---- changes ---- */

/* What is to the left of the last comma, and where the rest begins; false: there is no comma. */
static bool split(const char *text, char *left, size_t left_bytes, const char **right)
{
    const char *const comma = strrchr(text, ',');
    if (!comma || (size_t)(comma - text) >= left_bytes) return false;
    memcpy(left, text, (size_t)(comma - text));
    left[comma - text] = '\0';
    *right = comma + 1;
    return true;
}

static bool read_microseconds(const char *text, uint64_t *ns)
{
    char *end;
    if (*text < '0' || *text > '9') return false;
    const unsigned long long us = strtoull(text, &end, 10);
    *ns = us * 1000;
    return !*end && us <= 60u * 1000 * 1000;
}

/* The value of one option; false: it is not what the option takes. */
static bool read_wish(enum cts_try_change_kind kind, const char *value, struct cts_try_wish *wish)
{
    char left[40];
    const char *right;
    *wish = (struct cts_try_wish){.kind = kind, .name_count = 1};
    switch (kind) {
    case CTS_TRY_DELAY:
        return split(value, left, sizeof left, &right) && cts_try_read_name(left, &wish->op) &&
               read_microseconds(right, &wish->delay_ns);
    case CTS_TRY_SWAP:
    case CTS_TRY_OVERLAP:
        wish->name_count = 2;
        return split(value, left, sizeof left, &right) && cts_try_read_name(left, &wish->op) &&
               cts_try_read_name(right, &wish->other);
    case CTS_TRY_STREAMS:
        wish->name_count = 0;
        wish->streams = (uint32_t)strtoul(value, NULL, 10);
        return value[strspn(value, "0123456789")] == '\0' && wish->streams > 0;
    case CTS_TRY_ORDER:
        wish->name_count = 0;
        wish->raw_only = strcmp(value, "true") == 0;
        return wish->raw_only || strcmp(value, "needed") == 0;
    case CTS_TRY_SECOND_BUFFER:
        wish->name_count = 0;
        wish->memory = value;
        return *value != '\0';
    default:
        return cts_try_read_name(value, &wish->op);
    }
}

static int read_changes(const struct cts_arguments *arguments, enum cts_try_change_kind kind,
                        const char *option, struct cts_try_talk *talk)
{
    int at = 0;
    const char *value;
    const int program_at = arguments->given_count - arguments->positional_count;
    while ((value = cts_argument_next(arguments, option, &at)) && at <= program_at) {
        if (talk->wish_count == CTS_TRY_WISHES_MAX)
            return cts_usage_error(arguments, "more than %d changes", CTS_TRY_WISHES_MAX);
        const int code =
            kind == CTS_TRY_CTA_ORDER
                ? cts_try_read_cta_order(arguments, value, &talk->wishes[talk->wish_count])
                : 0;
        if (code) return code;
        if (kind != CTS_TRY_CTA_ORDER && !read_wish(kind, value, &talk->wishes[talk->wish_count]))
            return cts_usage_error(arguments, "--%s does not take '%s'", option, value);
        talk->wish_count++;
    }
    return 0;
}

static bool is_flag(enum cts_try_change_kind kind)
{
    return kind == CTS_TRY_NO_SYNC || kind == CTS_TRY_SERIAL || kind == CTS_TRY_GRAPH;
}

static int read_flag(const struct cts_arguments *arguments, enum cts_try_change_kind kind,
                     const char *option, struct cts_try_talk *talk)
{
    if (!cts_argument_given(arguments, option)) return 0;
    if (talk->wish_count == CTS_TRY_WISHES_MAX)
        return cts_usage_error(arguments, "more than %d changes", CTS_TRY_WISHES_MAX);
    talk->wishes[talk->wish_count++] = (struct cts_try_wish){.kind = kind};
    return 0;
}

/* ---- the stretch ---- */

static bool read_launches(const char *text, struct cts_try_request *request)
{
    char *end;
    if (*text < '0' || *text > '9') return false;
    request->by_launches = true;
    request->first_launch = request->last_launch = strtoull(text, &end, 10);
    if (*end == '-' && end[1] >= '0' && end[1] <= '9')
        request->last_launch = strtoull(end + 1, &end, 10);
    return !*end && request->first_launch <= request->last_launch;
}

static int read_stretch(const struct cts_arguments *arguments, struct cts_try_request *request)
{
    const char *const launches = cts_argument(arguments, "launches");
    request->range = cts_argument(arguments, "range");
    request->by_iteration = cts_argument_given(arguments, "iteration");
    if (launches && !read_launches(launches, request))
        return cts_usage_error(arguments, "--launches takes A-B, not '%s'", launches);
    if (!cts_argument_u64_if_given(arguments, "iteration", &request->iteration))
        return CTS_EXIT_USAGE;
    if ((request->range != NULL) + request->by_launches + request->by_iteration > 1)
        return cts_usage_error(arguments, "--range, --launches and --iteration exclude each other");
    return 0;
}

static int read_measuring(const struct cts_arguments *arguments, struct cts_try_talk *talk)
{
    uint64_t repeats = REPLAYS_DEFAULT;
    const char *const pace = cts_argument(arguments, "pace");
    if (!cts_argument_u64_if_given(arguments, "replays", &repeats)) return CTS_EXIT_USAGE;
    if (repeats < 10 || repeats > 10000)
        return cts_usage_error(arguments, "--replays takes 10 to 10000, not %llu",
                               (unsigned long long)repeats);
    talk->repeats = (uint32_t)repeats;
    talk->keeps_gaps = !pace || strcmp(pace, "recorded") == 0;
    return 0;
}

int cts_try_read_options(const struct cts_arguments *arguments, struct cts_try_request *request,
                         struct cts_try_talk *talk)
{
    static const char *const words[] = {
#define X(name, word, does) word,
        CTS_TRY_CHANGES(X)
#undef X
    };
    *request = (struct cts_try_request){0};
    request->run_path = cts_argument(arguments, "run");
    request->full_names = cts_argument_given(arguments, "full-names");
    request->is_json = cts_argument_format(arguments) == CTS_LIST_AS_JSON;
    talk->live = cts_argument(arguments, "live");
    talk->all_findings = cts_argument_given(arguments, "all-findings");
    int code = read_stretch(arguments, request);
    if (!code) code = read_measuring(arguments, talk);
    for (unsigned i = 0; i < CTS_TRY_CHANGE_KINDS && !code; i++)
        code = is_flag(i) ? read_flag(arguments, i, words[i], talk)
                          : read_changes(arguments, i, words[i], talk);
    if (code) return code;
    if (talk->all_findings && talk->wish_count)
        return cts_usage_error(arguments, "--all-findings tries each finding alone, not --%s",
                               words[talk->wishes[0].kind]);
    if (talk->all_findings && !request->run_path)
        return cts_usage_error(arguments,
                               "--all-findings takes the findings of a recording: --run");
    return 0;
}

const struct cts_option cts_try_options[] = {
    {.name = "range", .argument = "NAME", .help = "the stretch: this NVTX range, [DOMAIN@]NAME"},
    {.name = "launches", .argument = "A-B", .help = "the stretch: launches A to B, from 0"},
    {.name = "iteration",
     .argument = "N",
     .help = "the stretch: iteration N, from 0, of the loop that launches show"},
    {.name = "run",
     .argument = "RUN",
     .help = "a recording of the same program by 'ctascope record'"},
    {.name = "all-findings", .help = "try every finding that 'flow' has for the recording"},
    {.name = "drop",
     .argument = "OP",
     .help = "leave out a launch (N, launch:N), copy:N, memset:N or wait:N"},
    {.name = "repeat", .argument = "OP", .help = "execute an operation twice"},
    {.name = "delay",
     .argument = "OP,US",
     .help = "delay the start of an operation by US microseconds"},
    {.name = "swap", .argument = "OP,OP", .help = "execute two operations in each other's place"},
    {.name = "overlap",
     .argument = "OP,OP",
     .help = "let the second operation begin before the first has ended"},
    {.name = "copy-away",
     .argument = "OP",
     .help = "leave out a copy on the device; its readers read the source"},
    {.name = "no-sync", .help = "leave out all calls that synchronise"},
    {.name = "order",
     .argument = "needed|true",
     .help = "only the order that data requires; true: only writer to reader"},
    {.name = "streams", .argument = "N", .help = "like --order needed, in N streams"},
    {.name = "serial", .help = "execute one operation at a time"},
    {.name = "second-buffer",
     .argument = "MEMORY",
     .help = "what rewrites this allocation writes to memory of its own"},
    {.name = "graph", .help = "launch what lies between two waits of the host as a graph"},
    {.name = "priority", .argument = "OP", .help = "give its stream the highest priority (GPU)"},
    {.name = "pdl",
     .argument = "OP",
     .help = "let a launch begin before the one before it has ended (GPU)"},
    {.name = "cta-order",
     .argument = "[OP,]ORDER",
     .help = "CTAs begin by row, column, zorder, grouped:N or a file"},
    {.name = "live",
     .argument = "MEMORY,...",
     .help = "compare this memory alone, and copies to the host"},
    {.name = "replays",
     .argument = "N",
     .help = "replays of each kind, at least 10 (default: " CTS_OPTION_TEXT(REPLAYS_DEFAULT) ")"},
    {.name = "pace",
     .argument = "recorded|free",
     .help = "keep the host's pauses between calls, or not (default: recorded)"},
    CTS_OPTION_FORMAT("table|json"),
    CTS_OPTION_FULL_NAMES,
    {.name = "memory-limit",
     .argument = "SIZE",
     .help = "use at most SIZE for the saved memory (default: half of the machine's memory)"},
    {0},
};
