// A program that ends in the way that its argument names, most of them badly.
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void fill(int *p, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = i;
}

__global__ void wild(int *p, long far)
{
    if (blockIdx.x == 3 && threadIdx.x == 17) p[far] = 1;
    p[blockIdx.x * blockDim.x + threadIdx.x] = 2;
}

__global__ void trap(int *p)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    if (blockIdx.x == 1 && threadIdx.x == 5) __trap();
}

__global__ void trap_at_once()
{
    __trap();
}

__global__ void fail(int *p)
{
    assert(blockIdx.x != 2 || threadIdx.x != 9);
    p[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

__global__ void half_waits(int *p)
{
    if (threadIdx.x < 32) __syncthreads();
    p[threadIdx.x] = 1;
    if (threadIdx.x >= 32)
        while (((volatile int *)p)[0] != 7) {
        }
}

__global__ void endless()
{
    volatile int stop = 0;
    while (!stop) {
    }
}

__global__ void talk(int round)
{
    printf("round %d thread %d\n", round, threadIdx.x);
}

static int *device(int n)
{
    int *p;
    if (cudaMalloc(&p, n * sizeof(int))) exit(90);
    return p;
}

static void fill_some()
{
    fill<<<4, 64>>>(device(256), 256);
    if (cudaDeviceSynchronize()) exit(91);
}

// What a launch that fails gives the program; its own status says that it went on.
static int outcome()
{
    const cudaError_t error = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorName(error));
    return 7;
}

int main(int argc, char **argv)
{
    const char *const how = argc > 1 ? argv[1] : "ok";
    const auto is = [how](const char *word) { return strcmp(how, word) == 0; };
    if (is("ok")) fill_some();
    if (is("host-only")) puts("nothing for a device to do");
    if (is("no-launch")) {
        cudaFree(device(100));
        puts("no launch");
    }
    if (is("empty-kernel")) talk<<<1, 1>>>(0);
    if (is("exit-5")) {
        fill_some();
        exit(5);
    }
    if (is("abort")) {
        fill_some();
        abort();
    }
    if (is("segfault")) {
        fill_some();
        *(volatile int *)8 = 1;
    }
    if (is("killed-in-a-launch")) {
        endless<<<1, 1>>>();
        raise(SIGKILL);
    }
    if (is("quick")) { // no destructor runs
        fill_some();
        _exit(3);
    }
    if (is("quick-without-sync")) {
        int *const p = device(256);
        for (int i = 0; i < 50; i++) fill<<<4, 64>>>(p, 256);
        _exit(3);
    }
    if (is("exit-without-sync")) {
        int *const p = device(256);
        for (int i = 0; i < 50; i++) fill<<<4, 64>>>(p, 256);
        return 4;
    }
    if (is("wild")) {
        wild<<<8, 64>>>(device(512), 1L << 34);
        return outcome();
    }
    if (is("beyond") || is("past")) {
        int *block;
        if (cudaMalloc(&block, 512 * sizeof(int))) return 90;
        wild<<<8, 64>>>(block, is("past") ? 1L << 28 : -(1L << 28));
        return outcome();
    }
    if (is("null")) {
        fill<<<1, 32>>>(nullptr, 32);
        return outcome();
    }
    if (is("trap")) {
        trap<<<4, 64>>>(device(256));
        return outcome();
    }
    if (is("trap-at-once")) {
        trap_at_once<<<1, 1>>>();
        return outcome();
    }
    if (is("assert")) {
        fail<<<4, 64>>>(device(256));
        return outcome();
    }
    if (is("barrier")) {
        half_waits<<<1, 64>>>(device(64));
        return outcome();
    }
    if (is("printf")) {
        for (int round = 0; round < 3; round++) {
            printf("host %d\n", round);
            fflush(stdout);
            talk<<<1, 4>>>(round);
            cudaDeviceSynchronize();
        }
    }
    if (is("closed")) {
        fill_some();
        fclose(stdout);
        fclose(stderr);
        close(0);
        fill_some(); // new files may get the numbers 0, 1 and 2
        return 6;
    }
    if (is("closed-first")) { // before the recorder opens any file
        close(0);
        close(1);
        close(2);
        fill_some();
        return 6;
    }
    if (is("fork")) { // the child has no device, and must not disturb the parent's recording
        fill_some();
        const pid_t child = fork();
        if (child == 0) {
            int *p;
            const cudaError_t error = cudaMalloc(&p, 4);
            printf("child: %s\n", cudaGetErrorName(error));
            exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        fill_some();
        printf("child ended with %d\n", status);
    }
    if (is("fork-first")) { // both use a device of their own
        const pid_t child = fork();
        fill_some();
        if (child == 0) exit(0);
        int status;
        waitpid(child, &status, 0);
        fill_some();
        printf("child ended with %d\n", status);
    }
    if (is("exec")) { // the same process: a second recording
        fill_some();
        execl(argv[0], argv[0], "ok", (char *)nullptr);
        return 99;
    }
    if (is("spawn")) { // another process
        fill_some();
        char command[4096];
        snprintf(command, sizeof command, "'%s' exit-5", argv[0]);
        printf("child ended with %d\n", WEXITSTATUS(system(command)));
    }
    if (is("atexit")) { // CUDA after main
        atexit(fill_some);
        fill_some();
    }
    return 0;
}
