/* An instruction has 16 bytes; the lowest 9 bits are the operation, the next 3 say which operands
 * are registers, constants and so on. Found by assembling one instruction of each kind for compute
 * capabilities 7.5 to 10.0 and looking for what differs: tests/unit/sass-test.c holds the samples.
 *
 * Barriers of a CTA have in bits 77 and 78 whether they are only arrived at (1).
 *
 * Atomics have what they do in bits 87 to 90. Of reductions without a result bit 90 is always 1, so
 * that three bits are left; exchanges have a result always. */
#include "record/inject/cubin/sass.h"

#include <stdbool.h>
#include <stddef.h>

#include "trace/access.h"

enum {
    OPERATION_BITS = 9,
    OPERATIONS = 1 << OPERATION_BITS,
    ATOMIC_SHIFT = 87 - 64,
    MAP_FETCH_SHIFT = 82 - 64,
    BARRIER_SHIFT = 77 - 64
};

enum form {
    FORM_NONE,
    FORM_ATOMIC,
    FORM_REDUCTION,
    FORM_COMPARE,
    FORM_MAP,
    FORM_BARRIER,
    FORM_PLAIN
};

static const struct {
    uint8_t form, kind;
} table[OPERATIONS] = {
    [0x11d] = {FORM_BARRIER, CTS_SASS_BARRIER},  /* BAR */
    [0x18a] = {FORM_ATOMIC, CTS_SASS_ATOMIC},    /* ATOM: generic */
    [0x18b] = {FORM_COMPARE, CTS_SASS_ATOMIC},   /* ATOM.CAS */
    [0x18c] = {FORM_ATOMIC, CTS_SASS_ATOMIC},    /* ATOMS: shared */
    [0x18d] = {FORM_COMPARE, CTS_SASS_ATOMIC},   /* ATOMS.CAS */
    [0x18e] = {FORM_REDUCTION, CTS_SASS_ATOMIC}, /* RED */
    [0x1a2] = {FORM_REDUCTION, CTS_SASS_ATOMIC}, /* ATOM of floats */
    [0x1a3] = {FORM_REDUCTION, CTS_SASS_ATOMIC}, /* ATOMG of floats */
    [0x1a6] = {FORM_REDUCTION, CTS_SASS_ATOMIC}, /* RED of floats */
    [0x1a8] = {FORM_ATOMIC, CTS_SASS_ATOMIC},    /* ATOMG: global */
    [0x1a9] = {FORM_COMPARE, CTS_SASS_ATOMIC},   /* ATOMG.CAS */
    [0x1b4] = {FORM_PLAIN, CTS_SASS_TENSOR_LOAD},
    [0x1b5] = {FORM_PLAIN, CTS_SASS_TENSOR_STORE},
    [0x1b6] = {FORM_PLAIN, CTS_SASS_TENSOR_REDUCTION},
    [0x1b9] = {FORM_MAP, CTS_SASS_TENSOR_MAP_CHANGE},  /* UTMACCTL */
    [0x1f0] = {FORM_PLAIN, CTS_SASS_WARPGROUP_MATRIX}, /* half, integer, bits, 8-bit floats */
    [0x1f1] = {FORM_PLAIN, CTS_SASS_WARPGROUP_MATRIX},
    [0x1f2] = {FORM_PLAIN, CTS_SASS_WARPGROUP_MATRIX},
    [0x1f3] = {FORM_PLAIN, CTS_SASS_WARPGROUP_MATRIX},
    [0x1e7] = {FORM_PLAIN, CTS_SASS_TENSOR_MATRIX}, /* copies to tensor memory, and products */
    [0x1ea] = {FORM_PLAIN, CTS_SASS_TENSOR_MATRIX},
    [0x160] = {FORM_PLAIN, CTS_SASS_TEXTURE}, /* TEX, TLD4, TLD, TXD: by slot and by handle */
    [0x161] = {FORM_PLAIN, CTS_SASS_TEXTURE},
    [0x163] = {FORM_PLAIN, CTS_SASS_TEXTURE},
    [0x164] = {FORM_PLAIN, CTS_SASS_TEXTURE},
    [0x166] = {FORM_PLAIN, CTS_SASS_TEXTURE},
    [0x167] = {FORM_PLAIN, CTS_SASS_TEXTURE},
    [0x16c] = {FORM_PLAIN, CTS_SASS_TEXTURE},
    [0x16d] = {FORM_PLAIN, CTS_SASS_TEXTURE},
    [0x19a] = {FORM_PLAIN, CTS_SASS_SURFACE}, /* SULD, SUST, SURED */
    [0x19c] = {FORM_PLAIN, CTS_SASS_SURFACE},
    [0x19e] = {FORM_PLAIN, CTS_SASS_SURFACE},
    [0x1a0] = {FORM_PLAIN, CTS_SASS_SURFACE},
};

struct cts_sass cts_sass_of(uint64_t low, uint64_t high)
{
    static const uint8_t operations[16] = {
        CTS_ATOMIC_ADD,   CTS_ATOMIC_MIN,   CTS_ATOMIC_MAX,   CTS_ATOMIC_INC,
        CTS_ATOMIC_DEC,   CTS_ATOMIC_AND,   CTS_ATOMIC_OR,    CTS_ATOMIC_XOR,
        CTS_ATOMIC_EXCH,  CTS_ATOMIC_OTHER, CTS_ATOMIC_OTHER, CTS_ATOMIC_OTHER,
        CTS_ATOMIC_OTHER, CTS_ATOMIC_OTHER, CTS_ATOMIC_OTHER, CTS_ATOMIC_OTHER};
    const uint32_t operation = (uint32_t)low & (OPERATIONS - 1);
    struct cts_sass sass = {.kind = table[operation].kind};
    switch (table[operation].form) {
    case FORM_ATOMIC:
        sass.operation = operations[high >> ATOMIC_SHIFT & 15];
        break;
    case FORM_REDUCTION:
        sass.operation = operations[high >> ATOMIC_SHIFT & 7];
        break;
    case FORM_COMPARE:
        sass.operation = CTS_ATOMIC_CAS;
        break;
    case FORM_MAP: /* forgets a map that was cached, or fetches one */
        if (high >> MAP_FETCH_SHIFT & 1) sass.kind = CTS_SASS_OTHER;
        break;
    case FORM_BARRIER:
        sass.operation =
            (high >> BARRIER_SHIFT & 3) == 1 ? CTS_BARRIER_CTA_ARRIVE : CTS_BARRIER_CTA_SYNC;
        break;
    default:
        break;
    }
    return sass;
}

const char *cts_sass_unrecorded(enum cts_sass_kind kind, const char **reason)
{
    static const char untold[] = "the Sanitizer does not report their addresses";
    static const char unseen[] = "only tensor maps among a kernel's parameters are known";
    static const char layout[] = "the layout of the operands in shared memory is unknown";
    static const struct {
        const char *what, *reason;
    } unrecorded[CTS_SASS_KIND_COUNT] = {
        [CTS_SASS_TENSOR_LOAD] = {"tensor loads (TMA with a descriptor)", untold},
        [CTS_SASS_TENSOR_STORE] = {"tensor stores (TMA with a descriptor)", untold},
        [CTS_SASS_TENSOR_REDUCTION] = {"tensor reductions (TMA with a descriptor)", untold},
        [CTS_SASS_TENSOR_MAP_CHANGE] = {"tensor maps made on the device", unseen},
        [CTS_SASS_WARPGROUP_MATRIX] = {"operands of warpgroup matrix products (wgmma)", layout},
        [CTS_SASS_TENSOR_MATRIX] = {"operands of tensor memory operations (tcgen05)", layout},
        [CTS_SASS_TEXTURE] = {"texture fetches", untold},
        [CTS_SASS_SURFACE] = {"surface accesses", untold},
    };
    if (reason) *reason = unrecorded[kind].reason;
    return unrecorded[kind].what;
}
