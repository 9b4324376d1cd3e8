// One kind of call, very often: many WHAT COUNT.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void nothing() {}
__global__ void shaped(int) {}

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    const char *const what = argv[1];
    const int count = atoi(argv[2]);
    cudaStream_t stream;
    cudaEvent_t event;
    char *memory, *pinned;
    cudaStreamCreate(&stream);
    cudaEventCreate(&event);
    cudaMalloc(&memory, 4096);
    cudaMallocHost(&pinned, 4096);
    for (int i = 0; i < count; i++) {
        if (strcmp(what, "launches") == 0) nothing<<<1, 32, 0, stream>>>();
        if (strcmp(what, "shapes") == 0) shaped<<<1 + i % 7, 32, 0, stream>>>(i);
        if (strcmp(what, "copies") == 0)
            cudaMemcpyAsync(memory, pinned, 4096, cudaMemcpyHostToDevice, stream);
        if (strcmp(what, "memsets") == 0) cudaMemsetAsync(memory, 0, 4096, stream);
        if (strcmp(what, "events") == 0) cudaEventRecord(event, stream);
        if (strcmp(what, "waits") == 0) cudaStreamWaitEvent(stream, event, 0);
        if (strcmp(what, "queries") == 0) cudaEventQuery(event);
        if (strcmp(what, "synchronisations") == 0) cudaStreamSynchronize(stream);
    }
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
