/* What is recorded, as the environment says. Set before the first callback. */
#ifndef CTS_MEMORY_SETTINGS_H
#define CTS_MEMORY_SETTINGS_H

#include <stdbool.h>

#include "common/error.h"
#include "record/cpu/runtime/environment.h"

extern struct cts_memory_settings {
    struct cts_environment environment;
    bool global, shared, local; /* spaces that are recorded */
    bool barriers;              /* too, if the Sanitizer takes their patches */
    bool values;                /* what is loaded and stored, too */
    bool tensors;               /* copies of tensors: modules get markers (images.h) */
    bool empty;                 /* for measurements: patches that do nothing */
    bool discard;               /* for measurements: records are forgotten */
    bool late;                  /* for measurements: synchronisations hand nothing on */
    bool defer;                 /* modules are patched when a launch of theirs is wanted */
} cts_memory_settings;

/* Reads them. The first that is bad is described, and the others are read all the same. */
CTS_MUST_CHECK enum cts_status cts_memory_settings_read(struct cts_error *error);
/* What can only be checked, and so reported, once the run is open. */
CTS_MUST_CHECK enum cts_status cts_memory_settings_check(struct cts_error *error);

#endif
