// Two origins that meet: of one space the access is in it, of two it is found out at run time.
__global__ void same(float *a, float *b, int n)
{
    float *p = n > 5 ? a : b;
    p[LANE] = 1;
}
__global__ void mixed(float *a, int n)
{
    __shared__ float tile[64];
    tile[LANE] = a[LANE];
    float *p = n > 5 ? a : tile;
    p[LANE + 1] = 2;
    a[0] += tile[n];
}
__global__ void walk(float *a, int n)
{
    __shared__ float tile[64];
    float *p = a;
    for (int i = 0; i < n; i++) {
        *p += 1;
        if (p[1] > 3) p = tile;
        p++;
    }
    a[0] = tile[3];
}
//@ has 5:13 store 4 global .*type='float' variable='p'
//@ has 12:17 store 4 generic .*type='float' variable='p'
//@ has 10:16 store 4 shared .*type='float' variable='tile'
//@ has 20:12 load 4 generic depth=1 .*type='float' variable='p'
//@ has 20:12 store 4 generic depth=1
//@ has 24:12 load 4 shared depth=0 .*variable='tile'
