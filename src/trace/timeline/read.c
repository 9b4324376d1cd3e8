/* Opening an archive, and the events of one location.
 *
 * Opening reads the anchor file, the global definitions and each location's local definitions,
 * whose mapping tables and clock offsets the library then applies to the events itself. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/timeline/timeline-private.h"

const char *cts_timeline_keep(struct cts_timeline_private *private, const char *text)
{
    void *items = private->strings;
    if (!cts_timeline_grow(&items, private->string_count, &private->string_capacity,
                           sizeof *private->strings))
        return NULL;
    private->strings = items;
    char *const copy = strdup(text);
    if (copy) private->strings[private->string_count++] = copy;
    return copy;
}

void cts_timeline_warn(struct cts_timeline *timeline, uint64_t count, const char *format, ...)
{
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < timeline->warning_count; i++)
        if (strcmp(timeline->warnings[i].text, text) == 0) {
            timeline->warnings[i].count += count;
            return;
        }
    void *items = timeline->warnings;
    if (!cts_timeline_grow(&items, timeline->warning_count,
                           &timeline->private_data->warning_capacity, sizeof *timeline->warnings))
        return;
    timeline->warnings = items;
    const char *const kept = cts_timeline_keep(timeline->private_data, text);
    if (!kept) return;
    timeline->warnings[timeline->warning_count++] =
        (struct cts_timeline_warning){.text = kept, .count = count};
}

/* ---- paths ---- */

static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* The anchor file: `path` itself, or that of a run directory. */
static enum cts_status find_anchor(const char *path, struct cts_timeline_private *private,
                                   struct cts_error *error)
{
    static const char suffix[] = ".otf2";
    char *anchor = NULL;
    const int length = is_directory(path) ? asprintf(&anchor, "%s/timeline/traces.otf2", path)
                                          : asprintf(&anchor, "%s", path);
    if (length < 0) return cts_fail(error, CTS_MEMORY, "out of memory");
    private->anchor = anchor;
    struct stat status;
    if (stat(anchor, &status)) {
        if (is_directory(path) && errno == ENOENT)
            return cts_fail(error, CTS_FORMAT, "'%s' holds no timeline", path);
        return cts_fail_errno(error, errno, "cannot read '%s'", anchor);
    }
    if (!S_ISREG(status.st_mode)) return cts_fail(error, CTS_FORMAT, "'%s' is no file", anchor);
    const size_t name_bytes = (size_t)length;
    if (name_bytes < sizeof suffix || strcmp(anchor + name_bytes - sizeof suffix + 1, suffix) != 0)
        return cts_fail(error, CTS_FORMAT,
                        "'%s' is no anchor file of an OTF2 archive: these end in .otf2", anchor);
    private->directory = strndup(anchor, name_bytes - sizeof suffix + 1);
    return private->directory ? CTS_OK : cts_fail(error, CTS_MEMORY, "out of memory");
}

static bool local_file_exists(const struct cts_timeline_private *private, uint64_t reference,
                              const char *kind)
{
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s/%llu.%s", private->directory,
                                (unsigned long long)reference, kind);
    return length > 0 && (size_t)length < sizeof path && access(path, R_OK) == 0;
}

/* ---- opening ---- */

/* Reads the mapping tables and clock offsets of one location. */
static void read_local_definitions(struct cts_timeline *timeline, uint64_t reference)
{
    struct cts_timeline_private *const p = timeline->private_data;
    if (!local_file_exists(p, reference, "def")) return; /* they are optional */
    OTF2_DefReader *const reader = OTF2_Reader_GetDefReader(p->reader, reference);
    uint64_t count = 0;
    OTF2_ErrorCode code = OTF2_ERROR_INVALID_DATA;
    if (reader) {
        code = OTF2_Reader_ReadAllLocalDefinitions(p->reader, reader, &count);
        OTF2_Reader_CloseDefReader(p->reader, reader);
    }
    if (code) {
        struct cts_error error;
        cts_otf2_fail(&error, CTS_FORMAT, code, "local definitions are damaged");
        cts_timeline_warn(timeline, 1, "%s", error.text);
    }
}

static enum cts_status open_local_files(struct cts_timeline *timeline, struct cts_error *error)
{
    struct cts_timeline_private *const p = timeline->private_data;
    OTF2_ErrorCode code = OTF2_SUCCESS;
    for (size_t i = 0; i < timeline->location_count && !code; i++)
        code = OTF2_Reader_SelectLocation(p->reader, timeline->locations[i].reference);
    if (!code) code = OTF2_Reader_OpenDefFiles(p->reader);
    if (!code) {
        for (size_t i = 0; i < timeline->location_count; i++)
            read_local_definitions(timeline, timeline->locations[i].reference);
        code = OTF2_Reader_CloseDefFiles(p->reader);
    }
    if (!code) code = OTF2_Reader_OpenEvtFiles(p->reader);
    if (code) return cts_otf2_fail(error, CTS_FORMAT, code, "cannot open the local files");
    for (size_t i = 0; i < timeline->location_count; i++) {
        struct cts_timeline_location *const location = &timeline->locations[i];
        if (local_file_exists(p, location->reference, "evt")) continue;
        location->missing = true;
        if (location->event_count)
            cts_timeline_warn(
                timeline, location->event_count,
                "events of location %llu '%s' are missing: '%s/%llu.evt' is not there",
                (unsigned long long)location->reference, location->name, p->directory,
                (unsigned long long)location->reference);
    }
    return CTS_OK;
}

static void keep_text(struct cts_timeline *timeline, OTF2_ErrorCode code, char *text,
                      const char **kept)
{
    *kept = "";
    if (code || !text) return;
    const char *const copy = cts_timeline_keep(timeline->private_data, text);
    if (copy) *kept = copy;
    free(text);
}

static enum cts_status open_reader(struct cts_timeline *timeline, struct cts_error *error)
{
    struct cts_timeline_private *const p = timeline->private_data;
    p->reader = OTF2_Reader_Open(p->anchor);
    if (!p->reader) return cts_otf2_fail(error, CTS_FORMAT, OTF2_SUCCESS, "it is no OTF2 archive");
    OTF2_ErrorCode code = cts_otf2_lock_reader(p->reader);
    if (!code) code = OTF2_Reader_SetSerialCollectiveCallbacks(p->reader);
    if (code) return cts_otf2_fail(error, CTS_FORMAT, code, "it cannot be read");
    char *text = NULL;
    code = OTF2_Reader_GetCreator(p->reader, &text);
    keep_text(timeline, code, text, &timeline->creator);
    text = NULL;
    code = OTF2_Reader_GetDescription(p->reader, &text);
    keep_text(timeline, code, text, &timeline->description);
    enum cts_status status = cts_timeline_read_definitions(timeline, error);
    if (!status) status = open_local_files(timeline, error);
    if (!status) {
        p->callbacks = cts_timeline_event_callbacks();
        if (!p->callbacks) status = cts_fail(error, CTS_MEMORY, "out of memory");
    }
    return status;
}

enum cts_status cts_timeline_open(const char *path, struct cts_timeline *timeline,
                                  struct cts_error *error)
{
    *timeline = (struct cts_timeline){.world = CTS_TIMELINE_NONE};
    struct cts_timeline_private *const p = calloc(1, sizeof *p);
    if (!p) return cts_fail(error, CTS_MEMORY, "out of memory");
    timeline->private_data = p;
    cts_otf2_catch_errors();
    enum cts_status status = find_anchor(path, p, error);
    if (!status) {
        status = open_reader(timeline, error);
        if (status) (void)cts_context(error, "cannot read '%s'", p->anchor);
    }
    if (status) cts_timeline_close(timeline);
    return status;
}

void cts_timeline_close(struct cts_timeline *timeline)
{
    struct cts_timeline_private *const p = timeline->private_data;
    for (size_t i = 0; i < timeline->communicator_count; i++) {
        free(timeline->communicators[i].ranks);
        free(timeline->communicators[i].remote_ranks);
    }
    free(timeline->locations);
    free(timeline->groups);
    free(timeline->regions);
    free(timeline->communicators);
    free(timeline->windows);
    free(timeline->warnings);
    if (p) {
        if (p->callbacks) OTF2_EvtReaderCallbacks_Delete(p->callbacks);
        if (p->reader) OTF2_Reader_Close(p->reader);
        for (size_t i = 0; i < p->string_count; i++) free(p->strings[i]);
        free(p->strings);
        struct cts_references *const all[] = {
            &p->locations,           &p->groups,    &p->regions, &p->communicators, &p->windows,
            &p->communicator_groups, &p->attributes};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) cts_references_release(all[i]);
        free(p->anchor);
        free(p->directory);
        free(p);
    }
    *timeline = (struct cts_timeline){0};
}
