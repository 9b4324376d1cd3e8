/* The files of a trace folder, read. Private to import/. */
#ifndef CTS_IMPORT_FOLDER_READ_H
#define CTS_IMPORT_FOLDER_READ_H

#include "import/folder.h"
#include "import/import.h"

struct cts_folder_file {
    char *path;
    uint64_t number; /* KERNEL-N.trace */
    double start_ms;
    bool is_kept; /* else `trace` is empty, and the file has to be read again */
    struct cts_folder_trace trace;
};

struct cts_folder_files {
    char *path; /* the folder's */
    struct cts_folder_run run;
    struct {
        struct cts_folder_file *items;
        size_t count, capacity;
    } traces; /* by start */
    struct {
        struct cts_folder_metadata *items;
        size_t count, capacity;
    } metadata;
};

/* Reads and checks what the one path of `options` names: a folder, its run.json, or one trace in
 * it (with all metadata). *files is released by the caller, also after an error. */
CTS_MUST_CHECK enum cts_status cts_folder_read_all(const struct cts_import_options *options,
                                                   struct cts_folder_files *files,
                                                   struct cts_error *error);
void cts_folder_files_release(struct cts_folder_files *files);

/* A trace's bytes in either form; a trace of Cap'n Proto is refused by name. */
CTS_MUST_CHECK enum cts_status cts_folder_parse(const uint8_t *bytes, size_t byte_count,
                                                struct cts_folder_trace *trace,
                                                struct cts_error *error);
CTS_MUST_CHECK enum cts_status
cts_folder_read_trace(const char *path, struct cts_folder_trace *trace, struct cts_error *error);

#endif
