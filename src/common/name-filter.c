#include "common/name-filter.h"

#include <string.h>

enum cts_status cts_name_filter_make(struct cts_name_filter *filter, const char *wanted,
                                     struct cts_error *error)
{
    static const char prefix[] = "regex:";
    *filter = (struct cts_name_filter){.name = wanted};
    if (!wanted || strncmp(wanted, prefix, sizeof prefix - 1) != 0) return CTS_OK;
    const int code =
        regcomp(&filter->expression, wanted + sizeof prefix - 1, REG_EXTENDED | REG_NOSUB);
    if (code) {
        char reason[200];
        regerror(code, &filter->expression, reason, sizeof reason);
        return cts_fail(error, CTS_USAGE, "%s", reason);
    }
    filter->is_expression = true;
    return CTS_OK;
}

void cts_name_filter_release(struct cts_name_filter *filter)
{
    if (filter->is_expression) regfree(&filter->expression);
    *filter = (struct cts_name_filter){0};
}

/* Whether `name` is `wanted`, or `wanted` with template arguments or parameters behind it. */
static bool begins_with(const char *name, const char *wanted)
{
    const size_t length = strlen(wanted);
    return strncmp(name, wanted, length) == 0 &&
           (!name[length] || name[length] == '(' || name[length] == '<');
}

/* Behind the next namespace of a qualified name; NULL: there is none. What stands in brackets, but
 * for the namespace without a name, are arguments and parameters. */
static const char *behind_namespace(const char *name)
{
    static const char nameless[] = "(anonymous namespace)::";
    if (strncmp(name, nameless, sizeof nameless - 1) == 0) return name + sizeof nameless - 1;
    name += strcspn(name, ":(<");
    return name[0] == ':' && name[1] == ':' ? name + 2 : NULL;
}

bool cts_name_filter_takes_kernel(const struct cts_name_filter *filter, const char *name,
                                  const char *mangled)
{
    const char *const wanted = filter->name;
    if (!wanted) return true;
    if (filter->is_expression) return regexec(&filter->expression, name, 0, NULL, 0) == 0;
    if (!*wanted) return !*name;
    if (strcmp(mangled, wanted) == 0) return true;
    for (; name; name = behind_namespace(name))
        if (begins_with(name, wanted)) return true;
    return false;
}
