// Without the CPU device the recorder may be missing: the hint is weak.
//@ host
//@ headers
//@ env CTS_DEVICE=cuda
int main()
{
    int *d;
    return cudaMalloc(&d, 4);
}
//@ ir declare extern_weak void @__cts_allocation_hint\(ptr
//@ ir select i1 .*@__cts_allocation_hint
