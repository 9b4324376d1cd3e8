// Local memory on request.
//@ env CTS_LOCALS=1
struct settings {
    float weight[16];
};
__global__ void k(int *a, settings s, int n)
{
    int own[32];
    for (int i = 0; i < n; i++) own[a[i] & 31] = i;
    a[0] = own[n & 31] + s.weight[n & 15];
}
//@ has 9:[0-9]+ store 4 local depth=1 .*type='int' variable='own'
//@ has 10:12 load 4 local .*variable='own'
//@ no variable='s
//@ no generic
