/* Opening an archive, and the events of one location.
 *
 * Opening reads the anchor file, the global definitions and each location's local definitions,
 * whose mapping tables and clock offsets the library then applies to the events itself. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/timeline/timeline-private.h"
#include "common/read-file.h"
#include "trace/seal.h"

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
            return cts_fail(error, CTS_FORMAT, "'%s' holds no timeline: record it with --timeline",
                            path);
        return cts_fail_errno(error, errno, "cannot read '%s'", anchor);
    }
    if (!cts_is_kept_file(anchor, &status))
        return cts_fail(error, CTS_FORMAT, "'%s' is not a file", anchor);
    const size_t name_bytes = (size_t)length;
    if (name_bytes < sizeof suffix || strcmp(anchor + name_bytes - sizeof suffix + 1, suffix) != 0)
        return cts_fail(error, CTS_FORMAT,
                        "'%s' is not the anchor file of an OTF2 archive, which ends in .otf2; "
                        "'ctascope import' reads traces of other tools",
                        anchor);
    private->directory = strndup(anchor, name_bytes - sizeof suffix + 1);
    return private->directory ? CTS_OK : cts_fail(error, CTS_MEMORY, "out of memory");
}

/* The library allocates, and counts through, what the anchor file says; so that is looked at first.
 *
 *   OFFSET SIZE MEANING
 *        1    1 'B' for little-endian numbers, '#' for big-endian ones
 *        2    4 "OTF2"
 *       12    8 size of chunks of events
 *       20    8 size of chunks of definitions
 *       30    8 number of locations
 *       38    8 number of global definitions: at least two bytes each in their file
 *       46      machine, creator and description, each ended by 0
 *             4 number of properties: two texts each */
enum { ANCHOR_BYTES_MAX = 1 << 20, ANCHOR_TEXTS_AT = 46 };

static uint64_t anchor_number(const uint8_t *bytes, size_t at, int size)
{
    uint64_t number = 0;
    for (int k = 0; k < size; k++)
        number |= (uint64_t)bytes[at + (size_t)k] << 8 * (bytes[1] == '#' ? size - 1 - k : k);
    return number;
}

static enum cts_status check_anchor_bytes(const struct cts_timeline_private *private,
                                          const uint8_t *bytes, size_t length,
                                          struct cts_error *error)
{
    struct stat status = {0};
    char path[PATH_MAX];
    if (length < ANCHOR_TEXTS_AT || memcmp(bytes + 2, "OTF2", 4) != 0)
        return cts_fail(error, CTS_FORMAT, "it is not an OTF2 archive");
    for (size_t at = 12; at <= 20; at += 8) {
        const uint64_t chunk_bytes = anchor_number(bytes, at, 8);
        if (chunk_bytes < OTF2_CHUNK_SIZE_MIN || chunk_bytes > OTF2_CHUNK_SIZE_MAX)
            return cts_fail(error, CTS_FORMAT, "byte %zu: chunks of %llu bytes are out of range",
                            at, (unsigned long long)chunk_bytes);
    }
    const int path_length = snprintf(path, sizeof path, "%s.def", private->directory);
    if (path_length < 0 || (size_t)path_length >= sizeof path || stat(path, &status))
        return cts_fail_errno(error, errno, "its definitions '%s' cannot be read", path);
    if (!cts_is_kept_file(path, &status))
        return cts_fail(error, CTS_FORMAT, "its definitions '%s' are not a regular file", path);
    const uint64_t locations = anchor_number(bytes, 30, 8), all = anchor_number(bytes, 38, 8);
    if (all > (uint64_t)status.st_size / 2 || locations > all)
        return cts_fail(error, CTS_FORMAT,
                        "byte 30: %llu locations and %llu definitions do not fit into '%s'",
                        (unsigned long long)locations, (unsigned long long)all, path);
    size_t at = ANCHOR_TEXTS_AT;
    for (int text = 0; text < 3; text++) {
        const uint8_t *const end = memchr(bytes + at, 0, length - at);
        if (!end) return cts_fail(error, CTS_FORMAT, "byte %zu: unterminated text", at);
        at = (size_t)(end - bytes) + 1;
    }
    if (length - at < 4 || anchor_number(bytes, at, 4) > (length - at) / 2)
        return cts_fail(error, CTS_FORMAT, "byte %zu: more properties than fit", at);
    return CTS_OK;
}

static enum cts_status check_anchor(const struct cts_timeline_private *private,
                                    struct cts_error *error)
{
    FILE *const file = cts_open_stream(private->anchor, "rb");
    if (!file) return cts_fail_errno(error, errno, "it cannot be opened");
    uint8_t *const bytes = malloc(ANCHOR_BYTES_MAX);
    errno = 0;
    const size_t length = bytes ? fread(bytes, 1, ANCHOR_BYTES_MAX, file) : 0;
    const int problem = ferror(file) ? errno : 0;
    fclose(file);
    enum cts_status status;
    if (!bytes)
        status = cts_fail(error, CTS_MEMORY, "out of memory");
    else if (problem)
        status = cts_fail_errno(error, problem, "it cannot be read");
    else
        status = check_anchor_bytes(private, bytes, length, error);
    free(bytes);
    return status;
}

/* ---- opening ---- */

static OTF2_CallbackCode on_clock_offset(void *user, OTF2_TimeStamp time, int64_t offset,
                                         double deviation)
{
    bool *const has_clock_offsets = user;
    (void)time, (void)deviation;
    if (offset) *has_clock_offsets = true;
    return OTF2_CALLBACK_SUCCESS;
}

/* Whether any location has definitions of its own. A measurement system writes them for all of its
 * locations or for none, so that a location without is one whose file is gone. */
static bool has_local_definitions(const struct cts_timeline *timeline)
{
    const struct cts_timeline_private *const p = timeline->private_data;
    for (size_t i = 0; i < timeline->location_count; i++)
        if (cts_timeline_has_local_file(p, timeline->locations[i].reference, "def")) return true;
    return false;
}

/* Reads the mapping tables and clock offsets of one location. Damage is a gap. */
static enum cts_status read_local_definitions(struct cts_timeline *timeline, size_t location,
                                              struct cts_error *error)
{
    struct cts_timeline_private *const p = timeline->private_data;
    const uint64_t reference = timeline->locations[location].reference;
    if (!cts_timeline_has_local_file(p, reference,
                                     "def")) { /* optional for an archive as a whole */
        if (has_local_definitions(timeline) && cts_timeline_has_local_file(p, reference, "evt"))
            cts_gaps_add(&timeline->gaps,
                         "'%s/%llu.def' is %s: location %llu is assumed to use the numbers "
                         "and the clock of the archive",
                         p->directory, (unsigned long long)reference,
                         cts_timeline_absence(p, reference, "def"), (unsigned long long)reference);
        return CTS_OK;
    }
    cts_otf2_catch_errors();
    OTF2_DefReader *const reader = OTF2_Reader_GetDefReader(p->reader, reference);
    uint64_t count = 0;
    OTF2_ErrorCode code = OTF2_ERROR_INVALID_DATA;
    OTF2_DefReaderCallbacks *const callbacks = OTF2_DefReaderCallbacks_New();
    if (reader && callbacks) {
        OTF2_DefReaderCallbacks_SetClockOffsetCallback(callbacks, on_clock_offset);
        code = OTF2_Reader_RegisterDefCallbacks(p->reader, reader, callbacks,
                                                &p->has_clock_offsets[location]);
        if (!code) code = OTF2_Reader_ReadAllLocalDefinitions(p->reader, reader, &count);
    }
    enum cts_status status = CTS_OK;
    struct cts_error damage;
    if (code) status = cts_otf2_fail(&damage, CTS_FORMAT, code, "local definitions cannot be read");
    if (reader) OTF2_Reader_CloseDefReader(p->reader, reader);
    if (callbacks) OTF2_DefReaderCallbacks_Delete(callbacks);
    if (status && status != CTS_FORMAT)
        return cts_fail(error, status, "'%s/%llu.def': %s", p->directory,
                        (unsigned long long)reference, damage.text);
    if (status)
        cts_gaps_add(&timeline->gaps, "'%s/%llu.def': %s", p->directory,
                     (unsigned long long)reference, damage.text);
    return CTS_OK;
}

static enum cts_status open_local_files(struct cts_timeline *timeline, struct cts_error *error)
{
    struct cts_timeline_private *const p = timeline->private_data;
    OTF2_ErrorCode code = OTF2_SUCCESS;
    p->has_clock_offsets = calloc(timeline->location_count + 1, sizeof *p->has_clock_offsets);
    p->damages = calloc(timeline->location_count + 1, sizeof *p->damages);
    if (!p->has_clock_offsets || !p->damages) return cts_fail(error, CTS_MEMORY, "out of memory");
    p->location_count = timeline->location_count;
    for (size_t i = 0; i < timeline->location_count && !code; i++)
        code = OTF2_Reader_SelectLocation(p->reader, timeline->locations[i].reference);
    if (!code) code = OTF2_Reader_OpenDefFiles(p->reader);
    if (!code) {
        for (size_t i = 0; i < timeline->location_count; i++) {
            const enum cts_status status = read_local_definitions(timeline, i, error);
            if (status) return status;
        }
        code = OTF2_Reader_CloseDefFiles(p->reader);
    }
    if (!code) code = OTF2_Reader_OpenEvtFiles(p->reader);
    if (code) return cts_otf2_fail(error, CTS_FORMAT, code, "cannot open the local files");
    for (size_t i = 0; i < timeline->location_count; i++) {
        struct cts_timeline_location *const location = &timeline->locations[i];
        if (cts_timeline_has_local_file(p, location->reference, "evt")) continue;
        location->missing = true;
        if (location->event_count)
            cts_gaps_add(&timeline->gaps, "'%s/%llu.evt' is %s: %llu events of location %llu '%s'",
                         p->directory, (unsigned long long)location->reference,
                         cts_timeline_absence(p, location->reference, "evt"),
                         (unsigned long long)location->event_count,
                         (unsigned long long)location->reference, location->name);
    }
    return CTS_OK;
}

static enum cts_status keep_text(struct cts_timeline *timeline, OTF2_ErrorCode code, char *text,
                                 const char **kept, struct cts_error *error)
{
    *kept = "";
    if (code || !text) {
        const enum cts_status status =
            code ? cts_otf2_fail(error, CTS_FORMAT, code, "its description cannot be read")
                 : CTS_OK;
        return status == CTS_FORMAT ? CTS_OK : status;
    }
    const char *const copy = cts_timeline_keep(timeline->private_data, text);
    free(text);
    if (!copy) return cts_fail(error, CTS_MEMORY, "out of memory");
    *kept = copy;
    return CTS_OK;
}

/* What whoever wrote the archive says that it lacks. */
static enum cts_status read_gaps(struct cts_timeline *timeline, struct cts_error *error)
{
    struct cts_timeline_private *const p = timeline->private_data;
    uint32_t count = 0;
    char **names = NULL;
    OTF2_ErrorCode code = OTF2_Reader_GetPropertyNames(p->reader, &count, &names);
    for (uint32_t i = 0; i < count && !code; i++) {
        char *text = NULL;
        if (strncmp(names[i], CTS_OTF2_MISSING, strlen(CTS_OTF2_MISSING)) != 0) continue;
        code = OTF2_Reader_GetProperty(p->reader, names[i], &text);
        if (!code) cts_gaps_add(&timeline->gaps, "%s", text);
        free(text);
    }
    free(names);
    return code ? cts_otf2_fail(error, CTS_FORMAT, code, "its properties cannot be read") : CTS_OK;
}

static enum cts_status open_reader(struct cts_timeline *timeline, struct cts_error *error)
{
    struct cts_timeline_private *const p = timeline->private_data;
    const enum cts_status anchor = check_anchor(p, error);
    if (anchor) return anchor;
    p->reader = OTF2_Reader_Open(p->anchor);
    if (!p->reader) return cts_otf2_fail(error, CTS_FORMAT, OTF2_SUCCESS, "it cannot be opened");
    OTF2_ErrorCode code = cts_otf2_lock_reader(p->reader);
    if (!code) code = OTF2_Reader_SetSerialCollectiveCallbacks(p->reader);
    if (code) return cts_otf2_fail(error, CTS_FORMAT, code, "it cannot be read");
    char *text = NULL;
    code = OTF2_Reader_GetCreator(p->reader, &text);
    enum cts_status status = keep_text(timeline, code, text, &timeline->creator, error);
    if (status) return status;
    text = NULL;
    code = OTF2_Reader_GetDescription(p->reader, &text);
    status = keep_text(timeline, code, text, &timeline->description, error);
    if (!status) status = read_gaps(timeline, error);
    if (!status) status = cts_timeline_read_definitions(timeline, error);
    if (!status) status = open_local_files(timeline, error);
    if (!status) {
        p->callbacks = cts_timeline_event_callbacks();
        if (!p->callbacks) status = cts_fail(error, CTS_MEMORY, "out of memory");
    }
    return status;
}

/* A catalogue that cannot be read tells nothing; who reads it says so. */
static enum cts_status check_owner(const char *path, struct cts_error *error)
{
    struct cts_catalogue seal;
    struct cts_error ignored;
    if (!is_directory(path) || cts_catalogue_read_seal(path, &seal, &ignored)) return CTS_OK;
    const char *const why = cts_seal_why_foreign_timeline(&seal);
    cts_catalogue_release(&seal);
    return why ? cts_fail(error, CTS_FORMAT, "run '%s' has no timeline of its own: %s", path, why)
               : CTS_OK;
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
    if (!status) status = check_owner(path, error);
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
    cts_gaps_release(&timeline->gaps);
    if (p) {
        if (p->callbacks) OTF2_EvtReaderCallbacks_Delete(p->callbacks);
        if (p->reader) OTF2_Reader_Close(p->reader);
        for (size_t i = 0; i < p->string_count; i++) free(p->strings[i]);
        free(p->strings);
        struct cts_references *const all[] = {
            &p->locations,           &p->groups,    &p->regions, &p->communicators, &p->windows,
            &p->communicator_groups, &p->attributes};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) cts_references_release(all[i]);
        free(p->has_clock_offsets);
        cts_timeline_release_damages(p);
        free(p->anchor);
        free(p->directory);
        free(p);
    }
    *timeline = (struct cts_timeline){0};
}
