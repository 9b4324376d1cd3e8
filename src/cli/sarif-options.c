#include "cli/sarif-options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cts_sarif_root(const struct cts_arguments *arguments, char root[PATH_MAX])
{
    const char *const asked = cts_argument(arguments, "source-root");
    const char *const format = cts_argument(arguments, "format");
    *root = 0;
    if (!format || strcmp(format, "sarif") != 0)
        return asked ? cts_usage_error(arguments, "--source-root needs --format sarif") : 0;
    if (!realpath(asked ? asked : ".", root))
        return cts_usage_error(arguments, "--source-root '%s': %s", asked ? asked : ".",
                               strerror(errno));
    if (!strcmp(root, "/")) *root = 0;
    return 0;
}

int cts_fail_on_findings(const struct cts_arguments *arguments, const char *fail_on,
                         size_t failures)
{
    if (!failures) return CTS_EXIT_OK;
    fprintf(stderr, "ctascope %s: --fail-on %s: %zu finding%s\n", arguments->verb->name, fail_on,
            failures, failures == 1 ? "" : "s");
    return CTS_EXIT_THRESHOLD;
}
