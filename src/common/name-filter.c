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

bool cts_name_filter_takes_kernel(const struct cts_name_filter *filter, const char *name,
                                  const char *mangled)
{
    const char *const wanted = filter->name;
    if (!wanted) return true;
    if (filter->is_expression) return regexec(&filter->expression, name, 0, NULL, 0) == 0;
    const size_t length = strlen(wanted);
    return strcmp(name, wanted) == 0 || strcmp(mangled, wanted) == 0 ||
           (strncmp(name, wanted, length) == 0 && (name[length] == '(' || name[length] == '<'));
}
