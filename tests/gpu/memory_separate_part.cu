// See memory_separate.cu.
__device__ __noinline__ float gathered(const float *from, int i)
{
    return from[3 * i] + 1;
}
