// An access of an inlined function is where the function says it, and names the calls it came by.
__device__ __forceinline__ float get(const float *p, int i)
{
    return p[i];
}
struct matrix {
    const float *cells;
    int width;
    __device__ __forceinline__ float at(int x, int y) const { return get(cells, y * width + x); }
};
__global__ void k(float *a, matrix m)
{
    a[LANE] = get(a, 3) + m.at(1, 2);
}
//@ has 4:12 load 4 global .*function='k\(float\*, matrix\)' type='float' variable='p' inlined='.*inlined-at.cu:13:15 k\(float\*, matrix\)'
//@ has 4:12 load 4 global .*inlined='.*inlined-at.cu:9:[0-9]+ matrix::at\(int, int\) const <- .*inlined-at.cu:13:29 k\(float\*, matrix\)'
//@ has 13:13 store 4 global .*variable='a' inlined=''
