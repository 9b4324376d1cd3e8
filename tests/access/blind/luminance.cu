// Grey values of packed pixels: a pixel of four bytes at once. 1: pixels of three bytes, byte by
// byte. 2: a thread takes a row.
#include "../pairs/pair.h"
enum { W = 512, H = 128 };

__global__ void grey(const uchar4 *in, unsigned char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uchar4 p = in[i];
    out[i] = (p.x * 77 + p.y * 150 + p.z * 29) >> 8;
}

__global__ void grey3(const unsigned char *in, unsigned char *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = (in[3 * i] * 77 + in[3 * i + 1] * 150 + in[3 * i + 2] * 29) >>
             8; // @1 array of structs | blocked arrangement | strided access
}

__global__ void grey_rows(const uchar4 *in, unsigned char *out)
{
    const int y = blockIdx.x * blockDim.x + threadIdx.x;
    for (int x = 0; x < W; x++) {
        const uchar4 p = in[y * W + x]; // @2 strided access
        out[y * W + x] = (p.x * 77 + p.y * 150 + p.z * 29) >>
                         8; // @2 strided access | array of structs | blocked arrangement
    }
}

int main()
{
    unsigned char *out = device_zeros<unsigned char>(W * H);
#if DEFECT == 1
    grey3<<<W * H / 256, 256>>>(device_zeros<unsigned char>(3 * W * H), out);
#elif DEFECT == 2
    grey_rows<<<H / 32, 32>>>(device_zeros<uchar4>(W * H), out);
#else
    grey<<<W * H / 256, 256>>>(device_zeros<uchar4>(W * H), out);
#endif
    CHECK(cudaDeviceSynchronize());
}
