/* Whether a file or a directory is for the importer of Kineto traces. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <stdio.h>
#include <limits.h>

#include "common/read-file.h"
#include "import/kineto-input.h"
#include "import/kineto-read.h"

/* What else stands before the list of events ("metadata" of those who ran the profiler) has been
 * seen with some 100 KiB. */
enum { SEARCHED_BYTES = 16 << 20, PIECE_BYTES = 256 << 10, OVERLAP = 32 };

static bool has(const char *text, size_t length, const char *word)
{
    return memmem(text, length, word, strlen(word)) != NULL;
}

static bool looks_so(const char *text, size_t length, bool is_first)
{
    size_t at = 0;
    if (has(text, length, "\"traceEvents\"")) return true;
    if (!is_first) return false;
    while (at < length && strchr(" \n\t\r", text[at]) && text[at]) at++;
    const bool is_list = at < length && text[at] == '[';
    return (is_list && has(text, length, "\"ph\"")) ||
           (has(text, length, "\"schemaVersion\"") && has(text, length, "\"deviceProperties\""));
}

/* Damage is for the importer to name; what the system refuses is an error here already. */
static bool is_refused(enum cts_status status)
{
    return status == CTS_IO || status == CTS_MEMORY;
}

static enum cts_status search(struct cts_kineto_input *input, char *text, bool *found,
                              struct cts_error *error)
{
    bool is_json = true;
    size_t kept = 0, got = 1;
    for (size_t total = 0; !*found && is_json && got && total < SEARCHED_BYTES; total += got) {
        const enum cts_status status =
            cts_kineto_input_read(input, text + kept, PIECE_BYTES, &got, error);
        if (status) return status;
        const size_t length = kept + got;
        if (!total)
            is_json = got && (strspn(text, " \n\t\r") < length) &&
                      strchr("{[", text[strspn(text, " \n\t\r")]) && text[strspn(text, " \n\t\r")];
        *found = is_json && looks_so(text, length, total == 0);
        kept = length < OVERLAP ? length : OVERLAP;
        memmove(text, text + length - kept, kept);
    }
    return CTS_OK;
}

static enum cts_status file_looks_so(const char *path, bool *found, struct cts_error *error)
{
    struct cts_kineto_input *input = NULL;
    char *const text = malloc(PIECE_BYTES + OVERLAP);
    enum cts_status status = text ? cts_kineto_input_open(path, &input, error)
                                  : cts_fail(error, CTS_MEMORY, "no memory to read '%s'", path);
    if (!status) status = search(input, text, found, error);
    cts_kineto_input_close(input);
    free(text);
    return is_refused(status) ? status : CTS_OK;
}

static enum cts_status folder_has_one(const char *path, bool *found, struct cts_error *error)
{
    char file[PATH_MAX];
    struct dirent *entry;
    const int length = snprintf(file, sizeof file, "%s/run.json", path);
    if (length < 0 || (size_t)length >= sizeof file || access(file, F_OK) == 0) return CTS_OK;
    DIR *const directory = cts_open_directory(path);
    if (!directory) return cts_fail_errno(error, errno, "cannot read directory '%s'", path);
    enum cts_status status = CTS_OK;
    while (!status && !*found && (entry = readdir(directory)))
        if (strstr(entry->d_name, ".json") &&
            (size_t)snprintf(file, sizeof file, "%s/%s", path, entry->d_name) < sizeof file)
            status = file_looks_so(file, found, error);
    closedir(directory);
    return status;
}

enum cts_status cts_kineto_is_trace(const char *path, bool *is_own, struct cts_error *error)
{
    struct stat facts;
    *is_own = false;
    if (stat(path, &facts)) return CTS_OK;
    if (S_ISDIR(facts.st_mode)) return folder_has_one(path, is_own, error);
    return file_looks_so(path, is_own, error); /* which refuses a pipe by name */
}
