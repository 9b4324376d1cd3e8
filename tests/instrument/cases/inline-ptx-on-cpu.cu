// For the CPU device inline PTX is translated first: its accesses are ordinary ones.
//@ env CTS_DEVICE=cpu
__global__ void k(float *a, int *c, int n)
{
    float v;
    asm volatile("ld.global.f32 %0, [%1+8];" : "=f"(v) : "l"(a + LANE));
    asm volatile("st.global.f32 [%0], %1;" ::"l"(a), "f"(v) : "memory");
    asm volatile("red.global.add.s32 [%0], %1;" ::"l"(c), "r"(n) : "memory");
}
//@ has 6:5 load 4 global .*variable='a'
//@ has 7:5 store 4 global .*variable='a'
//@ has 8:5 atomic add 4 global .*variable='c'
//@ no ^skipped
//@ count 3 ^site
