/* Tensor copies (TMA with a descriptor) of compute capability 9.0, as instructions: what they do
 * and which uniform registers they name. */
#ifndef CTS_RECORD_TENSOR_COPY_H
#define CTS_RECORD_TENSOR_COPY_H

#include <stdbool.h>
#include <stdint.h>

enum { CTS_TENSOR_COPY_CAPABILITY = 90, CTS_NO_REGISTER = 0xff };

struct cts_tensor_copy {
    uint8_t operation;          /* enum cts_operation */
    uint8_t dimensions;         /* coordinates */
    uint8_t map_register;       /* the map's address: this one and the next */
    uint8_t point_register;     /* the first coordinate; others follow */
    uint8_t multicast_register; /* the mask of CTAs, low 16 bits; CTS_NO_REGISTER: none */
    uint8_t predicate;          /* 0 to 7, 8 more: negated; 7: always */
    bool is_im2col;             /* the coordinates are not those of a box */
};

/* False: the instruction is no tensor copy, or a prefetch. */
bool cts_tensor_copy_decode(uint64_t low, uint64_t high, struct cts_tensor_copy *copy);

#endif
