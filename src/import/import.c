/* Which importer takes a file. */
#include "import/import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/read-file.h"
#include "import/importer.h"
#include "trace/failures-keep.h"

#define CTS_IMPORTERS(X) X(trc) X(kineto) X(nsys) X(folder)

#define X(name) extern const struct cts_importer cts_importer_##name;
CTS_IMPORTERS(X)
#undef X

static const struct cts_importer *const importers[] = {
#define X(name) &cts_importer_##name,
    CTS_IMPORTERS(X)
#undef X
};
enum { IMPORTER_COUNT = sizeof importers / sizeof *importers };

static enum cts_status read_head(const char *path, uint8_t *head, size_t *head_bytes,
                                 struct cts_error *error)
{
    const int fd = cts_open_regular_file(path, error);
    if (fd < 0) return error->status;
    enum cts_status status = CTS_OK;
    const ssize_t count = cts_read_file(fd, head, CTS_IMPORTER_HEAD_BYTES);
    if (count < 0) status = cts_fail_errno(error, errno, "cannot read '%s'", path);
    *head_bytes = count < 0 ? 0 : (size_t)count;
    close(fd);
    return status;
}

static enum cts_status choose(const char *path, const struct cts_importer **importer,
                              struct cts_error *error)
{
    uint8_t head[CTS_IMPORTER_HEAD_BYTES];
    size_t head_bytes;
    struct stat facts;
    const bool is_folder = stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
    enum cts_status status = is_folder ? CTS_OK : read_head(path, head, &head_bytes, error);
    for (unsigned i = 0; !status && i < IMPORTER_COUNT; i++) {
        bool is_own = false;
        *importer = importers[i];
        if (importers[i]->claims) status = importers[i]->claims(path, &is_own, error);
        if (status || is_own) return status;
        if (is_folder && importers[i]->takes_folders) return CTS_OK;
        if (!is_folder && importers[i]->recognises && importers[i]->recognises(head, head_bytes))
            return CTS_OK;
    }
    if (status) return status;
    (void)cts_fail(error, CTS_FORMAT, "'%s' is in none of the supported formats:", path);
    for (unsigned i = 0; i < IMPORTER_COUNT; i++) {
        const struct cts_error before = *error;
        (void)cts_fail(error, CTS_FORMAT, "%s%s %s", before.text, i ? "," : "", importers[i]->name);
    }
    return CTS_FORMAT;
}

static void mark_part(struct cts_collector *collector, const struct cts_error *error)
{
    cts_catalogue_set(cts_collector_catalogue(collector), CTS_FAILURE_IMPORT_KEY, error->text);
    cts_collector_fail(collector, error);
}

enum cts_status cts_import_open_run(const struct cts_import_options *options, bool values,
                                    struct cts_collector **collector, struct cts_error *error)
{
    char session[64];
    snprintf(session, sizeof session, "import-%d-%llu", (int)getpid(),
             (unsigned long long)cts_clock_ns());
    const enum cts_status status =
        cts_catalogue_prepare(options->run_path, session, options->command ? options->command : "",
                              options->replace, error);
    if (status) return status;
    const struct cts_collector_options collector_options = {
        .run_path = options->run_path, .recorder = "import", .values = values};
    return cts_collector_open(&collector_options, collector, error);
}

enum cts_status cts_import_close_run(struct cts_collector *collector, enum cts_status status,
                                     struct cts_error *error)
{
    if (!collector) return status;
    if (status) mark_part(collector, error);
    const enum cts_status closed = cts_collector_close(collector, status ? NULL : error);
    return status ? status : closed;
}

enum cts_status cts_import(const struct cts_import_options *options,
                           struct cts_import_result *result, struct cts_error *error)
{
    struct cts_error own;
    const struct cts_importer *importer = NULL;
    if (!error) error = &own;
    *result = (struct cts_import_result){0};
    enum cts_status status = choose(options->paths[0], &importer, error);
    if (!status) status = importer->import(options, result, error);
    if (status) cts_import_result_release(result);
    return status;
}

enum cts_status cts_import_is_of_time(const char *path, bool *is_one, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    *is_one = false;
    for (unsigned i = 0; !status && !*is_one && i < IMPORTER_COUNT; i++)
        if (importers[i]->is_of_time) status = importers[i]->claims(path, is_one, error);
    return status;
}

void cts_import_result_release(struct cts_import_result *result)
{
    for (size_t i = 0; i < result->note_count; i++) free(result->notes[i]);
    free(result->notes);
    *result = (struct cts_import_result){0};
}

enum cts_status cts_import_note(const struct cts_import_notes *where, const char *severity,
                                struct cts_error *error, const char *format, ...)
{
    struct cts_import_result *const result = where->result;
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    char **const notes =
        length < 0 ? NULL : realloc(result->notes, (result->note_count + 1) * sizeof *notes);
    if (!notes) {
        if (length >= 0) free(text);
        return cts_fail(error, CTS_MEMORY, "no memory for a note");
    }
    result->notes = notes;
    notes[result->note_count++] = text;
    cts_catalogue_add_message(where->writer, severity, text);
    return CTS_OK;
}
