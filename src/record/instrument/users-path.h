/* Which files are a user's: the passes show their lines, and theirs only. */
#ifndef CTS_INSTRUMENT_USERS_PATH_H
#define CTS_INSTRUMENT_USERS_PATH_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether an absolute path is of a file that a user wrote, going by where it is. */
bool cts_is_users_path(const char *path);

#ifdef __cplusplus
}
#endif

#endif
