/* Each finding in words: what, where, the evidence and its state, the fix. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/short-names.h"
#include "common/text-table.h"
#include "report/access-report.h"
#include "report/path-report.h"
#include "report/run-findings.h"
#include "report/timeline-page.h"

enum { ROWS_MAX = 300, TEXT_SIZE = 640 };
/* Below this share of the run an activity is no finding, only counted. */
static const double activity_share_min = 0.001;

struct writer {
    struct cts_json *json;
    const struct cts_run_material *of;
    const struct cts_run_findings *findings;
    struct cts_short_names kernels; /* [catalogue->kernel_count] */
};

static void write_text(struct cts_json *json, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void write_text(struct cts_json *json, const char *key, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cts_json_member_string(json, key, text);
}

static void write_id(struct cts_json *json, const char *key, uint32_t id)
{
    cts_json_key(json, key);
    if (id == CTS_NONE)
        cts_json_null(json);
    else
        cts_json_u64(json, id);
}

static void write_kernel(const struct writer *writer, uint32_t kernel)
{
    const bool known = kernel < writer->kernels.count;
    cts_json_member_string(writer->json, "kernel", known ? writer->kernels.full[kernel] : NULL);
    char text[CTS_KERNEL_NAME_SIZE];
    cts_json_member_string(
        writer->json, "kernelShort",
        known ? cts_short_name_fitted(&writer->kernels, kernel, text, sizeof text) : NULL);
}

static void write_source(const struct writer *writer, uint32_t source, uint32_t line)
{
    const bool known = source != CTS_NONE && line && line != CTS_NONE;
    write_id(writer->json, "source", known ? source : CTS_NONE);
    write_id(writer->json, "line", known ? line : CTS_NONE);
}

/* ---- how certain it is ---- */

/* Launches of a kernel: all, and those recorded in full. */
struct recorded_launches {
    uint64_t count, full_count, sample_count;
    uint32_t first; /* id of the first with accesses; NONE */
};

static struct recorded_launches launches_of(const struct cts_catalogue *catalogue, uint32_t kernel)
{
    struct recorded_launches launches = {.first = CTS_NONE};
    for (size_t i = 0; i < catalogue->launch_count; i++) {
        const struct cts_launch *const launch = &catalogue->launches[i];
        const char *const recorded = launch->recorded ? launch->recorded : "none";
        if (launch->kernel != kernel) continue;
        launches.count++;
        launches.full_count += !strcmp(recorded, "all");
        launches.sample_count += !strcmp(recorded, "sample");
        if (launches.first == CTS_NONE && strcmp(recorded, "none") != 0)
            launches.first = launch->launch;
    }
    return launches;
}

static void write_access_state(const struct writer *writer,
                               const struct recorded_launches *launches)
{
    struct cts_json *const json = writer->json;
    const struct cts_access_result *const access = writer->of->access;
    const struct cts_counted all = cts_counted_text(launches->count, "launch", "launches");
    if (access->dropped_accesses || access->incomplete_files) {
        cts_json_member_string(json, "state", "lower bound");
        cts_json_member_string(json, "stateText", "accesses are missing from the run");
    } else if (launches->full_count < launches->count) {
        cts_json_member_string(json, "state", "sampled");
        write_text(json, "stateText", "%s of the kernel: %s recorded in full, %s in part", all.text,
                   cts_count_text(launches->full_count).text,
                   cts_count_text(launches->sample_count).text);
    } else {
        cts_json_member_string(json, "state", "exact");
        write_text(json, "stateText", "every access of %s of the kernel was recorded", all.text);
    }
}

static bool is_cpu_device(const struct writer *writer)
{
    const struct cts_catalogue *const catalogue = writer->of->catalogue;
    const char *const recorder =
        catalogue && catalogue->rank_count ? catalogue->ranks[0].recorder : NULL;
    return recorder && !strcmp(recorder, "cpu");
}

static void write_time_state(const struct writer *writer)
{
    const bool is_cpu = is_cpu_device(writer);
    const bool is_lower = cts_path_is_lower_bound(writer->of->path);
    cts_json_member_string(writer->json, "state", is_lower ? "lower bound" : "measured");
    cts_json_member_string(writer->json, "stateText",
                           is_lower ? "parts of the timeline are missing"
                           : is_cpu ? "times of the CPU device, not of a GPU"
                                    : "times of this run");
}

/* ---- accesses ---- */

static void write_example(const struct writer *writer, const struct cts_access_example *example)
{
    struct cts_json *const json = writer->json;
    cts_json_key(json, "example");
    if (!example->known) {
        cts_json_null(json);
        return;
    }
    cts_json_open_object(json);
    cts_json_member_u64(json, "launch", writer->of->catalogue->launches[example->launch].launch);
    cts_json_member_u64(json, "cta", example->cta);
    cts_json_member_u64(json, "warp", example->thread / 32);
    cts_json_member_u64(json, "address", example->address);
    cts_json_close_object(json);
}

static void write_access(const struct writer *writer, const struct cts_finding *finding)
{
    struct cts_json *const json = writer->json;
    const struct cts_catalogue *const catalogue = writer->of->catalogue;
    const struct cts_access_site *const site = &writer->of->access->sites[finding->site];
    const struct cts_site *const words = &catalogue->sites[site->site];
    const struct recorded_launches launches = launches_of(catalogue, site->kernel);
    const bool is_fault = cts_finding_is_fault(finding->kind);
    char evidence[CTS_EVIDENCE_BYTES], place[CTS_ACCESS_PLACE_BYTES], name[CTS_VARIABLE_BYTES];
    cts_finding_evidence(catalogue, writer->of->access, finding, evidence, sizeof evidence);
    cts_json_member_string(json, "about", is_fault ? "fault" : "access");
    cts_json_member_string(json, "finding", cts_finding_text(finding->kind));
    cts_json_member_string(json, "operation", cts_operation_text(words->operation));
    cts_json_member_string(
        json, "variable",
        cts_finding_variable(catalogue, writer->of->access, finding, name, sizeof name));
    write_kernel(writer, site->kernel);
    cts_json_member_string(json, "place",
                           cts_access_place(catalogue, site->site, place, sizeof place));
    write_source(writer, words->source, words->line);
    cts_json_member_u64(json, "site", site->site);
    write_id(json, "launch", launches.first);
    cts_json_member_double(json, "share", is_fault ? (double)NAN : finding->share);
    cts_json_member_string(json, "system",
                           is_fault ? NULL : cts_access_system_text(finding->system));
    cts_json_member_string(json, "evidence", evidence);
    cts_json_member_string(json, "remedy", cts_finding_remedy(finding));
    write_access_state(writer, &launches);
    write_example(writer, &finding->fault.example);
}

/* ---- errors of the device ---- */

static void write_fault(const struct writer *writer, const struct cts_launch_fault *fault)
{
    struct cts_json *const json = writer->json;
    const struct cts_catalogue *const catalogue = writer->of->catalogue;
    const struct cts_launch *const launch = cts_catalogue_launch(catalogue, fault->launch);
    const char *const path =
        fault->path && strrchr(fault->path, '/') ? strrchr(fault->path, '/') + 1 : fault->path;
    cts_json_member_string(json, "about", "fault");
    cts_json_member_string(json, "finding", "error of the device");
    write_kernel(writer, launch ? launch->kernel : CTS_NONE);
    if (path)
        write_text(json, "place", "%s:%u", path, fault->line);
    else
        cts_json_member_string(json, "place", NULL);
    write_id(json, "launch", fault->launch);
    cts_json_member_string(json, "evidence", fault->text);
    cts_json_member_string(json, "remedy",
                           "correct the access or the condition; the launch ended there, and its "
                           "other accesses were not analysed");
    cts_json_member_string(json, "state", "exact");
    cts_json_member_string(json, "stateText", "the recorder saw the error");
}

/* ---- time ---- */

struct activity_words {
    const char *title, *remedy;
};

static const struct activity_words frame_words = {
    "start-up and shutdown", "nothing in the program: it shrinks with a longer run"};
static const struct activity_words latency_words = {
    "latency", "launch fewer and larger kernels: fuse them, or replay them as a CUDA graph"};
static const struct activity_words mpi_words = {
    "time in MPI", "overlap it with computation, send fewer and larger messages, or balance the "
                   "ranks: the wait states say which ranks are late"};
static const struct activity_words copy_words = {
    "time in copies", "copy from pinned memory on a stream of its own while kernels run, or keep "
                      "the data on the device"};
static const struct activity_words fill_words = {
    "time in memory fills", "fill only what is read before it is written, or fill it in the kernel "
                            "that uses it first"};
static const struct activity_words known_kernel_words = {
    "time in a kernel", "beyond the findings about its accesses: fewer instructions, higher "
                        "occupancy, or less work"};
static const struct activity_words kernel_words = {
    "time in a kernel", "record its memory accesses: they say how much of its memory traffic is "
                        "waste"};
static const struct activity_words wait_words = {
    "waiting for the device", "give the host other work before it, or remove it where nothing "
                              "needs it: 'ctascope flow' of a memory recording says where"};
static const struct activity_words thread_words = {
    "waiting for another thread", "make faster what that thread does, or give this one other work "
                                  "before it"};
static const struct activity_words api_words = {
    "time in CUDA calls", "call it less often, or outside the loop: allocate once, and use "
                          "asynchronous calls"};
static const struct activity_words host_words = {
    "time on the host", "make it faster, or run it while the device works"};

static const struct activity_words *words_of(const struct writer *writer,
                                             const struct cts_run_finding *finding)
{
    const struct cts_path_row *const row = finding->activity;
    const struct cts_timeline *const timeline = writer->of->path->timeline;
    const bool is_region = row->region < timeline->region_count;
    const char *const name = writer->of->path->names.full[row->region];
    const char *const class =
        is_region ? cts_region_class(&timeline->regions[row->region]) : "other";
    if (row->frame) return &frame_words;
    if (row->where == CTS_PATH_LATENCY) return &latency_words;
    if (row->where == CTS_PATH_IN_MPI) return &mpi_words;
    if (row->where == CTS_PATH_ON_DEVICE && strstr(name, "emset")) return &fill_words;
    if (row->where == CTS_PATH_ON_DEVICE && strcmp(class, "kernel") != 0) return &copy_words;
    if (row->where == CTS_PATH_ON_DEVICE)
        return finding->order == CTS_RUN_FINDING_ELSEWHERE ? &known_kernel_words : &kernel_words;
    if (strstr(name, "WaitEvent")) return &api_words; /* the stream waits, the host does not */
    if (!strcmp(class, "synchronise"))
        return timeline->regions[row->region].paradigm == CTS_PARADIGM_PTHREAD ? &thread_words
                                                                               : &wait_words;
    return !strcmp(class, "api") ? &api_words : &host_words;
}

static uint32_t kernel_of(const struct writer *writer, const struct cts_path_row *row)
{
    const struct cts_catalogue *const catalogue = writer->of->catalogue;
    const struct cts_timeline *const timeline = writer->of->path->timeline;
    const char *const name =
        row->region < timeline->region_count ? timeline->regions[row->region].name : NULL;
    if (row->where != CTS_PATH_ON_DEVICE || !name || !catalogue) return CTS_NONE;
    for (size_t i = 0; i < catalogue->kernel_count; i++) {
        const struct cts_kernel *const kernel = &catalogue->kernels[i];
        if ((kernel->name && !strcmp(kernel->name, name)) ||
            (kernel->mangled && !strcmp(kernel->mangled, name)))
            return (uint32_t)i;
    }
    return CTS_NONE;
}

static void write_activity_evidence(const struct writer *writer, const struct cts_path_row *row)
{
    const struct cts_path *const path = writer->of->path;
    const struct cts_path_report report = {.result = path};
    char blame[160] = "", stay[256] = "", location[128];
    if (row->blame_ns)
        snprintf(blame, sizeof blame, "; others wait %s for it, %s of all waiting",
                 cts_time_text(row->blame_ns).text,
                 cts_percent_text(row->blame_ns, path->blame_ns).text);
    if (row->stay.ns)
        snprintf(stay, sizeof stay,
                 "; its longest uninterrupted part lasts %s and begins at %s on %s",
                 cts_time_text(row->stay.ns).text, cts_time_text(row->stay.begin_ns).text,
                 cts_path_location_name(&report, row->stay.location, location, sizeof location));
    write_text(writer->json, "evidence", "%s of the critical path of %s%s%s%s%s",
               cts_time_text(row->path_ns).text, cts_time_text(path->path_ns).text,
               row->calls ? ", " : "",
               row->calls ? cts_counted_text(row->calls, "call", "calls").text : "", blame, stay);
}

static void write_activity(const struct writer *writer, const struct cts_run_finding *finding)
{
    struct cts_json *const json = writer->json;
    const struct cts_path_row *const row = finding->activity;
    const struct cts_path *const path = writer->of->path;
    const struct cts_timeline *const timeline = path->timeline;
    const struct activity_words *const words = words_of(writer, finding);
    const uint32_t kernel = kernel_of(writer, row);
    const struct cts_timeline_region *const region =
        row->region < timeline->region_count ? &timeline->regions[row->region] : NULL;
    cts_json_member_string(json, "about", "time");
    cts_json_member_string(json, "finding", words->title);
    cts_json_member_string(json, "activity", path->names.full[row->region]);
    char text[CTS_KERNEL_NAME_SIZE];
    cts_json_member_string(json, "activityShort",
                           cts_short_name_fitted(&path->names, row->region, text, sizeof text));
    write_kernel(writer, kernel);
    if (region && region->file && region->begin_line)
        write_text(json, "place", "%s:%u", region->file, region->begin_line);
    else
        cts_json_member_string(json, "place", NULL);
    if (kernel != CTS_NONE)
        write_source(writer, writer->of->catalogue->kernels[kernel].source,
                     writer->of->catalogue->kernels[kernel].line);
    write_id(json, "launch",
             kernel == CTS_NONE ? CTS_NONE : launches_of(writer->of->catalogue, kernel).first);
    write_activity_evidence(writer, row);
    cts_json_member_string(json, "remedy", words->remedy);
    write_time_state(writer);
    if (row->stay.ns) {
        cts_json_member_u64(json, "from", row->stay.begin_ns);
        cts_json_member_u64(json, "to", row->stay.begin_ns + row->stay.ns);
    }
}

/* ---- all ---- */

static bool is_shown(const struct cts_run_finding *finding)
{
    return !finding->activity || finding->gain >= activity_share_min;
}

static void write_finding(const struct writer *writer, const struct cts_run_finding *finding)
{
    static const char *const orders[] = {"fault", "change", "elsewhere"};
    struct cts_json *const json = writer->json;
    cts_json_open_object_row(json);
    cts_json_member_string(json, "order", orders[finding->order]);
    cts_json_member_double(json, "gain", finding->gain);
    if (finding->access)
        write_access(writer, finding->access);
    else if (finding->fault)
        write_fault(writer, finding->fault);
    else
        write_activity(writer, finding);
    cts_json_close_object(json);
}

static void write_rows(const struct writer *writer)
{
    struct cts_json *const json = writer->json;
    size_t written = 0;
    cts_json_key(json, "rows");
    cts_json_open_array(json);
    for (size_t i = 0; i < writer->findings->count && written < ROWS_MAX; i++) {
        if (!is_shown(&writer->findings->items[i])) continue;
        write_finding(writer, &writer->findings->items[i]);
        written++;
    }
    cts_json_close_array(json);
    cts_json_member_u64(json, "left", writer->findings->count - written);
}

/* What the rows leave out, as the terminal says it. */
static void write_notes(const struct writer *writer)
{
    struct cts_json *const json = writer->json;
    const struct cts_access_result *const access = writer->of->access;
    char text[TEXT_SIZE];
    cts_json_key(json, "notes");
    cts_json_open_array(json);
    if (writer->of->path && is_cpu_device(writer))
        cts_json_string(json, "Times are those of the CPU device, which runs kernels on the host: "
                              "on a GPU, the shares of the run differ.");
    if (access && access->small_findings) {
        snprintf(text, sizeof text,
                 "%s below 1%% of a kernel's memory traffic, together %.1f%% of the run's memory "
                 "cost.",
                 cts_counted_text(access->small_findings, "finding is", "findings are").text,
                 100 * access->small_share);
        cts_json_string(json, text);
    }
    if (access && access->library_kernels) {
        snprintf(
            text, sizeof text,
            "%s to ctascope's replacements of NVIDIA libraries; the efficiency of their accesses "
            "was not analysed.",
            cts_counted_text(access->library_kernels, "kernel belongs", "kernels belong").text);
        cts_json_string(json, text);
    }
    cts_json_close_array(json);
}

/* What was not recorded, and the command that records it. */
static void write_missing(const struct writer *writer)
{
    struct cts_json *const json = writer->json;
    const struct cts_catalogue *const catalogue = writer->of->catalogue;
    const struct cts_rank *const rank =
        catalogue && catalogue->rank_count ? &catalogue->ranks[0] : NULL;
    const char *const command = rank && rank->arguments ? rank->arguments : "PROGRAM";
    cts_json_key(json, "missing");
    cts_json_open_array(json);
    if (!writer->of->access) {
        cts_json_open_object_row(json);
        cts_json_member_string(json, "text",
                               "The run has no memory accesses, so the findings do not explain why "
                               "a kernel is slow. To record them:");
        write_text(json, "command", "ctascope record -o RUN -- %s", command);
        cts_json_close_object(json);
    }
    if (!writer->of->path) {
        cts_json_open_object_row(json);
        cts_json_member_string(json, "text",
                               "The run has no timeline, so findings are ranked by memory cost, "
                               "not by time. To record a timeline:");
        write_text(json, "command", "ctascope record --timeline -o RUN -- %s", command);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}

enum cts_status cts_kernel_names(const struct cts_catalogue *catalogue,
                                 struct cts_short_names *names, struct cts_error *error)
{
    const size_t count = catalogue ? catalogue->kernel_count : 0;
    *names = (struct cts_short_names){0};
    const char **const texts = cts_array_zeroed(count + 1, sizeof *texts, error);
    if (!texts) return CTS_MEMORY;
    for (size_t i = 0; i < count; i++) texts[i] = cts_catalogue_kernel_name(catalogue, (uint32_t)i);
    const enum cts_status status = cts_short_names_make(texts, count, names, error);
    free(texts);
    return status;
}

enum cts_status cts_run_findings_json(const struct cts_run_material *material,
                                      struct cts_json *json, struct cts_error *error)
{
    struct cts_run_findings findings;
    struct writer writer = {.json = json, .of = material, .findings = &findings};
    enum cts_status status = cts_run_findings_find(material, &findings, error);
    if (!status) status = cts_kernel_names(material->catalogue, &writer.kernels, error);
    if (!status) {
        cts_json_member_string(json, "basis",
                               findings.by_time ? "the run's time" : "the run's memory cost");
        cts_json_member_u64(json, "duration", material->path ? material->path->path_ns : 0);
        write_rows(&writer);
        write_notes(&writer);
        write_missing(&writer);
    }
    cts_short_names_release(&writer.kernels);
    cts_run_findings_release(&findings);
    return status;
}
