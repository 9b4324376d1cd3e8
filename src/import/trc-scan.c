/* The first pass: finds launches, kernels and sites, the largest CTA of each launch, and all that
 * is wrong with the files.
 *
 * Traces know no static instructions, so that *sites* are made up: the accesses of one kernel that
 * have the same operation and width are one. */
#include "import/trc-scan.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/utf8.h"

enum { PROGRESS_GROUPS = 1 << 16 };

/* The place in the scan, and what the group before had, since most groups have the same. */
struct scanning {
    struct cts_trc_scan *scan;
    struct cts_trc_file *file;
    uint32_t file_index;
    struct cts_trc_launch *launch; /* NULL: before the first */
    uint64_t site_key;             /* UINT64_MAX: none yet */
    struct cts_error *error;
};

static void note(struct scanning *s, enum cts_trc_problem problem, const uint8_t *at,
                 uint64_t count)
{
    if (!s->file->problems[problem].count)
        s->file->problems[problem].first_offset = (uint64_t)(at - s->file->bytes);
    s->file->problems[problem].count += count;
}

/* ---- kernels ---- */

/* The name as text: what is no UTF-8 and what a terminal would obey becomes '?'. */
static char *text_of(const char *bytes, size_t byte_count)
{
    char *const text = malloc(byte_count + 1);
    if (!text) return NULL;
    memcpy(text, bytes, byte_count);
    text[byte_count] = 0;
    for (size_t i = 0; i < byte_count;) {
        const size_t length = text[i] ? cts_utf8_length(text + i) : 0;
        if (!length || (uint8_t)text[i] < 0x20 || text[i] == 0x7f) text[i] = '?';
        i += length ? length : 1;
    }
    return text;
}

static enum cts_status add_kernel(struct scanning *s, char *name, uint32_t *kernel)
{
    struct cts_trc_scan *const scan = s->scan;
    const bool is_room = !CTS_ARRAY_RESERVE(&scan->kernels, scan->kernels.count + 1, s->error);
    uint64_t *const index = is_room ? cts_text_map_at(&scan->kernel_of_name, name, s->error) : NULL;
    if (!index || *index) free(name);
    if (!index) return CTS_MEMORY;
    if (!*index) {
        scan->kernels.items[scan->kernels.count++].name = name;
        *index = scan->kernels.count;
    }
    *kernel = (uint32_t)(*index - 1);
    return CTS_OK;
}

static enum cts_status begin_launch(struct scanning *s, const struct cts_trc_walk *walk,
                                    bool is_cut)
{
    struct cts_trc_scan *const scan = s->scan;
    if (scan->launches.count == CTS_TRC_LAUNCHES_MAX)
        return cts_fail(s->error, CTS_LIMIT, "byte %llu: more than %d launches",
                        (unsigned long long)(walk->entry - s->file->bytes), CTS_TRC_LAUNCHES_MAX);
    if (CTS_ARRAY_RESERVE(&scan->launches, scan->launches.count + 1, s->error)) return CTS_MEMORY;
    char *const name = text_of(walk->name, walk->name_bytes);
    if (!name) return cts_fail(s->error, CTS_MEMORY, "no memory for a kernel's name");
    struct cts_trc_launch launch = {.file = s->file_index,
                                    .begin = (uint64_t)(walk->at - s->file->bytes),
                                    .end = (uint64_t)(walk->at - s->file->bytes),
                                    .extents = {1, 1, 1},
                                    .is_cut = is_cut};
    const enum cts_status status = add_kernel(s, name, &launch.kernel);
    if (status) return status;
    s->launch = &scan->launches.items[scan->launches.count++];
    *s->launch = launch;
    s->site_key = UINT64_MAX;
    s->file->launch_count++;
    return CTS_OK;
}

/* ---- sites ---- */

static uint64_t site_key(uint32_t kernel, unsigned operation, uint32_t width_bytes)
{
    return (uint64_t)kernel << 20 | (uint64_t)operation << 16 | (width_bytes - 1);
}

static enum cts_status add_site(struct scanning *s, unsigned operation, uint32_t width_bytes)
{
    struct cts_trc_scan *const scan = s->scan;
    const uint64_t key = site_key(s->launch->kernel, operation, width_bytes);
    if (key == s->site_key) return CTS_OK;
    s->site_key = key;
    uint64_t *const index = cts_map_at(&scan->site_of_key, key, s->error); /* + 1 */
    if (!index) return CTS_MEMORY;
    if (*index) return CTS_OK;
    if (scan->sites.count == CTS_TRC_SITES_MAX)
        return cts_fail(s->error, CTS_LIMIT, "more than %d kinds of accesses", CTS_TRC_SITES_MAX);
    if (CTS_ARRAY_RESERVE(&scan->sites, scan->sites.count + 1, s->error)) return CTS_MEMORY;
    scan->sites.items[scan->sites.count++] =
        (struct cts_trc_site){s->launch->kernel, (uint8_t)operation, width_bytes};
    *index = scan->sites.count;
    return CTS_OK;
}

uint32_t cts_trc_site_of(const struct cts_trc_scan *scan, uint32_t kernel, unsigned operation,
                         uint32_t width_bytes)
{
    const uint64_t *const index =
        cts_map_find(&scan->site_of_key, site_key(kernel, operation, width_bytes));
    return (uint32_t)(*index - 1);
}

/* ---- groups ---- */

static void widen(struct cts_trc_launch *launch, uint64_t cta, uint32_t sm)
{
    const uint32_t ids[3] = {cts_trc_cta_x(cta), cts_trc_cta_y(cta), cts_trc_cta_z(cta)};
    for (unsigned i = 0; i < 3; i++)
        if (ids[i] >= launch->extents[i]) launch->extents[i] = (uint64_t)ids[i] + 1;
    if (sm >= launch->sm_count) launch->sm_count = (uint64_t)sm + 1;
}

/* How many records of the group touch memory that exists. */
static size_t count_good(const struct cts_trc_group *group, uint64_t record_bytes)
{
    size_t good = 0;
    for (size_t i = 0; i < group->record_count; i++)
        good += cts_trc_address_fits(cts_get_u64(group->addresses + i * group->stride_bytes),
                                     record_bytes);
    return good;
}

static enum cts_status scan_group(struct scanning *s, const struct cts_trc_walk *walk)
{
    const struct cts_trc_group *const group = &walk->group;
    struct cts_trc_launch *const launch = s->launch;
    const uint32_t size_bytes = cts_trc_size_bytes(group->descriptor);
    const unsigned operation = cts_trc_operation(s->file->format, cts_trc_type(group->descriptor));
    const uint64_t accesses = group->record_count * group->run_length;
    if (!launch)
        return cts_fail(s->error, CTS_FORMAT, "byte %llu: a record before the first kernel",
                        (unsigned long long)(walk->entry - s->file->bytes));
    widen(launch, group->cta, cts_trc_sm(group->descriptor));
    launch->touched++;
    if (!operation || !cts_trc_size_fits(size_bytes)) {
        note(s, operation ? CTS_TRC_PROBLEM_SIZE : CTS_TRC_PROBLEM_TYPE, walk->entry, accesses);
        launch->dropped += accesses;
        return CTS_OK;
    }
    const uint64_t good =
        count_good(group, (uint64_t)size_bytes * group->run_length) * group->run_length;
    if (group->wrapped) note(s, CTS_TRC_PROBLEM_WRAPPED, walk->entry, 1);
    if (good < accesses) note(s, CTS_TRC_PROBLEM_ADDRESS, walk->entry, accesses - good);
    launch->accesses += good;
    launch->dropped += accesses - good;
    return good ? add_site(s, operation, size_bytes) : CTS_OK;
}

/* ---- files ---- */

static enum cts_status scan_entries(struct scanning *s, struct cts_trc_walk *walk,
                                    struct cts_progress *progress)
{
    const uint8_t *shown = walk->at, *kept = walk->at;
    for (unsigned groups = 0;; groups++) {
        const enum cts_trc_entry entry = cts_trc_next(walk);
        enum cts_status status = CTS_OK;
        if (entry != CTS_TRC_GROUP && s->launch)
            s->launch->end = (uint64_t)(walk->entry - s->file->bytes);
        if (groups % PROGRESS_GROUPS == 0 || entry == CTS_TRC_END) {
            if (progress) cts_progress_add(progress, (uint64_t)(walk->at - shown));
            shown = walk->at;
            cts_trc_leave(walk, &kept);
        }
        switch (entry) {
        case CTS_TRC_GROUP:
            status = scan_group(s, walk);
            break;
        case CTS_TRC_KERNEL:
            status = begin_launch(s, walk, false);
            break;
        case CTS_TRC_END:
            return CTS_OK;
        case CTS_TRC_CUT_RECORD:
            note(s, CTS_TRC_PROBLEM_CUT, walk->entry, 1);
            if (!s->launch)
                return cts_fail(s->error, CTS_FORMAT, "byte %llu: a record before the first kernel",
                                (unsigned long long)(walk->entry - s->file->bytes));
            s->launch->dropped++;
            return CTS_OK;
        case CTS_TRC_CUT_KERNEL:
            note(s, CTS_TRC_PROBLEM_CUT, walk->entry, 1);
            return begin_launch(s, walk, true);
        case CTS_TRC_UNKNOWN:
            return cts_fail(s->error, CTS_FORMAT, "byte %llu: 0x%02x does not begin an entry",
                            (unsigned long long)(walk->entry - s->file->bytes), *walk->entry);
        }
        if (status) return status;
    }
}

static enum cts_status scan_file(struct cts_trc_scan *scan, uint32_t index,
                                 struct cts_progress *progress, struct cts_error *error)
{
    struct cts_trc_file *const file = &scan->files[index];
    struct scanning scanning = {
        .scan = scan, .file = file, .file_index = index, .site_key = UINT64_MAX, .error = error};
    size_t header_bytes;
    file->format = cts_trc_format_of(file->bytes, file->byte_count, &header_bytes);
    if (file->format == CTS_TRC_NONE)
        return cts_fail(error, CTS_FORMAT,
                        "it is neither a .trc of version 2 or 3 nor a trace of 2017");
    struct cts_trc_walk walk = {.format = file->format,
                                .at = file->bytes + header_bytes,
                                .end = file->bytes + file->byte_count};
    return scan_entries(&scanning, &walk, progress);
}

enum cts_status cts_trc_scan(struct cts_trc_scan *scan, struct cts_progress *progress,
                             struct cts_error *error)
{
    for (size_t i = 0; i < scan->file_count; i++)
        if (scan_file(scan, (uint32_t)i, progress, error))
            return cts_context(error, "cannot import '%s'", scan->files[i].path);
    return CTS_OK;
}

void cts_trc_scan_release(struct cts_trc_scan *scan)
{
    for (size_t i = 0; i < scan->kernels.count; i++) free(scan->kernels.items[i].name);
    free(scan->launches.items);
    free(scan->kernels.items);
    free(scan->sites.items);
    cts_text_map_release(&scan->kernel_of_name);
    cts_map_release(&scan->site_of_key);
}
