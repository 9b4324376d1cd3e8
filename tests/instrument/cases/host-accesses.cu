// The host's accesses, of what may be managed memory only.
//@ host
//@ headers
//@ env CTS_DEVICE=cpu CTS_HOST_ACCESSES=1 CTS_TU=unit7
//@ flags -O1
__managed__ int total;
int plain;
extern "C" int in(const int *p) { return p[3]; }
extern "C" void out(double *p) { p[1] = 2; }
extern "C" void copy(char *to, const char *from, size_t n) { memcpy(to, from, n); }
extern "C" int own()
{
    volatile int a[4];
    for (int i = 0; i < 4; i++) a[i] = i;
    return a[2] + plain;
}
extern "C" void count() { total++; }
//@ ir __cts_host_access\(ptr .*, i64 4, i32 0\)
//@ ir __cts_host_access\(ptr .*, i64 8, i32 1\)
//@ ir __cts_host_access\(ptr .*, i64 %[0-9a-z]+, i32 0\)
//@ ir __cts_host_access\(ptr .*@cts.managed.unit7.total, i64 4, i32 1\)
//@ no-ir __cts_host_access\(ptr .*@plain
//@ no-ir __cts_host_access\(ptr .*%a[,)]
