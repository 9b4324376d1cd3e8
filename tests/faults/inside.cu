// A program that knows its results, checks every call and uses what a recorder watches: streams,
// events, threads, copies of every kind, managed memory, variables, many launches. It prints
// "right" and ends with 7, recorded or not, whatever fails inside of its recorder.
//   inside ROUNDS
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 12, STATUS = 7 };

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const int code = (call);                                                                   \
        if (code) printf("line %d: %d\n", __LINE__, code), fflush(stdout), _Exit(90);              \
    } while (0)

__device__ int offset;

__global__ void add(const int *in, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + offset;
}

__global__ void touch(int *p)
{
    p[threadIdx.x] += 1;
}

static void *other_thread(void *)
{
    int *p, host[32];
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    for (int i = 0; i < 5; i++) touch<<<1, 32>>>(p);
    CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) CHECK(host[i] != 5);
    CHECK(cudaFree(p));
    return nullptr;
}

int main(int argc, char **argv)
{
    const int rounds = atoi(argv[1]), one = 1;
    int *a, *b, *managed, *host = (int *)malloc(N * sizeof(int));
    cudaStream_t streams[2];
    cudaEvent_t event;
    pthread_t thread;
    CHECK(cudaMalloc(&a, N * sizeof(int)));
    CHECK(cudaMalloc(&b, N * sizeof(int)));
    CHECK(cudaMallocManaged(&managed, 32 * sizeof(int)));
    for (int i = 0; i < 32; i++) managed[i] = 0;
    CHECK(cudaMemcpyToSymbol(offset, &one, sizeof one));
    for (cudaStream_t &stream : streams) CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&event));
    CHECK(cudaMemset(a, 0, N * sizeof(int)));
    for (int k = 0; k < 4; k++) {
        add<<<N / 128, 128, 0, streams[0]>>>(a, b, N);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(event, streams[0]));
        CHECK(cudaStreamWaitEvent(streams[1], event, 0));
        CHECK(cudaMemcpyAsync(a, b, N * sizeof(int), cudaMemcpyDeviceToDevice, streams[1]));
        CHECK(cudaStreamSynchronize(streams[1]));
    }
    CHECK(cudaMemcpy(host, a, N * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) CHECK(host[i] != 4);
    CHECK(pthread_create(&thread, nullptr, other_thread, nullptr));
    CHECK(pthread_join(thread, nullptr));
    for (int i = 0; i < rounds; i++) touch<<<1, 32>>>(managed);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++) CHECK(managed[i] != rounds);
    for (cudaStream_t &stream : streams) CHECK(cudaStreamDestroy(stream));
    CHECK(cudaEventDestroy(event));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(managed));
    free(host);
    printf("right\n");
    return STATUS;
}
