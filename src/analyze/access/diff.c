/* Matching two runs' findings: each gets a key from what stays when a program is edited: kind,
 * kernel, variable, operation, space, the file's name and the text of its line. Both lists are
 * sorted by key; findings of one key are paired in their order of amount. */
#include "analyze/access/diff.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/hash.h"

static const double changed_share = 0.01;

const char *cts_diff_change_text(enum cts_diff_change change)
{
    static const char *const texts[] = {
#define X(name, text) text,
        CTS_DIFF_CHANGES(X)
#undef X
    };
    return change < CTS_DIFF_CHANGE_COUNT ? texts[change] : "?";
}

/* ---- keys ---- */

struct key {
    const struct cts_finding *finding;
    const char *kernel, *variable, *file;
    const char *line; /* where its text begins; NULL: not known */
    size_t line_length;
    uint32_t line_number; /* without a text; else 0 */
    uint8_t operation, space;
    double amount;
};

static const char *name_of(const char *path)
{
    const char *const slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "";
}

/* The text of a line without the blanks around it. */
static const char *line_text(const char *text, uint32_t line, size_t *length)
{
    for (; text && line > 1; line--) {
        text = strchr(text, '\n');
        if (text) text++;
    }
    if (!text || !line) return NULL;
    while (*text == ' ' || *text == '\t') text++;
    *length = strcspn(text, "\r\n");
    while (*length && isspace((unsigned char)text[*length - 1])) --*length;
    return *length ? text : NULL;
}

/* What findings of one kind are compared by: waste; of faults: bytes. */
static double cts_finding_amount(const struct cts_finding *finding)
{
    return cts_finding_is_fault(finding->kind) ? (double)finding->fault.bytes : finding->waste;
}

static struct key key_of(const struct cts_diff_side *side, const struct cts_finding *finding)
{
    const struct cts_catalogue *const catalogue = side->catalogue;
    const struct cts_access_site *const row = &side->result->sites[finding->site];
    const struct cts_site *const site = &catalogue->sites[row->site];
    const struct cts_source *const source =
        site->source < catalogue->source_count ? &catalogue->sources[site->source] : NULL;
    const char *const kernel = cts_catalogue_kernel_name(catalogue, row->kernel);
    struct key key = {.finding = finding,
                      .kernel = kernel ? kernel : "",
                      .variable = site->variable ? site->variable : "",
                      .file = name_of(source ? source->path : site->function),
                      .operation = site->operation,
                      .space = row->space,
                      .amount = cts_finding_amount(finding)};
    if (source) key.line = line_text(source->text, site->line, &key.line_length);
    if (!key.line) key.line_number = site->line;
    return key;
}

static int compare_lines(const struct key *a, const struct key *b)
{
    const size_t shorter = a->line_length < b->line_length ? a->line_length : b->line_length;
    const int order = shorter ? memcmp(a->line, b->line, shorter) : 0;
    if (order) return order;
    if (a->line_length != b->line_length) return a->line_length < b->line_length ? -1 : 1;
    return (a->line_number > b->line_number) - (a->line_number < b->line_number);
}

static int compare_keys(const struct key *a, const struct key *b)
{
    if (a->finding->kind != b->finding->kind) return a->finding->kind < b->finding->kind ? -1 : 1;
    int order = strcmp(a->kernel, b->kernel);
    if (!order) order = strcmp(a->variable, b->variable);
    if (!order) order = strcmp(a->file, b->file);
    if (order) return order;
    if (a->operation != b->operation) return a->operation < b->operation ? -1 : 1;
    if (a->space != b->space) return a->space < b->space ? -1 : 1;
    return compare_lines(a, b);
}

static int by_key(const void *left, const void *right)
{
    const struct key *const a = left, *const b = right;
    const int order = compare_keys(a, b);
    if (order) return order;
    if (a->amount != b->amount) return a->amount > b->amount ? -1 : 1;
    return (a->finding > b->finding) - (a->finding < b->finding);
}

static struct key *keys_of(const struct cts_diff_side *side, struct cts_error *error)
{
    const size_t count = side->result->finding_count;
    struct key *const keys = cts_array_zeroed(count, sizeof *keys, error);
    for (size_t i = 0; keys && i < count; i++) keys[i] = key_of(side, &side->result->findings[i]);
    if (keys && count) qsort(keys, count, sizeof *keys, by_key);
    return keys;
}

static uint64_t hash_of(const struct key *key)
{
    uint64_t hash = cts_hash_text(CTS_HASH_START, cts_finding_text(key->finding->kind));
    hash = cts_hash_text(hash, key->kernel);
    hash = cts_hash_text(hash, key->variable);
    hash = cts_hash_text(hash, key->file);
    hash = cts_hash_text(hash, cts_operation_text(key->operation));
    hash = cts_hash_text(hash, cts_space_text(key->space));
    hash = cts_hash_bytes(hash, key->line, key->line_length);
    return cts_hash_bytes(hash, &key->line_number, sizeof key->line_number);
}

enum cts_status cts_finding_fingerprints(const struct cts_diff_side *side, uint64_t *fingerprints,
                                         struct cts_error *error)
{
    struct key *const keys = keys_of(side, error);
    if (!keys) return CTS_MEMORY;
    uint64_t number = 0;
    for (size_t i = 0; i < side->result->finding_count; i++) {
        number = i && !compare_keys(&keys[i - 1], &keys[i]) ? number + 1 : 0;
        fingerprints[keys[i].finding - side->result->findings] =
            cts_hash_bytes(hash_of(&keys[i]), &number, sizeof number);
    }
    free(keys);
    return CTS_OK;
}

/* ---- findings ---- */

static bool has_changed(const struct cts_finding *a, const struct cts_finding *b)
{
    const double before = cts_finding_amount(a), after = cts_finding_amount(b);
    if (a->struct_bytes != b->struct_bytes || a->field_bytes != b->field_bytes ||
        a->fault.is_freed != b->fault.is_freed)
        return true;
    return fabs(after - before) > changed_share * fmax(before, after);
}

static void add_finding(struct cts_access_diff *diff, const struct key *before,
                        const struct key *after)
{
    struct cts_diff_finding *const row = &diff->findings[diff->finding_count++];
    *row = (struct cts_diff_finding){.change = CTS_DIFF_SAME,
                                     .before = before ? before->finding : NULL,
                                     .after = after ? after->finding : NULL,
                                     .before_amount = before ? before->amount : 0,
                                     .after_amount = after ? after->amount : 0};
    if (!before)
        row->change = CTS_DIFF_NEW;
    else if (!after)
        row->change = CTS_DIFF_GONE;
    else if (has_changed(before->finding, after->finding))
        row->change = CTS_DIFF_CHANGED;
    diff->counts[row->change]++;
}

static const struct cts_finding *finding_of(const struct cts_diff_finding *row)
{
    return row->after ? row->after : row->before;
}

static double largest(double a, double b)
{
    return a > b ? a : b;
}

/* Faults first; then what is new, changed, gone; then the largest. */
static int by_weight(const void *left, const void *right)
{
    const struct cts_diff_finding *const a = left, *const b = right;
    const bool x = cts_finding_is_fault(finding_of(a)->kind);
    const bool y = cts_finding_is_fault(finding_of(b)->kind);
    const double more = largest(a->before_amount, a->after_amount);
    const double less = largest(b->before_amount, b->after_amount);
    if ((a->change == CTS_DIFF_SAME) != (b->change == CTS_DIFF_SAME))
        return a->change == CTS_DIFF_SAME ? 1 : -1;
    if (x != y) return x ? -1 : 1;
    if (a->change != b->change) return a->change < b->change ? -1 : 1;
    if (more != less) return more > less ? -1 : 1;
    return (finding_of(a) > finding_of(b)) - (finding_of(a) < finding_of(b));
}

static enum cts_status match_findings(const struct cts_diff_side *before,
                                      const struct cts_diff_side *after,
                                      struct cts_access_diff *diff, struct cts_error *error)
{
    const size_t m = before->result->finding_count, n = after->result->finding_count;
    struct key *const a = keys_of(before, error), *const b = keys_of(after, error);
    diff->findings = cts_array_zeroed(m + n, sizeof *diff->findings, error);
    const bool made = a && b && diff->findings;
    for (size_t i = 0, k = 0; made && (i < m || k < n);) {
        const int order = i == m ? 1 : k == n ? -1 : compare_keys(&a[i], &b[k]);
        add_finding(diff, order <= 0 ? &a[i] : NULL, order >= 0 ? &b[k] : NULL);
        i += order <= 0;
        k += order >= 0;
    }
    if (made && diff->finding_count)
        qsort(diff->findings, diff->finding_count, sizeof *diff->findings, by_weight);
    free(a);
    free(b);
    return made ? CTS_OK : CTS_MEMORY;
}

/* ---- kernels ---- */

static const char *kernel_name(const struct cts_catalogue *catalogue, uint32_t kernel)
{
    const char *const name = cts_catalogue_kernel_name(catalogue, kernel);
    return name ? name : "?";
}

static int by_name(const void *left, const void *right)
{
    const struct cts_diff_kernel *const a = left, *const b = right;
    return strcmp(a->name, b->name);
}

/* A row for each kernel of a side, several of one name as they come. */
static void list_kernels(const struct cts_diff_side *side, bool is_before,
                         struct cts_access_diff *diff)
{
    const struct cts_access_result *const result = side->result;
    struct cts_diff_kernel *row = NULL;
    for (size_t i = 0; i < result->site_count; i++) {
        const struct cts_access_site *const site = &result->sites[i];
        if (!i || site->kernel != result->sites[i - 1].kernel) {
            row = &diff->kernels[diff->kernel_count++];
            *row = (struct cts_diff_kernel){.name = kernel_name(side->catalogue, site->kernel),
                                            .is_before = is_before,
                                            .is_after = !is_before};
            for (size_t k = 0; k < side->catalogue->launch_count; k++)
                if (side->catalogue->launches[k].kernel == site->kernel)
                    ++*(is_before ? &row->before_launches : &row->after_launches);
        }
        cts_access_counts_add(is_before ? &row->before : &row->after, &site->counts);
        cts_access_counts_add(is_before ? &diff->before : &diff->after, &site->counts);
    }
}

static double kernel_cost(const struct cts_diff_kernel *kernel)
{
    return largest(cts_access_cost(&kernel->before), cts_access_cost(&kernel->after));
}

static int by_cost(const void *left, const void *right)
{
    const struct cts_diff_kernel *const a = left, *const b = right;
    const double x = kernel_cost(a), y = kernel_cost(b);
    if (x != y) return x > y ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void join_kernels(struct cts_access_diff *diff)
{
    size_t kept = 0;
    if (!diff->kernel_count) return;
    qsort(diff->kernels, diff->kernel_count, sizeof *diff->kernels, by_name);
    for (size_t i = 1; i < diff->kernel_count; i++) {
        const struct cts_diff_kernel *const more = &diff->kernels[i];
        struct cts_diff_kernel *const last = &diff->kernels[kept];
        if (strcmp(last->name, more->name)) {
            diff->kernels[++kept] = *more;
            continue;
        }
        last->is_before |= more->is_before;
        last->is_after |= more->is_after;
        last->before_launches += more->before_launches;
        last->after_launches += more->after_launches;
        cts_access_counts_add(&last->before, &more->before);
        cts_access_counts_add(&last->after, &more->after);
    }
    diff->kernel_count = kept + 1;
    qsort(diff->kernels, diff->kernel_count, sizeof *diff->kernels, by_cost);
}

static size_t most_kernels(const struct cts_access_result *result)
{
    size_t count = 0;
    for (size_t i = 0; i < result->site_count; i++)
        count += !i || result->sites[i].kernel != result->sites[i - 1].kernel;
    return count;
}

/* ---- all ---- */

enum cts_status cts_access_diff(const struct cts_diff_side *before,
                                const struct cts_diff_side *after, struct cts_access_diff *diff,
                                struct cts_error *error)
{
    *diff = (struct cts_access_diff){0};
    diff->kernels = cts_array_zeroed(most_kernels(before->result) + most_kernels(after->result),
                                     sizeof *diff->kernels, error);
    enum cts_status status = diff->kernels ? CTS_OK : CTS_MEMORY;
    if (!status) status = match_findings(before, after, diff, error);
    if (!status) {
        list_kernels(before, true, diff);
        list_kernels(after, false, diff);
        join_kernels(diff);
    } else {
        cts_access_diff_release(diff);
    }
    return status;
}

void cts_access_diff_release(struct cts_access_diff *diff)
{
    free(diff->findings);
    free(diff->kernels);
    *diff = (struct cts_access_diff){0};
}

double cts_diff_growth(const struct cts_access_diff *diff, const struct cts_diff_kernel *kernel)
{
    if (kernel && !(kernel->is_before && kernel->is_after)) return 0;
    const double before = cts_access_cost(kernel ? &kernel->before : &diff->before);
    const double after = cts_access_cost(kernel ? &kernel->after : &diff->after);
    if (before > 0) return after / before - 1;
    return after > 0 ? INFINITY : 0;
}
