// Loops nest, what follows a loop comes after it, and graphs that are no loop nests do no harm.
//@ flags -O1 -fno-unroll-loops
__global__ void nest(int *a, int n, int m)
{
    for (int i = 0; i < n; i++) {
        a[i] += 1;
        for (int j = 0; j < m; j++)
            if (a[j * n] > 3) a[i * m + j] = 4;
        a[i + 7] = 5;
    }
    a[0] = 6;
}
__global__ void irreducible(int *a, int n)
{
    int i = 0;
    if (a[0]) goto second;
first:
    a[i + 1] = i;
    if (a[2] == i) goto out;
second:
    a[3 * i] = i;
    if (i++ < n) goto first;
out:
    a[4] = 7;
}
//@ has 6:14 load 4 global depth=1 loop=0
//@ has 8:17 load 4 global depth=2 loop=1
//@ has 9:18 store 4 global depth=1 loop=0
//@ has 11:10 store 4 global depth=0 loop=-1
//@ has ^loop 1 parent=0
//@ order 6:14 load ;; 8:17 load
//@ order 8:44 store ;; 9:18 store
//@ order 9:18 store ;; 11:10 store
//@ has 18:[0-9]+ store 4 global depth=1 loop=2
//@ has 24:10 store 4 global depth=0 loop=-1
