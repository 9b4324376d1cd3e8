/* Threads that load and unload plugins. `plugin-threads rounds ROUNDS LIBRARY...`: a thread for
 * each library, all at once. `plugin-threads hold LIBRARY HOLDER`: the plugin works in a new thread
 * while the dynamic linker runs the constructor, then the destructor, of HOLDER, which wait for
 * that. */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef HOLDER

void held(void);
__attribute__((constructor)) static void load(void)
{
    held();
}
__attribute__((destructor)) static void unload(void)
{
    held();
}

#else

enum { SUM = 3 * 1023 * 1024 / 2 };
typedef long fill_function(int value);

static int rounds;
static fill_function *fill;
static sem_t is_done;

static void *open_library(const char *path)
{
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library) return library;
    puts(dlerror());
    exit(1);
}

static fill_function *fill_of(void *library)
{
    fill_function *function;
    *(void **)&function = dlsym(library, "fill");
    return function;
}

static void *load_and_unload(void *path)
{
    for (int i = 0; i < rounds; i++) {
        void *const library = open_library(path);
        if (fill_of(library)(3) != SUM) puts("wrong");
        dlclose(library);
    }
    return NULL;
}

static void *work(void *unused)
{
    if (fill(3) != SUM) puts("wrong");
    sem_post(&is_done);
    return unused;
}

void held(void)
{
    static int calls;
    struct timespec end;
    pthread_t thread;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 120;
    pthread_create(&thread, NULL, work, NULL);
    if (sem_timedwait(&is_done, &end) != 0) {
        printf("deadlock in call %d\n", calls);
        fflush(stdout);
        _exit(1);
    }
    pthread_detach(thread);
    calls++;
}

int main(int count, char **words)
{
    pthread_t threads[16];
    if (strcmp(words[1], "hold") == 0) {
        sem_init(&is_done, 0, 0);
        fill = fill_of(open_library(words[2]));
        dlclose(open_library(words[3]));
    } else {
        rounds = atoi(words[2]);
        for (int i = 3; i < count; i++)
            pthread_create(&threads[i - 3], NULL, load_and_unload, words[i]);
        for (int i = 3; i < count; i++) pthread_join(threads[i - 3], NULL);
    }
    puts("end");
    return 3;
}

#endif
