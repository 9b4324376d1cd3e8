/* ctascope's C API: reads a run directory.
 *
 *     char error[CTS_ERROR_BYTES];
 *     struct cts_run *run;
 *     if (cts_run_open("run", &run, error, sizeof error)) { fprintf(stderr, "%s\n", error); ... }
 *     struct cts_launch_info launch = CTS_INFO_INIT(struct cts_launch_info);
 *     for (size_t i = 0; i < cts_run_launch_count(run); i++) cts_run_launch(run, i, &launch);
 *     cts_run_close(run);
 *
 * Units: addresses and sizes are bytes, times are ns of CLOCK_MONOTONIC on the recording host,
 * counts count. An *access* is one thread's; a *warp record* is one execution of one site by one
 * warp, with up to 32 accesses.
 *
 * Ownership: what is opened is closed by the caller; every string and pointer in an _info belongs
 * to the run and lives until cts_run_close(). Strings are UTF-8; NULL where nothing is known.
 *
 * Errors: functions that can fail return an enum cts_result, 0 when done, and write one line of
 * text (lower case, no full stop) to `error`, a buffer of the caller's that may be NULL and need
 * not be longer than CTS_ERROR_BYTES.
 *
 * Growth: structs that the caller gives begin with their size, which CTS_INFO_INIT sets. A newer
 * library fills the members that the caller's header knew; members are only ever added at the end.
 *
 * Threads: an open run is read-only and may be used by any number of threads at once. A struct
 * cts_accesses belongs to one thread at a time; several may be open on one run. */
#ifndef CTASCOPE_H
#define CTASCOPE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CTS_API __attribute__((visibility("default")))

enum { CTS_ERROR_BYTES = 1000 };

enum cts_result {
    CTS_RESULT_OK = 0,
    CTS_RESULT_IO = 1,      /* the system refused to read */
    CTS_RESULT_FORMAT = 2,  /* the run is damaged, or is none */
    CTS_RESULT_VERSION = 3, /* the run is from a newer version */
    CTS_RESULT_LIMIT = 4,   /* a stated limit is exceeded */
    CTS_RESULT_MEMORY = 5,
    CTS_RESULT_USAGE = 6 /* the request makes no sense: an index or id that is none */
};

#ifdef __cplusplus
} /* extern "C" */
template <typename info_type> inline info_type cts_info_init()
{
    info_type info = info_type();
    info.struct_size = sizeof info;
    return info;
}
#define CTS_INFO_INIT(type) cts_info_init<type>()
extern "C" {
#else
#define CTS_INFO_INIT(type) {.struct_size = sizeof(type)}
#endif

/* The library's version, such as "0.2.0"; static storage. */
CTS_API const char *cts_version(void);

/* ---- a run ---- */

struct cts_run;

/* Reads the catalogue of the run at `path` into memory. A run that is still being recorded, or
 * whose program was killed, opens as far as it was written. */
CTS_API enum cts_result cts_run_open(const char *path, struct cts_run **run, char *error,
                                     size_t error_bytes);
CTS_API void cts_run_close(struct cts_run *run); /* NULL: nothing */

/* A key of the run ("created", "command", "host", ...; docs/catalogue.md), or NULL. */
CTS_API const char *cts_run_key(const struct cts_run *run, const char *key);

/* 1 when every process that recorded ended in an orderly way and nothing of the run is missing,
 * else 0. */
CTS_API int cts_run_is_complete(const struct cts_run *run);

/* What is missing of the run, a line each: files, chunks, rows. Index 0 and up; NULL: no more. What
 * is missing is in no number and no record that the functions below give. */
CTS_API const char *cts_run_missing(const struct cts_run *run, size_t index);

/* Accesses that are missing because a limit was reached or a disk was full. */
CTS_API uint64_t cts_run_dropped_accesses(const struct cts_run *run);

/* ---- what is in its catalogue ----
 * CTS_RESULT_USAGE: no such index or id, or a struct without its size. */

#define CTS_UNKNOWN UINT32_MAX /* an id that is none */
#define CTS_NEVER   UINT64_MAX /* an operation that did not come */

struct cts_kernel_info {
    uint32_t struct_size;
    uint32_t kernel; /* its id: the index */
    int is_instrumented;
    const char *name; /* as in the source: "reduce<float, 256>(float *, int)" */
    const char *mangled_name;
    const char *path;             /* of the source */
    uint32_t line;                /* from 1; 0: unknown */
    uint32_t static_shared_bytes; /* per CTA */
};
CTS_API size_t cts_run_kernel_count(const struct cts_run *run);
CTS_API enum cts_result cts_run_kernel(const struct cts_run *run, size_t kernel,
                                       struct cts_kernel_info *info);

enum cts_recorded { CTS_RECORDED_NONE, CTS_RECORDED_SAMPLE, CTS_RECORDED_ALL };

struct cts_launch_info {
    uint32_t struct_size;
    uint32_t launch; /* its id, which warp records name; not the index */
    uint32_t rank, device;
    uint32_t stream;  /* id of the CUDA stream in the run */
    uint32_t ordinal; /* 0-based index within its stream */
    uint32_t kernel;
    uint32_t grid[3], block[3]; /* x, y, z */
    uint32_t dynamic_shared_bytes;
    enum cts_recorded recorded;
    uint64_t op;      /* place among the rank's launches, copies, allocations, ... in call order */
    uint64_t call_ns; /* when the host asked for it */
    uint64_t start_ns, end_ns; /* 0: did not start, did not end */
    uint64_t records, accesses, dropped_accesses;
};
/* Launches are ordered by rank, then by call. */
CTS_API size_t cts_run_launch_count(const struct cts_run *run);
CTS_API enum cts_result cts_run_launch(const struct cts_run *run, size_t index,
                                       struct cts_launch_info *info);
CTS_API enum cts_result cts_run_find_launch(const struct cts_run *run, uint32_t launch,
                                            struct cts_launch_info *info);

struct cts_site_info {
    uint32_t struct_size;
    uint32_t site;         /* its id: the index */
    const char *operation; /* "load", "store", "atomic add", ...; "?": not known */
    const char *space;     /* "global", "shared", ...; "generic": found at run time, per record */
    int reads, writes;     /* atomics do both */
    uint32_t width_bytes;  /* per thread */
    const char *function, *path;
    uint32_t line, column;  /* from 1; 0: unknown */
    const char *inlined_at; /* "file:line:column function <- ..." */
    const char *type;       /* of the element */
    const char *variable;   /* the pointer's or array's name in the source */
};
CTS_API size_t cts_run_site_count(const struct cts_run *run);
CTS_API enum cts_result cts_run_site(const struct cts_run *run, size_t site,
                                     struct cts_site_info *info);

struct cts_allocation_info {
    uint32_t struct_size;
    uint32_t allocation; /* its id; not the index */
    uint32_t rank, device;
    uint64_t address, size_bytes;
    uint64_t op, freed_op; /* CTS_NEVER while alive; addresses may be used again afterwards */
    const char *kind;      /* "device", "managed", "pinned", "mapped", "array", "variable" */
    const char *call;      /* the API call */
    const char *variable, *type, *path, *function;
    uint32_t element_bytes, line, column;
};
CTS_API size_t cts_run_allocation_count(const struct cts_run *run);
CTS_API enum cts_result cts_run_allocation(const struct cts_run *run, size_t index,
                                           struct cts_allocation_info *info);

/* ---- its accesses ---- */

struct cts_accesses;

struct cts_warp_record {
    uint32_t struct_size;
    uint32_t launch, site;
    uint32_t cta; /* x + y*nx + z*nx*ny in the launch's grid */
    uint32_t warp;
    uint32_t lanes;         /* bit l: lane l took part */
    uint32_t width_bytes;   /* per lane; 0: the site is not known (the program was killed) */
    const char *space;      /* "global", "shared", "local", "constant" */
    uint64_t addresses[32]; /* of the lanes that took part, others 0. Shared: in the CTA's window */
    uint32_t value_words;   /* 64-bit words of a lane's value; 0: values were not kept */
    const uint64_t *values; /* value_words for each lane that took part, lowest lane first; until
                               the next call */
};

/* Starts to go through the warp records of a launch, or of all with CTS_UNKNOWN. Records of a
 * launch come together; those of a CTA in the order in which they were recorded. */
CTS_API enum cts_result cts_accesses_open(const struct cts_run *run, uint32_t launch,
                                          struct cts_accesses **accesses, char *error,
                                          size_t error_bytes);
/* 1: there is a record, 0: there are no more, -1: failed, and cts_accesses_error() says why. */
CTS_API int cts_accesses_next(struct cts_accesses *accesses, struct cts_warp_record *record);
CTS_API const char *cts_accesses_error(const struct cts_accesses *accesses);
CTS_API void cts_accesses_close(struct cts_accesses *accesses); /* NULL: nothing */

/* Thread accesses as columns: element i of every array belongs to one access of one lane, in the
 * order of cts_accesses_next(), lanes of a record from the lowest. An array that is NULL is left
 * out; the others are the caller's, with room for `capacity` elements. */
struct cts_access_columns {
    uint32_t struct_size;
    size_t capacity;
    uint64_t *addresses; /* bytes; of shared memory: in the CTA's window */
    uint32_t *launches, *sites, *ctas, *warps;
    uint8_t *lanes; /* 0 to 31 */
};
/* The number of accesses that are still to come. */
CTS_API uint64_t cts_accesses_left(const struct cts_accesses *accesses);
/* Fills the columns with the next accesses, up to their capacity. Returns the number of elements
 * filled; 0: there are no more; -1: failed, and cts_accesses_error() says why. It and
 * cts_accesses_next() go through the same accesses; do not call the latter while a record is filled
 * in part. */
CTS_API int64_t cts_accesses_fill(struct cts_accesses *accesses,
                                  const struct cts_access_columns *columns);

/* ---- its timeline: also of an OTF2 archive that another tool wrote ---- */

struct cts_archive;

/* Opens the timeline of a run, or an archive by its anchor file (*.otf2), and reads its
 * definitions. Its _info structs and their strings live until cts_archive_close(). */
CTS_API enum cts_result cts_archive_open(const char *path, struct cts_archive **archive,
                                         char *error, size_t error_bytes);
CTS_API void cts_archive_close(struct cts_archive *archive); /* NULL: nothing */

struct cts_location_info { /* a host thread or a device's stream */
    uint32_t struct_size;
    uint32_t location; /* its id: the index */
    int is_stream;
    uint32_t rank; /* of its process */
    const char *name, *process;
    uint64_t events; /* as the archive says; 0: unknown */
    int is_missing;  /* the archive lacks its events, or they are damaged */
};
CTS_API size_t cts_archive_location_count(const struct cts_archive *archive);
CTS_API enum cts_result cts_archive_location(const struct cts_archive *archive, size_t location,
                                             struct cts_location_info *info);

struct cts_region_info { /* a function, an API call or a kernel */
    uint32_t struct_size;
    uint32_t region;         /* its id: the index */
    const char *name, *path; /* path: of the source, or NULL */
    uint32_t line;           /* from 1; 0: unknown */
};
CTS_API size_t cts_archive_region_count(const struct cts_archive *archive);
CTS_API enum cts_result cts_archive_region(const struct cts_archive *archive, size_t region,
                                           struct cts_region_info *info);

/* Activities (matched enter and leave) of a location as columns, by start, a caller before what it
 * calls. Arrays as above. Times: ns from the archive's first possible event. */
struct cts_activity_columns {
    uint32_t struct_size;
    size_t capacity;
    uint64_t *starts_ns, *ends_ns; /* open at the end of the trace: ends with its last event */
    uint32_t *regions, *depths;    /* depth 0: nothing encloses it */
};
/* Fills as many as there is room for. *count: the number of the location's activities, so that a
 * call with capacity 0 asks for it. */
CTS_API enum cts_result cts_archive_activities(const struct cts_archive *archive, size_t location,
                                               const struct cts_activity_columns *columns,
                                               uint64_t *count, char *error, size_t error_bytes);

#ifdef __cplusplus
}
#endif

#endif
