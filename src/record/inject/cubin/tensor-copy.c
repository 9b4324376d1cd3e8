/* Found by assembling a copy of each kind (tests/unit/copy-marks-test.c holds samples). Of the low
 * word:
 *
 *   0-8     1b4 load, 1b5 store, 1b6 reduction (1b8: prefetch)
 *   9-11    the form: 2; 1 with the register of bits 64-69; a reduction has 1 always
 *   12-15   predicate, a uniform one
 *   24-29   uniform register with the map's address
 *   32-37   the first of the uniform registers with the places in shared memory (load: tile and
 *           mbarrier; store, reduction: tile), and then the coordinates
 *
 * Of the high word: 0-5 the register of a multicast's mask; 11 multicast; 12 cache hint; 15-17
 * dimensions - 1; 18 im2col; 23-25 what a reduction does. */
#include "record/inject/cubin/tensor-copy.h"

#include "trace/access.h"

enum { LOAD = 0x1b4, STORE = 0x1b5, REDUCTION = 0x1b6, DIMENSIONS_MAX = 5, REGISTERS = 63 };

static uint32_t bits(uint64_t word, unsigned first, unsigned count)
{
    return (uint32_t)(word >> first) & ((1u << count) - 1);
}

bool cts_tensor_copy_decode(uint64_t low, uint64_t high, struct cts_tensor_copy *copy)
{
    static const uint8_t reductions[8] = {CTS_ATOMIC_ADD, CTS_ATOMIC_MIN, CTS_ATOMIC_MAX,
                                          CTS_ATOMIC_INC, CTS_ATOMIC_DEC, CTS_ATOMIC_AND,
                                          CTS_ATOMIC_OR,  CTS_ATOMIC_XOR};
    const uint32_t operation = bits(low, 0, 9), form = bits(low, 9, 3);
    if (operation < LOAD || operation > REDUCTION || (form != 1 && form != 2)) return false;
    const bool is_load = operation == LOAD;
    *copy = (struct cts_tensor_copy){
        .operation = is_load              ? CTS_LOAD
                     : operation == STORE ? CTS_STORE
                                          : reductions[bits(high, 23, 3)],
        .dimensions = (uint8_t)(bits(high, 15, 3) + 1),
        .map_register = (uint8_t)bits(low, 24, 6),
        .point_register = (uint8_t)(bits(low, 32, 6) + (is_load ? 2 : 1)),
        .multicast_register =
            is_load && bits(high, 11, 1) ? (uint8_t)bits(high, 0, 6) : (uint8_t)CTS_NO_REGISTER,
        .predicate = (uint8_t)bits(low, 12, 4),
        .is_im2col = bits(high, 18, 1),
    };
    return copy->dimensions <= DIMENSIONS_MAX && copy->map_register + 1 < REGISTERS &&
           copy->point_register + copy->dimensions <= REGISTERS &&
           (copy->multicast_register == CTS_NO_REGISTER || copy->multicast_register < REGISTERS);
}
