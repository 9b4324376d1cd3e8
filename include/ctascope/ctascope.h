/* ctascope's C API: reads a run directory.
 *
 *     char error[CTS_ERROR_BYTES];
 *     struct cts_run *run;
 *     if (cts_run_open("run", &run, error, sizeof error)) { fprintf(stderr, "%s\n", error); ... }
 *     struct cts_launch_info launch = CTS_INFO_INIT(struct cts_launch_info);
 *     for (size_t i = 0; i < cts_run_launch_count(run); i++) cts_run_launch(run, i, &launch);
 *     cts_run_close(run);
 *
 * Units: addresses and sizes are in bytes, times in ns of CLOCK_MONOTONIC on the recording host.
 * An *access* belongs to one thread. A *warp record* is one execution of one site by one warp, with
 * up to 32 accesses.
 *
 * Ownership: the caller closes what it opens. Every string and pointer in an _info struct belongs
 * to the run and is valid until cts_run_close(). Strings are UTF-8; NULL means unknown. Functions
 * that open something store NULL in their out-parameter if they fail.
 *
 * Errors: functions that can fail return an enum cts_result, 0 on success. On failure they write
 * one line of text (lower case, no full stop) to `error`, a buffer provided by the caller, which
 * may be NULL. CTS_ERROR_BYTES is always large enough.
 *
 * Compatibility: structs that the caller provides begin with their size, which CTS_INFO_INIT sets.
 * A newer library fills only the members that the caller's header declares; new members are always
 * added at the end.
 *
 * Threads: an open run is read-only, and any number of threads may use it at the same time. Only
 * one thread at a time may use a struct cts_accesses; several may be open on one run. */
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
    CTS_RESULT_FORMAT = 2,  /* the run is damaged, or not a run */
    CTS_RESULT_VERSION = 3, /* the run is from a newer version */
    CTS_RESULT_LIMIT = 4,   /* a stated limit is exceeded */
    CTS_RESULT_MEMORY = 5,
    CTS_RESULT_USAGE = 6 /* invalid request, such as an index or id that does not exist */
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

/* Opens the run in directory `path` and reads its catalogue into memory. If the run is still being
 * recorded, or the program was killed, this reads everything written so far. Fails if the directory
 * is not a run or its catalogue cannot be read. A run with missing data opens normally: see
 * cts_run_missing(). */
CTS_API enum cts_result cts_run_open(const char *path, struct cts_run **run, char *error,
                                     size_t error_bytes);
/* Frees the run and everything that its _info structs point to. NULL is allowed. */
CTS_API void cts_run_close(struct cts_run *run);

/* The value of a key of the run ("created", "command", "host", ...; see docs/catalogue.md), or NULL
 * if the run has no such key. Valid until cts_run_close(). */
CTS_API const char *cts_run_key(const struct cts_run *run, const char *key);

/* Returns 1 if every recording process ended normally and nothing is missing from the run, else 0.
 */
CTS_API int cts_run_is_complete(const struct cts_run *run);

/* Returns item `index` (from 0) of the list of missing files, chunks and rows, as one line of text,
 * or NULL after the last item. Valid until cts_run_close(). Missing data is not included in any
 * count or record returned below. */
CTS_API const char *cts_run_missing(const struct cts_run *run, size_t index);

/* Returns the number of accesses that were not recorded because a size limit was reached or the
 * disk was full. */
CTS_API uint64_t cts_run_dropped_accesses(const struct cts_run *run);

/* ---- its catalogue ----
 *
 * A _count function returns the number of rows; the function next to it fills `info` with one row.
 * It fails with CTS_RESULT_USAGE if the index or id does not exist, or if info->struct_size is not
 * set, and with nothing else. */

#define CTS_UNKNOWN UINT32_MAX /* not an id */
#define CTS_NEVER   UINT64_MAX /* the operation did not happen */

struct cts_kernel_info {
    uint32_t struct_size;
    uint32_t kernel; /* its id: the index */
    int is_instrumented;
    const char *name; /* as in the source: "reduce<float, 256>(float *, int)" */
    const char *mangled_name;
    const char *path;             /* source file */
    uint32_t line;                /* from 1; 0: unknown */
    uint32_t static_shared_bytes; /* per CTA */
};
CTS_API size_t cts_run_kernel_count(const struct cts_run *run);
CTS_API enum cts_result cts_run_kernel(const struct cts_run *run, size_t kernel,
                                       struct cts_kernel_info *info);

/* How much of a launch was recorded: nothing, some CTAs, or all accesses. */
enum cts_recorded { CTS_RECORDED_NONE, CTS_RECORDED_SAMPLE, CTS_RECORDED_ALL };

struct cts_launch_info {
    uint32_t struct_size;
    uint32_t launch; /* its id, used in warp records; not the index */
    uint32_t rank, device;
    uint32_t stream;  /* id of the CUDA stream in the run */
    uint32_t ordinal; /* 0-based index within its stream */
    uint32_t kernel;
    uint32_t grid[3], block[3]; /* x, y, z */
    uint32_t dynamic_shared_bytes;
    enum cts_recorded recorded;
    uint64_t op;      /* position in the rank's call order: launches, copies, allocations, ... */
    uint64_t call_ns; /* when the host requested it */
    uint64_t start_ns, end_ns; /* 0: not started, not ended */
    uint64_t records;          /* warp records in the run */
    uint64_t accesses;         /* thread accesses in these records */
    uint64_t dropped_accesses; /* thread accesses that were not recorded */
};
/* Launches are ordered by rank, then by call. */
CTS_API size_t cts_run_launch_count(const struct cts_run *run);
CTS_API enum cts_result cts_run_launch(const struct cts_run *run, size_t index,
                                       struct cts_launch_info *info);
/* Finds a launch by its id instead of its index. */
CTS_API enum cts_result cts_run_find_launch(const struct cts_run *run, uint32_t launch,
                                            struct cts_launch_info *info);

struct cts_site_info {
    uint32_t struct_size;
    uint32_t site;         /* its id: the index */
    const char *operation; /* "load", "store", "atomic add", ...; "?": unknown */
    const char *space;     /* "global", "shared", ...; "generic": see each record */
    int reads, writes;     /* atomics do both */
    uint32_t width_bytes;  /* per thread */
    const char *function, *path;
    uint32_t line, column;  /* from 1; 0: unknown */
    const char *inlined_at; /* "file:line:column function <- ..." */
    const char *type;       /* element type */
    const char *variable;   /* name of the pointer or array in the source */
};
CTS_API size_t cts_run_site_count(const struct cts_run *run);
CTS_API enum cts_result cts_run_site(const struct cts_run *run, size_t site,
                                     struct cts_site_info *info);

struct cts_allocation_info {
    uint32_t struct_size;
    uint32_t allocation; /* its id; not the index */
    uint32_t rank, device;
    uint64_t address, size_bytes;
    uint64_t op, freed_op; /* CTS_NEVER: not freed; addresses may be reused after freed_op */
    const char *kind;      /* "device", "managed", "pinned", "mapped", "array", "variable" */
    const char *call;      /* API function */
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
    uint32_t lanes;         /* bit l: lane l is active */
    uint32_t width_bytes;   /* per lane; 0: unknown site (the program was killed) */
    const char *space;      /* "global", "shared", "local", "constant" */
    uint64_t addresses[32]; /* 0 for inactive lanes. Shared: offset in the CTA's window */
    uint32_t value_words;   /* 64-bit words per lane; 0: values were not recorded */
    const uint64_t *values; /* value_words for each active lane, lowest lane first; valid until the
                               next call */
};

/* Starts reading the warp records of the launch with this id, or of all launches if `launch` is
 * CTS_UNKNOWN. The records of a launch are contiguous; the records of a CTA are in recorded order.
 * The run must stay open while `accesses` is. Fails with CTS_RESULT_USAGE if the launch does not
 * exist, and with CTS_RESULT_FORMAT if the run holds no memory accesses or has
 * lost all of them. */
CTS_API enum cts_result cts_accesses_open(const struct cts_run *run, uint32_t launch,
                                          struct cts_accesses **accesses, char *error,
                                          size_t error_bytes);
/* Reads the next record into `record`, whose struct_size must be set. Returns 1 on success, 0 if
 * there are no more records, and -1 on failure; cts_accesses_error() then says why. */
CTS_API int cts_accesses_next(struct cts_accesses *accesses, struct cts_warp_record *record);
/* Returns one line of text about the failure. Valid until cts_accesses_close(). */
CTS_API const char *cts_accesses_error(const struct cts_accesses *accesses);
/* Ends reading and frees `accesses`. NULL is allowed. */
CTS_API void cts_accesses_close(struct cts_accesses *accesses);

/* Thread accesses as columns: element i of every array describes one access of one lane, in the
 * order of cts_accesses_next(), lowest lane of a record first. The caller provides arrays with room
 * for `capacity` elements; NULL arrays are skipped. */
struct cts_access_columns {
    uint32_t struct_size;
    size_t capacity;
    uint64_t *addresses; /* in bytes; shared memory: offset in the CTA's window */
    uint32_t *launches, *sites, *ctas, *warps;
    uint8_t *lanes; /* 0 to 31 */
};
/* Returns the number of thread accesses that have not been read yet. */
CTS_API uint64_t cts_accesses_left(const struct cts_accesses *accesses);
/* Fills the columns with the next accesses, at most `capacity`. Returns the number of elements
 * filled, 0 if there are no more accesses, and -1 on failure (see cts_accesses_error()). This
 * function and cts_accesses_next() share one position. Do not call cts_accesses_next() while this
 * function has returned only part of a record. */
CTS_API int64_t cts_accesses_fill(struct cts_accesses *accesses,
                                  const struct cts_access_columns *columns);

/* ---- its timeline, or an OTF2 archive written by another tool ---- */

struct cts_archive;

/* Opens the timeline of a run, or an archive given by its anchor file (*.otf2), and reads its
 * definitions. A timeline in the run's directory that the recording did not make is refused.
 * Strings in its _info structs are valid until cts_archive_close(). */
CTS_API enum cts_result cts_archive_open(const char *path, struct cts_archive **archive,
                                         char *error, size_t error_bytes);
/* Frees the archive and everything that its _info structs point to. NULL is allowed. */
CTS_API void cts_archive_close(struct cts_archive *archive);

struct cts_location_info { /* a host thread or a device stream */
    uint32_t struct_size;
    uint32_t location; /* its id: the index */
    int is_stream;
    uint32_t rank; /* of its process */
    const char *name, *process;
    uint64_t events; /* as stated in the archive; 0: unknown */
    int is_missing;  /* its events are missing or damaged */
};
CTS_API size_t cts_archive_location_count(const struct cts_archive *archive);
CTS_API enum cts_result cts_archive_location(const struct cts_archive *archive, size_t location,
                                             struct cts_location_info *info);

struct cts_region_info { /* a function, an API call or a kernel */
    uint32_t struct_size;
    uint32_t region;         /* its id: the index */
    const char *name, *path; /* path: source file, or NULL */
    uint32_t line;           /* from 1; 0: unknown */
};
CTS_API size_t cts_archive_region_count(const struct cts_archive *archive);
CTS_API enum cts_result cts_archive_region(const struct cts_archive *archive, size_t region,
                                           struct cts_region_info *info);

/* Activities (pairs of enter and leave) of a location as columns, sorted by start, callers before
 * callees. The caller provides the arrays as for struct cts_access_columns. Times are in ns from
 * the start of the archive's clock range. */
struct cts_activity_columns {
    uint32_t struct_size;
    size_t capacity;
    uint64_t *starts_ns, *ends_ns; /* still open at the end of the trace: end of its last event */
    uint32_t *regions, *depths;    /* depth 0: outermost */
};
/* Fills the columns with up to `capacity` activities. Sets *count to the total number of activities
 * of the location; call it with capacity 0 to query that number. */
CTS_API enum cts_result cts_archive_activities(const struct cts_archive *archive, size_t location,
                                               const struct cts_activity_columns *columns,
                                               uint64_t *count, char *error, size_t error_bytes);

#ifdef __cplusplus
}
#endif

#endif
