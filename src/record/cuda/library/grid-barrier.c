/* What the headers leave to the device library beside mathematics: the barrier of a grid.
 *
 * The driver gives a cooperative launch a word for it, behind the size of the memory whose address
 * is in two environment registers. Every CTA adds one to the word, but one of them adds what turns
 * its highest bit over when all have come; they wait for that bit. */
#include <stdint.h>

#define SPECIAL_(name, text)                                                                       \
    static inline uint32_t name(void)                                                              \
    {                                                                                              \
        uint32_t value;                                                                            \
        __asm__ volatile("mov.u32 %0, %%" text ";" : "=r"(value));                                 \
        return value;                                                                              \
    }
SPECIAL_(workspace_high, "envreg1")
SPECIAL_(workspace_low, "envreg2")
SPECIAL_(thread_x, "tid.x")
SPECIAL_(thread_y, "tid.y")
SPECIAL_(thread_z, "tid.z")
SPECIAL_(cta_x, "ctaid.x")
SPECIAL_(cta_y, "ctaid.y")
SPECIAL_(cta_z, "ctaid.z")
SPECIAL_(grid_x, "nctaid.x")
SPECIAL_(grid_y, "nctaid.y")
SPECIAL_(grid_z, "nctaid.z")

static uint32_t load_acquire(const uint32_t *at)
{
    uint32_t value;
    __asm__ volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

static uint32_t add_release(uint32_t *at, uint32_t more)
{
    uint32_t before;
    __asm__ volatile("atom.add.release.gpu.u32 %0, [%1], %2;"
                     : "=r"(before)
                     : "l"(at), "r"(more)
                     : "memory");
    return before;
}

__attribute__((convergent, noinline)) void __cts_grid_sync(void)
{
    const uint64_t workspace = (uint64_t)workspace_high() << 32 | workspace_low();
    if (!workspace) __builtin_trap(); /* no cooperative launch */
    uint32_t *const word = (uint32_t *)(workspace + 4);
    const uint32_t turn = UINT32_C(1) << 31;
    __asm__ volatile("bar.sync 0;" ::: "memory");
    if ((thread_x() | thread_y() | thread_z()) == 0) {
        const uint32_t count = grid_x() * grid_y() * grid_z();
        const uint32_t more = (cta_x() | cta_y() | cta_z()) == 0 ? turn - (count - 1) : 1;
        __asm__ volatile("membar.gl;" ::: "memory");
        const uint32_t before = add_release(word, more);
        while (((before ^ load_acquire(word)) & turn) == 0) {
        }
    }
    __asm__ volatile("bar.sync 0;" ::: "memory");
}
