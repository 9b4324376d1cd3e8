/* Partitions of a run: reads it, alone or under mpirun, analyses it, renders the result. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/partition/partition.h"
#include "analyze/summary/store.h"
#include "cli/open-recording.h"
#include "cli/list-options.h"
#include "cli/shared-options.h"
#include "cli/verb.h"
#include "common/array.h"
#include "common/install.h"
#include "common/output-file.h"
#include "common/processes.h"
#include "common/progress.h"
#include "report/partition-who.h"
#include "report/partition-report.h"
#include "trace/summaries.h"

#define ROWS_IN_TABLE 40

extern const struct cts_verb cts_verb_partition;

struct request {
    enum cts_list_format format;
    bool has_sheet;
    enum cts_partition_sheet sheet;
    struct cts_sheet_choice choice;
    bool full_names;
    uint64_t first, last;   /* numbers of partitions */
    bool named_counts;      /* by the user */
    const char *assignment; /* the file to write, or NULL */
    const struct cts_mapping *mappings[CTS_MAPPING_COUNT];
    struct cts_partition_options options;
};

static int parse_form(const struct cts_arguments *arguments, struct request *request)
{
    const char *const per = cts_argument(arguments, "per");
    request->format = cts_argument_format(arguments);
    request->sheet = CTS_PARTITION_SHEET_SCALE;
    if (per) {
        request->sheet = cts_partition_sheet_named(per);
        request->has_sheet = true;
    }
    if (!cts_argument_rows(arguments, ROWS_IN_TABLE, &request->choice)) return CTS_EXIT_USAGE;
    request->full_names = cts_argument_given(arguments, "full-names");
    return 0;
}

static bool is_named(const struct request *request, const struct cts_mapping *mapping)
{
    for (size_t i = 0; i < request->options.mapping_count; i++)
        if (request->mappings[i] == mapping) return true;
    return false;
}

/* --mapping A,B,...; without: all, and for one number of partitions the best found, too. */
static void parse_mappings(const struct cts_arguments *arguments, struct request *request)
{
    struct cts_partition_options *const options = &request->options;
    const char *rest = cts_argument(arguments, "mapping");
    for (size_t i = 0; !rest && i < CTS_MAPPING_COUNT; i++)
        request->mappings[options->mapping_count++] = cts_mappings[i];
    options->best_found = !rest && request->first == request->last;
    char word[32];
    while (cts_argument_next_word(&rest, word, sizeof word)) {
        const struct cts_mapping *const mapping = cts_mapping_named(word);
        if (!strcmp(word, "best-found"))
            options->best_found = true;
        else if (!is_named(request, mapping))
            request->mappings[options->mapping_count++] = mapping;
    }
    if (!options->mapping_count)
        request->mappings[options->mapping_count++] = cts_mapping_named("lexicographic");
    options->mappings = request->mappings;
}

static bool parse_number(const char **text, uint64_t *value)
{
    char *end;
    if (**text < '0' || **text > '9') return false;
    *value = strtoull(*text, &end, 10);
    *text = end;
    return true;
}

static int parse_counts(const struct cts_arguments *arguments, struct request *request)
{
    const char *const one = cts_argument(arguments, "number");
    const char *const range = cts_argument(arguments, "partitions");
    const char *text = one ? one : range;
    request->first = 2;
    request->last = CTS_PARTITIONS_MAX;
    request->named_counts = text != NULL;
    if (!text) return 0;
    if (one && range) return cts_usage_error(arguments, "give either -n or --partitions, not both");
    bool fine = parse_number(&text, &request->first);
    request->last = request->first;
    if (fine && !one && !strncmp(text, "..", 2)) {
        text += 2;
        fine = parse_number(&text, &request->last);
    }
    if (!fine || *text)
        return cts_usage_error(arguments, "--%s takes a number%s, not '%s'",
                               one ? "number" : "partitions",
                               one ? "" : " or a range such as 2..64", one ? one : range);
    if (!request->first || request->last < request->first || request->last > CTS_PARTITIONS_MAX)
        return cts_usage_error(arguments, "the number of partitions is from 1 to %d",
                               CTS_PARTITIONS_MAX);
    return 0;
}

/* "374G", "0.374T": bytes per second. */
static bool parse_bandwidth(const struct cts_arguments *arguments, const char *name, double *value)
{
    const char *const text = cts_argument(arguments, name);
    if (!text) return true;
    char *end;
    *value = strtod(text, &end);
    const double scale = *end == 'T' ? 1e12 : *end == 'G' ? 1e9 : *end == 'M' ? 1e6 : 1;
    if (scale != 1) end++;
    *value *= scale;
    if (end != text && !*end && *value > 0 && *value < 1e18) return true;
    cts_usage_error(arguments, "--%s takes bytes per second such as 374G or 4.38T", name);
    return false;
}

/* "1.6": microseconds. */
static bool parse_launch_latency(const struct cts_arguments *arguments, double *value_s)
{
    const char *const text = cts_argument(arguments, "launch-latency");
    if (!text) return true;
    char *end;
    const double value_us = strtod(text, &end);
    *value_s = value_us > 0 ? value_us * 1e-6 : -1; /* none */
    if (end != text && !*end && value_us >= 0 && value_us <= 1e9) return true;
    cts_usage_error(arguments, "--launch-latency takes microseconds such as 1.6");
    return false;
}

static int parse_model(const struct cts_arguments *arguments, struct request *request)
{
    struct cts_partition_options *const options = &request->options;
    const char *const page = cts_argument(arguments, "page-size");
    options->page_bytes = !page || !strcmp(page, "64K") ? 65536
                          : !strcmp(page, "4K")         ? 4096
                                                        : 2097152;
    request->assignment = cts_argument(arguments, "assignment");
    options->keep_assignments = request->assignment != NULL;
    if (request->assignment && request->first != request->last)
        return cts_usage_error(arguments, "--assignment needs one number of partitions: -n P");
    options->paper_model = cts_argument_given(arguments, "paper-model");
    options->per_stream = cts_argument_given(arguments, "per-stream");
    options->launch_times = cts_argument_given(arguments, "launch-times");
    if ((cts_argument_given(arguments, "l2-size") &&
         !cts_argument_bytes(arguments, "l2-size", &options->l2_bytes)) ||
        !cts_argument_u64_if_given(arguments, "block", &options->block_ctas) ||
        !cts_argument_threads(arguments, &options->threads) ||
        !parse_bandwidth(arguments, "link-bandwidth", &options->link_bytes_per_s) ||
        !parse_bandwidth(arguments, "local-bandwidth", &options->local_bytes_per_s) ||
        !parse_launch_latency(arguments, &options->launch_s))
        return CTS_EXIT_USAGE;
    return 0;
}

/* ---- analysing ---- */

/* The numbers of partitions: those asked for, refused where no launch has as many CTAs, or the
 * default ones. */
static enum cts_status choose_counts(const struct cts_recording *recording,
                                     const struct request *request, uint32_t **counts,
                                     size_t *count, struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = &recording->catalogue;
    const uint64_t largest = cts_partition_largest_grid(catalogue);
    if (!catalogue->launch_count)
        return cts_fail(error, CTS_FORMAT, "'%s' has no launches", recording->path);
    if (request->named_counts && request->last > largest)
        return cts_fail(error, CTS_USAGE, "%llu partitions, but no launch has more than %llu CTAs",
                        (unsigned long long)request->last, (unsigned long long)largest);
    *count = request->named_counts ? (size_t)(request->last - request->first + 1)
                                   : CTS_PARTITION_DEFAULT_COUNTS;
    *counts = cts_array_zeroed(*count, sizeof **counts, error);
    if (!*counts) return CTS_MEMORY;
    for (size_t i = 0; i < *count; i++) (*counts)[i] = (uint32_t)(request->first + i);
    if (!request->named_counts) *count = cts_partition_default_counts(catalogue, *counts);
    if (!*count) (*counts)[(*count)++] = 1; /* nothing to split: the sets alone */
    return CTS_OK;
}

static enum cts_status analyze(const struct cts_recording *recording, struct request *request,
                               const struct cts_processes *processes,
                               struct cts_partition *partition, struct cts_error *error)
{
    enum cts_status status = cts_recording_need_accesses(recording, error);
    if (status) return status;
    const struct cts_access_source source = cts_access_source_of(recording->reader);
    struct cts_partition_options options = request->options;
    struct cts_progress progress;
    uint64_t access_count = 0;
    size_t count = 0;
    uint32_t *counts = NULL;
    for (size_t i = 0; i < source.chunk_count; i++) access_count += source.chunks[i].access_count;
    status = choose_counts(recording, request, &counts, &count, error);
    options.counts = counts;
    options.count_count = count;
    options.processes = processes;
    options.progress = &progress;
    cts_progress_begin(&progress, processes->rank == 0 ? stderr : NULL, "analysing",
                       access_count / processes->count);
    if (!status && !access_count)
        status = cts_fail(error, CTS_FORMAT, "'%s' has no recorded accesses", recording->path);
    else if (!status)
        status = cts_partition_analyze(&recording->catalogue, &source, &options, partition, error);
    cts_progress_end(&progress);
    free(counts);
    return status;
}

/* ---- rendering ---- */

static enum cts_status render(const struct request *request,
                              const struct cts_partition_report *report, struct cts_error *error)
{
    if (request->format == CTS_LIST_AS_JSON) return cts_partition_print_json(report, stdout, error);
    if (request->format == CTS_LIST_AS_TABLE && !request->has_sheet)
        return cts_partition_print_summary(report, stdout, error);
    struct cts_sheet sheet = cts_partition_sheet(report, request->sheet);
    sheet.full_names = request->full_names;
    const bool as_csv = request->format == CTS_LIST_AS_CSV;
    const enum cts_status status = cts_sheet_print(&sheet, &request->choice, as_csv, stdout, error);
    if (!status && !as_csv) cts_partition_print_notes(report, stdout);
    return status;
}

static enum cts_status write_assignment(const struct cts_partition_report *report, const char *path,
                                        struct cts_error *error)
{
    const size_t length = strlen(path);
    const bool as_json = length >= 5 && !strcmp(path + length - 5, ".json");
    struct cts_output output;
    enum cts_status status = cts_output_open(path, &output, error);
    if (status) return status;
    status = cts_partition_write_assignment(report, output.file, as_json, error);
    return cts_output_close(&output, status, error);
}

static enum cts_status run_analysis(const char *run_path, struct request *request,
                                    const struct cts_processes *processes, struct cts_error *error)
{
    struct cts_recording recording;
    const struct cts_catalogue *const catalogue = &recording.catalogue;
    struct cts_partition partition = {0};
    enum cts_status status = cts_cli_open_together(run_path, processes, &recording, error);
    if (status) return status;
    do { /* all processes do the same */
        status = analyze(&recording, request, processes, &partition, error);
        (void)cts_processes_agree(processes, &status, error);
    } while (cts_cli_again(status, &recording));
    if (!status && processes->rank == 0) {
        const struct cts_partition_answer answer = cts_partition_answer(&partition, catalogue);
        const struct cts_partition_report report = {.run_path = run_path,
                                                    .catalogue = catalogue,
                                                    .partition = &partition,
                                                    .answer = &answer,
                                                    .full_names = request->full_names,
                                                    .asked_for_one =
                                                        request->first == request->last};
        cts_cli_tell_gaps(&cts_verb_partition, run_path, &catalogue->gaps);
        if (request->assignment) status = write_assignment(&report, request->assignment, error);
        if (!status) status = render(request, &report, error);
    }
    cts_partition_release(&partition);
    cts_recording_close(&recording);
    return status;
}

/* ---- summaries ---- */

static enum cts_status store_summaries(const char *run_path, const struct request *request,
                                       struct cts_error *error)
{
    struct cts_recording recording;
    enum cts_status status = cts_recording_open(run_path, &recording, error);
    if (status) return status;
    do {
        status = cts_recording_need_accesses(&recording, error);
        if (status) break;
        const struct cts_access_source source = cts_access_source_of(recording.reader);
        struct cts_progress progress;
        cts_progress_begin(&progress, stderr, "summarising", cts_access_source_total(&source));
        const struct cts_summaries_options options = {
            .run_path = run_path, .threads = request->options.threads, .progress = &progress};
        status = cts_summaries_store(&options, &recording.catalogue, &source, error);
        cts_progress_end(&progress);
    } while (cts_cli_again(status, &recording));
    if (!status) cts_cli_tell_gaps(&cts_verb_partition, run_path, &recording.catalogue.gaps);
    cts_recording_close(&recording);
    return status;
}

static enum cts_status print_touchers(const struct request *request,
                                      const struct cts_who_report *report, struct cts_error *error)
{
    struct cts_sheet sheet = cts_who_sheet(report);
    sheet.full_names = request->full_names;
    if (request->format != CTS_LIST_AS_JSON)
        return cts_sheet_print(&sheet, &request->choice, request->format == CTS_LIST_AS_CSV, stdout,
                               error);
    return cts_sheet_print_json(&sheet, &request->choice, "ctascope-touchers", stdout, error);
}

static enum cts_status show_touchers(const char *run_path, uint64_t address,
                                     const struct request *request, struct cts_error *error)
{
    struct cts_recording recording;
    struct cts_toucher *touchers = NULL;
    size_t count = 0;
    enum cts_status status = cts_recording_open(run_path, &recording, error);
    if (status) return status;
    status = cts_summaries_find(run_path, address, &touchers, &count, error);
    if (!status) {
        cts_cli_tell_gaps(&cts_verb_partition, run_path, &recording.catalogue.gaps);
        const struct cts_who_report report = {
            .catalogue = &recording.catalogue, .touchers = touchers, .count = count};
        status = print_touchers(request, &report, error);
    }
    free(touchers);
    cts_recording_close(&recording);
    return status;
}

/* --store-summaries and --who take the place of the analysis. */
static int run_summaries(const struct cts_arguments *arguments, const struct request *request)
{
    const char *const who = cts_argument(arguments, "who");
    const char *const run_path = arguments->positional[0];
    struct cts_error error;
    enum cts_status status = CTS_OK;
    char *end = NULL;
    const uint64_t address = who ? strtoull(who, &end, 0) : 0;
    if (who && (end == who || *end || *who == '-'))
        return cts_usage_error(arguments, "--who takes an address such as 0x7f00001000");
    if (cts_argument_given(arguments, "store-summaries"))
        status = store_summaries(run_path, request, &error);
    if (!status && who) status = show_touchers(run_path, address, request, &error);
    return status ? cts_report_error(arguments, &error) : CTS_EXIT_OK;
}

static int run_partition(const struct cts_arguments *arguments)
{
    struct request request = {0};
    int code = parse_form(arguments, &request);
    if (!code) code = parse_counts(arguments, &request);
    if (!code) parse_mappings(arguments, &request);
    if (!code) code = parse_model(arguments, &request);
    if (code) return code;
    if (cts_argument_given(arguments, "store-summaries") || cts_argument_given(arguments, "who"))
        return run_summaries(arguments, &request);
    struct cts_error error;
    struct cts_processes processes;
    enum cts_status status = cts_processes_open(cts_library_directory(), &processes, &error);
    if (status) return cts_report_error(arguments, &error);
    status = run_analysis(arguments->positional[0], &request, &processes, &error);
    if (status)
        code = processes.rank == 0 ? cts_report_error(arguments, &error)
                                   : (status == CTS_USAGE ? CTS_EXIT_USAGE : CTS_EXIT_INPUT);
    cts_processes_close(&processes);
    return code;
}

#define MAPPING_WORDS(X) CTS_MAPPINGS(X) X(best_found, "best-found")

static const struct cts_option partition_options[] = {
    {.name = "number",
     .argument = "P",
     .help = "P partitions (default: 2, 3, 4, 6, 8, 12, 16, 24, 32, 48 and 64)",
     .short_name = 'n'},
    {.name = "partitions",
     .argument = "RANGE",
     .help = "split over each number of partitions in a range: 2..64"},
    {.name = "mapping",
     .argument = CTS_OPTION_WORDS(MAPPING_WORDS),
     .is_list = true,
     .help = "mappings of CTAs to partitions (default: all; best-found only with -n)"},
    CTS_OPTION_PER(CTS_OPTION_WORDS(CTS_PARTITION_SHEETS)),
    CTS_OPTION_FORMAT("table|json|csv"),
    CTS_OPTION_SORT,
    CTS_OPTION_LIMIT(ROWS_IN_TABLE),
    {.name = "link-bandwidth",
     .argument = "B",
     .help = "bytes/s between partitions (default: 0.374T, of H200s)"},
    {.name = "local-bandwidth",
     .argument = "B",
     .help = "bytes/s of a partition's own memory (default: 4.38T, of an H200)"},
    {.name = "launch-latency",
     .argument = "US",
     .help = "fixed cost per launch in us (default: 1.6, of an H200)"},
    {.name = "l2-size",
     .argument = "SIZE",
     .help = "print how much repeated traffic an L2 cache of this size saves"},
    {.name = "page-size",
     .argument = "4K|64K|2M",
     .help = "page size of first-touch placement (default: 64K)"},
    {.name = "block",
     .argument = "N",
     .help = "CTAs per block of block-cyclic (default: an eighth of a partition's share)"},
    {.name = "launch-times", .help = "use the recorded durations of launches as compute time"},
    {.name = "per-stream", .help = "compare each launch with the previous one of its stream"},
    CTS_OPTION_PAPER_MODEL,
    {.name = "assignment",
     .argument = "FILE",
     .help = "with -n: write the partition of each CTA (CSV; JSON if FILE ends with .json)"},
    {.name = "store-summaries", .help = "store in run.db what each CTA read and wrote"},
    {.name = "who",
     .argument = "ADDRESS",
     .help = "list who accesses a byte; run once with --store-summaries first"},
    CTS_OPTION_FULL_NAMES,
    CTS_OPTION_THREADS,
    CTS_OPTION_MEMORY_LIMIT,
    {0},
};

const struct cts_verb cts_verb_partition = {
    .name = "partition",
    .synopsis = "RUN [-n P | --partitions 2..64] [--mapping LIST] [OPTIONS]",
    .summary = "Predicts the cost of splitting the CTAs over several GPUs or dies",
    .description =
        "Splits the grid of every launch and counts the bytes that pass between partitions, for\n"
        "several mappings and numbers of partitions, and says which splits are worth it. Under\n"
        "mpirun the processes share the work.",
    .options = partition_options,
    .positional_min = 1,
    .positional_max = 1,
    .run = run_partition,
};
