// The smaller of two sites comes first: what leaves a loop stands behind the loop.
//@ flags -O1 -fno-unroll-loops
__global__ void k(int *a, int n)
{
    a[1] = 1;
    for (int i = 0; i < n; i++) {
        if (a[i * 3] == 5) {
            a[2] = 2;
            return;
        }
        if (a[i * 5] == 6)
            a[3 * i] = 3;
        else
            a[4 * i] = 4;
        a[5 * i] = 5;
    }
    a[6] = 6;
}
//@ order 5:10 store ;; 7:13 load
//@ order 7:13 load ;; 11:13 load
//@ order 15:18 store ;; 8:18 store
//@ order 15:18 store ;; 17:10 store
//@ has 8:18 store 4 global depth=0 loop=-1
//@ has 15:18 store 4 global depth=1 loop=0
