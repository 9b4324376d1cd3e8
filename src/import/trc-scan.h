/* What traces hold: the first of the two passes over the files. It checks every byte, so that the
 * second, which writes the run, meets nothing unexpected. Private to import/. */
#ifndef CTS_IMPORT_TRC_SCAN_H
#define CTS_IMPORT_TRC_SCAN_H

#include "common/error.h"
#include "common/map.h"
#include "common/progress.h"
#include "import/trc.h"

/* What is wrong with a file and does not keep the rest of it from being read. */
#define CTS_TRC_PROBLEM_MAP(X)                                                                     \
    X(TYPE, "access of an unknown type was left out", "accesses of an unknown type were left out") \
    X(SIZE, "access of an impossible size was left out",                                           \
      "accesses of an impossible size were left out")                                              \
    X(ADDRESS, "access past the end of memory was left out",                                       \
      "accesses past the end of memory were left out")                                             \
    X(WRAPPED,                                                                                     \
      "run has a count of 0, which the original tools write for any multiple of 65,536: "          \
      "counted as 65,536, which may be too few",                                                   \
      "runs have a count of 0, which the original tools write for any multiple of 65,536: "        \
      "counted as 65,536, which may be too few")                                                   \
    X(CUT, "the file ends early: its last entry is incomplete", "")

enum cts_trc_problem {
#define X(name, one, many) CTS_TRC_PROBLEM_##name,
    CTS_TRC_PROBLEM_MAP(X)
#undef X
        CTS_TRC_PROBLEM_COUNT
};

struct cts_trc_file {
    const char *path;
    const uint8_t *bytes;
    size_t byte_count;
    enum cts_trc_format format;
    struct {
        uint64_t count, first_offset; /* CUT: once at most */
    } problems[CTS_TRC_PROBLEM_COUNT];
    uint32_t launch_count;
};

struct cts_trc_launch {
    uint32_t file, kernel;
    uint64_t begin, end; /* its records: offsets in the file */
    uint64_t accesses;   /* good ones */
    uint64_t dropped;    /* left out; a truncated record counts as one */
    uint64_t extents[3]; /* the largest CTA id + 1, per dimension; 1 without records */
    uint64_t sm_count;   /* the largest SM id + 1 */
    uint64_t touched;    /* groups: an upper bound of the number of CTAs that did anything */
    bool is_cut;         /* its name is truncated, so its accesses are unknown */
};

struct cts_trc_kernel {
    char *name; /* UTF-8 */
};

struct cts_trc_site {
    uint32_t kernel;
    uint8_t operation; /* enum cts_operation */
    uint32_t width_bytes;
};

/* Owns everything but the files. */
struct cts_trc_scan {
    struct cts_trc_file *files;
    size_t file_count;
    struct {
        struct cts_trc_launch *items;
        size_t count, capacity;
    } launches; /* file after file */
    struct {
        struct cts_trc_kernel *items;
        size_t count, capacity;
    } kernels;
    struct {
        struct cts_trc_site *items;
        size_t count, capacity;
    } sites;
    struct cts_text_map kernel_of_name;
    struct cts_map site_of_key;
};

enum { CTS_TRC_LAUNCHES_MAX = 1 << 22, CTS_TRC_SITES_MAX = 1 << 24 };

CTS_MUST_CHECK enum cts_status cts_trc_scan(struct cts_trc_scan *scan,
                                            struct cts_progress *progress, struct cts_error *error);
void cts_trc_scan_release(struct cts_trc_scan *scan);

/* The site of a kernel's accesses of an operation and width, which the scan has met. */
uint32_t cts_trc_site_of(const struct cts_trc_scan *scan, uint32_t kernel, unsigned operation,
                         uint32_t width_bytes);

#endif
