/* Every kind of memory and copy: managed, mapped and registered host memory, pitched and 3-D
 * memory, arrays, symbols by asynchronous copies, memsets, pools, attributes of pointers. */
#include "helper.h"
#include <vector>

__managed__ int managed_array[64];
__managed__ struct {
    double sum;
    int count;
} managed_struct = {1.5, 2};
__device__ float device_floats[128];
__constant__ int constant_ints[16] = {1, 2, 3};

struct Name {
    void *operator new(size_t size)
    {
        void *p;
        checkCudaErrors(cudaMallocManaged(&p, size));
        return p;
    }
    void operator delete(void *p)
    {
        cudaDeviceSynchronize();
        cudaFree(p);
    }
    char text[32];
    int length;
};

__global__ void upper(Name *name)
{
    for (int i = threadIdx.x; i < name->length; i += blockDim.x)
        if (name->text[i] >= 'a' && name->text[i] <= 'z') name->text[i] -= 32;
    managed_array[threadIdx.x] += threadIdx.x;
    if (threadIdx.x == 0) managed_struct.sum += managed_struct.count++;
}

__global__ void saxpy(int n, float a, const float *x, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void flip_volume(cudaPitchedPtr in, cudaPitchedPtr out, cudaExtent e)
{
    for (int z = blockIdx.z; z < e.depth; z += gridDim.z)
        for (int y = threadIdx.y; y < e.height; y += blockDim.y)
            for (int x = threadIdx.x; x < e.width / sizeof(float); x += blockDim.x) {
                const char *from = (const char *)in.ptr + (z * e.height + y) * in.pitch;
                char *to = (char *)out.ptr + ((e.depth - 1 - z) * e.height + y) * out.pitch;
                ((float *)to)[x] = ((const float *)from)[x] + constant_ints[z];
            }
}

__global__ void fill()
{
    device_floats[threadIdx.x] = threadIdx.x * 0.5f;
}

static void test_host_memory()
{
    const int n = 1000;
    float *a, *b, *d_a, *d_b;
    checkCudaErrors(cudaSetDeviceFlags(cudaDeviceMapHost));
    checkCudaErrors(
        cudaHostAlloc((void **)&a, n * 4, cudaHostAllocMapped | cudaHostAllocWriteCombined));
    b = (float *)aligned_alloc(4096, 8192);
    checkCudaErrors(cudaHostRegister(b, 8192, cudaHostRegisterMapped));
    for (int i = 0; i < n; i++) a[i] = i, b[i] = 1;
    checkCudaErrors(cudaHostGetDevicePointer((void **)&d_a, a, 0));
    checkCudaErrors(cudaHostGetDevicePointer((void **)&d_b, b, 0));
    saxpy<<<(n + 255) / 256, 256>>>(n, 2, d_a, d_b);
    checkCudaErrors(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) EXPECT(b[i] == 2 * i + 1, "%d: %g", i, b[i]);
    unsigned flags;
    checkCudaErrors(cudaHostGetFlags(&flags, a));
    EXPECT(flags & cudaHostAllocMapped, "%u", flags);
    cudaPointerAttributes attributes;
    checkCudaErrors(cudaPointerGetAttributes(&attributes, d_b));
    EXPECT(attributes.type == cudaMemoryTypeHost && attributes.hostPointer == b, "%d",
           attributes.type);
    checkCudaErrors(cudaHostUnregister(b));
    checkCudaErrors(cudaFreeHost(a));
    free(b);
}

static void test_volume()
{
    const int w = 11, h = 5, d = 4;
    static float in[d][h][w], out[d][h][w];
    for (int i = 0; i < w * h * d; i++) in[0][0][i] = i;
    const cudaExtent extent = make_cudaExtent(w * sizeof(float), h, d);
    cudaPitchedPtr a, b;
    checkCudaErrors(cudaMalloc3D(&a, extent));
    checkCudaErrors(cudaMalloc3D(&b, extent));
    EXPECT(a.pitch >= w * 4 && a.pitch % 32 == 0, "%zu", a.pitch);
    checkCudaErrors(cudaMemset3D(b, 0, extent));
    cudaMemcpy3DParms p = {0};
    p.srcPtr = make_cudaPitchedPtr(in, w * sizeof(float), w, h);
    p.dstPtr = a;
    p.extent = extent;
    p.kind = cudaMemcpyHostToDevice;
    checkCudaErrors(cudaMemcpy3D(&p));
    flip_volume<<<dim3(1, 1, d), dim3(8, 4)>>>(a, b, extent);
    /* a part of it, by way of an array */
    cudaArray_t array;
    const cudaChannelFormatDesc format =
        cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    checkCudaErrors(cudaMalloc3DArray(&array, &format, make_cudaExtent(w, h, d)));
    cudaMemcpy3DParms q = {0};
    q.srcPtr = b;
    q.srcPos = make_cudaPos(0, 1, 1);
    q.dstArray = array;
    q.dstPos = make_cudaPos(0, 1, 1);
    q.extent = make_cudaExtent(w, h - 1, d - 1);
    q.kind = cudaMemcpyDeviceToDevice;
    checkCudaErrors(cudaMemcpy3DAsync(&q, 0));
    cudaMemcpy3DParms r = {0};
    r.srcArray = array;
    r.srcPos = make_cudaPos(2, 1, 1);
    r.dstPtr = make_cudaPitchedPtr(out, w * sizeof(float), w, h);
    r.dstPos = make_cudaPos(2, 1, 1);
    r.extent = make_cudaExtent(w - 2, h - 1, d - 1);
    r.kind = cudaMemcpyDeviceToHost;
    checkCudaErrors(cudaMemcpy3D(&r));
    for (int z = 0; z < d; z++)
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                const int from = d - 1 - z, add = from < 3 ? from + 1 : 0;
                const float want = z && y && x > 1 ? in[from][y][x] + add : 0;
                EXPECT(out[z][y][x] == want, "%d %d %d: %g, not %g", x, y, z, out[z][y][x], want);
            }
    cudaChannelFormatDesc got_format;
    cudaExtent got_extent;
    unsigned flags;
    checkCudaErrors(cudaArrayGetInfo(&got_format, &got_extent, &flags, array));
    EXPECT(got_format.x == 32 && got_extent.width == w && got_extent.depth == d, "array info");
    cudaFree(a.ptr), cudaFree(b.ptr), cudaFreeArray(array);
}

static void test_symbols()
{
    float h[128];
    cudaStream_t s;
    checkCudaErrors(cudaStreamCreate(&s));
    fill<<<1, 128, 0, s>>>();
    checkCudaErrors(
        cudaMemcpyFromSymbolAsync(h, device_floats, 64 * 4, 32 * 4, cudaMemcpyDeviceToHost, s));
    checkCudaErrors(cudaStreamSynchronize(s));
    EXPECT(h[0] == 16 && h[63] == 47.5f, "%g %g", h[0], h[63]);
    const int ints[4] = {7, 8, 9, 10};
    checkCudaErrors(
        cudaMemcpyToSymbolAsync(constant_ints, ints, sizeof ints, 8, cudaMemcpyHostToDevice, s));
    int back[16];
    checkCudaErrors(
        cudaMemcpyFromSymbolAsync(back, constant_ints, sizeof back, 0, cudaMemcpyDeviceToHost, s));
    checkCudaErrors(cudaStreamSynchronize(s));
    EXPECT(back[1] == 2 && back[2] == 7 && back[5] == 10 && back[6] == 0, "%d %d", back[1],
           back[2]);
    float *p;
    checkCudaErrors(cudaGetSymbolAddress((void **)&p, device_floats));
    checkCudaErrors(cudaMemset(p, 0, 16));
    checkCudaErrors(cudaMemcpyFromSymbol(h, device_floats, 32));
    EXPECT(h[3] == 0 && h[4] == 2, "%g", h[4]);
    EXPECT(cudaMemcpyFromSymbol(h, device_floats, 4096) == cudaErrorInvalidValue, "too much");
    cudaGetLastError();
    checkCudaErrors(cudaStreamDestroy(s));
}

int main()
{
    test_host_memory();
    Name *const name = new Name;
    strcpy(name->text, "unified memory");
    name->length = (int)strlen(name->text);
    managed_array[5] = 100;
    upper<<<1, 64>>>(name);
    upper<<<1, 64>>>(name);
    checkCudaErrors(cudaDeviceSynchronize());
    EXPECT(!strcmp(name->text, "UNIFIED MEMORY") && managed_array[5] == 110, "%s %d", name->text,
           managed_array[5]);
    EXPECT(managed_struct.sum == 6.5 && managed_struct.count == 4, "%g", managed_struct.sum);
    checkCudaErrors(cudaMemAdvise(name, sizeof *name, cudaMemAdviseSetReadMostly, 0));
    checkCudaErrors(cudaMemPrefetchAsync(name, sizeof *name, 0, 0));
    delete name;
    test_volume();
    test_symbols();

    cudaStream_t s;
    int *pool_memory, h[256];
    checkCudaErrors(cudaStreamCreate(&s));
    checkCudaErrors(cudaMallocAsync((void **)&pool_memory, sizeof h, s));
    checkCudaErrors(cudaMemsetAsync(pool_memory, 0x11, sizeof h, s));
    checkCudaErrors(cudaMemcpyAsync(h, pool_memory, sizeof h, cudaMemcpyDeviceToHost, s));
    checkCudaErrors(cudaFreeAsync(pool_memory, s));
    checkCudaErrors(cudaStreamSynchronize(s));
    EXPECT(h[255] == 0x11111111, "%x", h[255]);

    size_t before, after, total;
    void *block;
    checkCudaErrors(cudaMemGetInfo(&before, &total));
    checkCudaErrors(cudaMalloc(&block, 64 << 20));
    checkCudaErrors(cudaMemGetInfo(&after, &total));
    EXPECT(before - after >= 64 << 20 && total >= before, "%zu %zu", before, after);
    checkCudaErrors(cudaFree(block));
    checkCudaErrors(cudaFree(0));
    EXPECT(cudaMalloc(&block, 1ull << 60) == cudaErrorMemoryAllocation, "too much");
    EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation && cudaGetLastError() == cudaSuccess,
           "once");
    EXPECT(cudaFree((void *)&total) == cudaErrorInvalidValue, "not ours");
    cudaGetLastError();
    size_t pitch;
    checkCudaErrors(cudaMallocPitch(&block, &pitch, 100, 10));
    std::vector<char> bytes(1000, 'x');
    checkCudaErrors(cudaMemset2D(block, pitch, 'y', 50, 10));
    checkCudaErrors(
        cudaMemcpy2DAsync(&bytes[0], 100, (char *)block, pitch, 50, 10, cudaMemcpyDeviceToHost, s));
    checkCudaErrors(cudaStreamSynchronize(s));
    EXPECT(bytes[49] == 'y' && bytes[50] == 'x' && bytes[949] == 'y' && bytes[950] == 'x', "2-D");
    EXPECT(cudaMemcpy2D(block, 10, &bytes[0], 100, 50, 10, cudaMemcpyHostToDevice) ==
               cudaErrorInvalidPitchValue,
           "pitch");
    return cudaGetLastError(), verdict();
}
