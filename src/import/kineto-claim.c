/* Whether a file or a directory is for the importer of Kineto traces. */
#include <dirent.h>
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

static bool file_looks_so(const char *path)
{
    struct cts_kineto_input *input;
    char *const text = malloc(PIECE_BYTES + OVERLAP);
    bool found = false, is_json = true;
    size_t kept = 0, got = 1;
    if (!text || cts_kineto_input_open(path, &input, NULL)) {
        free(text);
        return false;
    }
    for (size_t total = 0; !found && is_json && got && total < SEARCHED_BYTES; total += got) {
        if (cts_kineto_input_read(input, text + kept, PIECE_BYTES, &got, NULL)) break;
        const size_t length = kept + got;
        if (!total)
            is_json = got && (strspn(text, " \n\t\r") < length) &&
                      strchr("{[", text[strspn(text, " \n\t\r")]) && text[strspn(text, " \n\t\r")];
        found = is_json && looks_so(text, length, total == 0);
        kept = length < OVERLAP ? length : OVERLAP;
        memmove(text, text + length - kept, kept);
    }
    cts_kineto_input_close(input);
    free(text);
    return found;
}

static bool folder_has_one(const char *path)
{
    char file[PATH_MAX];
    struct dirent *entry;
    bool found = false;
    const int length = snprintf(file, sizeof file, "%s/run.json", path);
    if (length < 0 || (size_t)length >= sizeof file || access(file, F_OK) == 0) return false;
    DIR *const directory = cts_open_directory(path);
    while (directory && !found && (entry = readdir(directory)))
        if (strstr(entry->d_name, ".json") &&
            (size_t)snprintf(file, sizeof file, "%s/%s", path, entry->d_name) < sizeof file)
            found = file_looks_so(file);
    if (directory) closedir(directory);
    return found;
}

bool cts_kineto_is_trace(const char *path)
{
    struct stat facts;
    if (stat(path, &facts)) return false;
    if (S_ISDIR(facts.st_mode)) return folder_has_one(path);
    return S_ISREG(facts.st_mode) && file_looks_so(path);
}
