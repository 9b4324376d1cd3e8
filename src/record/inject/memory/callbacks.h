/* Callbacks of the Sanitizer. They are made by the driver, inside the recorded program: nothing
 * prints, nothing exits, and no lock of ours is held while the Sanitizer or the driver is called
 * (they have locks of their own). */
#ifndef CTS_MEMORY_CALLBACKS_H
#define CTS_MEMORY_CALLBACKS_H

#include "common/error.h"

CTS_MUST_CHECK enum cts_status cts_callbacks_start(struct cts_error *error);
/* From here on callbacks do nothing. */
void cts_callbacks_stop(void);

#endif
