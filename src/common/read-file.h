/* Opening and reading files as open(2), fopen(3), opendir(3) and read(2) do, but whole: what a
 * signal interrupts is done again, and a read that came short goes on. */
#ifndef CTS_COMMON_READ_FILE_H
#define CTS_COMMON_READ_FILE_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "common/error.h"

/* As open(), openat() and fopen(); flags and modes are theirs, O_CLOEXEC and "e" are added. */
int cts_open_file(const char *path, int flags, mode_t mode);
int cts_open_file_at(int directory, const char *name, int flags, mode_t mode);
FILE *cts_open_stream(const char *path, const char *mode);
/* Opens a regular file for reading; a pipe is not waited for. -1 after cts_fail(). */
int cts_open_regular_file(const char *path, struct cts_error *error);
/* Whether a file with these facts is regular and kept somewhere: /proc and the like have files that
 * look regular, and that a reader waits for or empties (/proc/kmsg). */
bool cts_is_kept_file(const char *path, const struct stat *facts);
/* As opendir(). */
DIR *cts_open_directory(const char *path);

/* Reads `byte_count` bytes, or up to the end of the file; how many, or -1 and errno. */
ssize_t cts_read_file(int file, void *bytes, size_t byte_count);

#endif
