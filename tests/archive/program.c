/* A program that records events by itself: archive-program LIBRARY WHAT.
 *
 *   well N     N pairs of enter and leave on each of four threads, then ends with status 3
 *   crash      some events, then a crash inside a function
 *   for-ever   events until it is killed; says when there are 2,000
 *   nothing    loads nothing, ends with 0 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/timeline/recorder.h"

enum { THREADS = 4 };

static const struct cts_recorder *recorder;
static unsigned long pairs = 100;

static uint32_t region(const char *name)
{
    const struct cts_timeline_region wanted = {
        .name = name, .paradigm = CTS_PARADIGM_USER, .role = CTS_ROLE_FUNCTION};
    return recorder->region(&wanted);
}

static void *work(void *unused)
{
    struct cts_log *const log = recorder->this_thread();
    for (unsigned long i = 0; i < pairs; i++) {
        recorder->enter(log, region("work"));
        recorder->leave(log, region("work"));
    }
    return unused;
}

int main(int argc, char **argv)
{
    typedef const struct cts_recorder *get_recorder(void);
    pthread_t threads[THREADS];
    if (argc < 3 || strcmp(argv[2], "nothing") == 0) return 0;
    void *const library = dlopen(argv[1], RTLD_NOW);
    get_recorder *const get = library ? (get_recorder *)dlsym(library, "cts_recorder_get") : NULL;
    if (!get) return 99;
    recorder = get();
    (void)recorder->is_on(); /* opened before the threads, which are recorded from then on */
    if (argc > 3) pairs = strtoul(argv[3], NULL, 10);
    if (strcmp(argv[2], "crash") == 0) {
        work(NULL);
        recorder->enter(recorder->this_thread(), region("crash"));
        raise(SIGSEGV);
    }
    for (int i = 0; strcmp(argv[2], "for-ever") == 0; i++) {
        work(NULL);
        if (i == 10) puts("2000 events");
        if (i >= 10) fflush(stdout), usleep(1000);
    }
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    return 3;
}
