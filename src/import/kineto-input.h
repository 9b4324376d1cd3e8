/* The bytes of a file that may be packed (gzip, zstd), in order, a piece at a time. Private to
 * import/. */
#ifndef CTS_IMPORT_KINETO_INPUT_H
#define CTS_IMPORT_KINETO_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct cts_kineto_input; /* opaque: which library unpacks */

CTS_MUST_CHECK enum cts_status
cts_kineto_input_open(const char *path, struct cts_kineto_input **input, struct cts_error *error);
/* The next bytes, at most `room`; 0: the end. A packed file that ends early or is damaged gives
 * what comes before, then 0; cts_kineto_input_damage() says so. CTS_IO: it cannot be read. */
CTS_MUST_CHECK enum cts_status cts_kineto_input_read(struct cts_kineto_input *input, void *bytes,
                                                     size_t room, size_t *got,
                                                     struct cts_error *error);
/* NULL: none; else what is wrong with the packed bytes. */
const char *cts_kineto_input_damage(const struct cts_kineto_input *input);
void cts_kineto_input_close(struct cts_kineto_input *input);

#endif
