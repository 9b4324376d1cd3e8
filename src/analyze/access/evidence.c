/* Findings in words: their names, evidence and remedies, a sentence each. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/access/access-analysis.h"
#include "common/text-table.h"

const char *cts_finding_text(enum cts_finding_kind kind)
{
    static const char *const texts[] = {
#define X(name, text) text,
        CTS_FINDINGS(X)
#undef X
    };
    return kind < CTS_FINDING_KIND_COUNT ? texts[kind] : "?";
}

/* ---- faults ---- */

struct words {
    char text[160];
};

/* "thread 3 of CTA 7 in launch 2 at 0x7f00" */
static struct words example_words(const struct cts_catalogue *catalogue,
                                  const struct cts_access_example *example)
{
    struct words words = {"?"};
    if (example->known)
        snprintf(words.text, sizeof words.text,
                 "thread %" PRIu32 " of CTA %" PRIu32 " in launch %" PRIu32 " at 0x%" PRIx64,
                 example->thread, example->cta, catalogue->launches[example->launch].launch,
                 example->address);
    return words;
}

/* "'d_a'", or "allocation 4" where the variable is not known. */
static struct words allocation_words(const struct cts_catalogue *catalogue, size_t index)
{
    struct words words = {"no allocation"};
    if (index >= catalogue->allocation_count) return words;
    const struct cts_allocation *const a = &catalogue->allocations[index];
    if (a->variable)
        snprintf(words.text, sizeof words.text, "'%.80s' (%" PRIu64 " bytes)", a->variable,
                 a->size_bytes);
    else
        snprintf(words.text, sizeof words.text, "allocation %" PRIu32 " (%" PRIu64 " bytes)",
                 a->allocation, a->size_bytes);
    return words;
}

/* " in each of 4 instructions", or nothing for those of one member. */
static struct words members_words(const struct cts_finding *finding)
{
    struct words words = {""};
    if (finding->has_members)
        snprintf(words.text, sizeof words.text, " in each of %" PRIu32 " instructions",
                 finding->site_count);
    return words;
}

/* " in 3 launches", or nothing for one. */
static struct words launch_words(const struct cts_access_fault *fault)
{
    struct words words = {""};
    if (fault->launch_count > 1)
        snprintf(words.text, sizeof words.text, " in %" PRIu64 " launches", fault->launch_count);
    return words;
}

/* "8 bytes past the end of 'd_a' (64 bytes)" */
static void print_distance(const struct cts_catalogue *catalogue,
                           const struct cts_access_fault *fault, char *text, size_t text_bytes)
{
    const struct words where = allocation_words(catalogue, fault->allocation);
    const int64_t distance = fault->distance_bytes;
    if (fault->example.address < CTS_NULL_PAGE_BYTES)
        snprintf(text, text_bytes, "a null pointer");
    else if (fault->is_freed)
        snprintf(text, text_bytes, "in %s, freed before the launch", where.text);
    else if (fault->allocation != SIZE_MAX && distance < 0)
        snprintf(text, text_bytes, "%" PRIu64 " bytes before %s", -(uint64_t)distance, where.text);
    else if (fault->allocation != SIZE_MAX)
        snprintf(text, text_bytes, "%" PRId64 " bytes past the end of %s", distance, where.text);
    else
        snprintf(text, text_bytes, "nothing is allocated");
}

static void outside_evidence(const struct cts_catalogue *catalogue,
                             const struct cts_access_fault *fault, char *text, size_t text_bytes)
{
    const struct cts_counted accesses = cts_counted_text(fault->accesses, "access", "accesses");
    char where[240];
    print_distance(catalogue, fault, where, sizeof where);
    snprintf(text, text_bytes, "%s to %s%s; %s, %s", accesses.text,
             cts_counted_text(fault->bytes, "byte", "bytes").text, launch_words(fault).text,
             example_words(catalogue, &fault->example).text, where);
}

/* Whether the types that could tell are not recorded, as of unmodified GPU programs. */
static bool may_be_padding(const struct cts_catalogue *catalogue,
                           const struct cts_access_fault *fault)
{
    return fault->example.known && !fault->has_whole && !catalogue->sites[fault->example.site].type;
}

static void uninitialised_evidence(const struct cts_catalogue *catalogue,
                                   const struct cts_access_fault *fault, bool shared, char *text,
                                   size_t text_bytes)
{
    const struct words example = example_words(catalogue, &fault->example);
    const struct cts_counted reads = cts_counted_text(fault->accesses, "read", "reads");
    const struct cts_counted bytes = cts_counted_text(fault->bytes, "byte", "bytes");
    if (shared)
        snprintf(text, text_bytes, "%s of %s of shared memory%s that their CTA had not written; %s",
                 reads.text, bytes.text, launch_words(fault).text, example.text);
    else
        snprintf(text, text_bytes,
                 "%s of %s of %s%s that no kernel, copy, memset or host had written; %s%s",
                 reads.text, bytes.text, allocation_words(catalogue, fault->allocation).text,
                 launch_words(fault).text, example.text,
                 may_be_padding(catalogue, fault)
                     ? "; each of them also reads written bytes: no mistake if the others are "
                       "padding of structs (no types are recorded)"
                     : "");
}

const char *cts_race_scope_text(enum cts_race_scope scope)
{
    static const char *const texts[] = {[CTS_RACE_OF_CTAS] = "CTAs",
                                        [CTS_RACE_OF_WARPS] = "warps",
                                        [CTS_RACE_OF_LANES] = "lanes",
                                        [CTS_RACE_OF_COPY] = "a copy"};
    return texts[scope];
}

/* Inside CTAs. */
static void cta_race_evidence(const struct cts_catalogue *catalogue,
                              const struct cts_access_fault *fault, bool shared, char *text,
                              size_t text_bytes)
{
    static const char *const others[] = {
        [CTS_RACE_OF_WARPS] = "that another warp of the CTA accesses with no barrier in between",
        [CTS_RACE_OF_LANES] =
            "that another lane of the warp accesses with no __syncwarp() in between",
        [CTS_RACE_OF_COPY] = "by an asynchronous copy that has not completed when the bytes "
                             "are accessed again"};
    const struct cts_site *const site = &catalogue->sites[fault->other.site];
    const struct words where =
        shared ? (struct words){"shared memory"} : allocation_words(catalogue, fault->allocation);
    snprintf(text, text_bytes,
             "stores to %s of %s %s, in %s%s; %s and thread %" PRIu32 " (%s, line %" PRIu32 ")",
             cts_counted_text(fault->bytes, "byte", "bytes").text, where.text, others[fault->scope],
             cts_counted_text(fault->accesses, "CTA", "CTAs").text, launch_words(fault).text,
             example_words(catalogue, &fault->example).text, fault->other.thread,
             cts_operation_text(site->operation), site->line);
}

static void race_evidence(const struct cts_catalogue *catalogue,
                          const struct cts_access_fault *fault, char *text, size_t text_bytes)
{
    const struct cts_access_example *const other = &fault->other;
    struct words second = {""};
    if (other->known) {
        const struct cts_site *const site = &catalogue->sites[other->site];
        snprintf(second.text, sizeof second.text,
                 ", also thread %" PRIu32 " of CTA %" PRIu32 " (%s, line %" PRIu32 ")",
                 other->thread, other->cta, cts_operation_text(site->operation), site->line);
    }
    const bool is_cooperative =
        fault->example.known && catalogue->launches[fault->example.launch].cooperative;
    const bool is_load = fault->example.known &&
                         !cts_operation_writes(catalogue->sites[fault->example.site].operation);
    snprintf(text, text_bytes,
             is_load ? "plain loads of %s of %s%s that other CTAs of the launch update by atomics; "
                       "%s%s; %s"
                     : "stores to %s of %s%s that other CTAs of the launch also access; %s%s; %s",
             cts_counted_text(fault->bytes, "byte", "bytes").text,
             allocation_words(catalogue, fault->allocation).text, launch_words(fault).text,
             example_words(catalogue, &fault->example).text, second.text,
             is_cooperative ? "no grid barrier is recorded between the accesses"
                            : "their order is unknown");
}

static void fault_evidence(const struct cts_catalogue *catalogue, const struct cts_finding *finding,
                           bool shared, char *text, size_t text_bytes)
{
    const struct cts_access_fault *const fault = &finding->fault;
    if (finding->kind == CTS_FINDING_OUTSIDE)
        outside_evidence(catalogue, fault, text, text_bytes);
    else if (finding->kind == CTS_FINDING_UNINITIALISED)
        uninitialised_evidence(catalogue, fault, shared, text, text_bytes);
    else if (fault->scope == CTS_RACE_OF_CTAS)
        race_evidence(catalogue, fault, text, text_bytes);
    else
        cta_race_evidence(catalogue, fault, shared, text, text_bytes);
}

/* ---- costs ---- */

/* "4,096": a distance counts the same in either direction. */
static struct cts_scaled distance_words(int64_t distance)
{
    return cts_count_text(distance < 0 ? -(uint64_t)distance : (uint64_t)distance);
}

static double per_request(uint64_t sum, const struct cts_access_counts *counts)
{
    return counts->requests ? (double)sum / (double)counts->requests : 0;
}

/* Wide accesses go in phases of fewer lanes. */
static const char *phase_words(uint32_t width_bytes)
{
    if (width_bytes <= 4) return "";
    return width_bytes <= 8 ? " among the 16 lanes (8 bytes each) that are served together"
                            : " among the 8 lanes (16 bytes each) that are served together";
}

void cts_finding_evidence(const struct cts_catalogue *catalogue,
                          const struct cts_access_result *result, const struct cts_finding *finding,
                          char *text, size_t text_bytes)
{
    const struct cts_access_site *const site = &result->sites[finding->site];
    const struct cts_access_counts *const counts = &finding->counts;
    switch (finding->kind) {
    case CTS_FINDING_OUTSIDE:
    case CTS_FINDING_UNINITIALISED:
    case CTS_FINDING_RACE:
    case CTS_FINDING_LOCKSTEP:
        fault_evidence(catalogue, finding, site->space == CTS_SPACE_SHARED, text, text_bytes);
        return;
    case CTS_FINDING_BANK_CONFLICT:
        snprintf(
            text, text_bytes,
            "%.2f wavefronts per request where %.2f would do: bank conflicts of up to %u ways%s",
            per_request(counts->wavefronts, counts), per_request(counts->ideal_wavefronts, counts),
            finding->worst_ways, phase_words(catalogue->sites[site->site].width_bytes));
        return;
    case CTS_FINDING_STRUCT_STRIDE:
        snprintf(
            text, text_bytes,
            "neighbouring lanes are %u bytes apart and use %u of them%s (the kernel uses %u); %.2f "
            "sectors per request where %.2f would do",
            finding->struct_bytes, finding->field_bytes, members_words(finding).text,
            finding->used_bytes, per_request(counts->sectors, counts),
            per_request(counts->ideal_sectors, counts));
        return;
    case CTS_FINDING_BLOCKED:
        snprintf(text, text_bytes,
                 "each lane takes %u bytes side by side, %u at a time; %.2f sectors per request "
                 "where %.2f would do",
                 finding->struct_bytes, finding->field_bytes, per_request(counts->sectors, counts),
                 per_request(counts->ideal_sectors, counts));
        return;
    case CTS_FINDING_STRIDED:
        snprintf(
            text, text_bytes,
            "neighbouring lanes are %s bytes apart; %.2f sectors per request where %.2f would do",
            distance_words(site->stride_bytes).text, per_request(counts->sectors, counts),
            per_request(counts->ideal_sectors, counts));
        return;
    case CTS_FINDING_ROWS: {
        const uint32_t width = catalogue->sites[site->site].width_bytes;
        snprintf(text, text_bytes,
                 "a warp covers rows of %u lanes (%u bytes%s), %s bytes apart; %.2f sectors per "
                 "request where %.2f would do",
                 site->row_lanes, site->row_is_uniform ? width : site->row_lanes * width,
                 site->row_is_uniform ? ", the same for all" : "",
                 distance_words(site->row_pitch_bytes).text, per_request(counts->sectors, counts),
                 per_request(counts->ideal_sectors, counts));
        return;
    }
    case CTS_FINDING_REPEATED:
        snprintf(text, text_bytes,
                 "each warp loads the same bytes %.0f times, and the kernel does not write them",
                 (double)counts->distinct_bytes / (double)counts->warp_distinct_bytes);
        return;
    case CTS_FINDING_SCATTERED:
    case CTS_FINDING_MISALIGNED:
        snprintf(text, text_bytes, "%.2f sectors per request where %.2f would do",
                 per_request(counts->sectors, counts), per_request(counts->ideal_sectors, counts));
        return;
    case CTS_FINDING_FEW_LANES:
        snprintf(text, text_bytes, "on average %.1f of %.1f lanes are active",
                 per_request(counts->accesses, counts), per_request(counts->live_lanes, counts));
        return;
    case CTS_FINDING_ATOMIC_CONTENTION:
        snprintf(text, text_bytes,
                 "on average %.1f lanes of a warp queue behind another lane's update of the same "
                 "address",
                 per_request(counts->same_address_lanes, counts));
        return;
    case CTS_FINDING_LOCAL_MEMORY:
        snprintf(text, text_bytes, "%llu sectors of local memory",
                 (unsigned long long)counts->sectors);
        return;
    case CTS_FINDING_KIND_COUNT:
        break;
    }
    snprintf(text, text_bytes, "?");
}

const char *cts_finding_variable(const struct cts_catalogue *catalogue,
                                 const struct cts_access_result *result,
                                 const struct cts_finding *finding, char *text, size_t bytes)
{
    const char *const variable = catalogue->sites[result->sites[finding->site].site].variable;
    if (!variable || !finding->has_members) return variable;
    const int length = (int)cts_struct_name_length(variable);
    snprintf(text, bytes, "%.*s", length, variable);
    return text;
}

const char *cts_finding_remedy(const struct cts_finding *finding)
{
    switch (finding->kind) {
    case CTS_FINDING_OUTSIDE:
        if (finding->fault.example.address < CTS_NULL_PAGE_BYTES)
            return "pass an initialised pointer, or check it before use";
        return finding->fault.is_freed ? "free the memory only after the kernels that use it"
                                       : "check the index against the size, also in the last CTA, "
                                         "and the size of the allocation";
    case CTS_FINDING_UNINITIALISED:
        return "initialise the bytes before they are read: with a memset or copy, or for shared "
               "memory with a store and a barrier";
    case CTS_FINDING_LOCKSTEP:
        return "put __syncwarp() between the two accesses: lanes of a warp need not run in "
               "lockstep";
    case CTS_FINDING_RACE:
        if (finding->fault.scope == CTS_RACE_OF_COPY)
            return "wait for the copy (__pipeline_wait_prior(), cp.async.wait_group) and then at a "
                   "barrier before the memory is accessed";
        if (finding->fault.scope == CTS_RACE_OF_WARPS)
            return "put __syncthreads() between the two accesses; in a loop also between the end "
                   "of "
                   "one iteration and the start of the next";
        return "let only one CTA access each byte, use atomics, or split the kernel where one part "
               "needs the other's results";
    case CTS_FINDING_BANK_CONFLICT:
        if (finding->counts.irregular_requests * 2 > finding->counts.requests)
            return "conflicts depend on the data: keep several copies and spread the lanes over "
                   "them, or sort the indices";
        return finding->width_bytes > 8
                   ? "pad the rows of the shared array by 16 bytes (one vector: the rows stay "
                     "aligned), or swizzle its index"
               : finding->width_bytes > 4
                   ? "pad the rows of the shared array by 8 bytes (one access: the rows stay "
                     "aligned), or swizzle its index"
                   : "pad the rows of the shared array by one element, or swizzle its index";
    case CTS_FINDING_STRUCT_STRIDE:
        return finding->used_bytes >= finding->struct_bytes
                   ? "load whole structs (16 bytes per lane), or keep each field in an array of "
                     "its "
                     "own"
                   : "keep each field in an array of its own, so that unused fields are not loaded";
    case CTS_FINDING_BLOCKED:
        if (finding->struct_bytes <= 16)
            return "access the neighbours of a lane at once, as a vector (float2, float4), or "
                   "interleave the lanes: lane i takes element i of the warp's, then i + 32, and "
                   "so on";
        return "interleave the lanes: lane i takes element (or vector) i of the warp's, then i + "
               "32, and so on, instead of several neighbours";
    case CTS_FINDING_ROWS:
        if (finding->row_is_uniform)
            return "use blocks 32 threads wide, so that all lanes of a warp read one address, or "
                   "load through shared memory";
        return "align the rows: pad the row pitch and the first row to a multiple of 32 bytes, or "
               "use blocks 32 threads wide, so that a warp covers one row";
    case CTS_FINDING_REPEATED:
        return "load them once into registers or shared memory, before the loop";
    case CTS_FINDING_STRIDED:
        return "let neighbouring lanes take neighbouring elements: swap loops or indices, or go "
               "through shared memory";
    case CTS_FINDING_SCATTERED:
        return "sort or group the indices, so that lanes of a warp share sectors";
    case CTS_FINDING_MISALIGNED:
        return "start each warp at a multiple of 32 bytes: pad rows, or shift the index";
    case CTS_FINDING_FEW_LANES:
        return "compact the work, so that warps are full or idle, instead of masking lanes";
    case CTS_FINDING_ATOMIC_CONTENTION:
        if (finding->is_shared)
            return "combine within the warp first, or keep several copies and spread the lanes "
                   "over them";
        return "combine within the warp or in shared memory first, and let one lane do the atomic";
    case CTS_FINDING_LOCAL_MEMORY:
        return "index local arrays by constants (unrolled loops), or allow more registers per "
               "thread";
    case CTS_FINDING_KIND_COUNT:
        break;
    }
    return "?";
}
