#include "common/private-files.h"
#include "common/promise.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STACK_BYTES = 1 << 20, UNSHARE_FLAG = 1 << 1 /* CLOSE_RANGE_UNSHARE */ };

struct service {
    pthread_mutex_t lock; /* of the next four */
    pthread_cond_t asked, done;
    void (*work)(void *argument); /* NULL: none to do */
    void *argument;
    bool is_taken, stopping;
    unsigned user_count; /* under `life` */
    pthread_t thread;
    pid_t process;   /* that it belongs to: not every fork() calls who watches forks */
    bool is_private; /* the thread's own, set before it does any work */
};

static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER; /* of `service` */
static struct service *service;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

/* The child has neither the thread nor its files; what locks say there is of no use. */
static void after_fork_in_child(void)
{
    pthread_mutex_init(&life, NULL);
    service = NULL;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, after_fork_in_child);
}

/* ---- the thread ---- */

static bool close_all(unsigned flags)
{
#ifdef SYS_close_range
    return syscall(SYS_close_range, 0u, ~0u, flags) == 0;
#else
    (void)flags;
    return false;
#endif
}

/* Before Linux 5.9, or where a sandbox knows no close_range(). */
static void close_one_by_one(void)
{
    DIR *const descriptors = opendir("/proc/thread-self/fd");
    struct dirent *entry;
    while (descriptors && (entry = readdir(descriptors))) {
        const int number = (int)strtol(entry->d_name, NULL, 10);
        if (entry->d_name[0] != '.' && number != dirfd(descriptors)) close(number);
    }
    if (descriptors) closedir(descriptors);
}

/* Not even numbers 0 to 2 are kept: a program may have left itself no more. */
static bool leave_the_program(void)
{
    (void)!unshare(CLONE_FS);
    if (close_all(UNSHARE_FLAG)) return true;
    if (unshare(CLONE_FILES) != 0) return false;
    close_one_by_one();
    return true;
}

static void *serve(void *argument)
{
    struct service *const s = argument;
    s->is_private = leave_the_program();
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (!s->work && !s->stopping) pthread_cond_wait(&s->asked, &s->lock);
        if (!s->work) break;
        pthread_mutex_unlock(&s->lock);
        s->work(s->argument);
        pthread_mutex_lock(&s->lock);
        s->work = NULL;
        pthread_cond_broadcast(&s->done);
    }
    pthread_mutex_unlock(&s->lock);
    /* The kernel closes an ending thread's files only after it has told who joins it: a lock on one
     * of them would still be held for a moment after cts_private_files_end(). */
    if (s->is_private && !close_all(0)) close_one_by_one();
    return NULL;
}

/* The thread takes none of the program's signals. */
static int start_thread(struct service *s)
{
    CTS_ASSERT_HELD(&life);
    sigset_t all, before;
    pthread_attr_t attributes;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int errnum = pthread_create(&s->thread, &attributes, serve, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (!errnum) pthread_setname_np(s->thread, "cts-files");
    return errnum;
}

static struct service *make_service(void)
{
    CTS_ASSERT_HELD(&life);
    struct service *const s = calloc(1, sizeof *s);
    if (!s) return NULL;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->asked, NULL);
    pthread_cond_init(&s->done, NULL);
    s->process = getpid();
    if (!start_thread(s)) return s;
    free(s);
    return NULL;
}

/* ---- asking ---- */

struct caller {
    int cancel_state, errnum;
    sigset_t signals;
};

/* No handler of the program's runs until leave(): one that records would wait for what its own
 * thread holds. */
static void enter(struct caller *caller)
{
    sigset_t all;
    caller->errnum = errno;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &caller->cancel_state);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &caller->signals);
}

static void leave(const struct caller *caller)
{
    int ignored;
    pthread_sigmask(SIG_SETMASK, &caller->signals, NULL);
    pthread_setcancelstate(caller->cancel_state, &ignored);
    errno = caller->errnum;
}

/* A file that may not grow further must not kill the program: SIGXFSZ, which is held back, is
 * swallowed. */
static void work_here(void (*work)(void *argument), void *argument, const struct caller *caller)
{
    sigset_t size_signal;
    const struct timespec now = {0};
    sigemptyset(&size_signal);
    sigaddset(&size_signal, SIGXFSZ);
    work(argument);
    if (!sigismember(&caller->signals, SIGXFSZ)) (void)!sigtimedwait(&size_signal, NULL, &now);
}

/* NULL in a child that fork() has made without us. */
static struct service *current_service(void)
{
    struct service *const s = service;
    return s && s->process == getpid() ? s : NULL;
}

void cts_private_files_begin(void)
{
    struct caller caller;
    enter(&caller);
    pthread_once(&fork_once, watch_forks);
    pthread_mutex_lock(&life);
    if (!current_service()) service = make_service();
    if (service) service->user_count++;
    pthread_mutex_unlock(&life);
    leave(&caller);
}

void cts_private_files_end(void)
{
    struct caller caller;
    enter(&caller);
    pthread_mutex_lock(&life);
    struct service *const s = current_service();
    const bool last = s && --s->user_count == 0;
    if (last) service = NULL;
    pthread_mutex_unlock(&life);
    if (last) {
        pthread_mutex_lock(&s->lock);
        s->stopping = true;
        pthread_cond_broadcast(&s->asked);
        pthread_mutex_unlock(&s->lock);
        pthread_join(s->thread, NULL);
        pthread_cond_destroy(&s->asked);
        pthread_cond_destroy(&s->done);
        pthread_mutex_destroy(&s->lock);
        free(s);
    }
    leave(&caller);
}

void cts_private_files_do(void (*work)(void *argument), void *argument)
{
    struct caller caller;
    enter(&caller);
    struct service *const s = current_service();
    if (s && pthread_equal(s->thread, pthread_self())) {
        work(argument);
    } else if (!s) {
        work_here(work, argument, &caller);
    } else {
        pthread_mutex_lock(&s->lock);
        while (s->is_taken) pthread_cond_wait(&s->done, &s->lock);
        s->is_taken = true;
        s->work = work;
        s->argument = argument;
        pthread_cond_signal(&s->asked);
        while (s->work) pthread_cond_wait(&s->done, &s->lock);
        s->is_taken = false;
        pthread_cond_broadcast(&s->done);
        pthread_mutex_unlock(&s->lock);
    }
    leave(&caller);
}

bool cts_private_files_are_private(void)
{
    struct service *const s = service;
    return s && pthread_equal(s->thread, pthread_self()) && s->is_private;
}
