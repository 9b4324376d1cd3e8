/* The communication analysis: the screenful, the notes on what the numbers are worth, and JSON. */
#include "report/comm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/text-table.h"
#include "common/wrapped-text.h"
#include "report/gaps-report.h"

enum { STRIDES_IN_JSON = 1000 };

/* ---- notes ---- */

void cts_comm_print_notes(const struct cts_comm_report *report, FILE *file)
{
    const struct cts_comm *const c = report->comm;
    const struct cts_losses losses = {.is_lower_bound = c->lower_bound,
                                      .hides_writers = true,
                                      .unrecorded_launches = c->unrecorded_launches,
                                      .dropped_accesses = c->dropped_accesses,
                                      .incomplete_files = c->incomplete_files};
    if (c->ignore_copies)
        cts_print_paragraph(file, 2,
                            "Note: copies are ignored; data that no kernel wrote is attributed to "
                            "the host");
    cts_print_attribution(c->paper_model, cts_catalogue_knows_host(report->catalogue), file);
    cts_print_losses(&losses, &report->catalogue->gaps, file);
    if (cts_catalogue_lacks_constants(report->catalogue))
        cts_print_paragraph(file, 2, "Note: loads of constant memory are not recorded");
    if (c->skipped_instructions)
        cts_print_paragraph(file, 2,
                            "Note: %s could not be instrumented: ctascope dump --table skipped",
                            cts_counted_text(c->skipped_instructions, "place", "places").text);
    if (c->unseen_allocations)
        cts_print_paragraph(
            file, 2,
            "Note: host writes to %s were not recorded: the %s that kernels wrote there are "
            "left out "
            "of the fraction",
            cts_counted_text(c->unseen_allocations, "managed, pinned or mapped allocation",
                             "managed, pinned or mapped allocations")
                .text,
            cts_bytes_text(c->total.unseen_written_bytes).text);
    if (c->unordered_pairs)
        cts_print_paragraph(
            file, 2,
            "Note: %s of launches and copies without stream or event ordering, %s between "
            "them%s",
            cts_counted_text(c->unordered_pairs, "pair", "pairs").text,
            cts_counted_text(c->unordered_transfers, "transfer", "transfers").text,
            c->unordered_transfers ? ": possible race" : "");
    if (c->total.conflict_bytes)
        cts_print_paragraph(
            file, 2,
            "Note: write conflicts: several CTAs of one launch wrote the same bytes, %s in total",
            cts_bytes_text(c->total.conflict_bytes).text);
    if (c->total.own_write_first_bytes)
        cts_print_paragraph(
            file, 2, "Note: the reading CTA had itself stored %s of the received bytes earlier",
            cts_bytes_text(c->total.own_write_first_bytes).text);
    if (c->carried_bytes)
        cts_print_paragraph(
            file, 2,
            "Note: device-to-device copies carried the writers of %s along; a byte read both in "
            "the original and in the copy counts twice",
            cts_bytes_text(c->carried_bytes).text);
}

/* ---- the screenful ---- */

static void print_line(FILE *file, const char *name, const char *text)
{
    cts_print_paragraph(file, 17, "  %-14s %s", name, text);
}

static void print_volume(FILE *file, const char *name, uint64_t unique, uint64_t access_bytes,
                         uint64_t accesses)
{
    cts_print_paragraph(file, 17, "  %-14s %10s unique %10s accessed %15s accesses", name,
                        cts_bytes_text(unique).text, cts_bytes_text(access_bytes).text,
                        cts_count_text(accesses).text);
}

/* CTAs of a cooperative launch can wait for each other and read what others of it wrote. */
static void print_exchange(const struct cts_comm_report *report, FILE *file)
{
    const struct cts_catalogue *const c = report->catalogue;
    const uint64_t bytes = report->comm->total.from_nobody_bytes;
    size_t launches = 0;
    for (size_t i = 0; i < c->launch_count; i++) launches += c->launches[i].cooperative;
    if (!launches || !bytes) return;
    char text[300];
    snprintf(text, sizeof text,
             "data that CTAs pass to each other inside %s (up to %s of \"unknown writers\"; "
             "see access)",
             cts_counted_text(launches, "cooperative launch", "cooperative launches").text,
             cts_bytes_text(bytes).text);
    print_line(file, "not counted", text);
}

static void print_totals(const struct cts_comm_report *report, FILE *file)
{
    const struct cts_comm *const c = report->comm;
    const struct cts_comm_counts *const t = &c->total;
    char text[440];
    snprintf(text, sizeof text, "%s: %s, %s, %s",
             cts_counted_text(c->superstep_count, "superstep", "supersteps").text,
             cts_counted_text(c->launch_count, "launch", "launches").text,
             cts_counted_text(c->copy_count, "copy", "copies").text,
             cts_counted_text(c->memset_count, "memset", "memsets").text);
    print_line(file, "order", text);
    print_volume(file, "read", t->global_read_unique_bytes,
                 t->global_load_bytes + t->global_atomic_bytes,
                 t->global_load_accesses + t->global_atomic_accesses);
    print_volume(file, "written", t->global_written_unique_bytes,
                 t->global_store_bytes + t->global_atomic_bytes,
                 t->global_store_accesses + t->global_atomic_accesses);
    print_volume(file, "received", t->received_bytes, t->received_access_bytes,
                 t->received_accesses);
    snprintf(text, sizeof text, "%s of %s written (%s)",
             cts_bytes_text(cts_comm_ratio_communicated(t)).text,
             cts_bytes_text(cts_comm_ratio_written(t)).text,
             cts_percent_text(cts_comm_ratio_communicated(t), cts_comm_ratio_written(t)).text);
    print_line(file, "communicated", text);
    snprintf(text, sizeof text, "kernels %s, host %s, unknown writers %s; host read back %s",
             cts_bytes_text(t->received_bytes).text, cts_bytes_text(t->from_host_bytes).text,
             cts_bytes_text(t->from_nobody_bytes).text, cts_bytes_text(t->host_read_bytes).text);
    print_line(file, "read from", text);
    print_exchange(report, file);
    const uint64_t shared_bytes =
        t->shared_load_bytes + t->shared_store_bytes + t->shared_atomic_bytes;
    if (shared_bytes) {
        snprintf(text, sizeof text, "%s loaded, %s stored, %s atomic",
                 cts_bytes_text(t->shared_load_bytes).text,
                 cts_bytes_text(t->shared_store_bytes).text,
                 cts_bytes_text(t->shared_atomic_bytes).text);
        print_line(file, "shared memory", text);
    }
}

/* The smallest key at which `share_percent` of all values are reached. */
static uint64_t quantile(const struct cts_map_entry *entries, size_t count, uint64_t total,
                         unsigned share_percent)
{
    const unsigned __int128 wanted = (unsigned __int128)total * share_percent;
    unsigned __int128 sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (unsigned __int128)entries[i].value * 100;
        if (sum >= wanted) return entries[i].key;
    }
    return 0;
}

static uint64_t sum_of_values(const struct cts_map_entry *entries, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) sum += entries[i].value;
    return sum;
}

static void print_sizes(const struct cts_comm *c, FILE *file)
{
    const struct cts_map_entry *const sizes = c->transfer_sizes;
    const size_t count = c->transfer_size_count;
    const uint64_t total = sum_of_values(sizes, count);
    char text[300];
    if (!total) {
        print_line(file, "transfers", "none");
        return;
    }
    size_t most = 0;
    for (size_t i = 1; i < count; i++)
        if (sizes[i].value > sizes[most].value) most = i;
    const struct cts_scaled least = cts_bytes_text(sizes[0].key);
    const struct cts_scaled largest = cts_bytes_text(sizes[count - 1].key);
    if (!strcmp(least.text, largest.text)) { /* "4 B to 4 B" says nothing */
        snprintf(text, sizeof text, "%s%s %s", cts_count_text(total).text,
                 total == 1 ? " of" : ", each", least.text);
        print_line(file, "transfers", text);
        return;
    }
    snprintf(text, sizeof text,
             "%s, sizes %s to %s; median %s, 90th percentile %s; most often %s (%s)",
             cts_count_text(total).text, least.text, largest.text,
             cts_bytes_text(quantile(sizes, count, total, 50)).text,
             cts_bytes_text(quantile(sizes, count, total, 90)).text,
             cts_bytes_text(sizes[most].key).text, cts_percent_text(sizes[most].value, total).text);
    print_line(file, "transfers", text);
}

static void print_degrees(const char *name, const struct cts_map_entry *degrees, size_t count,
                          FILE *file)
{
    struct cts_comm_degree all = {0};
    for (size_t i = 0; i < count; i++) {
        all.cta_count += degrees[i].value;
        all.sum += degrees[i].key * degrees[i].value;
        all.sum_of_squares += (unsigned __int128)degrees[i].key * degrees[i].key * degrees[i].value;
    }
    char text[200] = "-";
    if (all.cta_count && degrees[0].key == degrees[count - 1].key)
        snprintf(text, sizeof text, "%s for each of %s CTAs", cts_count_text(degrees[0].key).text,
                 cts_count_text(all.cta_count).text);
    else if (all.cta_count)
        snprintf(text, sizeof text, "mean %s +- %s (%s to %s) over %s CTAs",
                 cts_real_text(cts_comm_degree_mean(&all)).text,
                 cts_real_text(cts_comm_degree_deviation(&all)).text,
                 cts_count_text(degrees[0].key).text, cts_count_text(degrees[count - 1].key).text,
                 cts_count_text(all.cta_count).text);
    print_line(file, name, text);
}

static void print_bisection(const struct cts_comm *c, FILE *file)
{
    char text[200] = "";
    size_t length = 0;
    for (unsigned d = 0; d < 3; d++) {
        if (c->bisection_dimensions >> d & 1)
            length += (size_t)snprintf(
                text + length, sizeof text - length, "%s%c %s (%s)", d ? "  " : "", "xyz"[d],
                cts_bytes_text(c->bisection_bytes[d]).text,
                cts_percent_text(c->bisection_bytes[d], c->total.received_bytes).text);
        else
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%c -", d ? "  " : "",
                                       "xyz"[d]);
    }
    print_line(file, "bisection", text);
}

/* The three most frequent strides of a kind, over all kernels. */
static void print_strides(const struct cts_comm *c, enum cts_stride_kind kind, FILE *file)
{
    const struct cts_comm_kernel_strides *const all = &c->strides[0];
    char text[200] = "", name[40];
    size_t length = 0;
    const struct cts_stride_entry *last = NULL;
    if (!c->stride_count || !all->totals[kind]) return;
    for (unsigned n = 0; n < 3; n++) {
        const struct cts_stride_entry *best = NULL;
        for (size_t i = 0; i < all->counts[kind]; i++) {
            const struct cts_stride_entry *const e = &all->entries[kind][i];
            const bool is_listed =
                last && (e->count > last->count || (e->count == last->count && e <= last));
            if (!is_listed && (!best || e->count > best->count)) best = e;
        }
        if (!best) break;
        length +=
            (size_t)snprintf(text + length, sizeof text - length, "%s%s%lld B %s", n ? ", " : "",
                             best->width > 1 ? "about " : "", (long long)best->stride,
                             cts_percent_text(best->count, all->totals[kind]).text);
        last = best;
    }
    snprintf(name, sizeof name, "%s", cts_stride_kind_text(kind));
    snprintf(text + length, sizeof text - length, "  (%s)", name);
    print_line(file, kind == CTS_STRIDE_LOAD_LANE ? "strides" : "", text);
}

static void print_distances(const struct cts_comm *c, FILE *file)
{
    char text[200] = "";
    size_t length = 0;
    for (size_t i = 0; i < c->distance_count && i < 4; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s: %s", i ? ", " : "",
                                   cts_count_text(c->distances[i].distance).text,
                                   cts_bytes_text(c->distances[i].bytes).text);
    if (c->distance_count > 4) snprintf(text + length, sizeof text - length, ", ...");
    if (c->distance_count) print_line(file, "by distance", text);
}

/* A table of the summary: the first rows of a sheet under a heading. */
struct part {
    enum cts_comm_sheet which;
    const char *heading;
    struct cts_sheet_choice choice;
};

/* Nothing when the sheet has no rows. */
static enum cts_status print_part(const struct cts_comm_report *report, const struct part *part,
                                  FILE *file, struct cts_error *error)
{
    const size_t limit = part->choice.limit;
    struct cts_sheet sheet = cts_comm_sheet_of(report, part->which);
    sheet.full_names = report->full_names;
    /* The largest transfers are but some: how many more there are is not in the sheet. */
    if (part->which == CTS_COMM_SHEET_TOP && sheet.row_count > limit) sheet.row_count = limit;
    if (!sheet.row_count) return CTS_OK;
    return cts_sheet_part(&sheet, part->heading, &part->choice, file, error);
}

enum cts_status cts_comm_print_summary(const struct cts_comm_report *report, FILE *file,
                                       struct cts_error *error)
{
    static const struct part parts[] = {
        {CTS_COMM_SHEET_KERNEL, "Kernels", {.sort = "written", .limit = 12}},
        {CTS_COMM_SHEET_KERNEL_PAIR, "From kernel to kernel", {.sort = "bytes", .limit = 10}},
        {CTS_COMM_SHEET_ALLOCATION, "Allocations", {.sort = "received_bytes", .limit = 5}},
        {CTS_COMM_SHEET_SITE,
         "Memory instructions",
         {.sort = "communicated_access_bytes", .limit = 6}},
        {CTS_COMM_SHEET_TOP, "Largest transfers", {.limit = 5}},
    };
    const struct cts_comm *const c = report->comm;
    const struct cts_catalogue *const catalogue = report->catalogue;
    const struct cts_rank *const rank = catalogue->rank_count ? &catalogue->ranks[0] : NULL;
    const char *const command = rank ? (rank->arguments ? rank->arguments : rank->program) : NULL;
    cts_print_paragraph(file, 2, "Communication between CTAs in '%s'%s%s", report->run_path,
                        command ? " of " : "", command ? command : "");
    print_totals(report, file);
    print_sizes(c, file);
    print_degrees("in-degree", c->in_degrees, c->in_degree_count, file);
    print_degrees("out-degree", c->out_degrees, c->out_degree_count, file);
    print_bisection(c, file);
    print_distances(c, file);
    for (unsigned kind = 0; kind < CTS_STRIDE_KIND_COUNT; kind++)
        print_strides(c, (enum cts_stride_kind)kind, file);
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !status; i++)
        status = print_part(report, &parts[i], file, error);
    fputc('\n', file);
    cts_comm_print_notes(report, file);
    cts_print_paragraph(file, 6,
                        "More: --per kernel, launch, cta, transfer, superstep, stride, ...; "
                        "--address A; --format json or csv");
    return status;
}

/* ---- JSON ---- */

void cts_comm_json_soundness(struct cts_json *json, const struct cts_comm *c,
                             const struct cts_gaps *gaps)
{
    cts_json_key(json, "soundness");
    cts_json_open_object(json);
    cts_json_member_bool(json, "lower_bound", c->lower_bound);
    cts_json_member_u64(json, "unrecorded_launches", c->unrecorded_launches);
    cts_json_member_u64(json, "dropped_accesses", c->dropped_accesses);
    cts_json_member_u64(json, "incomplete_files", c->incomplete_files);
    cts_json_gaps(json, gaps);
    cts_json_member_u64(json, "skipped_instructions", c->skipped_instructions);
    cts_json_member_u64(json, "unseen_allocations", c->unseen_allocations);
    cts_json_member_u64(json, "unordered_pairs", c->unordered_pairs);
    cts_json_member_u64(json, "unordered_transfers", c->unordered_transfers);
    cts_json_member_u64(json, "unordered_bytes", c->unordered_bytes);
    cts_json_close_object(json);
}

static void write_totals(struct cts_json *json, const struct cts_comm_report *report)
{
    const struct cts_comm *const c = report->comm;
    const struct cts_sheet sheet = cts_comm_sheet_of(report, CTS_COMM_SHEET_RUN);
    cts_json_key(json, "totals");
    cts_json_open_object(json);
    cts_json_member_u64(json, "supersteps", c->superstep_count);
    cts_json_member_u64(json, "copies", c->copy_count);
    cts_json_member_u64(json, "memsets", c->memset_count);
    cts_json_member_u64(json, "records", c->record_count);
    cts_json_member_u64(json, "carried_bytes", c->carried_bytes);
    cts_sheet_json_row(&sheet, 0, json);
    cts_json_close_object(json);
}

static void write_all(struct cts_json *json, const struct cts_comm_report *report,
                      enum cts_comm_sheet which)
{
    const struct cts_sheet sheet = cts_comm_sheet_of(report, which);
    const struct cts_sheet_rows rows = cts_sheet_all(&sheet);
    cts_sheet_json(&sheet, &rows, json);
}

static enum cts_status write_chosen(struct cts_json *json, const struct cts_comm_report *report,
                                    enum cts_comm_sheet which,
                                    const struct cts_sheet_choice *choice, struct cts_error *error)
{
    const struct cts_sheet sheet = cts_comm_sheet_of(report, which);
    struct cts_sheet_rows rows;
    const enum cts_status status = cts_sheet_choose(&sheet, choice, &rows, error);
    if (status) return status;
    cts_sheet_json(&sheet, &rows, json);
    free(rows.rows);
    return CTS_OK;
}

/* The choice for one sheet: --launch looks into the sheet's own columns. */
static struct cts_sheet_choice choice_for(const struct cts_sheet_choice *choice,
                                          enum cts_comm_sheet which)
{
    struct cts_sheet_choice own = *choice;
    if (choice->only_column) cts_comm_launch_columns(which, &own.only_column, &own.or_column);
    return own;
}

/* Strides may be many: the most frequent. */
static enum cts_status write_strides(struct cts_json *json, const struct cts_comm_report *report,
                                     struct cts_error *error)
{
    const struct cts_sheet sheet = cts_comm_sheet_of(report, CTS_COMM_SHEET_STRIDE);
    const struct cts_sheet_choice choice = {.sort = "count", .limit = STRIDES_IN_JSON};
    struct cts_sheet_rows rows;
    const enum cts_status status = cts_sheet_choose(&sheet, &choice, &rows, error);
    if (status) return status;
    cts_sheet_json(&sheet, &rows, json);
    cts_json_member_u64(json, "strides_left_out", rows.found - rows.count);
    free(rows.rows);
    return CTS_OK;
}

enum cts_status cts_comm_print_json(const struct cts_comm_report *report,
                                    const struct cts_comm_lists *lists, FILE *file,
                                    struct cts_error *error)
{
    static const enum cts_comm_sheet always[] = {
        CTS_COMM_SHEET_KERNEL,          CTS_COMM_SHEET_LAUNCH,        CTS_COMM_SHEET_KERNEL_PAIR,
        CTS_COMM_SHEET_LAUNCH_PAIR,     CTS_COMM_SHEET_TRANSFER_SIZE, CTS_COMM_SHEET_IN_DEGREE,
        CTS_COMM_SHEET_OUT_DEGREE,      CTS_COMM_SHEET_TOP,           CTS_COMM_SHEET_SUPERSTEP,
        CTS_COMM_SHEET_DISTANCE,        CTS_COMM_SHEET_SITE,          CTS_COMM_SHEET_ALLOCATION,
        CTS_COMM_SHEET_ALLOCATION_PAIR, CTS_COMM_SHEET_DEVICE_PAIR,   CTS_COMM_SHEET_SM};
    struct cts_json json;
    cts_json_begin(&json, file);
    cts_json_open_object(&json);
    cts_json_member_string(&json, "format", "ctascope-comm");
    cts_json_member_u64(&json, "version", 1);
    cts_json_member_string(&json, "run", report->run_path);
    cts_json_member_string(&json, "model",
                           report->comm->paper_model     ? "paper"
                           : report->comm->ignore_copies ? "ignore copies"
                                                         : "default");
    cts_json_member_bool(&json, "per_stream", report->comm->per_stream);
    cts_json_member_string(&json, "host_activity",
                           cts_catalogue_knows_host(report->catalogue) ? "known" : "unknown");
    cts_comm_json_soundness(&json, report->comm, &report->catalogue->gaps);
    write_totals(&json, report);
    for (size_t i = 0; i < sizeof always / sizeof *always; i++) write_all(&json, report, always[i]);
    enum cts_status status = write_strides(&json, report, error);
    const struct cts_sheet_choice ctas = choice_for(lists->choice, CTS_COMM_SHEET_CTA);
    const struct cts_sheet_choice transfers = choice_for(lists->choice, CTS_COMM_SHEET_TRANSFER);
    if (!status && lists->ctas)
        status = write_chosen(&json, report, CTS_COMM_SHEET_CTA, &ctas, error);
    if (!status && lists->transfers) {
        cts_json_member_u64(&json, "transfers_left_out", report->comm->transfers_left_out);
        status = write_chosen(&json, report, CTS_COMM_SHEET_TRANSFER, &transfers, error);
    }
    if (!status) cts_json_close_object(&json);
    return cts_json_end_after(&json, status, error);
}
