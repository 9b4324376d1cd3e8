#include "trace/failures.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/read-file.h"

enum { TEXT_BYTES = 500 };

static const char link_prefix[] = ".failure-";

void cts_failure_leave(const char *run_path, const char *what, const char *text)
{
    char path[PATH_MAX], line[TEXT_BYTES];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(line, sizeof line, "%s", *text ? text : "no reason");
    const int length = snprintf(path, sizeof path, "%s/%s%s-%d-%lld", run_path, link_prefix, what,
                                (int)getpid(), (long long)now.tv_sec * 1000000000 + now.tv_nsec);
    if (length <= 0 || (size_t)length >= sizeof path || symlink(line, path) == 0) return;
    /* A long text takes a block, a short one does not. Without even that link, what the recorder
     * says on standard error is all there is. */
    if (errno == ENOSPC || errno == EDQUOT) (void)!symlink(strerror(errno), path);
}

static bool is_of(const char *name, const char *what)
{
    const size_t length = strlen(what);
    return !strncmp(name, link_prefix, strlen(link_prefix)) &&
           !strncmp(name + strlen(link_prefix), what, length) &&
           name[strlen(link_prefix) + length] == '-';
}

void cts_failures_list(const char *run_path, const char *what, const char *prefix,
                       struct cts_gaps *gaps)
{
    DIR *const directory = cts_open_directory(run_path);
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        char text[TEXT_BYTES];
        const ssize_t length = is_of(entry->d_name, what)
                                   ? readlinkat(dirfd(directory), entry->d_name, text, TEXT_BYTES)
                                   : -1;
        if (length > 0) cts_gaps_add(gaps, "%s%.*s", prefix, (int)length, text);
    }
    if (directory) closedir(directory);
}

bool cts_failures_are_left(const char *run_path)
{
    DIR *const directory = cts_open_directory(run_path);
    struct dirent *entry;
    bool found = false;
    while (directory && !found && (entry = readdir(directory)))
        found = !strncmp(entry->d_name, link_prefix, strlen(link_prefix));
    if (directory) closedir(directory);
    return found;
}

void cts_failures_forget(const char *run_path)
{
    DIR *const directory = cts_open_directory(run_path);
    struct dirent *entry;
    while (directory && (entry = readdir(directory)))
        if (!strncmp(entry->d_name, link_prefix, strlen(link_prefix)))
            unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory) closedir(directory);
}
