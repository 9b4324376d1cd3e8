#include "import/profile-run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/text-table.h"

static enum cts_status prepare(struct cts_profile_run *run, struct cts_error *error)
{
    char session[64];
    if (run->is_prepared) return CTS_OK;
    snprintf(session, sizeof session, "import-%d-%llu", (int)getpid(),
             (unsigned long long)cts_clock_ns());
    const enum cts_status status = cts_catalogue_prepare(
        run->options->run_path, session, run->options->command ? run->options->command : "",
        run->options->replace, error);
    run->is_prepared = !status;
    return status;
}

/* The rank that the file says it is, else its place; the next free one if another has it. */
static enum cts_status choose_rank(struct cts_profile_run *run, struct cts_profile_source *source,
                                   struct cts_error *error)
{
    enum { RANKS_MAX = 1 << 20 };
    const struct cts_profile_file *const file = source->file;
    const bool is_told = file->has_rank && file->rank >= 0 && file->rank < RANKS_MAX;
    uint32_t *const rank = &source->rank;
    uint64_t *taken;
    for (*rank = is_told ? (uint32_t)file->rank : (uint32_t)source->place;; ++*rank) {
        taken = cts_map_at(&run->ranks, *rank, error);
        if (!taken) return CTS_MEMORY;
        if (!*taken) break;
    }
    *taken = 1;
    return CTS_OK;
}

static enum cts_status make_directory(const struct cts_profile_run *run, uint32_t rank, char *path,
                                      struct cts_error *error)
{
    static const char *const parts[] = {"", "/timeline"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const int length = snprintf(path, PATH_MAX, "%s/rank-%" PRIu32 "%s", run->options->run_path,
                                    rank, parts[i]);
        if (length < 0 || length >= PATH_MAX)
            return cts_fail(error, CTS_USAGE, "the path '%.100s...' is too long",
                            run->options->run_path);
        if (mkdir(path, 0777) && errno != EEXIST)
            return cts_fail_errno(error, errno, "cannot make '%s'", path);
    }
    return CTS_OK;
}

static enum cts_status refuse_empty(const struct cts_profile_source *source,
                                    struct cts_error *error)
{
    char *const why = cts_profile_left_out(source->file, source->contents);
    const enum cts_status status = cts_fail(
        error, CTS_FORMAT, "cannot import '%s': none of its %s can be used%s%s", source->path,
        cts_counted_text(source->contents->event_count, "event", "events").text,
        why && *why ? ": " : "", why ? why : "");
    free(why);
    return status;
}

enum cts_status cts_profile_run_begin(struct cts_profile_run *run,
                                      const struct cts_import_options *options,
                                      struct cts_import_result *result, struct cts_error *error)
{
    static const char *const names[] = {"threads", "devices"};
    *run = (struct cts_profile_run){.options = options, .result = result};
    if (options->grid) return cts_fail(error, CTS_USAGE, "--grid is for traces of memory accesses");
    size_t length = strlen(options->run_path);
    while (length > 1 && options->run_path[length - 1] == '/') length--;
    for (int i = 0; i < 2; i++) {
        const int written = snprintf(run->spill_paths[i], PATH_MAX, "%.*s.%s-%d", (int)length,
                                     options->run_path, names[i], (int)getpid());
        if (written < 0 || written >= PATH_MAX)
            return cts_fail(error, CTS_USAGE, "the path '%.100s...' is too long",
                            options->run_path);
    }
    return CTS_OK;
}

void cts_profile_run_begin_rank(const struct cts_profile_run *run, struct cts_profile_rank *rank)
{
    cts_profile_rank_begin(rank, (const char *const[2]){run->spill_paths[0], run->spill_paths[1]});
}

enum cts_status cts_profile_run_add(struct cts_profile_run *run, struct cts_profile_source *source,
                                    struct cts_profile_rank *rank, struct cts_error *error)
{
    char directory[PATH_MAX];
    struct cts_profile_notes notes = {0};
    struct cts_profile_destination to = {.directory = directory, .file = source->file};
    source->contents = rank;
    if (rank->first_ns > rank->last_ns) return refuse_empty(source, error);
    enum cts_status status = prepare(run, error);
    if (!status) status = choose_rank(run, source, error);
    if (!status) status = make_directory(run, source->rank, directory, error);
    if (!status) status = cts_profile_rank_write(rank, &to, error);
    if (!status) status = cts_profile_note(source, &notes, error);
    to.messages = notes.items;
    to.message_count = notes.count;
    if (!status) status = cts_profile_rank_define(rank, &to, error);
    if (!status) status = cts_profile_notes_tell(&notes, run->result, error);
    for (size_t i = 0; i < notes.count; i++) free(notes.items[i].text);
    free(notes.items);
    return status;
}

void cts_profile_run_end(struct cts_profile_run *run, enum cts_status status)
{
    if (status && run->is_prepared) cts_catalogue_discard_empty(run->options->run_path);
    run->result->is_timeline = !status;
    cts_map_release(&run->ranks);
}
