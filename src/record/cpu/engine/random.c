/* Skipping ahead in cuRAND's linear generators, for curand_init() and skipahead() in device code.
 *
 * A step of xorwow (Marsaglia, "Xorshift RNGs", 2003) is a linear map of its 160 bits; a step of
 * MRG32k3a (L'Ecuyer 1999) is two 3x3 matrices, each modulo a prime. 2^k steps are the k-th
 * squaring of that map. All powers are computed once, when first needed (about 3 ms): for xorwow as
 * tables by groups of four state bits, so that a jump of 2^k steps is 40 look-ups.
 *
 * A jump takes its state from the lane's own memory and records nothing. */
#include <pthread.h>
#include <string.h>

#include "record/cpu/engine/worker.h"
#include "record/instrument/nvvm-abi.h"

enum {
    WORDS = 5,          /* of xorwow's state, without its counter */
    GROUPS = WORDS * 8, /* of four bits */
    XORWOW_POWERS = 64 + 67,
    MRG_POWERS = 64 + 127,
};

struct xorwow_map {
    uint32_t of_group[GROUPS][16][WORDS];
};
struct mrg_map {
    uint64_t of[2][3][3];
};

static struct xorwow_map xorwow_powers[XORWOW_POWERS]; /* 2^k steps */
static struct mrg_map mrg_powers[MRG_POWERS];
static const uint64_t mrg_moduli[2] = {4294967087, 4294944443};
static pthread_once_t xorwow_once = PTHREAD_ONCE_INIT, mrg_once = PTHREAD_ONCE_INIT;

/* ---- xorwow ---- */

static void xorwow_apply(const struct xorwow_map *map, uint32_t state[WORDS])
{
    uint32_t sum[WORDS] = {0};
    for (int group = 0; group < GROUPS; group++) {
        const uint32_t *const part = map->of_group[group][state[group / 8] >> group % 8 * 4 & 15];
        for (int i = 0; i < WORDS; i++) sum[i] ^= part[i];
    }
    memcpy(state, sum, sizeof sum);
}

static void xorwow_step(uint32_t state[WORDS])
{
    const uint32_t first = state[0] ^ state[0] >> 2, last = state[WORDS - 1];
    memmove(state, state + 1, (WORDS - 1) * sizeof *state);
    state[WORDS - 1] = last ^ last << 4 ^ first ^ first << 1;
}

/* The map that does what `half` does twice; a single step where half is null. */
static void xorwow_make(struct xorwow_map *map, const struct xorwow_map *half)
{
    for (int group = 0; group < GROUPS; group++)
        for (uint32_t bits = 1; bits < 16; bits++) {
            uint32_t *const part = map->of_group[group][bits];
            part[group / 8] = bits << group % 8 * 4;
            if (half) {
                xorwow_apply(half, part);
                xorwow_apply(half, part);
            } else {
                xorwow_step(part);
            }
        }
}

static void xorwow_make_all(void)
{
    for (int k = 0; k < XORWOW_POWERS; k++)
        xorwow_make(&xorwow_powers[k], k == 0 ? NULL : &xorwow_powers[k - 1]);
}

CTS_EXPORT void __cts_dev_skip_xorwow(uint32_t state[WORDS], uint64_t count, uint32_t power)
{
    pthread_once(&xorwow_once, xorwow_make_all);
    for (; count && power < XORWOW_POWERS; count >>= 1, power++)
        if (count & 1) xorwow_apply(&xorwow_powers[power], state);
}

/* ---- MRG32k3a ---- */

static void mrg_square(struct mrg_map *map, const struct mrg_map *half)
{
    for (int part = 0; part < 2; part++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                uint64_t sum = 0;
                for (int k = 0; k < 3; k++)
                    sum = (sum + half->of[part][i][k] * half->of[part][k][j] % mrg_moduli[part]) %
                          mrg_moduli[part];
                map->of[part][i][j] = sum;
            }
}

static void mrg_make_all(void)
{
    static const struct mrg_map step = {
        .of = {{{0, 1, 0}, {0, 0, 1}, {4294967087 - 810728, 1403580, 0}},
               {{0, 1, 0}, {0, 0, 1}, {4294944443 - 1370589, 0, 527612}}}};
    mrg_powers[0] = step;
    for (int k = 1; k < MRG_POWERS; k++) mrg_square(&mrg_powers[k], &mrg_powers[k - 1]);
}

static void mrg_apply(const struct mrg_map *map, int part, uint32_t state[3])
{
    const uint64_t modulus = mrg_moduli[part];
    uint32_t result[3];
    for (int i = 0; i < 3; i++) {
        uint64_t sum = 0;
        for (int k = 0; k < 3; k++) sum += map->of[part][i][k] * state[k] % modulus;
        result[i] = (uint32_t)(sum % modulus);
    }
    memcpy(state, result, sizeof result);
}

CTS_EXPORT void __cts_dev_skip_mrg(uint32_t state[6], uint64_t count, uint32_t power)
{
    pthread_once(&mrg_once, mrg_make_all);
    for (; count && power < MRG_POWERS; count >>= 1, power++) {
        if (!(count & 1)) continue;
        for (int part = 0; part < 2; part++) mrg_apply(&mrg_powers[power], part, state + 3 * part);
    }
}
