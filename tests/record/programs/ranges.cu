// Launches inside and outside of NVTX ranges: one thread that stores argument x, so that the run
// tells which launches it holds. Compiled by nvcc, too.
#include <cstdio>
#include <nvtx3/nvToolsExt.h>

__global__ void store(int *to, int x)
{
    to[x] = x;
}

static int *memory;

static void launch(int x)
{
    store<<<1, x + 1>>>(memory, x); // x + 1 accesses
}

int main()
{
    cudaMalloc(&memory, 4096);
    launch(0);
    nvtxRangePushA("warm-up");
    launch(1);
    nvtxRangePushA("solve");
    launch(2);
    nvtxRangePushA("inner");
    launch(3);
    nvtxRangePop();
    nvtxRangePop();
    launch(4);
    nvtxRangePop();
    nvtxRangeId_t range = nvtxRangeStartA("solve");
    launch(5);
    nvtxRangeEnd(range);
    nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
    nvtxEventAttributes_t attributes = {};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = "solve";
    nvtxDomainRangePushEx(domain, &attributes);
    launch(6);
    nvtxDomainRangePop(domain);
    launch(7);
    return cudaDeviceSynchronize() != cudaSuccess;
}
