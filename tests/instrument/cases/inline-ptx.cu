// Inline PTX that is understood is recorded, other PTX that touches memory is said to be skipped.
__global__ void k(float *a, int *c, unsigned shared_address, int n)
{
    float v;
    asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(v) : "l"(a + LANE));
    asm volatile("st.global.cs.v4.f32 [%0], {%1, %1, %1, %1};" ::"l"(a + 4), "f"(v) : "memory");
    asm volatile("red.global.add.s32 [%0], %1;" ::"l"(c), "r"(n) : "memory");
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(shared_address), "r"(n) : "memory");
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p st.global.u32 [%0], %1; }" ::"l"(c), "r"(n));
    asm volatile("membar.gl;");
    int lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("ld.global.f64 %0, [%1+-16];" : "=d"(*(double *)(a + 8)) : "l"(a + 12));
    c[5] = lane;
}
//@ has 5:5 load 4 global .*variable='a'
//@ has 6:5 store 16 global .*variable='a'
//@ has 7:5 atomic add 4 global .*variable='c'
//@ has 8:5 store 4 shared
//@ has ^skipped 'inline PTX '.*st.global.u32.*' in k\(.*inline PTX that is not understood.* inline-ptx.cu:9
//@ count 1 ^skipped
//@ has 13:5 load 8 global .*variable='a'
//@ ir getelementptr i8, ptr .*, i64 -16
//@ has 10:5 fence 0 barrier
//@ count 8 ^site
