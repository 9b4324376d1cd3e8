// A program that does to its process what programs do: closes and opens files, becomes a daemon,
// ends in some way. Its arguments say what; it prints what it sees of its own process.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N = 4 * 64 };

__global__ void fill(int *p, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = i;
}

static int *data;

// One launch that is complete when this returns; its result is checked.
static void fill_some()
{
    static int host[N];
    if (!data && cudaMalloc(&data, N * sizeof(int))) exit(90);
    if (cudaMemset(data, 0xff, N * sizeof(int))) exit(91);
    fill<<<4, 64>>>(data, N);
    if (cudaGetLastError() || cudaDeviceSynchronize()) exit(92);
    if (cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost)) exit(93);
    for (int i = 0; i < N; i++)
        if (host[i] != i) exit(94);
}

// Files of the program's own, at the numbers that it gets; they must hold what it wrote, no more.
static void use_files(const char *prefix)
{
    int numbers[8];
    char name[64];
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof name, "%s-%d", prefix, i);
        numbers[i] = open(name, O_RDWR | O_CREAT | O_TRUNC, 0666);
        printf("%s is %d\n", name, numbers[i]);
    }
    for (int round = 0; round < 20; round++) {
        fill_some();
        for (int i = 0; i < 8; i++)
            if (write(numbers[i], "mine\n", 5) != 5) exit(95);
    }
    for (int i = 0; i < 8; i++) {
        struct stat info;
        if (fstat(numbers[i], &info) || info.st_size != 100) exit(96);
    }
}

static void print_state(const char *when)
{
    char directory[4096];
    sigset_t mask;
    sigprocmask(SIG_BLOCK, nullptr, &mask);
    const mode_t mode = umask(0);
    umask(mode);
    const int next = dup(1);
    close(next);
    printf("%s: directory %s, umask %o, next descriptor %d, signals", when,
           getcwd(directory, sizeof directory), (unsigned)mode, next);
    for (int i = 1; i < 32; i++) {
        struct sigaction action;
        if (sigaction(i, nullptr, &action) == 0 && i != SIGSEGV && i != SIGBUS && i != SIGFPE &&
            i != SIGILL) // these are the device's, recorded or not
            printf(" %d", sigismember(&mask, i) * 2 + (action.sa_handler != SIG_DFL));
    }
    printf("\n");
    fflush(stdout);
}

static void close_all()
{
    for (int i = 3; i < 4096; i++) close(i);
}

static void end(const char *how)
{
    if (!strcmp(how, "return")) return;
    if (!strcmp(how, "exit")) exit(0);
    if (!strcmp(how, "_exit")) _exit(0);
    if (!strcmp(how, "quick_exit")) quick_exit(0);
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "throw")) throw 1;
    if (!strcmp(how, "exec")) execl("/bin/true", "true", (char *)nullptr);
    if (!strcmp(how, "pending")) { // asked for, and not waited for
        for (int i = 0; i < 200; i++) fill<<<4, 64>>>(data, N);
        _exit(0);
    }
    raise(atoi(how));
}

int main(int argc, char **argv)
{
    const char *const what = argv[1];
    const auto is = [what](const char *word) { return strcmp(what, word) == 0; };
    if (is("end")) {
        for (int i = 0; i < atoi(argv[3]); i++) fill_some();
        end(argv[2]);
    }
    if (is("files-before")) {
        close_all();
        use_files("a");
        fill_some();
    }
    if (is("files-after")) {
        fill_some();
        close_all();
        use_files("a");
        close_all();
        use_files("b");
    }
    if (is("state")) {
        print_state("first");
        errno = 77;
        fill_some();
        printf("errno %d\n", errno);
        print_state("then");
        umask(0777);
        if (mkdir("below", 0777) && errno != EEXIST) return 97;
        chmod("below", 0777);
        if (chdir("below")) return 98;
        for (int i = 0; i < 50; i++) fill_some();
        print_state("last");
    }
    if (is("exhausted")) { // not a single descriptor is left
        const struct rlimit limit = {3, 3};
        if (argc > 2) fill_some();
        setrlimit(RLIMIT_NOFILE, &limit);
        for (int i = 0; i < 50; i++) fill_some();
        printf("right\n");
    }
    if (is("daemon")) {
        if (daemon(1, 1)) return 99;
        usleep(300 * 1000);
        for (int i = 0; i < 3; i++) fill_some();
    }
    if (is("twice")) { // a grandchild that nobody waits for
        if (fork()) return 0;
        setsid();
        if (fork()) _exit(0);
        usleep(300 * 1000);
        for (int i = 0; i < 3; i++) fill_some();
        _exit(0);
    }
    if (is("parent-first")) { // both record; the parent is gone long before
        const pid_t child = fork();
        fill_some();
        if (child) return 5;
        usleep(300 * 1000);
        fill_some();
    }
    if (is("many")) {
        for (int i = 0; i < atoi(argv[2]); i++) fill_some();
        printf("right\n");
    }
    return 0;
}
