/* Trace folders of cuda-profile (paper 002, 4.4 and appendix B.1.5): what its files say. Private to
 * import/.
 *
 *     run.json                   when it ran, and (later versions) the names of the traces
 *     KERNEL.metadata.json       per kernel: source text, places and types by number
 *     KERNEL-N.trace.json        per launch: grid, allocations, accesses; also .protobuf; a .gzip
 *                                in front of the last part, or none, and gzip inside
 *
 * In later versions accesses are grouped into *requests* (there: warps); earlier ones have a flat
 * list, of which each access becomes a request of one lane here. Numbers that are text in the files
 * (addresses, values, timestamps) are numbers here. Parsers treat the bytes as hostile. */
#ifndef CTS_IMPORT_FOLDER_H
#define CTS_IMPORT_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"
#include "common/error.h"

enum cts_folder_space {
    CTS_FOLDER_GLOBAL,
    CTS_FOLDER_SHARED,
    CTS_FOLDER_CONSTANT,
    CTS_FOLDER_LOCAL
};
enum { CTS_FOLDER_LOAD = 0, CTS_FOLDER_STORE = 1, CTS_FOLDER_NO_INDEX = -1 };
enum { CTS_FOLDER_WIDTH_MAX = 1 << 16, CTS_FOLDER_OPERATION_LAST = 14 };
enum { CTS_FOLDER_WORDS_MAX = 16 }; /* of a lane's value: the first 128 bytes */

struct cts_folder_allocation {
    uint64_t address, size_bytes;
    uint32_t element_bytes;
    uint8_t space;
    bool active;
    int32_t type_index, name_index; /* into the metadata; NO_INDEX: the texts below, if any */
    char *type, *name;
    char *location; /* "file:line", may be empty */
};

struct cts_folder_lane {
    uint32_t thread[3];
    uint8_t value_words; /* 0: no value */
    uint64_t address;
    uint64_t value; /* of more than one word: where they begin in the trace's `words` */
};

struct cts_folder_request {
    uint64_t timestamp; /* orders the requests of a CTA */
    uint32_t cta[3];
    int32_t place, type_index; /* into the metadata; NO_INDEX: none */
    uint32_t width_bytes;
    uint8_t kind, space, operation; /* operation: enum cts_operation, 0: as `kind` says */
    size_t first_lane, lane_count;
};

struct cts_folder_trace {
    char *kernel;
    double start_ms, end_ms; /* of the epoch */
    uint32_t grid[3], block[3];
    uint32_t warp_size, bank_bytes;
    bool is_flat;
    bool has_shared_base;
    uint64_t shared_base; /* where offsets in shared memory begin (our own files) */
    struct {
        struct cts_folder_allocation *items;
        size_t count, capacity;
    } allocations;
    struct {
        struct cts_folder_request *items;
        size_t count, capacity;
    } requests;
    struct {
        struct cts_folder_lane *items;
        size_t count, capacity;
    } lanes;
    struct {
        uint64_t *items;
        size_t count, capacity;
    } words; /* of values, lowest first (our own files) */
};
void cts_folder_trace_release(struct cts_folder_trace *trace);

struct cts_folder_place {
    char *file, *variable; /* variable: our own files only */
    uint32_t line;
};
struct cts_folder_metadata {
    char *kernel;
    struct {
        struct cts_folder_place *items;
        size_t count, capacity;
    } places;
    struct cts_folder_texts {
        char **items;
        size_t count, capacity;
    } types, names;
    char *source_path, *source_text; /* NULL: none */
    uint32_t source_line;            /* of the kernel */
};
void cts_folder_metadata_release(struct cts_folder_metadata *metadata);

struct cts_folder_run {
    double start_ms, end_ms;
    struct cts_folder_texts traces;
};
void cts_folder_run_release(struct cts_folder_run *run);

/* A whole file, unpacked if it is packed; at most `ceiling_bytes` then. */
CTS_MUST_CHECK enum cts_status cts_folder_read(const char *path, size_t ceiling_bytes,
                                               struct cts_buffer *text, struct cts_error *error);

/* The JSON files (folder-json.c) and the other form of a trace (folder-protobuf.c). What is there
 * replaces *trace; after an error there is nothing to release. Errors say where. */
CTS_MUST_CHECK enum cts_status cts_folder_parse_json(const uint8_t *bytes, size_t byte_count,
                                                     struct cts_folder_trace *trace,
                                                     struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_folder_parse_protobuf(const uint8_t *bytes, size_t byte_count,
                                                         struct cts_folder_trace *trace,
                                                         struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_folder_parse_metadata(const uint8_t *bytes, size_t byte_count,
                                                         struct cts_folder_metadata *metadata,
                                                         struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_folder_parse_run(const uint8_t *bytes, size_t byte_count,
                                                    struct cts_folder_run *run,
                                                    struct cts_error *error);

/* ---- what the parsers share (folder.c) ---- */

/* "0x00007FF3..." or decimal digits. False: it is none. */
bool cts_folder_number(const char *text, uint64_t *number);
/* Whether all of it makes sense together: extents, indices, sizes. */
CTS_MUST_CHECK enum cts_status cts_folder_check(const struct cts_folder_trace *trace,
                                                struct cts_error *error);

#endif
