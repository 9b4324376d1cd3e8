/* What a tensor copy touches: the box of its map at its coordinates, clipped at the tensor's edges.
 */
#ifndef CTS_RECORD_TENSOR_BOX_H
#define CTS_RECORD_TENSOR_BOX_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/box.h"

/* `point` has as many coordinates as the map has dimensions. *row_bytes is that of a row, also
 * where the box has none. False: the map is none that is known, or one in im2col or interleaved
 * mode. */
struct cts_tensor_rows {
    uint64_t base;
    uint32_t row_bytes;
    struct cts_box box;
};
bool cts_tensor_box(const uint32_t map_words[16], const uint32_t point[5],
                    struct cts_tensor_rows *rows);

#endif
