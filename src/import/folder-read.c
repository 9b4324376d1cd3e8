/* Reading a trace folder: its files by name, each checked as a whole. Traces that fit into memory
 * together are kept, others are read again when their turn comes. */
#include "import/folder-read.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/array.h"

enum { FILE_BYTES_MAX_LOG2 = 34, DEFAULT_MEMORY_MIB = 512 };

struct reading {
    const struct cts_import_options *options;
    struct cts_folder_files *files;
    uint64_t kept_bytes;
    struct cts_error *error;
};

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && !strcmp(text + length - end_length, end);
}

static enum cts_status read_file(struct reading *in, const char *path, struct cts_buffer *text)
{
    return cts_folder_read(path, (size_t)1 << FILE_BYTES_MAX_LOG2, text, in->error);
}

enum cts_status cts_folder_parse(const uint8_t *bytes, size_t byte_count,
                                 struct cts_folder_trace *trace, struct cts_error *error)
{
    size_t at = 0;
    while (at < byte_count && isspace(bytes[at])) at++;
    if (at == byte_count) return cts_fail(error, CTS_FORMAT, "it is empty");
    if (bytes[at] == '{') return cts_folder_parse_json(bytes, byte_count, trace, error);
    if (byte_count >= 4 && !memcmp(bytes, "\0\0\0", 4)) /* one segment, as its library writes */
        return cts_fail(error, CTS_UNSUPPORTED,
                        "a Cap'n Proto trace; only JSON and protobuf are supported");
    return cts_folder_parse_protobuf(bytes, byte_count, trace, error);
}

enum cts_status cts_folder_read_trace(const char *path, struct cts_folder_trace *trace,
                                      struct cts_error *error)
{
    struct cts_buffer text = {0};
    enum cts_status status = cts_folder_read(path, (size_t)1 << FILE_BYTES_MAX_LOG2, &text, error);
    if (!status) {
        status = cts_folder_parse(text.data, text.size_bytes, trace, error);
        if (status) status = cts_context(error, "cannot import '%s'", path);
    }
    cts_buffer_release(&text);
    return status;
}

static uint64_t size_of(const struct cts_folder_trace *trace)
{
    return trace->lanes.capacity * sizeof *trace->lanes.items +
           trace->words.capacity * sizeof *trace->words.items +
           trace->requests.capacity * sizeof *trace->requests.items +
           trace->allocations.capacity * sizeof *trace->allocations.items;
}

static enum cts_status add_trace(struct reading *in, const char *path)
{
    const char *const name = strrchr(path, '/') + 1;
    if (CTS_ARRAY_RESERVE(&in->files->traces, in->files->traces.count + 1, in->error))
        return CTS_MEMORY;
    struct cts_folder_file *const file = &in->files->traces.items[in->files->traces.count];
    *file = (struct cts_folder_file){.path = strdup(path)};
    if (!file->path) return cts_fail(in->error, CTS_MEMORY, "no memory for a path");
    in->files->traces.count++;
    const char *digits = strstr(name, ".trace.");
    while (digits && digits > name && digits[-1] >= '0' && digits[-1] <= '9') digits--;
    if (digits) file->number = strtoull(digits, NULL, 10);
    if (ends_with(name, ".capnp"))
        return cts_fail(
            in->error, CTS_UNSUPPORTED,
            "cannot import '%s': a Cap'n Proto trace; only JSON and protobuf are supported", path);
    const enum cts_status status = cts_folder_read_trace(path, &file->trace, in->error);
    if (status) return status;
    file->start_ms = file->trace.start_ms;
    const uint64_t room =
        in->options->memory_bytes ? in->options->memory_bytes : (uint64_t)DEFAULT_MEMORY_MIB << 20;
    file->is_kept = in->kept_bytes + size_of(&file->trace) <= room;
    if (file->is_kept)
        in->kept_bytes += size_of(&file->trace);
    else
        cts_folder_trace_release(&file->trace);
    return CTS_OK;
}

static enum cts_status add_metadata(struct reading *in, const char *path)
{
    struct cts_buffer text = {0};
    if (CTS_ARRAY_RESERVE(&in->files->metadata, in->files->metadata.count + 1, in->error))
        return CTS_MEMORY;
    enum cts_status status = read_file(in, path, &text);
    if (!status) {
        status = cts_folder_parse_metadata(text.data, text.size_bytes,
                                           &in->files->metadata.items[in->files->metadata.count],
                                           in->error);
        if (status) status = cts_context(in->error, "cannot import '%s'", path);
    }
    if (!status) in->files->metadata.count++;
    cts_buffer_release(&text);
    return status;
}

static enum cts_status add_run(struct reading *in, const char *path)
{
    struct cts_buffer text = {0};
    cts_folder_run_release(&in->files->run);
    enum cts_status status = read_file(in, path, &text);
    if (!status) {
        status = cts_folder_parse_run(text.data, text.size_bytes, &in->files->run, in->error);
        if (status) status = cts_context(in->error, "cannot import '%s'", path);
    }
    cts_buffer_release(&text);
    return status;
}

/* `only`: the one trace that was asked for; NULL: all. */
static enum cts_status read_entry(struct reading *in, const char *name, const char *only)
{
    char *path = NULL;
    enum cts_status status = CTS_OK;
    if (asprintf(&path, "%s/%s", in->files->path, name) < 0)
        return cts_fail(in->error, CTS_MEMORY, "no memory for a path");
    if (!strcmp(name, "run.json"))
        status = add_run(in, path);
    else if (ends_with(name, ".metadata.json"))
        status = add_metadata(in, path);
    else if (only ? !strcmp(name, only) : strstr(name, ".trace.") != NULL)
        status = add_trace(in, path);
    free(path);
    return status;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static enum cts_status read_folder(struct reading *in, const char *only)
{
    struct cts_folder_texts names = {0};
    DIR *const folder = opendir(in->files->path);
    if (!folder) return cts_fail_errno(in->error, errno, "cannot read '%s'", in->files->path);
    enum cts_status status = CTS_OK;
    for (const struct dirent *entry; !status && (entry = readdir(folder));) {
        status = CTS_ARRAY_RESERVE(&names, names.count + 1, in->error);
        if (!status && !(names.items[names.count++] = strdup(entry->d_name)))
            status = cts_fail(in->error, CTS_MEMORY, "no memory for a name");
    }
    closedir(folder);
    if (!status) qsort(names.items, names.count, sizeof *names.items, by_name);
    for (size_t i = 0; i < names.count; i++) {
        if (!status) status = read_entry(in, names.items[i], only);
        free(names.items[i]);
    }
    free(names.items);
    return status;
}

static int by_start(const void *left, const void *right)
{
    const struct cts_folder_file *const a = left, *const b = right;
    if (a->start_ms != b->start_ms) return a->start_ms < b->start_ms ? -1 : 1;
    if (a->number != b->number) return a->number < b->number ? -1 : 1;
    return strcmp(a->path, b->path);
}

/* Traces that run.json names and that are not there. */
static enum cts_status check_names(struct reading *in)
{
    for (size_t i = 0; i < in->files->run.traces.count; i++) {
        bool found = false;
        for (size_t k = 0; k < in->files->traces.count && !found; k++)
            found = !strcmp(strrchr(in->files->traces.items[k].path, '/') + 1,
                            in->files->run.traces.items[i]);
        if (!found)
            return cts_fail(in->error, CTS_FORMAT,
                            "cannot import '%s': run.json names '%s', which does not exist",
                            in->files->path, in->files->run.traces.items[i]);
    }
    return CTS_OK;
}

static enum cts_status read_all(struct reading *in)
{
    const char *const path = in->options->paths[0];
    struct stat facts;
    if (in->options->path_count > 1)
        return cts_fail(in->error, CTS_USAGE,
                        "'%s' is a trace folder or part of one: import one folder at a time", path);
    if (stat(path, &facts)) return cts_fail_errno(in->error, errno, "cannot open '%s'", path);
    char *const copy = strdup(path), *const other = strdup(path);
    const bool is_folder = S_ISDIR(facts.st_mode);
    const char *only = !other ? NULL : basename(other);
    if (only && (is_folder || !strcmp(only, "run.json"))) only = NULL;
    in->files->path = !copy ? NULL : strdup(is_folder ? copy : dirname(copy));
    enum cts_status status = in->files->path && other
                                 ? read_folder(in, only)
                                 : cts_fail(in->error, CTS_MEMORY, "no memory for a path");
    if (!status && !only) status = check_names(in);
    if (!status && !in->files->traces.count)
        status =
            cts_fail(in->error, CTS_FORMAT,
                     "cannot import '%s': it contains no KERNEL-N.trace.json or .protobuf", path);
    if (!status)
        qsort(in->files->traces.items, in->files->traces.count, sizeof *in->files->traces.items,
              by_start);
    free(copy);
    free(other);
    return status;
}

enum cts_status cts_folder_read_all(const struct cts_import_options *options,
                                    struct cts_folder_files *files, struct cts_error *error)
{
    struct reading in = {.options = options, .files = files, .error = error};
    return read_all(&in);
}

void cts_folder_files_release(struct cts_folder_files *files)
{
    for (size_t i = 0; i < files->traces.count; i++) {
        free(files->traces.items[i].path);
        cts_folder_trace_release(&files->traces.items[i].trace);
    }
    for (size_t i = 0; i < files->metadata.count; i++)
        cts_folder_metadata_release(&files->metadata.items[i]);
    cts_folder_run_release(&files->run);
    free(files->traces.items);
    free(files->metadata.items);
    free(files->path);
}
