// Says which signals it gets, until its standard input ends.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <unistd.h>

static void say(int number)
{
    char text[] = "got 00\n";
    text[4] += number / 10;
    text[5] += number % 10;
    (void)!write(1, text, sizeof text - 1);
}

__global__ void fill(int *out)
{
    out[threadIdx.x] = threadIdx.x;
}

int main()
{
    for (int number = 1; number <= SIGRTMAX; number++)
        if (number != SIGSEGV && number != SIGCHLD) signal(number, say);
    int *all = nullptr;
    cudaMalloc(&all, 128 * sizeof *all);
    fill<<<1, 128>>>(all);
    cudaDeviceSynchronize();
    puts("ready");
    fflush(stdout);
    char byte;
    while (read(0, &byte, 1) > 0 || errno == EINTR) errno = 0;
    return 5;
}
