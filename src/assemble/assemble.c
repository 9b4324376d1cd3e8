/* Logs to archive. The archive is made beside its place and renamed when it is whole; then the logs
 * are removed. It comes with a list of the logs that it was made of, which goes when they are gone:
 * who is killed between leaves the rest to the next. A lock on the run directory keeps two from
 * doing it at once. */
#include "assemble/assemble.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/parallel.h"
#include "common/read-file.h"
#include "common/remove-folder.h"
#include "assemble/assemble-private.h"
#include "trace/catalogue-note.h"
#include "trace/rank-claim.h"

/* Whether a process was killed between making its directory and writing the first word of its log
 * of definitions, before which it makes no other. */
static bool is_stillborn(const char *path)
{
    char definitions[PATH_MAX + 20];
    uint64_t first = 0;
    snprintf(definitions, sizeof definitions, "%s/definitions.log", path);
    struct stat info;
    const int file = open(definitions, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0 && errno != ENOENT) return false;
    const bool is_other = file >= 0 && (fstat(file, &info) || !S_ISREG(info.st_mode));
    const bool has_word =
        is_other || (file >= 0 && (read(file, &first, sizeof first) < 0 || first));
    if (file >= 0) close(file);
    if (has_word) return false;
    DIR *const directory = opendir(path);
    size_t count = 0;
    struct dirent *entry;
    while (directory && (entry = readdir(directory)))
        count += entry->d_name[0] != '.' && strcmp(entry->d_name, "definitions.log") != 0;
    if (directory) closedir(directory);
    return directory && !count;
}

static enum cts_status find_processes(struct cts_assembler *a, struct cts_error *error)
{
    DIR *const directory = opendir(a->run_path);
    if (!directory) return cts_fail_errno(error, errno, "cannot read '%s'", a->run_path);
    enum cts_status status = CTS_OK;
    struct dirent *entry;
    while (!status && (entry = readdir(directory))) {
        char path[PATH_MAX], *end;
        if (strncmp(entry->d_name, "rank-", 5) != 0) continue;
        const unsigned long rank = strtoul(entry->d_name + 5, &end, 10);
        if (*end || end == entry->d_name + 5 || rank >= CTS_TIMELINE_NONE) continue;
        const int length =
            snprintf(path, sizeof path, "%s/%s/timeline", a->run_path, entry->d_name);
        if (length < 0 || (size_t)length >= sizeof path || access(path, R_OK) != 0) continue;
        if (is_stillborn(path)) {
            cts_remove_folder(AT_FDCWD, path);
            cts_gaps_add(&a->timeline.gaps, "rank %lu ended before it had recorded an event", rank);
            continue;
        }
        status = CTS_ARRAY_RESERVE(&a->processes, a->processes.count + 1, error);
        if (status) break;
        status =
            cts_read_process(path, (uint32_t)rank, &a->processes.items[a->processes.count], error);
        a->processes.count++;
    }
    closedir(directory);
    return status;
}

/* Ranks as the catalogue has them, so that processes without MPI come in its order. */
static int by_rank(const void *left, const void *right)
{
    const struct cts_log_process *const a = left, *const b = right;
    return a->catalogue_rank < b->catalogue_rank ? -1 : a->catalogue_rank > b->catalogue_rank;
}

static enum cts_status assemble_location(void *state, unsigned thread, size_t location,
                                         struct cts_error *error)
{
    (void)thread;
    return cts_assemble_location(state, (uint32_t)location, error);
}

static enum cts_status write_archive(struct cts_assembler *a, const char *directory,
                                     unsigned threads, struct cts_error *error)
{
    const struct cts_timeline_writer_options options = {.directory = directory, .name = "traces"};
    enum cts_status status = cts_timeline_create(&options, &a->timeline, &a->writer, error);
    if (status) return status;
    status = cts_for_each(a->timeline.location_count, cts_thread_count(threads), assemble_location,
                          a, error);
    cts_assemble_judge_events(a);
    struct cts_error ending;
    const enum cts_status finished = cts_timeline_finish(a->writer, &ending);
    if (!status && finished) {
        status = finished;
        if (error) *error = ending;
    }
    return status;
}

/* ---- files ---- */

#define LIST_NAME "logs-to-remove"

/* In `archive`, the ranks whose logs it was made of, a line each. */
static enum cts_status list_logs(const struct cts_assembler *a, const char *archive,
                                 struct cts_error *error)
{
    char path[PATH_MAX + sizeof LIST_NAME];
    snprintf(path, sizeof path, "%s/" LIST_NAME, archive);
    FILE *const list = fopen(path, "we");
    if (!list) return cts_fail_errno(error, errno, "cannot write '%s'", path);
    for (size_t i = 0; i < a->processes.count; i++)
        fprintf(list, "%u\n", a->processes.items[i].catalogue_rank);
    if (fclose(list)) return cts_fail_errno(error, errno, "cannot write '%s'", path);
    return CTS_OK;
}

static bool is_folder(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* The logs that the run's archive, which is whole, was made of. What is behind a link is not the
 * run's. The list stays until all are gone, for the next one who opens the run. */
static void remove_logs(const char *run_path)
{
    char path[PATH_MAX + sizeof "/timeline/" LIST_NAME], line[32];
    bool all_gone = true;
    snprintf(path, sizeof path, "%s/timeline/" LIST_NAME, run_path);
    FILE *const list = cts_open_stream(path, "r");
    if (!list) return;
    while (fgets(line, sizeof line, list)) {
        char rank[PATH_MAX + 64], logs[PATH_MAX + 80];
        snprintf(rank, sizeof rank, "%s/rank-%lu", run_path, strtoul(line, NULL, 10));
        snprintf(logs, sizeof logs, "%s/timeline", rank);
        if (is_folder(rank)) cts_remove_folder(AT_FDCWD, logs);
        all_gone = all_gone && !(is_folder(rank) && is_folder(logs));
    }
    all_gone = all_gone && !ferror(list);
    fclose(list);
    if (!all_gone) return;
    cts_rank_claims_forget(run_path);
    unlink(path);
}

/* How many processes have logs. */
static uint64_t count_logs(const char *run_path)
{
    DIR *const directory = opendir(run_path);
    struct dirent *entry;
    char path[PATH_MAX];
    uint64_t count = 0;
    while (directory && (entry = readdir(directory))) {
        if (strncmp(entry->d_name, "rank-", 5) != 0) continue;
        const int length =
            snprintf(path, sizeof path, "%s/%s/timeline/definitions.log", run_path, entry->d_name);
        count += length > 0 && (size_t)length < sizeof path && access(path, R_OK) == 0;
    }
    if (directory) closedir(directory);
    return count;
}

static uint64_t directory_bytes(const char *path, int depth)
{
    DIR *const stream = opendir(path);
    uint64_t bytes = 0;
    struct dirent *entry;
    while (stream && (entry = readdir(stream))) {
        struct stat status;
        char inner[PATH_MAX];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (fstatat(dirfd(stream), entry->d_name, &status, AT_SYMLINK_NOFOLLOW)) continue;
        if (S_ISREG(status.st_mode)) bytes += (uint64_t)status.st_size;
        if (S_ISDIR(status.st_mode) && depth < 4 &&
            (size_t)snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name) < sizeof inner)
            bytes += directory_bytes(inner, depth + 1);
    }
    if (stream) closedir(stream);
    return bytes;
}

static const char *const severities[] = {"note", "warning", "error"};

/* The first message of a level that the process left; NULL. */
static const char *first_message(const struct cts_log_process *p, uint32_t level)
{
    for (size_t i = 0; i < p->messages.count; i++)
        if (p->messages.items[i].level == level) return p->messages.items[i].text;
    return NULL;
}

static const char *failure_of(const struct cts_log_process *p)
{
    return first_message(p, 2);
}

static void keep_first(char *text, size_t text_bytes, const char *message)
{
    if (message && !*text) snprintf(text, text_bytes, "%s", message);
}

static void count(const struct cts_assembler *a, struct cts_assembly *assembly)
{
    assembly->process_count = a->processes.count;
    assembly->location_count = a->timeline.location_count;
    assembly->event_count = atomic_load(&a->event_count);
    for (size_t i = 0; i < a->processes.count; i++) {
        assembly->lost_count += a->processes.items[i].lost_count;
        assembly->cut_process_count += !a->processes.items[i].finish_ns;
        keep_first(assembly->failure, sizeof assembly->failure, failure_of(&a->processes.items[i]));
        keep_first(assembly->warning, sizeof assembly->warning,
                   first_message(&a->processes.items[i], 1));
    }
    assembly->lost_count += atomic_load(&a->unknown_count);
    assembly->clocks = a->clocks;
    assembly->moved_count = atomic_load(&a->moved_count);
    assembly->overlap_count = atomic_load(&a->overlap_count);
    assembly->unmatched_count = atomic_load(&a->unmatched_count);
    assembly->damaged_log_count = atomic_load(&a->damaged_count);
}

/* ---- the catalogue ---- */

/* Processes, devices and messages as rows, so that what looks at the catalogue sees them. */
static enum cts_status note(const struct cts_assembler *a, struct cts_error *error)
{
    CTS_LIST(struct cts_rank) ranks = {0};
    CTS_LIST(struct cts_device) devices = {0};
    CTS_LIST(struct cts_message) messages = {0};
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < a->processes.count && !status; i++) {
        const struct cts_log_process *const p = &a->processes.items[i];
        status = CTS_ARRAY_RESERVE(&ranks, ranks.count + 1, error);
        if (!status)
            ranks.items[ranks.count++] = (struct cts_rank){
                .rank = p->catalogue_rank,
                .pid = p->pid,
                .host = p->host,
                .program = p->program,
                .arguments = p->arguments,
                .recorder = "timeline",
                .start_ns = p->start_ns,
                .end_ns = p->finish_ns,
                .unix_start_ns = p->unix_start_ns,
                .failure = failure_of(p),
            };
        for (size_t k = 0; k < p->devices.count && !status; k++) {
            status = CTS_ARRAY_RESERVE(&devices, devices.count + 1, error);
            if (!status)
                devices.items[devices.count++] =
                    (struct cts_device){.rank = p->catalogue_rank,
                                        .device = p->devices.items[k].device,
                                        .name = p->devices.items[k].name,
                                        .kind = p->devices.items[k].is_cpu ? "cpu" : "gpu"};
        }
        for (size_t k = 0; k < p->messages.count && !status; k++) {
            const uint32_t level = p->messages.items[k].level;
            status = CTS_ARRAY_RESERVE(&messages, messages.count + 1, error);
            if (!status)
                messages.items[messages.count++] =
                    (struct cts_message){.rank = p->catalogue_rank,
                                         .severity = severities[level < 3 ? level : 2],
                                         .text = p->messages.items[k].text};
        }
    }
    const struct cts_catalogue_notes notes = {ranks.items,   ranks.count,    devices.items,
                                              devices.count, messages.items, messages.count};
    if (!status) status = cts_catalogue_note(a->run_path, &notes, error);
    free(ranks.items);
    free(devices.items);
    free(messages.items);
    return status;
}

static void release(struct cts_assembler *a)
{
    for (size_t i = 0; i < a->processes.count; i++) cts_log_process_release(&a->processes.items[i]);
    for (size_t i = 0; i < a->timeline.communicator_count; i++)
        free(a->timeline.communicators[i].ranks);
    for (size_t i = 0; i < a->texts.count; i++) free(a->texts.items[i]);
    free(a->processes.items);
    free(a->texts.items);
    free(a->sources);
    free(a->timeline.groups);
    free(a->timeline.locations);
    free(a->timeline.regions);
    free(a->timeline.communicators);
    free(a->timeline.windows);
    cts_gaps_release(&a->timeline.gaps);
}

/* The library that writes the archive does not say why it cannot. */
static bool disk_is_full(const char *path)
{
    enum { LITTLE_BYTES = 256 << 10 };
    struct statvfs disk;
    return statvfs(path, &disk) == 0 && (uint64_t)disk.f_bavail * disk.f_frsize < LITTLE_BYTES;
}

static enum cts_status assemble(struct cts_assembler *a, unsigned threads,
                                struct cts_assembly *assembly, struct cts_error *error)
{
    char beside[PATH_MAX], place[PATH_MAX], database[PATH_MAX];
    remove_logs(a->run_path);
    if ((size_t)snprintf(place, sizeof place, "%s/timeline", a->run_path) >= sizeof place)
        return cts_fail(error, CTS_USAGE, "the path '%.100s...' is too long", a->run_path);
    if (access(place, F_OK) == 0 && rmdir(place)) { /* an empty one is no archive */
        assembly->left_over_count = count_logs(a->run_path);
        return CTS_OK;
    }
    enum cts_status status = find_processes(a, error);
    if (!status && !a->processes.count && a->timeline.gaps.named_count)
        snprintf(assembly->failure, sizeof assembly->failure, "%s", a->timeline.gaps.texts[0]);
    if (status || !a->processes.count) return status;
    qsort(a->processes.items, a->processes.count, sizeof *a->processes.items, by_rank);
    if ((size_t)snprintf(beside, sizeof beside, "%s/timeline.new", a->run_path) >= sizeof beside)
        return cts_fail(error, CTS_USAGE, "the path '%.100s...' is too long", a->run_path);
    snprintf(database, sizeof database, "%s/run.db", a->run_path);
    cts_remove_folder(AT_FDCWD, beside);
    (void)unlink(beside); /* a link: the archive is the run's alone */
    status = cts_unify(a, error);
    if (!status) status = cts_find_shapes(a, error);
    if (!status) status = cts_assemble_judge(a, error);
    if (!status) status = write_archive(a, beside, threads, error);
    if (!status) status = list_logs(a, beside, error);
    if (!status && access(database, F_OK) == 0) status = note(a, error);
    if (!status && rename(beside, place))
        status = cts_fail_errno(error, errno, "cannot make '%s'", place);
    if (status) {
        if (disk_is_full(a->run_path))
            status = cts_fail(error, CTS_IO,
                              "the disk is full; the recording stays in its logs: free some space "
                              "and run 'ctascope info' to make the timeline");
        cts_remove_folder(AT_FDCWD, beside);
        return status;
    }
    count(a, assembly);
    remove_logs(a->run_path);
    assembly->archive_bytes = directory_bytes(place, 0);
    return CTS_OK;
}

enum cts_status cts_timeline_assemble(const char *run_path,
                                      const struct cts_assembly_options *options,
                                      struct cts_assembly *assembly, struct cts_error *error)
{
    struct cts_assembler assembler = {
        .run_path = run_path, .ends = options->ends, .end_count = options->end_count};
    *assembly = (struct cts_assembly){0};
    const int lock = open(run_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock < 0) return cts_fail_errno(error, errno, "cannot read '%s'", run_path);
    flock(lock, LOCK_EX); /* where it cannot lock, two at once are rare */
    enum cts_status status = assemble(&assembler, options->threads, assembly, error);
    if (status) (void)cts_context(error, "cannot make the timeline of '%s'", run_path);
    release(&assembler);
    close(lock);
    return status;
}

bool cts_timeline_has_logs(const char *run_path)
{
    char path[PATH_MAX + sizeof "/timeline/" LIST_NAME];
    snprintf(path, sizeof path, "%s/timeline/" LIST_NAME, run_path);
    return access(path, R_OK) == 0 || count_logs(run_path);
}
