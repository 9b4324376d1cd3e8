/* Which activities a person means. */
#include "analyze/path/names.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEAR_MAX = 3 };

static bool is_named(const char *wanted, const char *name)
{
    if (!strcmp(wanted, name)) return true;
    if (strchr(wanted, '*')) return fnmatch(wanted, name, 0) == 0;
    const size_t length = strlen(wanted);
    return length && !strncmp(wanted, name, length) && name[length] == '(';
}

bool cts_path_is_named(const char *wanted, const char *name)
{
    if (is_named(wanted, name)) return true;
    if (strncmp(name, "_Z", 2) != 0) return false;
    char *const demangled = cts_demangled(name); /* as the lists show it */
    const bool found = demangled && is_named(wanted, demangled);
    free(demangled);
    return found;
}

/* How unlike two names are: single letters to change, without regard to case. */
static unsigned distance(const char *a, const char *b)
{
    enum { LENGTH_MAX = 64 };
    unsigned row[LENGTH_MAX + 1];
    const size_t a_length = strnlen(a, LENGTH_MAX), b_length = strnlen(b, LENGTH_MAX);
    for (size_t k = 0; k <= b_length; k++) row[k] = (unsigned)k;
    for (size_t i = 1; i <= a_length; i++) {
        unsigned corner = row[0];
        row[0] = (unsigned)i;
        for (size_t k = 1; k <= b_length; k++) {
            const bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[k - 1]);
            unsigned best = corner + !same;
            corner = row[k];
            if (corner + 1 < best) best = corner + 1;
            if (row[k - 1] + 1 < best) best = row[k - 1] + 1;
            row[k] = best;
        }
    }
    return row[b_length];
}

enum cts_status cts_path_unknown_name(const struct cts_path_system *system, const uint64_t *calls,
                                      const char *wanted, struct cts_error *error)
{
    const char *near[NEAR_MAX] = {0};
    unsigned far[NEAR_MAX] = {0};
    char part[128]; /* of a pattern: its first text */
    const char *const text = wanted + strspn(wanted, "*");
    snprintf(part, sizeof part, "%.*s", (int)strcspn(text, "*"), text);
    for (uint32_t r = 0; r < system->region_count; r++) {
        const char *const name = system->regions[r].name;
        if (!calls[r]) continue;
        unsigned d = distance(wanted, name);
        if (*part && strcasestr(name, part)) d = 0;
        if (d > strlen(wanted) / 3 + 1) continue;
        unsigned at = NEAR_MAX;
        while (at > 0 && (!near[at - 1] || d < far[at - 1])) at--;
        if (at == NEAR_MAX) continue;
        memmove(&near[at + 1], &near[at], (NEAR_MAX - 1 - at) * sizeof *near);
        memmove(&far[at + 1], &far[at], (NEAR_MAX - 1 - at) * sizeof *far);
        near[at] = name;
        far[at] = d;
    }
    if (!near[0])
        return cts_fail(error, CTS_USAGE, "no activity is called '%s' ('ctascope path' lists all)",
                        wanted);
    return cts_fail(error, CTS_USAGE, "no activity is called '%s'; similar names: '%s'%s%s%s%s%s%s",
                    wanted, near[0], near[1] ? ", '" : "", near[1] ? near[1] : "",
                    near[1] ? "'" : "", near[2] ? ", '" : "", near[2] ? near[2] : "",
                    near[2] ? "'" : "");
}
