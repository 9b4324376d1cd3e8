/* Which names a user wants: "regex:" and an extended regular expression that is found in the name,
 * or the name itself. */
#ifndef CTS_COMMON_NAME_FILTER_H
#define CTS_COMMON_NAME_FILTER_H

#include <regex.h>
#include <stdbool.h>

#include "common/error.h"

struct cts_name_filter {
    const char *name;   /* borrowed; NULL: every name is wanted */
    bool is_expression; /* then: */
    regex_t expression;
};

/* CTS_USAGE, whose text is only what is wrong with the expression: then there is nothing to
 * release. */
CTS_MUST_CHECK enum cts_status cts_name_filter_make(struct cts_name_filter *filter,
                                                    const char *wanted, struct cts_error *error);
void cts_name_filter_release(struct cts_name_filter *filter);

/* A kernel is wanted by its name as in the source, with or without namespaces, template arguments
 * and parameters, or as linkers know it; an expression is looked for in the name as in the source.
 */
bool cts_name_filter_takes_kernel(const struct cts_name_filter *filter, const char *name,
                                  const char *mangled);

#endif
