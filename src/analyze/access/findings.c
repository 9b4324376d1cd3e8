/* What is wrong with a site, and what it costs at most.
 *
 * Each finding names a part of what a site asks of one system (sectors, wavefronts, atomic updates)
 * beyond its ideal; a site may have several, of different causes, that do not overlap: excess
 * sectors of dense requests are misalignment, of rows of lanes their pitch, of others strides or
 * scatter. Sites of one line that do the same (the copies of an unrolled loop, or of a template)
 * make one finding. Findings below 1% of their kernel's load of the system are counted and left
 * out; few active lanes also below 1% of its cost. Findings are ranked by cycles, over all kernels
 * and systems. A gain is never promised: `share` is its ceiling. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/access/access-model.h"
#include "common/array.h"

static const double share_min = 0.01; /* of the kernel's load of a system */
/* Of the kernel's cost: the ends of reductions have few lanes, in a system that may be idle else.
 */
static const double few_lanes_min = 0.01;
static const double idle_min = 1. / 8;              /* of the lanes, for the others to be few */
static const double idle_of_compacted_max = 3. / 4; /* fewer fill less than half of a sector */
enum { STRUCT_BYTES_MAX = 1024, STRUCT_BYTES_LIKELY = 256 };

struct findings {
    struct cts_finding *items;
    size_t count, capacity;
};

struct search {
    const struct cts_catalogue *catalogue;
    const struct cts_access_result *result;
    struct findings found;
    double kernel_load[CTS_SYSTEM_COUNT]; /* of the kernel at hand */
    double kernel_cost;                   /* in cycles */
    size_t begin, end;                    /* its sites */
    struct cts_error *error;
};

static enum cts_status add(struct search *search, const struct cts_finding *finding)
{
    const struct cts_access_site *const site = &search->result->sites[finding->site];
    if (!(finding->waste > 0)) return CTS_OK;
    if (CTS_ARRAY_RESERVE(&search->found, search->found.count + 1, search->error))
        return CTS_MEMORY;
    struct cts_finding *const more = &search->found.items[search->found.count++];
    *more = *finding;
    more->waste *= cts_access_cycles(more->system);
    more->site_count = 1;
    more->counts = site->counts;
    more->worst_ways = site->worst_ways;
    more->width_bytes = search->catalogue->sites[site->site].width_bytes;
    more->is_shared = site->space == CTS_SPACE_SHARED;
    more->row_is_uniform = site->row_is_uniform;
    return CTS_OK;
}

static int compare_texts(const char *a, const char *b)
{
    if (!a || !b) return (a != NULL) - (b != NULL);
    return strcmp(a, b);
}

static bool same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

bool cts_access_has_line(const struct cts_catalogue *catalogue, uint32_t site)
{
    static const char end[] = ".sass";
    const uint32_t source = catalogue->sites[site].source;
    if (source == CTS_NONE) return false;
    const char *const path = catalogue->sources[source].path;
    const size_t length = path ? strlen(path) : 0;
    return length < sizeof end || strcmp(path + length - (sizeof end - 1), end) != 0;
}

/* How much of a variable's name is that of the structs: "p" of "p->x", "s" of "s.a.x"; all of a
 * name without a member. */
size_t cts_struct_name_length(const char *variable)
{
    const char *found = NULL;
    for (const char *at = variable; (at = strstr(at, "->")); at += 2) found = at;
    if (!found) found = strchr(variable, '.');
    return found ? (size_t)(found - variable) : strlen(variable);
}

static bool same_structs(const char *a, const char *b)
{
    if (!a || !b) return false;
    const size_t length = cts_struct_name_length(a);
    return length == cts_struct_name_length(b) && !strncmp(a, b, length);
}

/* Members of one array of structs, wherever a kernel loads them: one change of its layout is for
 * all. By the structs' name; 0: the same. */
static int compare_structs(const char *a, const char *b)
{
    if (!a || !b) return (a != NULL) - (b != NULL);
    const size_t x = cts_struct_name_length(a), y = cts_struct_name_length(b);
    const int order = strncmp(a, b, x < y ? x : y);
    return order ? order : (x > y) - (x < y);
}

/* Of one kernel: 0 for findings that are one. What one kernel does alike without source lines is
 * one finding: only faults are named by instruction. */
static int compare_causes(const struct search *search, const struct cts_finding *a,
                          const struct cts_finding *b)
{
    const struct cts_access_site *const x = &search->result->sites[a->site];
    const struct cts_access_site *const y = &search->result->sites[b->site];
    const struct cts_site *const v = &search->catalogue->sites[x->site];
    const struct cts_site *const w = &search->catalogue->sites[y->site];
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    if (a->struct_bytes != b->struct_bytes) return a->struct_bytes < b->struct_bytes ? -1 : 1;
    if (x->space != y->space) return x->space < y->space ? -1 : 1;
    if (v->operation != w->operation) return v->operation < w->operation ? -1 : 1;
    const bool has_lines = cts_access_has_line(search->catalogue, x->site);
    if (has_lines != cts_access_has_line(search->catalogue, y->site)) return has_lines ? 1 : -1;
    if (has_lines && v->source != w->source) return v->source < w->source ? -1 : 1;
    if (has_lines && a->kind == CTS_FINDING_STRUCT_STRIDE && v->variable) {
        if (a->field_bytes != b->field_bytes) return a->field_bytes < b->field_bytes ? -1 : 1;
        return compare_structs(v->variable, w->variable);
    }
    if (has_lines && v->line != w->line) return v->line < w->line ? -1 : 1;
    if (!has_lines) {
        if (cts_finding_is_fault(a->kind) && x->site != y->site) /* no line: each stands alone */
            return x->site < y->site ? -1 : 1;
        if (v->width_bytes != w->width_bytes) return v->width_bytes < w->width_bytes ? -1 : 1;
        if (a->kind == CTS_FINDING_STRIDED && x->stride_bytes != y->stride_bytes)
            return x->stride_bytes < y->stride_bytes ? -1 : 1;
    }
    return compare_texts(v->variable, w->variable);
}

static int by_cause(const void *a, const void *b, void *search)
{
    const struct cts_finding *const x = a, *const y = b;
    const int order = compare_causes(search, x, y);
    if (order) return order;
    if (x->waste != y->waste) return x->waste > y->waste ? -1 : 1;
    return (x->site > y->site) - (x->site < y->site);
}

static bool same_variable(const struct search *search, const struct cts_finding *a,
                          const struct cts_finding *b)
{
    const struct cts_access_site *const sites = search->result->sites;
    const struct cts_site *const words = search->catalogue->sites;
    return compare_texts(words[sites[a->site].site].variable,
                         words[sites[b->site].site].variable) == 0;
}

/* Findings from `first` on belong to the kernel at hand: those of one cause become one. */
static void settle(struct search *search, size_t first)
{
    struct cts_finding *const items = search->found.items;
    const size_t count = search->found.count;
    size_t kept = first;
    if (count == first) return;
    qsort_r(items + first, count - first, sizeof *items, by_cause, search);
    for (size_t i = first; i < count;) {
        struct cts_finding sum = items[i];
        for (i++; i < count && !compare_causes(search, &sum, &items[i]); i++) {
            sum.waste += items[i].waste;
            sum.site_count++;
            sum.has_members |= !same_variable(search, &sum, &items[i]);
            cts_access_counts_add(&sum.counts, &items[i].counts);
            if (items[i].worst_ways > sum.worst_ways) sum.worst_ways = items[i].worst_ways;
        }
        sum.share = sum.waste / cts_access_cycles(sum.system) / search->kernel_load[sum.system];
        sum.is_small = sum.share < share_min || (sum.kind == CTS_FINDING_FEW_LANES &&
                                                 sum.waste < few_lanes_min * search->kernel_cost);
        items[kept++] = sum;
    }
    search->found.count = kept;
}

/* Whether nothing is known of what two sites access, which a kernel without source lines executes
 * as often: the pieces that each lane takes of its bytes, most likely. */
static bool are_pieces(const struct search *search, const struct cts_access_site *a,
                       const struct cts_access_site *b)
{
    const struct cts_catalogue *const catalogue = search->catalogue;
    return !cts_access_has_line(catalogue, a->site) && !cts_access_has_line(catalogue, b->site) &&
           !catalogue->sites[a->site].variable && !catalogue->sites[b->site].variable &&
           catalogue->sites[a->site].width_bytes == catalogue->sites[b->site].width_bytes &&
           a->counts.requests == b->counts.requests;
}

/* Whether `other` does to the structs of `site` what `site` does. */
static bool walks_alike(const struct search *search, const struct cts_access_site *site,
                        const struct cts_access_site *other)
{
    const struct cts_site *const sites = search->catalogue->sites;
    return other == site ||
           (other->space == site->space && other->stride_requests &&
            other->stride_bytes == site->stride_bytes &&
            sites[other->site].operation == sites[site->site].operation &&
            (are_pieces(search, site, other) ||
             same_structs(sites[other->site].variable, sites[site->site].variable)));
}

/* Whether a site before this one takes the same member. */
static bool is_counted(const struct search *search, const struct cts_access_site *site,
                       size_t index)
{
    const struct cts_site *const sites = search->catalogue->sites;
    const char *const member = sites[search->result->sites[index].site].variable;
    if (!member || !member[cts_struct_name_length(member)]) return false;
    for (size_t i = search->begin; i < index; i++) {
        const struct cts_access_site *const other = &search->result->sites[i];
        if (walks_alike(search, site, other) && same_text(sites[other->site].variable, member))
            return true;
    }
    return false;
}

/* Whether a site before this one is the same expression: a copy that unrolling made. */
static bool is_copy(const struct search *search, const struct cts_access_site *site, size_t index)
{
    const struct cts_site *const sites = search->catalogue->sites;
    const struct cts_site *const row = &sites[search->result->sites[index].site];
    if (row->source == CTS_NONE || !row->column) return false;
    for (size_t i = search->begin; i < index; i++) {
        const struct cts_access_site *const other = &search->result->sites[i];
        const struct cts_site *const first = &sites[other->site];
        if (first->source == row->source && first->line == row->line &&
            first->column == row->column && first->width_bytes == row->width_bytes &&
            same_text(first->variable, row->variable) && walks_alike(search, site, other))
            return true;
    }
    return false;
}

/* Bytes of a struct that the kernel's sites use which walk the same structs with the same stride:
 * each member is one field, as is each expression of a variable without one (its width). Sites of
 * a variable without a name stand alone, unless nothing has lines. */
static uint32_t used_of_struct(const struct search *search, const struct cts_access_site *site)
{
    uint64_t used = 0;
    for (size_t i = search->begin; i < search->end; i++) {
        const struct cts_access_site *const other = &search->result->sites[i];
        if (walks_alike(search, site, other) && !is_counted(search, site, i) &&
            !is_copy(search, site, i))
            used += search->catalogue->sites[other->site].width_bytes;
    }
    const uint64_t whole = (uint64_t)llabs(site->stride_bytes);
    return (uint32_t)(used < whole ? used : whole);
}

static bool is_scalar_type(const char *type)
{
    static const char *const scalars[] = {
        "bool",  "char",          "signed char",    "unsigned char",
        "short", "int",           "unsigned short", "unsigned int",
        "long",  "unsigned long", "long long",      "unsigned long long",
        "float", "double",        "__half",         "__nv_bfloat16"};
    for (size_t i = 0; type && i < sizeof scalars / sizeof *scalars; i++)
        if (!strcmp(type, scalars[i])) return true;
    return false;
}

/* CUDA's vectors of 2 and 4, which are aligned to their size. */
static bool is_vector_type(const char *type)
{
    static const char *const scalars[] = {"char",  "uchar",    "short",     "ushort",
                                          "int",   "uint",     "long",      "ulong",
                                          "float", "longlong", "ulonglong", "double"};
    const size_t length = type ? strlen(type) : 0;
    if (length < 2 || (type[length - 1] != '2' && type[length - 1] != '4')) return false;
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
        if (strlen(scalars[i]) == length - 1 && !strncmp(type, scalars[i], length - 1)) return true;
    return false;
}

/* Whether a site takes a part of a vector that a GPU takes at once (`uchar4 p = in[i]`): compiled
 * for the CPU device, its members may be several sites. */
static bool is_part_of_vector(const struct search *search, const struct cts_access_site *site)
{
    const struct cts_site *const sites = search->catalogue->sites;
    const struct cts_site *const row = &sites[site->site];
    if (row->source == CTS_NONE) return false;
    for (size_t i = search->begin; i < search->end; i++) {
        const struct cts_access_site *const other = &search->result->sites[i];
        const struct cts_site *const whole = &sites[other->site];
        if (walks_alike(search, site, other) && whole->source == row->source &&
            whole->line == row->line && is_vector_type(whole->type) &&
            (!whole->variable || !whole->variable[cts_struct_name_length(whole->variable)]))
            return true;
    }
    return false;
}

/* Whether lanes that lie so far apart walk structs: the variable is a member, or the kernel takes
 * several fields. Where nothing is known of the variable, if the distance is that of a likely
 * struct; a row of a matrix is further, mostly. */
static bool walks_structs(const struct search *search, const struct cts_access_site *site)
{
    const struct cts_site *const row = &search->catalogue->sites[site->site];
    const uint64_t stride = (uint64_t)llabs(site->stride_bytes);
    if (stride <= row->width_bytes || stride > STRUCT_BYTES_MAX) return false;
    if (is_part_of_vector(search, site)) return false; /* an array of vectors, not of structs */
    if (used_of_struct(search, site) > row->width_bytes) return true;
    if (row->variable) return strstr(row->variable, "->") || strchr(row->variable, '.');
    return stride <= STRUCT_BYTES_LIKELY;
}

/* Whether what the lanes walk are no structs, but arrays of which each lane takes several
 * neighbours, all of them: a blocked arrangement. */
static bool is_blocked(const struct search *search, const struct cts_access_site *site)
{
    const struct cts_site *const row = &search->catalogue->sites[site->site];
    const uint64_t stride = (uint64_t)llabs(site->stride_bytes);
    if (stride <= row->width_bytes || stride > STRUCT_BYTES_MAX) return false;
    if (used_of_struct(search, site) < stride) return false;
    if (!row->variable) return !cts_access_has_line(search->catalogue, site->site);
    return !row->variable[cts_struct_name_length(row->variable)] &&
           (is_scalar_type(row->type) || is_vector_type(row->type));
}

/* Excess sectors of requests whose lanes lie side by side neither as a whole nor in rows. */
static double excess_sectors(const struct cts_access_counts *counts)
{
    return (double)(counts->sectors - counts->ideal_sectors - counts->dense_excess_sectors -
                    counts->gap_excess_sectors - counts->row_excess_sectors);
}

/* Sectors that requests move beyond their ideal because lanes do not lie side by side. */
static enum cts_status find_layout(struct search *search, size_t index)
{
    const struct cts_access_site *const site = &search->result->sites[index];
    const struct cts_access_counts *const counts = &site->counts;
    const uint32_t width = search->catalogue->sites[site->site].width_bytes;
    const uint64_t stride = (uint64_t)llabs(site->stride_bytes);
    struct cts_finding finding = {
        .site = index, .system = CTS_SYSTEM_SECTORS, .waste = excess_sectors(counts)};
    if (site->space == CTS_SPACE_LOCAL || (stride <= 16 && is_part_of_vector(search, site)))
        return CTS_OK;
    const bool strided =
        site->stride_requests &&
        counts->strided_requests + counts->two_level_requests - site->row_requests >=
            counts->irregular_requests;
    finding.kind = strided ? CTS_FINDING_STRIDED : CTS_FINDING_SCATTERED;
    const bool blocked = is_blocked(search, site);
    if (strided && site->stride_requests * 2 > counts->requests &&
        (blocked || walks_structs(search, site))) {
        finding.kind = blocked ? CTS_FINDING_BLOCKED : CTS_FINDING_STRUCT_STRIDE;
        finding.field_bytes = width;
        finding.struct_bytes = (uint32_t)stride;
        finding.used_bytes = used_of_struct(search, site);
    }
    return add(search, &finding);
}

/* Whether the kernel may write what the site loads: it stores or updates the same variable, or one
 * of the two has no name. */
static bool may_change(const struct search *search, const struct cts_access_site *site)
{
    const struct cts_site *const sites = search->catalogue->sites;
    const struct cts_site *const load = &sites[site->site];
    for (size_t i = search->begin; i < search->end; i++) {
        const struct cts_access_site *const other = &search->result->sites[i];
        const struct cts_site *const row = &sites[other->site];
        if (other->space != site->space || !cts_operation_writes(row->operation)) continue;
        if (!load->variable || !row->variable || same_structs(load->variable, row->variable))
            return true;
    }
    return false;
}

/* Sectors of global loads that a warp has loaded before, where it loads the same bytes again and
 * again and nothing in the kernel writes them. */
static double repeated_sectors(const struct search *search, const struct cts_access_site *site)
{
    enum { OFTEN = 8 };
    const struct cts_access_counts *const counts = &site->counts;
    const struct cts_site *const row = &search->catalogue->sites[site->site];
    if (site->space != CTS_SPACE_GLOBAL || row->operation != CTS_LOAD || row->is_volatile ||
        !counts->warp_distinct_bytes ||
        counts->distinct_bytes < OFTEN * counts->warp_distinct_bytes || may_change(search, site))
        return 0;
    return (double)counts->ideal_sectors *
           (1 - (double)counts->warp_distinct_bytes / (double)counts->distinct_bytes);
}

/* The system that the requests of a space load. */
static enum cts_access_system system_of(const struct cts_access_site *site)
{
    return site->space == CTS_SPACE_SHARED ? CTS_SYSTEM_WAVEFRONTS : CTS_SYSTEM_SECTORS;
}

/* Warps of the kernel's launches. */
static uint64_t warps_of(const struct cts_catalogue *catalogue, uint32_t kernel)
{
    uint64_t warps = 0;
    for (size_t i = 0; i < catalogue->launch_count; i++) {
        const struct cts_launch *const launch = &catalogue->launches[i];
        const uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
        const uint64_t ctas = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
        if (launch->kernel == kernel)
            warps += ctas * ((threads + CTS_WARP_LANES - 1) / CTS_WARP_LANES);
    }
    return warps;
}

/* Whether one lane of a warp writes, at most once: the result of the warp or CTA. The copies of an
 * unrolled line count together. */
static bool publishes(const struct search *search, const struct cts_access_site *site)
{
    const struct cts_catalogue *const catalogue = search->catalogue;
    const struct cts_site *const row = &catalogue->sites[site->site];
    uint64_t requests = 0;
    if (!cts_operation_writes(row->operation) || site->counts.accesses != site->counts.requests)
        return false;
    for (size_t i = search->begin; i < search->end; i++) {
        const struct cts_access_site *const other = &search->result->sites[i];
        const struct cts_site *const copy = &catalogue->sites[other->site];
        const bool is_copy = cts_access_has_line(catalogue, site->site) &&
                             copy->source == row->source && copy->line == row->line &&
                             copy->operation == row->operation && other->space == site->space &&
                             (same_text(copy->variable, row->variable) || !row->variable);
        if (other == site || is_copy) requests += other->counts.requests;
    }
    return requests <= warps_of(catalogue, site->kernel);
}

/* Whether one lane of a warp exchanges one word again and again: a lock, or a flag that it waits
 * for.
 */
static bool spins(const struct search *search, const struct cts_access_site *site)
{
    const struct cts_site *const row = &search->catalogue->sites[site->site];
    const struct cts_access_counts *const counts = &site->counts;
    const bool exchanges = row->operation == CTS_ATOMIC_CAS || row->operation == CTS_ATOMIC_EXCH;
    return exchanges && counts->accesses == counts->requests &&
           counts->warp_distinct_bytes <=
               row->width_bytes * warps_of(search->catalogue, site->kernel);
}

/* Whether the lanes that pass a test lie side by side all the same, as in stream compaction. */
static bool is_compacted(const struct cts_access_counts *counts)
{
    return counts->irregular_requests * 2 > counts->requests &&
           excess_sectors(counts) * 20 < (double)counts->sectors;
}

/* What full warps would have saved: the share of inactive lanes; of global memory, where most
 * lanes are active, only what they leave unused in the sectors: neighbours that pass a test are as
 * cheap as the sectors that they fill, and compacted ones cost nothing more. Lanes that are few are
 * fewer than at the rim of a grid. A thread that looks at a flag again and again (a volatile load)
 * or raises it is alone on purpose, as is one that writes its warp's result. */
static double few_lanes_waste(const struct search *search, const struct cts_access_site *site)
{
    const struct cts_access_counts *const counts = &site->counts;
    const struct cts_site *const row = &search->catalogue->sites[site->site];
    if (!counts->live_lanes || counts->partial_requests * 5 < counts->requests)
        return 0;                                 /* the edges of a grid */
    if (site->space == CTS_SPACE_LOCAL) return 0; /* its sectors are a finding of their own */
    if (row->is_volatile && (row->operation == CTS_LOAD || counts->accesses == counts->requests))
        return 0;
    if (publishes(search, site) || spins(search, site)) return 0;
    const double idle = 1 - (double)counts->accesses / (double)counts->live_lanes;
    if (idle < idle_min) return 0;
    if (site->space != CTS_SPACE_SHARED && idle <= idle_of_compacted_max && is_compacted(counts))
        return 0;
    const double full = idle * (double)(counts->ideal_wavefronts + counts->ideal_sectors +
                                        counts->gap_excess_sectors);
    if (site->space == CTS_SPACE_SHARED || idle >= 0.5) return full;
    const double unused = (double)counts->ideal_sectors -
                          (double)counts->distinct_bytes / CTS_SECTOR_BYTES +
                          (double)counts->gap_excess_sectors;
    return fmin(unused, full);
}

static enum cts_status find_of_site(struct search *search, size_t index)
{
    const struct cts_access_site *const site = &search->result->sites[index];
    const struct cts_access_counts *const counts = &site->counts;
    const struct cts_finding others[] = {
        {.kind = CTS_FINDING_BANK_CONFLICT,
         .system = CTS_SYSTEM_WAVEFRONTS,
         .waste = (double)(counts->wavefronts - counts->ideal_wavefronts)},
        {.kind = CTS_FINDING_MISALIGNED, .waste = (double)counts->dense_excess_sectors},
        {.kind = CTS_FINDING_ROWS, .waste = (double)counts->row_excess_sectors},
        {.kind = CTS_FINDING_FEW_LANES,
         .system = system_of(site),
         .waste = few_lanes_waste(search, site)},
        {.kind = CTS_FINDING_ATOMIC_CONTENTION,
         .system = CTS_SYSTEM_UPDATES,
         .waste = (double)counts->same_address_lanes},
        {.kind = CTS_FINDING_LOCAL_MEMORY,
         .waste = site->space == CTS_SPACE_LOCAL ? (double)counts->sectors : 0},
        {.kind = CTS_FINDING_REPEATED,
         .system = CTS_SYSTEM_L1,
         .waste = repeated_sectors(search, site)},
    };
    enum cts_status status = find_layout(search, index);
    for (size_t i = 0; i < sizeof others / sizeof *others && !status; i++) {
        struct cts_finding finding = others[i];
        finding.site = index;
        status = add(search, &finding);
    }
    return status;
}

static int by_waste(const void *a, const void *b)
{
    const struct cts_finding *const x = a, *const y = b;
    if (x->waste != y->waste) return x->waste > y->waste ? -1 : 1;
    if (x->site != y->site) return x->site < y->site ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

/* ---- faults ---- */

/* Races are of two places: those of one line with two others are two. */
static int compare_others(const struct search *search, const struct cts_finding *x,
                          const struct cts_finding *y)
{
    const struct cts_access_fault *const a = &x->fault, *const b = &y->fault;
    if (a->scope != b->scope) return a->scope < b->scope ? -1 : 1;
    if (a->scope == CTS_RACE_OF_CTAS || !a->other.known || !b->other.known) return 0;
    const struct cts_site *const p = &search->catalogue->sites[a->other.site];
    const struct cts_site *const q = &search->catalogue->sites[b->other.site];
    if (p->source != q->source) return p->source < q->source ? -1 : 1;
    if (p->line != q->line) return p->line < q->line ? -1 : 1;
    return (p->operation > q->operation) - (p->operation < q->operation);
}

static int by_kernel_cause(const void *a, const void *b, void *state)
{
    const struct search *const search = state;
    const struct cts_finding *const x = a, *const y = b;
    const struct cts_access_site *const sites = search->result->sites;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (sites[x->site].kernel != sites[y->site].kernel)
        return sites[x->site].kernel < sites[y->site].kernel ? -1 : 1;
    const int order = compare_causes(search, x, y), others = compare_others(search, x, y);
    if (order) return order;
    if (others) return others;
    return (x->site > y->site) - (x->site < y->site);
}

static bool is_earlier(const struct cts_access_example *a, const struct cts_access_example *b)
{
    if (a->launch != b->launch) return a->launch < b->launch;
    return a->address < b->address;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Faults of sites that are one, as the copies of an unrolled loop are. */
static void join_faults(struct cts_finding *sum, const struct cts_finding *more)
{
    struct cts_access_fault *const fault = &sum->fault;
    /* Copies of a line race at the same bytes of the same CTAs. */
    const bool is_in_cta = fault->scope != CTS_RACE_OF_CTAS;
    const uint64_t accesses = is_in_cta ? larger(fault->accesses, more->fault.accesses)
                                        : fault->accesses + more->fault.accesses;
    const uint64_t bytes =
        is_in_cta ? larger(fault->bytes, more->fault.bytes) : fault->bytes + more->fault.bytes;
    const bool has_whole = fault->has_whole || more->fault.has_whole;
    const uint64_t launches = fault->launch_count > more->fault.launch_count
                                  ? fault->launch_count
                                  : more->fault.launch_count;
    if (is_earlier(&more->fault.example, &fault->example)) {
        *fault = more->fault;
        sum->site = more->site;
    }
    fault->accesses = accesses;
    fault->bytes = bytes;
    fault->launch_count = launches;
    fault->has_whole = has_whole;
    sum->site_count++;
    cts_access_counts_add(&sum->counts, &more->counts);
}

static int by_bytes(const void *a, const void *b)
{
    const struct cts_finding *const x = a, *const y = b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->fault.bytes != y->fault.bytes) return x->fault.bytes > y->fault.bytes ? -1 : 1;
    return (x->site > y->site) - (x->site < y->site);
}

static size_t site_of(const struct cts_access_result *result,
                      const struct cts_access_fault_row *row)
{
    for (size_t i = 0; i < result->site_count; i++) {
        const struct cts_access_site *const site = &result->sites[i];
        if (site->kernel == row->kernel && site->site == row->site && site->space == row->space)
            return i;
    }
    return SIZE_MAX;
}

static enum cts_status cts_access_find(const struct cts_catalogue *catalogue,
                                       struct cts_access_result *result, struct cts_error *error);

enum cts_status cts_access_faults_find(struct cts_access_model *model, struct cts_error *error)
{
    struct cts_access_result *const result = model->result;
    struct search search = {.catalogue = model->catalogue, .result = result, .error = error};
    for (size_t i = 0; i < model->faults.count && !result->packed_lanes; i++) {
        const struct cts_access_fault_row *const row = &model->faults.items[i];
        const size_t site = site_of(result, row);
        if (site == SIZE_MAX || !row->fault.accesses) continue;
        if (CTS_ARRAY_RESERVE(&search.found, search.found.count + 1, error)) {
            free(search.found.items);
            return CTS_MEMORY;
        }
        search.found.items[search.found.count++] =
            (struct cts_finding){.kind = row->kind,
                                 .site = site,
                                 .site_count = 1,
                                 .counts = result->sites[site].counts,
                                 .worst_ways = result->sites[site].worst_ways,
                                 .fault = row->fault};
    }
    struct cts_finding *const items = search.found.items;
    size_t kept = 0;
    if (search.found.count)
        qsort_r(items, search.found.count, sizeof *items, by_kernel_cause, &search);
    for (size_t i = 0; i < search.found.count; i++) {
        const bool joins =
            kept && items[kept - 1].kind == items[i].kind &&
            result->sites[items[kept - 1].site].kernel == result->sites[items[i].site].kernel &&
            !compare_causes(&search, &items[kept - 1], &items[i]) &&
            !compare_others(&search, &items[kept - 1], &items[i]);
        if (joins)
            join_faults(&items[kept - 1], &items[i]);
        else
            items[kept++] = items[i];
    }
    if (kept) qsort(items, kept, sizeof *items, by_bytes);
    result->findings = items;
    result->finding_count = kept;
    return cts_access_find(model->catalogue, result, error);
}

/* ---- all ---- */

/* Up to what a template is made of, or the parameters: "f" of "f<int>(int*)", "(anonymous
 * namespace)::f" of "(anonymous namespace)::f(int*)". */
static size_t template_name_length(const char *name)
{
    static const char unnamed[] = "(anonymous namespace)";
    size_t length = strcspn(name, "<(");
    while (!strncmp(name + length, unnamed, sizeof unnamed - 1)) {
        length += sizeof unnamed - 1;
        length += strcspn(name + length, "<(");
    }
    return length;
}

/* Templates: "f<int>(int*)" and "f<float>(float*)" have one name, "f". */
static bool same_kernel_name(const char *a, const char *b)
{
    if (!a || !b) return false;
    const size_t length = template_name_length(a);
    return length == template_name_length(b) && !strncmp(a, b, length);
}

/* Whether two findings are the same line of two instances of a template, or do the same in two of
 * which no lines are known. */
static bool are_instances(const struct search *search, const struct cts_finding *a,
                          const struct cts_finding *b)
{
    const struct cts_access_site *const sites = search->result->sites;
    const struct cts_catalogue *const catalogue = search->catalogue;
    return !compare_causes(search, a, b) &&
           same_kernel_name(cts_catalogue_kernel_name(catalogue, sites[a->site].kernel),
                            cts_catalogue_kernel_name(catalogue, sites[b->site].kernel));
}

/* The findings of all kernels: those of one line of a template become one, with the least share
 * that all of them have; those below the cut are counted and left out. */
static void join_kernels(struct search *search, struct cts_access_result *result, double cost)
{
    struct cts_finding *const items = search->found.items;
    const size_t count = search->found.count;
    double small_waste = 0;
    size_t kept = 0;
    if (!count) return;
    qsort_r(items, count, sizeof *items, by_cause, search);
    for (size_t i = 0; i < count; i++) {
        if (items[i].is_small) {
            result->small_findings++;
            small_waste += items[i].waste;
            continue;
        }
        size_t same = kept;
        while (same > 0 && !compare_causes(search, &items[same - 1], &items[i]) &&
               !are_instances(search, &items[same - 1], &items[i]))
            same--;
        if (!same || !are_instances(search, &items[same - 1], &items[i])) {
            items[kept++] = items[i];
            continue;
        }
        struct cts_finding *const sum = &items[same - 1];
        sum->waste += items[i].waste;
        sum->site_count += items[i].site_count;
        sum->has_members |= items[i].has_members || !same_variable(search, sum, &items[i]);
        if (items[i].share < sum->share) sum->share = items[i].share;
        if (items[i].worst_ways > sum->worst_ways) sum->worst_ways = items[i].worst_ways;
        cts_access_counts_add(&sum->counts, &items[i].counts);
    }
    search->found.count = kept;
    result->small_share = cost > 0 ? small_waste / cost : 0;
}

/* Whether the kernel is of a library that stands in for NVIDIA's (cublasSgemm, ...): what it reads
 * and writes is what the call asks for; its access pattern is ours. */
static bool is_library_kernel(const struct cts_catalogue *catalogue, uint32_t kernel)
{
    static const char ours[] = "ctascope::";
    const char *const name = cts_catalogue_kernel_name(catalogue, kernel);
    const char *const at =
        name ? strstr(name, ours) : NULL; /* of a template "void " stands before */
    return at && (at == name || at[-1] == ' ') && at < name + strcspn(name, "(<");
}

static enum cts_status cts_access_find(const struct cts_catalogue *catalogue,
                                       struct cts_access_result *result, struct cts_error *error)
{
    struct search search = {.catalogue = catalogue, .result = result, .error = error};
    enum cts_status status = CTS_OK;
    double cost = 0;
    if (result->packed_lanes) return CTS_OK;
    while (search.begin < result->site_count && !status) {
        const uint32_t kernel = result->sites[search.begin].kernel;
        memset(search.kernel_load, 0, sizeof search.kernel_load);
        search.kernel_cost = 0;
        for (search.end = search.begin;
             search.end < result->site_count && result->sites[search.end].kernel == kernel;
             search.end++) {
            const struct cts_access_counts *const counts = &result->sites[search.end].counts;
            for (enum cts_access_system s = 0; s < CTS_SYSTEM_COUNT; s++)
                search.kernel_load[s] += cts_access_load(counts, s);
            search.kernel_cost += cts_access_cost(counts);
        }
        cost += search.kernel_cost;
        const size_t first = search.found.count;
        const bool is_library = is_library_kernel(catalogue, kernel);
        result->library_kernels += is_library;
        for (size_t i = search.begin; i < search.end && !status && !is_library; i++)
            status = find_of_site(&search, i);
        settle(&search, first);
        search.begin = search.end;
    }
    join_kernels(&search, result, cost);
    if (search.found.count)
        qsort(search.found.items, search.found.count, sizeof *search.found.items, by_waste);
    const size_t count = search.found.count;
    struct {
        struct cts_finding *items;
        size_t count, capacity;
    } all = {result->findings, result->finding_count, result->finding_count};
    if (!status) status = CTS_ARRAY_RESERVE(&all, all.count + count, error);
    if (!status && count)
        memcpy(all.items + all.count, search.found.items, count * sizeof *all.items);
    free(search.found.items);
    result->findings = all.items;
    result->finding_count = all.count + (status ? 0 : count);
    return status;
}
