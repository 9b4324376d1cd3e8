/* User code: named regions, and functions instrumented by the compiler, one of which is left by
 * longjmp. */
#include <pthread.h>
#include <setjmp.h>

#include "ctascope/record.h"

static jmp_buf place;

__attribute__((noinline)) static int leaf(int x)
{
    cts_region_begin("in leaf");
    cts_region_end();
    return x + 1;
}

__attribute__((noinline)) static void jumps(int x)
{
    if (leaf(x)) longjmp(place, 1);
}

int visible_function(int x);
__attribute__((noinline)) int visible_function(int x)
{
    if (setjmp(place) == 0) jumps(x);
    return leaf(x);
}

static void *in_thread(void *unused)
{
    (void)unused;
    leaf(1);
    return 0;
}

int main(void)
{
    pthread_t thread;
    cts_region_end(); /* nothing has begun */
    cts_region_begin("all");
    visible_function(1);
    pthread_create(&thread, 0, in_thread, 0);
    pthread_join(thread, 0);
    cts_region_end();
    return 0;
}
