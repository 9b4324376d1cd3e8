/* Random numbers for tests: the same in every run and everywhere (splitmix64). A test that draws in
 * many functions uses the one sequence of its program; one that wants several has them as values.
 */
#ifndef CTS_TESTS_RANDOM_H
#define CTS_TESTS_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
    uint64_t state; /* any */
};

static inline uint64_t random_next(struct random *random)
{
    random->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = random->state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* 0 to limit - 1 */
static inline uint32_t random_below(struct random *random, uint32_t limit)
{
    return (uint32_t)(random_next(random) % limit);
}

/* ---- the program's own sequence ---- */

static struct random random_numbers;

static inline void random_start(uint64_t seed)
{
    random_numbers.state = seed;
}

static inline uint64_t random_u64(void)
{
    return random_next(&random_numbers);
}

static inline uint32_t below(uint32_t limit)
{
    return random_below(&random_numbers, limit);
}

static inline bool chance(unsigned percent)
{
    return below(100) < percent;
}

#endif
