/* A run becomes a trace folder of cuda-profile (paper 002, appendix B.1.5): a trace per launch,
 * metadata per kernel, run.json. What its format has no place for, the exact operation, a
 * site's variable and where shared memory begins, are members that its own page passes over and our
 * import reads. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/array.h"
#include "common/json.h"
#include "common/map.h"
#include "common/output-file.h"
#include "common/packing/packed-output.h"
#include "common/remove-folder.h"
#include "common/unfinished.h"
#include "import/folder.h"
#include "import/select.h"

enum { NAME_BYTES = 100 };

/* Places and types of a kernel, numbered as they come. */
struct kernel {
    struct cts_map places; /* site: index + 1 */
    struct cts_folder_texts types;
    uint32_t *sites; /* by place */
    size_t place_count, place_capacity;
    char file[NAME_BYTES]; /* what its files begin with */
};

struct exporting {
    const struct cts_catalogue *catalogue;
    const struct cts_export_text_options *options;
    struct cts_export_result *result;
    struct cts_error *error;
    struct kernel *kernels; /* by id */
    struct cts_folder_texts traces;
    struct cts_packed_output output; /* .file: NULL while none is open */
    struct cts_json json;
    char *folder;   /* where it is made; it gets its name when it is whole */
    int unfinished; /* its number in common/unfinished.h */
    char *path;
    uint64_t timestamp;
};

/* ---- files ---- */

static enum cts_status open_file(struct exporting *e, const char *name, bool packed)
{
    if (asprintf(&e->path, "%s/%s", e->folder, name) < 0) {
        e->path = NULL;
        return cts_fail(e->error, CTS_MEMORY, "no memory for a path");
    }
    const enum cts_status status = cts_packed_output_open(e->path, packed, &e->output, e->error);
    if (status) return status;
    cts_json_begin(&e->json, e->output.file);
    if (e->options->indented)
        cts_json_open_object(&e->json);
    else
        cts_json_open_object_row(&e->json);
    return CTS_OK;
}

static enum cts_status close_file(struct exporting *e)
{
    cts_json_close_object(&e->json);
    enum cts_status status = cts_json_end(&e->json, e->error);
    if (status) status = cts_context(e->error, "cannot write '%s'", e->path);
    status = cts_packed_output_close(&e->output, status, e->error);
    free(e->path);
    e->path = NULL;
    return status;
}

static void put_extents(struct cts_json *json, const char *key, const uint32_t extents[3])
{
    cts_json_key(json, key);
    cts_json_open_object_row(json);
    cts_json_member_u64(json, "x", extents[0]);
    cts_json_member_u64(json, "y", extents[1]);
    cts_json_member_u64(json, "z", extents[2]);
    cts_json_close_object(json);
}

/* As the original writes addresses. */
static void put_hex(struct cts_json *json, const char *key, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "0x%016llX", (unsigned long long)number);
    cts_json_member_string(json, key, text);
}

/* ---- kernels ---- */

static const char *name_of(const struct exporting *e, uint32_t kernel)
{
    const char *const name = e->catalogue->kernels[kernel].name;
    return name ? name : "";
}

/* Files are called after the kernel: its name without parameters, and its id if another one's is
 * the same. */
static void name_files(struct exporting *e, uint32_t kernel)
{
    char *const file = e->kernels[kernel].file;
    const char *const name = name_of(e, kernel);
    size_t length = 0;
    for (; name[length] && name[length] != '(' && length < NAME_BYTES - 16; length++)
        file[length] = (char)(isalnum((unsigned char)name[length]) ? name[length] : '_');
    if (!length) file[length++] = '_';
    file[length] = '\0';
    for (uint32_t k = 0; k < kernel; k++)
        if (!strcmp(e->kernels[k].file, file)) {
            snprintf(file + length, NAME_BYTES - length, "_%u", kernel);
            break;
        }
}

static enum cts_status place_of(struct exporting *e, struct kernel *kernel, uint32_t site,
                                size_t *place)
{
    uint64_t *const known = cts_map_at(&kernel->places, site, e->error);
    if (!known) return CTS_MEMORY;
    if (!*known) {
        if (kernel->place_count == kernel->place_capacity &&
            cts_array_grow((void **)&kernel->sites, &kernel->place_capacity,
                           kernel->place_count + 1, sizeof *kernel->sites, e->error))
            return CTS_MEMORY;
        kernel->sites[kernel->place_count++] = site;
        *known = kernel->place_count;
    }
    *place = (size_t)*known - 1;
    return CTS_OK;
}

static enum cts_status type_of(struct exporting *e, struct kernel *kernel, const char *type,
                               int64_t *index)
{
    *index = CTS_FOLDER_NO_INDEX;
    if (!type) return CTS_OK;
    for (size_t i = 0; i < kernel->types.count; i++)
        if (!strcmp(kernel->types.items[i], type)) {
            *index = (int64_t)i;
            return CTS_OK;
        }
    if (CTS_ARRAY_RESERVE(&kernel->types, kernel->types.count + 1, e->error)) return CTS_MEMORY;
    char *const copy = strdup(type);
    if (!copy) return cts_fail(e->error, CTS_MEMORY, "no memory for a type");
    *index = (int64_t)kernel->types.count;
    kernel->types.items[kernel->types.count++] = copy;
    return CTS_OK;
}

static const struct cts_source *source_of(const struct exporting *e, uint32_t source)
{
    return source < e->catalogue->source_count ? &e->catalogue->sources[source] : NULL;
}

static void put_places(struct exporting *e, const struct kernel *kernel)
{
    cts_json_key(&e->json, "locations");
    cts_json_open_array(&e->json);
    for (size_t i = 0; i < kernel->place_count; i++) {
        const struct cts_site *const site = &e->catalogue->sites[kernel->sites[i]];
        const struct cts_source *const source = source_of(e, site->source);
        cts_json_open_object_row(&e->json);
        cts_json_member_string(&e->json, "name", cts_operation_text(site->operation));
        cts_json_member_string(&e->json, "file", source && source->path ? source->path : "");
        cts_json_member_u64(&e->json, "line", site->line);
        if (site->variable) cts_json_member_string(&e->json, "variable", site->variable);
        cts_json_close_object(&e->json);
    }
    cts_json_close_array(&e->json);
}

static enum cts_status write_metadata(struct exporting *e, uint32_t id)
{
    const struct kernel *const kernel = &e->kernels[id];
    const struct cts_kernel *const row = &e->catalogue->kernels[id];
    const struct cts_source *const source = source_of(e, row->source);
    char name[NAME_BYTES + 32];
    snprintf(name, sizeof name, "%s.metadata.json", kernel->file);
    enum cts_status status = open_file(e, name, false);
    if (status) return status;
    cts_json_member_string(&e->json, "type", "metadata");
    cts_json_member_string(&e->json, "kernel", name_of(e, id));
    put_places(e, kernel);
    cts_json_key(&e->json, "typeMap");
    cts_json_open_array_row(&e->json);
    for (size_t i = 0; i < kernel->types.count; i++)
        cts_json_string(&e->json, kernel->types.items[i]);
    cts_json_close_array(&e->json);
    cts_json_key(&e->json, "nameMap");
    cts_json_open_array_row(&e->json);
    cts_json_close_array(&e->json);
    cts_json_key(&e->json, "source");
    cts_json_open_object(&e->json);
    cts_json_member_string(&e->json, "file", source && source->path ? source->path : "");
    cts_json_member_u64(&e->json, "line", row->line);
    cts_json_member_string(&e->json, "content", source && source->text ? source->text : "");
    cts_json_close_object(&e->json);
    return close_file(e);
}

/* ---- launches ---- */

static void put_allocation(struct exporting *e, const struct cts_allocation *a, unsigned space)
{
    char location[4200];
    snprintf(location, sizeof location, "%s%s%.0u", a->path ? a->path : "", a->path ? ":" : "",
             a->path ? a->line : 0);
    cts_json_open_object_row(&e->json);
    put_hex(&e->json, "address", a->address);
    cts_json_member_u64(&e->json, "size", a->size_bytes);
    cts_json_member_u64(&e->json, "elementSize", a->element_bytes);
    cts_json_member_u64(&e->json, "space", space);
    cts_json_member_string(&e->json, "typeString", a->type ? a->type : "");
    cts_json_member_string(&e->json, "nameString", a->variable ? a->variable : "");
    cts_json_member_string(&e->json, "location", location);
    cts_json_member_bool(&e->json, "active", true);
    cts_json_close_object(&e->json);
}

static bool is_same(const char *a, const char *b)
{
    return a && b && !strcmp(a, b);
}

/* Shared variables of the kernel's own, at their offsets. */
static void put_shared(struct exporting *e, const struct cts_kernel *kernel)
{
    for (size_t i = 0; i < e->catalogue->variable_count; i++) {
        const struct cts_variable *const v = &e->catalogue->variables[i];
        if (v->module != kernel->module || !is_same(v->kind, "shared") ||
            !is_same(v->function, kernel->name))
            continue;
        const struct cts_source *const source = source_of(e, v->source);
        const struct cts_allocation as = {.address = v->address,
                                          .size_bytes = v->size_bytes,
                                          .type = v->type,
                                          .variable = v->name,
                                          .path = source ? source->path : NULL,
                                          .line = v->line};
        put_allocation(e, &as, CTS_FOLDER_SHARED);
    }
}

static enum cts_status begin_launch(void *state, const struct cts_launch *launch,
                                    struct cts_error *error)
{
    struct exporting *const e = state;
    const struct cts_catalogue *const catalogue = e->catalogue;
    const struct kernel *const kernel = &e->kernels[launch->kernel];
    char name[NAME_BYTES + 64];
    snprintf(name, sizeof name, "%s-%zu.trace%s.json", kernel->file, e->traces.count,
             e->options->packed ? ".gzip" : "");
    if (CTS_ARRAY_RESERVE(&e->traces, e->traces.count + 1, error)) return CTS_MEMORY;
    if (!(e->traces.items[e->traces.count] = strdup(name)))
        return cts_fail(error, CTS_MEMORY, "no memory for a name");
    e->traces.count++;
    const enum cts_status status = open_file(e, name, e->options->packed);
    if (status) return status;
    e->timestamp = 0;
    const struct cts_rank *const rank = cts_catalogue_find_rank(catalogue, launch->rank);
    const double zero_ms = rank ? ((double)rank->unix_start_ns - (double)rank->start_ns) / 1e6 : 0;
    cts_json_member_string(&e->json, "type", "trace");
    cts_json_member_string(&e->json, "kernel", name_of(e, launch->kernel));
    cts_json_member_double(&e->json, "start", zero_ms + (double)launch->start_ns / 1e6);
    cts_json_member_double(&e->json, "end", zero_ms + (double)launch->end_ns / 1e6);
    put_extents(&e->json, "gridDim", launch->grid);
    put_extents(&e->json, "blockDim", launch->block);
    cts_json_member_u64(&e->json, "warpSize", CTS_WARP_LANES);
    cts_json_member_u64(&e->json, "bankSize", 4);
    put_hex(&e->json, "sharedBase", 0);
    cts_json_key(&e->json, "allocations");
    cts_json_open_array(&e->json);
    for (size_t i = 0; i < catalogue->allocation_count; i++) {
        const struct cts_allocation *const a = &catalogue->allocations[i];
        if (a->rank == launch->rank && a->op < launch->op && launch->op < a->freed_op)
            put_allocation(e, a, CTS_FOLDER_GLOBAL);
    }
    put_shared(e, &catalogue->kernels[launch->kernel]);
    cts_json_close_array(&e->json);
    cts_json_key(&e->json, "warps");
    cts_json_open_array(&e->json);
    return CTS_OK;
}

static uint64_t folder_space(uint8_t space)
{
    return space == CTS_SPACE_SHARED     ? CTS_FOLDER_SHARED
           : space == CTS_SPACE_CONSTANT ? CTS_FOLDER_CONSTANT
           : space == CTS_SPACE_LOCAL    ? CTS_FOLDER_LOCAL
                                         : CTS_FOLDER_GLOBAL;
}

/* One word as the original writes it; several, which it has no place for, as a member of our own.
 */
static void put_value(struct exporting *e, const uint64_t *words, unsigned word_count)
{
    char text[2 + 16 * CTS_FOLDER_WORDS_MAX + 1] = "0x";
    if (word_count == 1) {
        put_hex(&e->json, "value", *words);
        return;
    }
    cts_json_member_string(&e->json, "value", "");
    if (!word_count || word_count > CTS_FOLDER_WORDS_MAX) return;
    for (unsigned i = 0; i < word_count; i++)
        snprintf(text + 2 + 16 * i, 17, "%016llx", (unsigned long long)words[word_count - 1 - i]);
    cts_json_member_string(&e->json, "values", text);
}

static void put_lanes(struct exporting *e, const struct cts_launch *launch,
                      const struct cts_access *access)
{
    const uint32_t *const block = launch->block;
    const uint64_t row = block[0] ? block[0] : 1, plane = row * (block[1] ? block[1] : 1);
    uint64_t addresses[CTS_WARP_LANES];
    const uint64_t *value = access->values;
    cts_access_addresses(access, addresses);
    cts_json_key(&e->json, "accesses");
    cts_json_open_array(&e->json);
    for (uint32_t mask = access->mask; mask; mask &= mask - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(mask);
        const uint64_t thread = (uint64_t)access->warp * CTS_WARP_LANES + lane;
        const uint32_t id[3] = {(uint32_t)(thread % row), (uint32_t)(thread % plane / row),
                                (uint32_t)(thread / plane)};
        cts_json_open_object_row(&e->json);
        put_extents(&e->json, "threadIdx", id);
        put_hex(&e->json, "address", addresses[lane]);
        put_value(e, value, access->value_words);
        cts_json_close_object(&e->json);
        if (value) value += access->value_words;
    }
    cts_json_close_array(&e->json);
}

static enum cts_status put_record(void *state, const struct cts_launch *launch,
                                  const struct cts_access *access, const struct cts_site *site,
                                  struct cts_error *error)
{
    struct exporting *const e = state;
    struct kernel *const kernel = &e->kernels[launch->kernel];
    const uint32_t plane = launch->grid[0] * launch->grid[1];
    const uint32_t cta[3] = {access->cta % launch->grid[0], access->cta % plane / launch->grid[0],
                             access->cta / plane};
    char text[32];
    size_t place;
    int64_t type;
    (void)error; /* the same */
    enum cts_status status = place_of(e, kernel, access->site, &place);
    if (!status) status = type_of(e, kernel, site->type, &type);
    if (status) return status;
    cts_json_open_object(&e->json);
    put_lanes(e, launch, access);
    put_extents(&e->json, "blockIdx", cta);
    cts_json_member_u64(&e->json, "warpId", access->warp);
    cts_json_member_u64(&e->json, "debugId", place);
    cts_json_member_u64(&e->json, "kind",
                        site->operation == CTS_LOAD ? CTS_FOLDER_LOAD : CTS_FOLDER_STORE);
    cts_json_member_u64(&e->json, "operation", site->operation);
    cts_json_member_u64(&e->json, "size", site->width_bytes);
    cts_json_member_u64(&e->json, "space", folder_space(access->space));
    cts_json_member_i64(&e->json, "typeIndex", type);
    snprintf(text, sizeof text, "%llu", (unsigned long long)e->timestamp++);
    cts_json_member_string(&e->json, "timestamp", text);
    cts_json_close_object(&e->json);
    e->result->entries++;
    return CTS_OK;
}

static enum cts_status end_launch(void *state, const struct cts_launch *launch,
                                  struct cts_error *error)
{
    struct exporting *const e = state;
    (void)launch, (void)error;
    cts_json_close_array(&e->json);
    return close_file(e);
}

/* ---- the folder ---- */

static enum cts_status write_run(struct exporting *e)
{
    uint32_t id;
    enum cts_status status =
        cts_export_rank(e->catalogue, e->options->selection.rank, &id, e->error);
    const struct cts_rank *const rank = status ? NULL : cts_catalogue_find_rank(e->catalogue, id);
    if (!status) status = open_file(e, "run.json", false);
    if (status) return status;
    const double start_ms = rank ? (double)rank->unix_start_ns / 1e6 : 0;
    const double length_ms =
        rank && rank->end_ns > rank->start_ns ? (double)(rank->end_ns - rank->start_ns) / 1e6 : 0;
    cts_json_member_string(&e->json, "type", "run");
    cts_json_member_double(&e->json, "start", start_ms);
    cts_json_member_double(&e->json, "end", start_ms + length_ms);
    cts_json_member_bool(&e->json, "compress", e->options->packed);
    cts_json_key(&e->json, "traces");
    cts_json_open_array(&e->json);
    for (size_t i = 0; i < e->traces.count; i++) cts_json_string(&e->json, e->traces.items[i]);
    cts_json_close_array(&e->json);
    return close_file(e);
}

static void release_texts(struct cts_folder_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) free(texts->items[i]);
    free(texts->items);
}

static void release(struct exporting *e)
{
    for (size_t i = 0; e->kernels && i < e->catalogue->kernel_count; i++) {
        cts_map_release(&e->kernels[i].places);
        release_texts(&e->kernels[i].types);
        free(e->kernels[i].sites);
    }
    release_texts(&e->traces);
    free(e->kernels);
    free(e->path);
    free(e->folder);
}

/* What a process has left that was killed. */
static void remove_left_over(int directory, const char *name, const char *path)
{
    struct stat info;
    (void)path;
    if (!fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) && S_ISDIR(info.st_mode) &&
        info.st_uid == geteuid())
        cts_remove_folder(directory, name);
}

static enum cts_status make_folder(struct exporting *e)
{
    const char *const path = e->options->path;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    const enum cts_status status = cts_output_check(path, e->error);
    if (status) return status;
    if (rmdir(path) && errno != ENOENT)
        return cts_fail(e->error, CTS_USAGE, "'%s' already exists", path);
    char target[PATH_MAX];
    if ((size_t)snprintf(target, sizeof target, "%.*s", (int)length, path) < sizeof target)
        cts_unfinished_sweep(target, ".part-", remove_left_over);
    if (asprintf(&e->folder, "%.*s.part-%d", (int)length, path, (int)getpid()) < 0) {
        e->folder = NULL;
        return cts_fail(e->error, CTS_MEMORY, "no memory for a path");
    }
    e->unfinished = cts_unfinished_add(CTS_UNFINISHED_FOLDER, e->folder, NULL);
    if (!mkdir(e->folder, 0777)) {
        cts_unfinished_made();
        return CTS_OK;
    }
    const enum cts_status failed = cts_fail_errno(e->error, errno, "cannot make '%s'", path);
    cts_unfinished_done(e->unfinished);
    return failed;
}

enum cts_status cts_export_folder(const struct cts_catalogue *catalogue,
                                  const struct cts_acc_reader *reader,
                                  const struct cts_export_text_options *options,
                                  struct cts_export_result *result, struct cts_error *error)
{
    *result = (struct cts_export_result){0};
    struct exporting e = {
        .catalogue = catalogue, .options = options, .result = result, .error = error};
    enum cts_status status = make_folder(&e);
    const bool is_made = !status;
    if (!status) {
        e.kernels = cts_array_zeroed(catalogue->kernel_count, sizeof *e.kernels, error);
        status = e.kernels ? CTS_OK : CTS_MEMORY;
    }
    for (uint32_t i = 0; i < catalogue->kernel_count && !status; i++) name_files(&e, i);
    const struct cts_export_visitor visitor = {.state = &e,
                                               .result = result,
                                               .begin = begin_launch,
                                               .record = put_record,
                                               .end = end_launch};
    if (!status) status = cts_export_walk(catalogue, reader, options, &visitor, error);
    for (uint32_t i = 0; i < catalogue->kernel_count && !status; i++)
        if (e.kernels[i].place_count) status = write_metadata(&e, i);
    if (!status) status = write_run(&e);
    if (!status && rename(e.folder, options->path))
        status = cts_fail_errno(error, errno, "cannot write '%s'", options->path);
    if (e.output.file) status = cts_packed_output_close(&e.output, status, error);
    if (status && is_made) cts_remove_folder(AT_FDCWD, e.folder); /* it does not become whole */
    if (is_made) cts_unfinished_done(e.unfinished);
    release(&e);
    return status;
}
