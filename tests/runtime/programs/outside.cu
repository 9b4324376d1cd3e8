// Kernels that do what they should not and that a GPU lets pass: reads a little outside of an
// allocation, integer divisions by zero. Far outside they fault, as do writes; with
// CTASCOPE_STRICT, or with cc --strict, all of them do. Each case is a process: `program CASE` runs
// one.
#include <cuda_runtime.h>

#include <sys/wait.h>
#include <unistd.h>

#include "../../lang/programs/check.h"

__global__ void neighbours(const int *in, int *out, int n, int reach)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int left = in[i - reach], right = in[i + reach];
    if (i < n) out[i] = (i >= reach ? left : 0) + (i + reach < n ? right : 0);
}

__global__ void read_at(const int *in, long at, int *out)
{
    *out = in[at];
}

__global__ void write_at(int *to, long at)
{
    to[at] = 1;
}

__global__ void divide(const int *in, int *out)
{
    out[threadIdx.x] = in[0] / in[threadIdx.x];
}

static int near()
{
    enum { N = 8192, REACH = 3 };
    int *before, *in, *out, *host = new int[N];
    CUDA(cudaMalloc(&before, N * sizeof *in)); /* nothing lies before the first allocation */
    CUDA(cudaMalloc(&in, N * sizeof *in));
    CUDA(cudaMalloc(&out, N * sizeof *out));
    for (int i = 0; i < N; i++) host[i] = i;
    CUDA(cudaMemcpy(in, host, N * sizeof *in, cudaMemcpyDefault));
    neighbours<<<N / 128 + 1, 128>>>(in, out, N, REACH);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) return error;
    CUDA(cudaMemcpy(host, out, N * sizeof *in, cudaMemcpyDefault));
    for (int i = 0; i < N; i++)
        CHECK(host[i] == (i >= REACH ? i - REACH : 0) + (i + REACH < N ? i + REACH : 0), "%d", i);
    return 0;
}

static int run(const char *what)
{
    int *memory, *out;
    if (!strcmp(what, "near")) return near();
    CUDA(cudaMalloc(&memory, 4 << 20));
    CUDA(cudaMalloc(&out, 4096));
    CUDA(cudaMemset(out, 0, 4096));
    if (!strcmp(what, "far")) read_at<<<1, 1>>>(memory, 64l << 20, out);
    if (!strcmp(what, "null")) read_at<<<1, 1>>>(nullptr, 4, out);
    if (!strcmp(what, "write")) write_at<<<1, 1>>>(memory, 1 << 20);
    if (!strcmp(what, "divide")) divide<<<1, 32>>>(memory, out);
    return cudaDeviceSynchronize();
}

static int outcome(const char *program, const char *what, const char *strict)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        setenv("CTASCOPE_STRICT", strict, 1);
        execl(program, program, what, (char *)nullptr);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char **argv)
{
    if (argc > 1) return run(argv[1]) % 251 + (failures ? 1 : 0);
    const int fault = cudaErrorIllegalAddress % 251;
    static const struct {
        const char *what, *strict;
        int expected;
    } cases[] = {
        {"near", "0", 0},     {"near", "1", fault},  {"far", "0", fault},
        {"null", "0", fault}, {"write", "0", fault}, {"divide", "0", 0},
    };
    for (const auto &one : cases) {
        const int status = outcome(argv[0], one.what, one.strict);
        CHECK(status == one.expected, "%s, strict %s: %d", one.what, one.strict, status);
    }
    printf(failures ? "%d failures\n" : "good\n", failures);
    return failures != 0;
}
