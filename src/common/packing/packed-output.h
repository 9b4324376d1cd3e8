/* Output of common/output-file.h that is packed with gzip, or not. */
#ifndef CTS_COMMON_PACKED_OUTPUT_H
#define CTS_COMMON_PACKED_OUTPUT_H

#include <stdbool.h>

#include "common/output-file.h"

struct cts_packed_output {
    FILE *file; /* to write to */
    struct cts_output output;
    bool is_packed;
    int errnum; /* of the first write that failed; 0: none */
};

/* As cts_output_open() and cts_output_close(). The struct stays where it is between the two. */
CTS_MUST_CHECK enum cts_status cts_packed_output_open(const char *path, bool is_packed,
                                                      struct cts_packed_output *packed,
                                                      struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_packed_output_close(struct cts_packed_output *packed,
                                                       enum cts_status status,
                                                       struct cts_error *error);

#endif
