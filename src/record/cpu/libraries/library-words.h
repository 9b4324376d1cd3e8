// What each of NVIDIA's libraries tells of itself: the parts of its version, the words of its
// statuses.
#ifndef CTS_LIBRARIES_LIBRARY_WORDS_H
#define CTS_LIBRARIES_LIBRARY_WORDS_H

#include <library_types.h>

#include <cstddef>

// False: no such part, or nowhere to put it.
static inline bool library_property(libraryPropertyType type, int *value, int major, int minor,
                                    int patch)
{
    if (!value || type > PATCH_LEVEL) return false;
    *value = type == MAJOR_VERSION ? major : type == MINOR_VERSION ? minor : patch;
    return true;
}

struct library_status {
    int status;
    const char *name, *text;
};

template <size_t count>
static const library_status &library_status_of(const library_status (&statuses)[count], int status)
{
    static const library_status unknown = {0, "unknown status", "unknown status"};
    for (const library_status &one : statuses)
        if (one.status == status) return one;
    return unknown;
}

#endif
