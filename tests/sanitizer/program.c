/* A program that initialises CUDA, says so, and ends with a status of its own:
 *
 *     program [fails] [launch WORDS...]
 *
 * The launches are the Sanitizer's that is none; each word is one (fake-sanitizer.c), but for
 * "crash" and "leave", which end the program as they say, when the recorder has had time to write,
 * and "kill", which ends it at once.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void end_at_once(bool crash)
{
    const struct timespec moment = {.tv_nsec = 500000000};
    fflush(stdout);
    nanosleep(&moment, NULL);
    if (crash) abort();
    _exit(5);
}

static void launch(int count, char **words)
{
    const char *const path = getenv("CTASCOPE_SANITIZER");
    void *const sanitizer = path ? dlopen(path, RTLD_NOW) : NULL;
    void (*function)(const char *) = NULL;
    if (sanitizer) *(void **)&function = dlsym(sanitizer, "fake_launch");
    for (int i = 0; i < count && function; i++) {
        if (strcmp(words[i], "kill") == 0) kill(getpid(), SIGKILL);
        if (strcmp(words[i], "crash") == 0 || strcmp(words[i], "leave") == 0)
            end_at_once(*words[i] == 'c');
        function(words[i]);
    }
}

int main(int argc, char **argv)
{
    void *const driver = dlopen("libcuda.so.1", RTLD_NOW);
    int (*init)(unsigned) = NULL;
    if (driver) *(void **)&init = dlsym(driver, "cuInit");
    printf("%s\n", init ? init(0) ? "CUDA fails" : "CUDA works" : "no CUDA");
    fflush(stdout);
    if (argc > 2 && strcmp(argv[1], "launch") == 0) {
        launch(argc - 2, argv + 2);
        return 0;
    }
    return argc > 1 ? 7 : 0;
}
