/* Settings of the memory recorder, and what of them cannot be. */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/name-filter.h"

struct cts_memory_settings cts_memory_settings;

/* A list of spaces: "global", "global,shared", ... */
static enum cts_status read_spaces(struct cts_error *error)
{
    static const struct {
        const char *name;
        bool *place;
    } known[] = {{"global", &cts_memory_settings.global},
                 {"shared", &cts_memory_settings.shared},
                 {"local", &cts_memory_settings.local},
                 {"barriers", &cts_memory_settings.barriers}};
    enum { KNOWN = sizeof known / sizeof *known };
    const char *at = cts_memory_settings.environment.spaces;
    if (!at) at = "global,shared";
    while (*at) {
        const size_t length = strcspn(at, ",");
        size_t i = 0;
        while (i < KNOWN && (strlen(known[i].name) != length || strncmp(at, known[i].name, length)))
            i++;
        if (i == KNOWN)
            return cts_fail(error, CTS_USAGE,
                            "CTASCOPE_SPACES='%.100s' is not a list of global, shared, local, "
                            "barriers",
                            cts_memory_settings.environment.spaces);
        *known[i].place = true;
        at += length;
        at += *at == ',';
    }
    if (!cts_memory_settings.global)
        return cts_fail(error, CTS_USAGE,
                        "CTASCOPE_SPACES: the list must include global, which is always recorded");
    return CTS_OK;
}

static enum cts_status check_expression(struct cts_error *error)
{
    const char *const name = cts_memory_settings.environment.kernel_name;
    struct cts_name_filter filter;
    struct cts_error wrong;
    if (cts_name_filter_make(&filter, name, &wrong))
        return cts_fail(error, CTS_USAGE,
                        "CTASCOPE_KERNEL_NAME='%.200s' is not a regular expression: %s", name,
                        wrong.text);
    cts_name_filter_release(&filter);
    return CTS_OK;
}

/* Pinned memory that the machine does not have would take it from everybody, or hang. */
static enum cts_status check_ring_size(struct cts_error *error)
{
    const uint64_t asked_bytes = cts_memory_settings.environment.ring_bytes;
    unsigned long long free_kib = 0;
    char line[128];
    FILE *const file = asked_bytes ? fopen("/proc/meminfo", "re") : NULL;
    while (file && !free_kib && fgets(line, sizeof line, file))
        if (strncmp(line, "MemAvailable:", 13) == 0) free_kib = strtoull(line + 13, NULL, 10);
    if (file) fclose(file);
    if (!free_kib || asked_bytes <= free_kib * 1024 / 2) return CTS_OK;
    return cts_fail(error, CTS_LIMIT,
                    "a ring of %llu MiB is more than half of the %llu MiB of free memory; choose a "
                    "smaller --ring-size",
                    (unsigned long long)asked_bytes >> 20, free_kib >> 10);
}

static bool is(const char *variable, const char *value)
{
    const char *const text = getenv(variable);
    return text && strcmp(text, value) == 0;
}

enum cts_status cts_memory_settings_read(struct cts_error *error)
{
    struct cts_memory_settings *const settings = &cts_memory_settings;
    const enum cts_status status = cts_environment_read(&settings->environment, error);
    const struct cts_environment *const environment = &settings->environment;
    settings->values = environment->values;
    settings->tensors = !is("CTASCOPE_TENSORS", "0");
    settings->empty = is("CTASCOPE_MEMORY_MODE", "empty");
    settings->discard = is("CTASCOPE_MEMORY_MODE", "discard");
    settings->late = is("CTASCOPE_MEMORY_MODE", "late");
    if (environment->kernel_name || environment->launch_skip ||
        environment->launch_count != UINT64_MAX || !environment->profile_from_start ||
        environment->nvtx_include)
        settings->defer = true;
    return status;
}

enum cts_status cts_memory_settings_check(struct cts_error *error)
{
    enum cts_status status = read_spaces(error);
    if (!status) status = check_expression(error);
    if (!status) status = check_ring_size(error);
    return status;
}
