/* Files of single locations. The library opens whatever is there, and a pipe would be waited for
 * without end; so that is asked first. */
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "common/read-file.h"
#include "trace/timeline/timeline-private.h"

/* The mode of a location's file; 0: there is none; S_IFIFO: one that no disk has. */
static mode_t mode_of(const struct cts_timeline_private *private, uint64_t reference,
                      const char *kind)
{
    char path[PATH_MAX];
    struct stat status;
    const int length = snprintf(path, sizeof path, "%s/%llu.%s", private->directory,
                                (unsigned long long)reference, kind);
    if (length < 0 || (size_t)length >= sizeof path || stat(path, &status)) return 0;
    return cts_is_kept_file(path, &status) ? status.st_mode : S_IFIFO;
}

bool cts_timeline_has_local_file(const struct cts_timeline_private *private, uint64_t reference,
                                 const char *kind)
{
    return S_ISREG(mode_of(private, reference, kind));
}

const char *cts_timeline_absence(const struct cts_timeline_private *private, uint64_t reference,
                                 const char *kind)
{
    return mode_of(private, reference, kind) ? "not a regular file" : "missing";
}

enum cts_status cts_timeline_check_events(const struct cts_timeline_private *private,
                                          uint64_t reference, struct cts_error *error)
{
    const mode_t mode = mode_of(private, reference, "evt");
    return !mode || S_ISREG(mode) ? CTS_OK
                                  : cts_fail(error, CTS_FORMAT, "it is not a regular file");
}
