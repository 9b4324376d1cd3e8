/* One run of SARIF for each call: the kinds of findings as rules, the findings as results, and what
 * makes them less than certain as notifications. Members that a reader must have stand first in
 * each object. */
#include "report/sarif.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/json.h"
#include "common/text-stream.h"

/* ---- rules ---- */

static const char *sentence_of(enum cts_finding_kind kind)
{
    switch (kind) {
    case CTS_FINDING_OUTSIDE:
        return "A kernel accesses bytes that lie in no live allocation.";
    case CTS_FINDING_UNINITIALISED:
        return "A kernel reads bytes that nothing has written.";
    case CTS_FINDING_RACE:
        return "Several thread blocks of a launch, or warps of a thread block, access the same "
               "bytes, at least one stores, and nothing orders them.";
    case CTS_FINDING_LOCKSTEP:
        return "Lanes of a warp access the same bytes, at least one stores, and no __syncwarp() "
               "orders them.";
    case CTS_FINDING_BANK_CONFLICT:
        return "Lanes of a warp need different words of one shared-memory bank, which are "
               "transferred one after another.";
    case CTS_FINDING_STRUCT_STRIDE:
        return "Lanes of a warp access one field of an array of structs, so most of each sector "
               "is not used.";
    case CTS_FINDING_BLOCKED:
        return "Each lane accesses several neighbouring elements one after another, so several "
               "requests access each sector.";
    case CTS_FINDING_STRIDED:
        return "Neighbouring lanes access addresses that are far apart, so most of each sector is "
               "not used.";
    case CTS_FINDING_ROWS:
        return "A warp covers several short rows, each of which begins or ends inside a sector.";
    case CTS_FINDING_SCATTERED:
        return "Lanes of a warp access scattered addresses.";
    case CTS_FINDING_MISALIGNED:
        return "Warps start inside a sector, so each needs one sector more than its bytes.";
    case CTS_FINDING_FEW_LANES:
        return "Few lanes of the warps are active at an access.";
    case CTS_FINDING_ATOMIC_CONTENTION:
        return "Lanes of a warp update the same address atomically and wait for each other.";
    case CTS_FINDING_LOCAL_MEMORY:
        return "A kernel spills variables to local memory or indexes arrays there.";
    case CTS_FINDING_REPEATED:
        return "A kernel loads the same bytes again and again.";
    case CTS_FINDING_KIND_COUNT:
        break;
    }
    return NULL;
}

static struct cts_sarif_rule cts_sarif_rule(enum cts_finding_kind kind)
{
    struct cts_sarif_rule rule = {.sentence = sentence_of(kind), .level = "note"};
    snprintf(rule.id, sizeof rule.id, "%s", cts_finding_text(kind));
    for (char *at = rule.id; *at; at++)
        if (*at == ' ') *at = '-';
    if (cts_finding_is_fault(kind)) rule.level = kind == CTS_FINDING_RACE ? "warning" : "error";
    return rule;
}

static void write_text(struct cts_json *json, const char *key, const char *text)
{
    cts_json_key(json, key);
    cts_json_open_object_row(json);
    cts_json_member_string(json, "text", text);
    cts_json_close_object(json);
}

static void write_rule(struct cts_json *json, enum cts_finding_kind kind)
{
    const struct cts_sarif_rule rule = cts_sarif_rule(kind);
    cts_json_open_object(json);
    cts_json_member_string(json, "id", rule.id);
    write_text(json, "shortDescription", cts_finding_text(kind));
    write_text(json, "fullDescription", rule.sentence);
    write_text(json, "help", rule.sentence);
    cts_json_key(json, "defaultConfiguration");
    cts_json_open_object_row(json);
    cts_json_member_string(json, "level", rule.level);
    cts_json_close_object(json);
    cts_json_key(json, "properties");
    cts_json_open_object_row(json);
    cts_json_key(json, "tags");
    cts_json_open_array(json);
    cts_json_string(json, cts_finding_is_fault(kind) ? "correctness" : "performance");
    cts_json_close_array(json);
    cts_json_close_object(json);
    cts_json_close_object(json);
}

static void write_tool(struct cts_json *json, const struct cts_sarif_options *options)
{
    cts_json_key(json, "tool");
    cts_json_open_object(json);
    cts_json_key(json, "driver");
    cts_json_open_object(json);
    cts_json_member_string(json, "name", "ctascope");
    cts_json_member_string(json, "semanticVersion", options->version);
    cts_json_key(json, "rules");
    cts_json_open_array(json);
    for (unsigned i = 0; i < CTS_FINDING_KIND_COUNT; i++) write_rule(json, i);
    cts_json_close_array(json);
    cts_json_close_object(json);
    cts_json_close_object(json);
}

/* ---- places ---- */

enum { URI_BYTES = 3 * 4096 + 16 }; /* of the longest path that a file can have */

/* `start` and a path as it stands in a URI. */
static void make_uri(char uri[URI_BYTES], const char *start, const char *path)
{
    size_t length = (size_t)snprintf(uri, URI_BYTES, "%s", start);
    for (; *path && length + 4 < URI_BYTES; path++) {
        const unsigned char c = (unsigned char)*path;
        if (isalnum(c) || strchr("/-._~", c))
            uri[length++] = (char)c;
        else
            length += (size_t)snprintf(uri + length, 4, "%%%02X", c);
        uri[length] = 0;
    }
}

/* What is behind `root` in a path below it; else NULL. */
static const char *below(const char *root, const char *path)
{
    const size_t length = strlen(root);
    return !strncmp(path, root, length) && path[length] == '/' ? path + length + 1 : NULL;
}

static void write_artifact(struct cts_json *json, const struct cts_sarif_options *options,
                           const char *path)
{
    char uri[URI_BYTES];
    /* Paths without a directory come from a compiler that named none: taken as below the root. */
    const char *const inside = *path == '/' ? below(options->source_root, path) : path;
    cts_json_key(json, "artifactLocation");
    cts_json_open_object_row(json);
    make_uri(uri, inside ? "" : "file://", inside ? inside : path);
    cts_json_member_string(json, "uri", uri);
    if (inside) cts_json_member_string(json, "uriBaseId", "SRCROOT");
    cts_json_close_object(json);
}

/* A site's line; without lines, the program in which the instruction is. */
static void write_place(struct cts_json *json, const struct cts_sarif_options *options,
                        const struct cts_diff_side *side, uint32_t site)
{
    const struct cts_catalogue *const catalogue = side->catalogue;
    const struct cts_site *const row = &catalogue->sites[site];
    const char *const source =
        row->source < catalogue->source_count ? catalogue->sources[row->source].path : NULL;
    const char *const program = catalogue->rank_count ? catalogue->ranks[0].program : NULL;
    cts_json_key(json, "physicalLocation");
    cts_json_open_object(json);
    write_artifact(json, options, source ? source : program ? program : "unknown");
    if (source && row->line) {
        cts_json_key(json, "region");
        cts_json_open_object_row(json);
        cts_json_member_u64(json, "startLine", row->line);
        if (row->column) cts_json_member_u64(json, "startColumn", row->column);
        cts_json_close_object(json);
    }
    cts_json_close_object(json);
}

static void write_locations(struct cts_json *json, const struct cts_sarif_options *options,
                            const struct cts_diff_side *side, const struct cts_finding *finding)
{
    const struct cts_access_site *const site = &side->result->sites[finding->site];
    const char *const kernel = cts_catalogue_kernel_name(side->catalogue, site->kernel);
    cts_json_key(json, "locations");
    cts_json_open_array(json);
    cts_json_open_object(json);
    write_place(json, options, side, site->site);
    if (kernel) {
        cts_json_key(json, "logicalLocations");
        cts_json_open_array_row(json);
        cts_json_open_object(json);
        cts_json_member_string(json, "fullyQualifiedName", kernel);
        cts_json_member_string(json, "kind", "function");
        cts_json_close_object(json);
        cts_json_close_array(json);
    }
    cts_json_close_object(json);
    cts_json_close_array(json);
    const struct cts_access_example *const other = &finding->fault.other;
    if (!cts_finding_is_fault(finding->kind) || !other->known) return;
    cts_json_key(json, "relatedLocations");
    cts_json_open_array(json);
    cts_json_open_object(json);
    write_place(json, options, side, other->site);
    write_text(json, "message", "The other access.");
    cts_json_close_object(json);
    cts_json_close_array(json);
}

/* ---- results ---- */

struct result {
    const struct cts_diff_side *side;
    const struct cts_finding *finding;
    uint64_t fingerprint;
    const char *baseline_state; /* NULL: not compared */
};

static void write_message(struct cts_json *json, const struct result *result)
{
    const struct cts_finding *const finding = result->finding;
    const struct cts_catalogue *const catalogue = result->side->catalogue;
    const struct cts_access_site *const site = &result->side->result->sites[finding->site];
    const struct cts_site *const words = &catalogue->sites[site->site];
    char evidence[500], text[1200], name[CTS_VARIABLE_BYTES];
    const char *const variable =
        cts_finding_variable(catalogue, result->side->result, finding, name, sizeof name);
    cts_finding_evidence(catalogue, result->side->result, finding, evidence, sizeof evidence);
    int length = snprintf(text, sizeof text, "%s: %s%s%.100s: %s.", cts_finding_text(finding->kind),
                          cts_operation_text(words->operation), variable ? " of " : "",
                          variable ? variable : "", evidence);
    if (!cts_finding_is_fault(finding->kind))
        length += snprintf(text + length, sizeof text - (size_t)length,
                           " Could save up to %.1f%% of the kernel's %s.", 100 * finding->share,
                           cts_access_system_text(finding->system));
    snprintf(text + length, sizeof text - (size_t)length, " Fix: %s.", cts_finding_remedy(finding));
    write_text(json, "message", text);
}

static void write_result(struct cts_json *json, const struct cts_sarif_options *options,
                         const struct result *result)
{
    const struct cts_finding *const finding = result->finding;
    const struct cts_sarif_rule rule = cts_sarif_rule(finding->kind);
    char fingerprint[20];
    snprintf(fingerprint, sizeof fingerprint, "%016llx", (unsigned long long)result->fingerprint);
    cts_json_open_object(json);
    cts_json_member_string(json, "ruleId", rule.id);
    cts_json_member_u64(json, "ruleIndex", finding->kind);
    cts_json_member_string(json, "level", rule.level);
    if (result->baseline_state)
        cts_json_member_string(json, "baselineState", result->baseline_state);
    write_message(json, result);
    write_locations(json, options, result->side, finding);
    cts_json_key(json, "partialFingerprints");
    cts_json_open_object_row(json);
    cts_json_member_string(json, "ctascopeFinding/v1", fingerprint);
    cts_json_close_object(json);
    if (!cts_finding_is_fault(finding->kind))
        cts_json_member_double(json, "rank", 100 * finding->share);
    cts_json_close_object(json);
}

/* ---- the file ---- */

/* What makes the findings less than certain: the notes of `access`, one notification each. */
static enum cts_status write_notes(struct cts_json *json, const struct cts_access_report *report,
                                   struct cts_error *error)
{
    struct cts_text_stream stream;
    FILE *const file = cts_text_stream_open(&stream);
    if (file) cts_access_print_notes(report, file);
    char *const notes = file ? cts_text_stream_close(&stream, NULL) : NULL;
    char *rest = NULL;
    if (!notes) return cts_fail(error, CTS_MEMORY, "no memory for the notes");
    for (char *line = strtok_r(notes, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        cts_json_open_object(json);
        write_text(json, "message", line);
        cts_json_member_string(json, "level", strncmp(line, "Note: ", 6) ? "warning" : "note");
        cts_json_close_object(json);
    }
    free(notes);
    return CTS_OK;
}

static void begin(struct cts_json *json, const struct cts_sarif_options *options, FILE *file)
{
    char uri[URI_BYTES], root[URI_BYTES + 1];
    make_uri(uri, "file://", options->source_root);
    snprintf(root, sizeof root, "%s/", uri);
    cts_json_begin(json, file);
    cts_json_open_object(json);
    cts_json_member_string(json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    cts_json_member_string(json, "version", "2.1.0");
    cts_json_key(json, "runs");
    cts_json_open_array(json);
    cts_json_open_object(json);
    write_tool(json, options);
    cts_json_key(json, "originalUriBaseIds");
    cts_json_open_object(json);
    cts_json_key(json, "SRCROOT");
    cts_json_open_object_row(json);
    cts_json_member_string(json, "uri", root);
    cts_json_close_object(json);
    cts_json_close_object(json);
}

static void begin_invocation(struct cts_json *json)
{
    cts_json_key(json, "invocations");
    cts_json_open_array(json);
    cts_json_open_object(json);
    cts_json_member_bool(json, "executionSuccessful", true);
    cts_json_key(json, "toolExecutionNotifications");
    cts_json_open_array(json);
}

static void begin_results(struct cts_json *json)
{
    cts_json_close_array(json);
    cts_json_close_object(json);
    cts_json_close_array(json);
    cts_json_key(json, "results");
    cts_json_open_array(json);
}

static enum cts_status end(struct cts_json *json, struct cts_error *error)
{
    cts_json_close_array(json);
    cts_json_close_object(json);
    cts_json_close_array(json);
    cts_json_close_object(json);
    return cts_json_end(json, error);
}

static enum cts_status fingerprints_of(const struct cts_diff_side *side, uint64_t **fingerprints,
                                       struct cts_error *error)
{
    *fingerprints = cts_array_zeroed(side->result->finding_count, sizeof **fingerprints, error);
    return *fingerprints ? cts_finding_fingerprints(side, *fingerprints, error) : CTS_MEMORY;
}

enum cts_status cts_access_print_sarif(const struct cts_access_report *report,
                                       const struct cts_sarif_options *options, FILE *file,
                                       struct cts_error *error)
{
    const struct cts_diff_side side = {report->catalogue, report->result};
    struct cts_json json;
    uint64_t *fingerprints;
    enum cts_status status = fingerprints_of(&side, &fingerprints, error);
    if (!status) {
        begin(&json, options, file);
        begin_invocation(&json);
        status = write_notes(&json, report, error);
    }
    if (!status) {
        begin_results(&json);
        for (size_t i = 0; i < report->result->finding_count; i++) {
            const struct cts_finding *const finding = &report->result->findings[i];
            if (report->site && report->result->sites[finding->site].site != *report->site)
                continue;
            write_result(&json, options, &(struct result){&side, finding, fingerprints[i], NULL});
        }
        status = end(&json, error);
    }
    free(fingerprints);
    return status;
}

static const char *state_of(enum cts_diff_change change)
{
    switch (change) {
    case CTS_DIFF_NEW:
        return "new";
    case CTS_DIFF_CHANGED:
        return "updated";
    case CTS_DIFF_GONE:
        return "absent";
    case CTS_DIFF_SAME:
    case CTS_DIFF_CHANGE_COUNT:
        break;
    }
    return "unchanged";
}

enum cts_status cts_diff_print_sarif(const struct cts_diff_report *report,
                                     const struct cts_sarif_options *options, FILE *file,
                                     struct cts_error *error)
{
    const struct cts_access_report after = {.run_path = report->after_path,
                                            .catalogue = report->after->catalogue,
                                            .result = report->after->result};
    uint64_t *numbers_before = NULL, *numbers_after = NULL;
    struct cts_json json;
    enum cts_status status = fingerprints_of(report->before, &numbers_before, error);
    if (!status) status = fingerprints_of(report->after, &numbers_after, error);
    if (!status) {
        begin(&json, options, file);
        begin_invocation(&json);
        status = write_notes(&json, &after, error);
    }
    if (!status) {
        begin_results(&json);
        for (size_t i = 0; i < report->diff->finding_count; i++) {
            const struct cts_diff_finding *const row = &report->diff->findings[i];
            struct result result = {report->before, row->before, 0, state_of(row->change)};
            if (row->after) {
                result.side = report->after;
                result.finding = row->after;
            }
            result.fingerprint =
                (row->after ? numbers_after
                            : numbers_before)[result.finding - result.side->result->findings];
            write_result(&json, options, &result);
        }
        status = end(&json, error);
    }
    free(numbers_before);
    free(numbers_after);
    return status;
}
