// memcpy, memmove and memset: one access a side of constant length, a range of run-time length.
struct big {
    double d[6];
};
__global__ void constant(big *to, const big *from, char *bytes)
{
    *to = *from;
    __builtin_memset(bytes, 1, 24);
}
__global__ void dynamic(char *to, const char *from, int n)
{
    __builtin_memcpy(to, from, n);
    __builtin_memset(to + 4096, 0, n);
}
__global__ void own(big *to)
{
    big b = *to;
    for (int i = 0; i < 6; i++) b.d[i] *= b.d[i ^ LANE & 1];
    *to = b;
}
//@ has 7:9 load 48 global .*type='big' variable='from'
//@ has 7:9 store 48 global .*type='big' variable='to'
//@ has 8:5 store 24 global .*type='char' variable='bytes'
//@ has 12:5 load 16 global .*variable='from'
//@ has 12:5 load 1 global .*variable='from'
//@ has 12:5 store 16 global .*variable='to'
//@ has 12:5 store 1 global .*variable='to'
//@ has 13:5 store 16 global
//@ no site .*variable='b'
//@ no site .*variable='b\.
//@ ir call void @__cts_access_range\(i32 [0-9]+, ptr
//@ order load 48 ;; store 48
