/* Images of modules, on their way into the driver: those with tensor copies get markers
 * (cubin/copy-marks.h), which the patches need. */
#ifndef CTS_MEMORY_IMAGES_H
#define CTS_MEMORY_IMAGES_H

#include "record/inject/cubin/cubin.h"

/* At the begin of a call that loads a module or library: its parameters begin with where the handle
 * goes and the image. The driver goes on with what is left there. */
void cts_image_replace(void *parameters);

/* Why tensor copies of a cubin are not recorded: what kept its image from getting markers, or
 * `otherwise`. */
const char *cts_image_reason(const struct cts_cubin *cubin, const char *otherwise);

#endif
