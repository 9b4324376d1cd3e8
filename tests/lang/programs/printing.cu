/* printf in kernels: every kind of argument, in order within a thread. */
#include "check.h"

__global__ void speak(int n, const char *word)
{
    if (threadIdx.x != 3 || blockIdx.x != 1) return;
    printf("plain\n");
    printf("int %d, negative %d, unsigned %u, hex %#x, octal %o\n", n, -n, 4000000000u, 255, 8);
    printf("long long %lld %llu, size %zu\n", -1234567890123ll, 18446744073709551615ull, (size_t)7);
    printf("float %.3f, double %10.4e, general %g\n", 1.5f, 12345.678, 0.1);
    printf("char %c, string '%s', padded '%5d|%-5d|%05d'\n", 'x', word, 42, 42, 42);
    printf("percent %%, star %*d, precision %.*f\n", 6, 17, 2, 3.14159);
    printf("short %hd, byte %hhu\n", (short)-5, (unsigned char)200);
    for (int i = 0; i < 3; i++) printf("line %d of %d\n", i, 3);
}

__device__ const char *const words[] = {"kernel", "text"};
__global__ void start()
{
    printf("%s %s\n", words[0], words[1]);
}

int main()
{
    speak<<<2, 32>>>(12, "literal from the host");
    start<<<1, 1>>>();
    return finish();
}
// expect: plain
// expect: int 12, negative -12, unsigned 4000000000, hex 0xff, octal 10
// expect: long long -1234567890123 18446744073709551615, size 7
// expect: float 1.500, double 1.2346e+04, general 0.1
// expect: char x, string 'literal from the host', padded '   42|42   |00042'
// expect: percent %, star     17, precision 3.14
// expect: short -5, byte 200
// expect: line 0 of 3
// expect: line 2 of 3
// expect: kernel text
// expect: good
