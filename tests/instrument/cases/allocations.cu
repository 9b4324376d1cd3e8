// The host's allocations: what the source calls the pointer, its element type, the call's line.
//@ host
//@ headers
//@ env CTS_DEVICE=cpu
#include <vector>
struct particle {
    float x, y;
};
struct state {
    float *d_in;
    particle *d_p;
};
template <class T> T *make(size_t n)
{
    T *p;
    cudaMalloc(&p, n * sizeof(T));
    return p;
}
static void fill(float *&reference, void **out)
{
    cudaMalloc(&reference, 16);
    cudaMalloc(out, 32);
}
float *everywhere[2];
void check(cudaError_t) {}
int main()
{
    float *d_a, *gpu[2], **many = new float *[4];
    state s, *ps = &s;
    cudaMalloc((void **)&d_a, 1024);
    check(cudaMalloc(&s.d_in, 1024));
    cudaMallocManaged(&ps->d_p, 1024);
    cudaMalloc((void **)&gpu[1], 1024);
    for (int i = 0; i < 4; i++) cudaMalloc(&many[i], 64);
    unsigned *flags;
    cudaHostAlloc((void **)&flags, 64, 0);
    size_t pitch;
    double *rows;
    cudaMallocPitch(&rows, &pitch, 64, 64);
    cudaMalloc(&everywhere[1], 4);
    std::vector<double *> devices(4);
    for (int dev = 0; dev < 4; dev++) cudaMalloc((void **)&devices[dev], 64);
    cudaMalloc(&devices.at(2), 64);
    cudaPitchedPtr pitched;
    cudaMalloc3D(&pitched, cudaExtent{64, 4, 4});
    struct { cudaArray_t pixels[2]; } images;
    cudaChannelFormatDesc format = {};
    cudaMallocArray(&images.pixels[1], &format, 64, 64);
    fill(d_a, (void **)&rows);
    return make<int>(5) == 0;
}
//@ has ^allocation 'd_a' type='float' element=4 function='main' line=30
//@ has ^allocation 's.d_in' type='float' element=4 function='main' line=31
//@ has ^allocation 'ps->d_p' type='particle' element=8 function='main' line=32
//@ has ^allocation 'gpu\[1\]' type='float' element=4 function='main' line=33
//@ has ^allocation 'many\[i\]' type='float' element=4 function='main' line=34
//@ has ^allocation 'flags' type='unsigned int' element=4 function='main' line=36
//@ has ^allocation 'rows' type='double' element=8 function='main' line=39
//@ has ^allocation 'everywhere\[1\]' type='float' element=4 function='main' line=40
//@ has ^allocation 'p' type='int' element=4 function='make<int>\(unsigned long\)' line=16
//@ has ^allocation 'reference' type='float' element=4 function='fill
//@ has ^allocation '\*out' type='' element=0 function='fill
//@ has ^allocation 'devices\[dev\]' type='double' element=8 function='main' line=42
//@ has ^allocation 'devices\[2\]' type='double' element=8
//@ has ^allocation 'pitched' type='' element=0
//@ has ^allocation 'images.pixels\[1\]' type='' element=0
// What helpers allocate has the caller's variable and line, if the source says one ('make<int>(5) == 0' does not); the helpers
// themselves stay, for callers elsewhere.
//@ has ^allocation 'd_a' type='float' element=4 function='main' line=49
//@ has ^allocation 'rows' type='double' element=8 function='main' line=49
//@ count 18 ^allocation
//@ ir call void @__cts_allocation_hint\(ptr .*@cts.allocation
//@ no-ir icmp ne ptr @__cts_allocation_hint, null
