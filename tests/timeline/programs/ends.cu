// Programs that end in many ways with work under way. `quick` ends soon, `slow` takes MS.
// ends HOW [MS]
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

__global__ void quick(int *data)
{
    data[threadIdx.x] = 1;
}

__global__ void slow(unsigned long long ns)
{
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < ns);
}

static int in_child(int *data)
{
    const pid_t child = fork();
    if (child == 0) {
        if (data) _exit(cudaDeviceSynchronize() == cudaErrorInitializationError ? 0 : 1);
        cudaMalloc(&data, 4000);
        quick<<<1, 32>>>(data);
        exit(cudaDeviceSynchronize() == cudaSuccess ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    const char *const how = argv[1];
    const unsigned long long ms = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    int *data = NULL;
    if (strcmp(how, "fork-first") == 0 && in_child(NULL)) return 1;
    cudaMalloc(&data, 4000);
    for (int i = 0; i < 10; i++) quick<<<1, 32>>>(data);
    cudaDeviceSynchronize();
    if (strcmp(how, "fork-later") == 0 && in_child(data)) return 1;
    slow<<<1, 1>>>(ms * 1000000);
    if (strcmp(how, "segv") == 0) *(volatile int *)16 = 1;
    if (strcmp(how, "abort") == 0) abort();
    if (strcmp(how, "quick-exit") == 0) _exit(3);
    if (strcmp(how, "exit") == 0) exit(4); // without having waited for slow
    if (strcmp(how, "hang") == 0) {
        printf("waiting\n");
        fflush(stdout);
        cudaDeviceSynchronize();
    }
    if (strcmp(how, "kernel-fault") == 0) {
        quick<<<1, 32>>>((int *)8);
        return cudaDeviceSynchronize() == cudaSuccess;
    }
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
