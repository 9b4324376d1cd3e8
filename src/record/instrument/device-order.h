/* The order in which volatile accesses and atomics of global memory took place, over all threads of
 * the process: what a thread does after a load follows what another one did before the store that
 * the load saw. Each gets a number from the engine (__cts_order): a load after it, a store before
 * it, an atomic both. So of a load and the store that it saw, the store has the smaller number. CPU
 * device only. */
#ifndef CTS_INSTRUMENT_DEVICE_ORDER_H
#define CTS_INSTRUMENT_DEVICE_ORDER_H

#include <stdbool.h>

#include "record/instrument/device-access.h"

#define CTS_ORDER_FUNCTION "__cts_order"

struct cts_orderer {
    LLVMValueRef function; /* NULL: no order is recorded */
    LLVMTypeRef type;
};

struct cts_order_moments {
    bool before, after;
};

/* Words order nothing in a module without fences, unless other modules share its code. */
void cts_orderer_init(struct cts_orderer *orderer, LLVMModuleRef module, bool is_shared);
/* When an instruction that makes one access of global memory is to get numbers. */
struct cts_order_moments cts_order_of(LLVMValueRef instruction,
                                      const struct cts_memory_access *access);
/* Twice the next number, where the builder stands. */
LLVMValueRef cts_order_now(const struct cts_orderer *orderer, LLVMBuilderRef builder);

#endif
