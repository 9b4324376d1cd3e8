/* Reads CTASCOPE_*. One table row per variable says name, kind, limits and where the value goes; a
 * value that does not parse or is out of its limits is an error that names the variable, what it
 * holds and what it may hold. Sizes take a suffix K, M, G or T (powers of 1024). */
#include "environment.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum value_kind {
    VALUE_COUNT32,
    VALUE_COUNT64,
    VALUE_SIZE32,
    VALUE_SIZE64,
    VALUE_BOOL,
    VALUE_TEXT,
    VALUE_SAMPLE
};

struct variable {
    const char *name;
    enum value_kind kind;
    size_t offset; /* in struct cts_environment */
    uint64_t minimum, maximum;
};

#define FIELD(field) offsetof(struct cts_environment, field)
static const struct variable variables[] = {
    {"CTASCOPE_DEVICES", VALUE_COUNT32, FIELD(device_count), 1, 16},
    {"CTASCOPE_SM_COUNT", VALUE_COUNT32, FIELD(sm_count), 1, 65536},
    {"CTASCOPE_MEMORY", VALUE_SIZE64, FIELD(memory_bytes), 1 << 20, (uint64_t)1 << 39},
    {"CTASCOPE_SHARED_MEMORY", VALUE_SIZE32, FIELD(shared_bytes), 1 << 10, 64 << 20},
    {"CTASCOPE_WORKERS", VALUE_COUNT32, FIELD(worker_count), 1, 1024},
    {"CTASCOPE_STACK", VALUE_SIZE64, FIELD(stack_bytes), 16 << 10, (uint64_t)1 << 30},
    {"CTASCOPE_DETERMINISTIC", VALUE_BOOL, FIELD(deterministic), 0, 1},
    {"CTASCOPE_STRICT", VALUE_BOOL, FIELD(strict), 0, 1},
    {"CTASCOPE_SPIN_LIMIT", VALUE_COUNT64, FIELD(spin_limit_s), 1, 1000000},
    {"CTASCOPE_MEMORY_SUMS", VALUE_TEXT, FIELD(memory_sums), 0, 0},
    {"CTASCOPE_RUN", VALUE_TEXT, FIELD(run_path), 0, 0},
    {"CTASCOPE_KERNEL_NAME", VALUE_TEXT, FIELD(kernel_name), 0, 0},
    {"CTASCOPE_NVTX_INCLUDE", VALUE_TEXT, FIELD(nvtx_include), 0, 0},
    {"CTASCOPE_LAUNCH_SKIP", VALUE_COUNT64, FIELD(launch_skip), 0, UINT64_MAX - 1},
    {"CTASCOPE_LAUNCH_COUNT", VALUE_COUNT64, FIELD(launch_count), 1, UINT64_MAX - 1},
    {"CTASCOPE_CTA_SAMPLE", VALUE_SAMPLE, FIELD(cta_sample), 1, UINT32_MAX},
    {"CTASCOPE_MAX_SIZE", VALUE_SIZE64, FIELD(max_size_bytes), 1, UINT64_MAX - 1},
    {"CTASCOPE_VALUES", VALUE_BOOL, FIELD(values), 0, 1},
    {"CTASCOPE_HASH", VALUE_BOOL, FIELD(hash), 0, 1},
    {"CTASCOPE_HOST_ACCESSES", VALUE_BOOL, FIELD(host_accesses), 0, 1},
    {"CTASCOPE_PROFILE_FROM_START", VALUE_BOOL, FIELD(profile_from_start), 0, 1},
    {"CTASCOPE_ACCESSES", VALUE_BOOL, FIELD(accesses), 0, 1},
    {"CTASCOPE_TIMELINE", VALUE_BOOL, FIELD(timeline), 0, 1},
    {"CTASCOPE_TRY", VALUE_TEXT, FIELD(try_socket), 0, 0},
    {"CTASCOPE_TRY_STRETCH", VALUE_TEXT, FIELD(try_stretch), 0, 0},
    {"CTASCOPE_RING_SIZE", VALUE_SIZE64, FIELD(ring_bytes), 64 << 10, (uint64_t)1 << 36},
    {"CTASCOPE_SPACES", VALUE_TEXT, FIELD(spaces), 0, 0},
    {"CTASCOPE_SANITIZER", VALUE_TEXT, FIELD(sanitizer), 0, 0},
};

/* Digits alone: no sign, no space, no base prefix. */
static bool parse_digits(const char *text, uint64_t *value, const char **end)
{
    if (*text < '0' || *text > '9') return false;
    errno = 0;
    char *stop;
    *value = strtoull(text, &stop, 10);
    *end = stop;
    return errno == 0;
}

static bool parse_count(const char *text, uint64_t *value)
{
    const char *end;
    return parse_digits(text, value, &end) && *end == '\0';
}

/* "65536", "64K", "64k", "64KB", "64KiB". */
static bool parse_size(const char *text, uint64_t *value)
{
    const char *end;
    if (!parse_digits(text, value, &end)) return false;
    static const char suffixes[] = "KMGT";
    const char upper = (char)(*end >= 'a' && *end <= 'z' ? *end - 'a' + 'A' : *end);
    const char *suffix = upper != '\0' ? strchr(suffixes, upper) : NULL;
    if (suffix) {
        const unsigned shift = 10 * (unsigned)(suffix - suffixes + 1);
        if (*value > UINT64_MAX >> shift) return false;
        *value <<= shift;
        end++;
        if (*end == 'i') end++;
    }
    if (*end == 'B') end++;
    return *end == '\0';
}

/* "8" and "1/8" both mean every eighth CTA. */
static bool parse_sample(const char *text, uint64_t *value)
{
    return parse_count(strncmp(text, "1/", 2) == 0 ? text + 2 : text, value);
}

static bool parse(enum value_kind kind, const char *text, uint64_t *value)
{
    switch (kind) {
    case VALUE_SIZE32:
    case VALUE_SIZE64:
        return parse_size(text, value);
    case VALUE_SAMPLE:
        return parse_sample(text, value);
    default:
        return parse_count(text, value);
    }
}

static void store(struct cts_environment *environment, const struct variable *variable,
                  uint64_t value)
{
    char *const place = (char *)environment + variable->offset;
    switch (variable->kind) {
    case VALUE_COUNT64:
    case VALUE_SIZE64:
        *(uint64_t *)(void *)place = value;
        break;
    case VALUE_BOOL:
        *(bool *)(void *)place = value != 0;
        break;
    default:
        *(uint32_t *)(void *)place = (uint32_t)value;
        break;
    }
}

static enum cts_status read_variable(struct cts_environment *environment,
                                     const struct variable *variable, struct cts_error *error)
{
    const char *text = getenv(variable->name);
    if (!text || *text == '\0') return CTS_OK;
    if (variable->kind == VALUE_TEXT) {
        *(const char **)(void *)((char *)environment + variable->offset) = text;
        return CTS_OK;
    }
    uint64_t value;
    const bool narrow = variable->kind == VALUE_COUNT32 || variable->kind == VALUE_SIZE32 ||
                        variable->kind == VALUE_SAMPLE;
    const uint64_t maximum =
        narrow && variable->maximum > UINT32_MAX ? UINT32_MAX : variable->maximum;
    if (!parse(variable->kind, text, &value))
        return cts_fail(error, CTS_USAGE, "%s='%.100s' is not %s", variable->name, text,
                        variable->kind == VALUE_BOOL ? "0 or 1" : "a number");
    if (value < variable->minimum || value > maximum)
        return cts_fail(error, CTS_USAGE, "%s='%.100s' is not between %llu and %llu",
                        variable->name, text, (unsigned long long)variable->minimum,
                        (unsigned long long)maximum);
    store(environment, variable, value);
    return CTS_OK;
}

enum cts_status cts_environment_read(struct cts_environment *environment, struct cts_error *error)
{
    *environment = (struct cts_environment){
        .device_count = 1,
        .shared_bytes = 227 << 10,
        .launch_count = UINT64_MAX,
        .cta_sample = 1,
        .profile_from_start = true,
        .accesses = true,
    };
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        struct cts_error *const first = status == CTS_OK ? error : NULL;
        const enum cts_status one = read_variable(environment, &variables[i], first);
        if (status == CTS_OK) status = one;
    }
    return status;
}
