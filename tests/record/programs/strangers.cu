// A program that does what a recorder does not expect to its process, between launches whose
// results it checks. It prints "right" and ends with 7, recorded or not.
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1024, STATUS = 7 };

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const int code = (call);                                                                   \
        if (code) printf("line %d: %d\n", __LINE__, code), fflush(stdout), _exit(90);              \
    } while (0)

__global__ void increment(int *p, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += 1;
}

static int *data, done;

static void work(int launches)
{
    static int host[N];
    if (!data) {
        CHECK(cudaMalloc(&data, sizeof host));
        CHECK(cudaMemset(data, 0, sizeof host));
    }
    for (int i = 0; i < launches; i++, done++) {
        increment<<<N / 128, 128>>>(data, N);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) CHECK(host[i] != done);
}

static void *work_in_thread(void *)
{
    work(3);
    return nullptr;
}

static void in_thread(size_t stack_bytes)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    CHECK(pthread_attr_setstacksize(&attributes, stack_bytes));
    CHECK(pthread_create(&thread, &attributes, work_in_thread, nullptr));
    CHECK(pthread_join(thread, nullptr));
}

static volatile int alarms;

static void on_alarm(int)
{
    alarms = alarms + 1;
}

static void with_alarms()
{
    stack_t stack = {};
    stack.ss_size = 1 << 16;
    stack.ss_sp = malloc(stack.ss_size);
    CHECK(sigaltstack(&stack, nullptr));
    struct sigaction action = {};
    action.sa_handler = on_alarm;
    action.sa_flags = SA_ONSTACK;
    CHECK(sigaction(SIGALRM, &action, nullptr));
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {};
    CHECK(setitimer(ITIMER_REAL, &often, nullptr));
    while (!alarms) work(20);
    CHECK(setitimer(ITIMER_REAL, &never, nullptr));
}

static int clone_main(void *flag)
{
    *(volatile int *)flag = 1;
    syscall(SYS_exit, 0);
    return 0;
}

// A thread that the C library does not know.
static void with_clone()
{
    static volatile int flag;
    char *const stack = (char *)malloc(1 << 16);
    const int flags =
        CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    CHECK(clone(clone_main, stack + (1 << 16), flags, (void *)&flag) < 0);
    while (!flag) sched_yield();
}

static void refuse(int number)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program); // where it may not, nothing is refused
}

static void limit(__rlimit_resource which, rlim_t value)
{
    struct rlimit limits;
    CHECK(getrlimit(which, &limits));
    limits.rlim_cur = value;
    CHECK(setrlimit(which, &limits));
}

static void own_file(int number)
{
    const int file = open("mine", O_RDWR | O_CREAT | O_TRUNC, 0644);
    CHECK(file != number);
    CHECK(write(file, "mine\n", 5) != 5);
    work(20);
    struct stat facts;
    CHECK(fstat(file, &facts));
    CHECK(facts.st_size != 5);
}

int main(int argc, char **argv)
{
    const char *const what = argc > 1 ? argv[1] : "nothing";
    const auto is = [what](const char *word) { return strcmp(what, word) == 0; };
    if (is("small-stack")) in_thread(64 << 10);
    if (is("tiny-stack")) in_thread(40 << 10);
    if (is("no-file-size")) limit(RLIMIT_FSIZE, 0);
    if (is("no-close-range")) refuse(SYS_close_range), refuse(SYS_unshare);
    if (is("no-file-size")) signal(SIGXFSZ, SIG_IGN);
    if (is("umask")) umask(0777);
    work(2);
    if (is("close-range")) {
        syscall(SYS_close_range, 3u, ~0u, 0u);
        own_file(3);
    }
    if (is("standard-files")) {
        close(0);
        close(2);
        own_file(0);
    }
    if (is("limit-file-size")) limit(RLIMIT_FSIZE, 0);
    if (is("limit-memory")) limit(RLIMIT_AS, 1 << 20);
    if (is("gone-directory")) {
        CHECK(mkdir("gone", 0755));
        CHECK(chdir("gone"));
        CHECK(rmdir("../gone"));
    }
    if (is("fork"))
        for (int i = 0; i < 4; i++) {
            increment<<<N / 128, 128>>>(data, N);
            done++;
            if (!fork()) i % 2 ? exit(0) : _exit(0);
        }
    if (is("raw-fork-exit") && !syscall(SYS_fork)) exit(0);
    if (is("vfork"))
        for (int i = 0; i < 4; i++) {
            const pid_t child = vfork();
            if (!child) {
                execl("/bin/true", "true", (char *)nullptr);
                _exit(1);
            }
            work(2);
        }
    if (is("signals")) with_alarms();
    if (is("clone")) with_clone();
    work(20);
    while (wait(nullptr) > 0) continue;
    if (is("limit-memory")) limit(RLIMIT_AS, RLIM_INFINITY);
    if (is("limit-file-size") || is("no-file-size")) limit(RLIMIT_FSIZE, RLIM_INFINITY);
    printf("right\n");
    return STATUS;
}
