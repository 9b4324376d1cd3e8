// A persistent kernel that the host feeds through mapped memory, and a ring between two streams.
#include <cstdio>
#include <cuda_runtime.h>
#define CK(x)                                                                                      \
    do {                                                                                           \
        cudaError_t e_ = (x);                                                                      \
        if (e_) {                                                                                  \
            printf("%d %s\n", __LINE__, cudaGetErrorString(e_));                                   \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)
struct Mailbox {
    volatile int request, reply, quit;
    volatile int payload[32];
};
__global__ void server(Mailbox *m)
{
    __shared__ int go;
    int last = 0;
    for (;;) {
        if (threadIdx.x == 0) {
            while (m->request == last && !m->quit) __nanosleep(200);
            go = m->quit ? -1 : m->request;
        }
        __syncthreads();
        if (go < 0) break;
        m->payload[threadIdx.x] = m->payload[threadIdx.x] * 2 + go;
        __threadfence_system();
        __syncthreads();
        last = go;
        if (threadIdx.x == 0) m->reply = go;
        __syncthreads();
    }
}
__global__ void producer(int *slot, volatile int *flag, int n)
{
    for (int i = 1; i <= n; i++) {
        while (atomicAdd((int *)flag, 0) != 0);
        *slot = i * i;
        __threadfence();
        atomicExch((int *)flag, 1);
    }
}
__global__ void consumer(int *slot, volatile int *flag, int n, int *sum)
{
    for (int i = 1; i <= n; i++) {
        while (atomicAdd((int *)flag, 0) != 1);
        *sum += *(volatile int *)slot;
        __threadfence();
        atomicExch((int *)flag, 0);
    }
}
int main()
{
    CK(cudaSetDeviceFlags(cudaDeviceMapHost));
    Mailbox *h, *d;
    CK(cudaHostAlloc((void **)&h, sizeof *h, cudaHostAllocMapped | cudaHostAllocWriteCombined));
    CK(cudaHostGetDevicePointer((void **)&d, h, 0));
    h->request = h->reply = h->quit = 0;
    for (int i = 0; i < 32; i++) h->payload[i] = i;
    server<<<1, 32>>>(d);
    int want[32], bad = 0;
    for (int i = 0; i < 32; i++) want[i] = i;
    for (int r = 1; r <= 5; r++) {
        h->request = r;
        while (h->reply != r);
        for (int i = 0; i < 32; i++) {
            want[i] = want[i] * 2 + r;
            bad += h->payload[i] != want[i];
        }
    }
    h->quit = 1;
    CK(cudaDeviceSynchronize());
    CK(cudaFreeHost(h));
    cudaStream_t a, b;
    CK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    int *m;
    CK(cudaMallocManaged(&m, 12));
    m[0] = m[1] = m[2] = 0;
    producer<<<1, 1, 0, a>>>(m, m + 1, 20);
    consumer<<<1, 1, 0, b>>>(m, m + 1, 20, m + 2);
    CK(cudaDeviceSynchronize());
    bad += m[2] != 20 * 21 * 41 / 6;
    printf("bad %d\n", bad);
    return bad != 0;
}
