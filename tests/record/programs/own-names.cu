// A program that exports functions of other libraries' names, which do something else: nobody is to
// call them but the program.
#include <cstdio>
#include <cstdlib>

#define OWN(name)                                                                                  \
    extern "C" long name##_of_mine() __asm__(#name);                                               \
    extern "C" long name##_of_mine()                                                               \
    {                                                                                              \
        puts(#name " of the program was called");                                                  \
        return -1;                                                                                 \
    }

OWN(ZSTD_createCCtx)
OWN(ZSTD_compress2)
OWN(ZSTD_isError)
OWN(sqlite3_open_v2)
OWN(sqlite3_prepare_v2)
OWN(mkdir)
OWN(symlink)
OWN(flock)
OWN(ftruncate)
OWN(posix_fallocate)
OWN(openat)
OWN(unlink)
OWN(rename)
OWN(stat)
OWN(fstat)
OWN(access)
OWN(gethostname)
OWN(clock_gettime)
OWN(time)
OWN(regcomp)
OWN(regexec)
OWN(qsort)
OWN(mmap)
OWN(sched_yield)

__global__ void fill(int *out)
{
    out[threadIdx.x] = threadIdx.x;
}

int main()
{
    int *all = nullptr, one = 0;
    cudaMalloc(&all, 128 * sizeof *all);
    fill<<<1, 128>>>(all);
    cudaMemcpy(&one, all + 5, sizeof one, cudaMemcpyDeviceToHost);
    printf("%d, mkdir gives %ld\n", one, mkdir_of_mine());
    return 2;
}
