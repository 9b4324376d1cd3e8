#include "import/grid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* "64x32" */
static bool parse_extents(const char *text, uint32_t extents[3])
{
    extents[0] = extents[1] = extents[2] = 1;
    for (unsigned i = 0; i < 3; i++) {
        char *end;
        errno = 0;
        if (*text < '0' || *text > '9') return false;
        const unsigned long long number = strtoull(text, &end, 10);
        if (errno || number < 1 || number > UINT32_MAX) return false;
        extents[i] = (uint32_t)number;
        if (!*end) return true;
        if (*end != 'x') return false;
        text = end + 1;
    }
    return false;
}

/* Names of kernels may hold anything but ';', also '='. */
static enum cts_status parse_rule(struct cts_grid_rule *rule, char *text, struct cts_error *error)
{
    char *const equals = strrchr(text, '=');
    if (!parse_extents(equals ? equals + 1 : text, rule->extents))
        return cts_fail(error, CTS_USAGE,
                        "grid '%s': expected X, XxY or XxYxZ, or KERNEL= and one of these", text);
    if (!equals) return CTS_OK;
    *equals = 0;
    rule->kernel = strdup(text);
    return rule->kernel ? CTS_OK : cts_fail(error, CTS_MEMORY, "no memory for a grid");
}

enum cts_status cts_grids_parse(struct cts_grids *grids, const char *text, struct cts_error *error)
{
    *grids = (struct cts_grids){0};
    if (!text) return CTS_OK;
    size_t most = 1;
    for (const char *c = text; *c; c++) most += *c == ';';
    char *const copy = strdup(text);
    grids->rules = calloc(most, sizeof *grids->rules);
    enum cts_status status = CTS_OK;
    if (!copy || !grids->rules) status = cts_fail(error, CTS_MEMORY, "no memory for grids");
    for (char *rest = copy, *rule; !status && (rule = strsep(&rest, ";"));)
        status = parse_rule(&grids->rules[grids->count++], rule, error);
    free(copy);
    return status;
}

void cts_grids_release(struct cts_grids *grids)
{
    for (size_t i = 0; i < grids->count; i++) free(grids->rules[i].kernel);
    free(grids->rules);
    *grids = (struct cts_grids){0};
}

const struct cts_grid_rule *cts_grids_find(struct cts_grids *grids, const char *kernel)
{
    const struct cts_grid_rule *found = NULL;
    for (size_t i = 0; i < grids->count; i++) {
        struct cts_grid_rule *const rule = &grids->rules[i];
        if (rule->kernel && strcmp(rule->kernel, kernel) != 0) continue;
        rule->is_used = true;
        found = rule;
    }
    grids->inferred_launches += !found;
    return found;
}

enum cts_status cts_grids_check_used(const struct cts_grids *grids, struct cts_error *error)
{
    for (size_t i = 0; i < grids->count; i++)
        if (grids->rules[i].kernel && !grids->rules[i].is_used)
            return cts_fail(error, CTS_USAGE, "grid for '%s': no kernel has this name",
                            grids->rules[i].kernel);
    return CTS_OK;
}
