/* Host and device by turns, as in streamcluster: host threads with a barrier prepare, the device
 * weighs a candidate against all points, the host opens or closes centres; buffers that grow,
 * pinned and write-combined; a producer thread feeding a consumer through events. */
// options: -std=c++17 -Xcompiler -pthread -lpthread -lineinfo
#include "helper.h"
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <numeric>
#include <pthread.h>
#include <random>
#include <thread>
#include <vector>

typedef struct {
    float weight;
    long assign;
    float cost;
} Point_Struct;

#define THREADS_PER_BLOCK 128

__device__ float d_dist(int p1, int p2, int num, int dim, const float *coord)
{
    float retval = 0.0;
    for (int i = 0; i < dim; i++) {
        const float tmp = coord[(i * num) + p1] - coord[(i * num) + p2];
        retval += tmp * tmp;
    }
    return retval;
}

__global__ void kernel_compute_cost(int num, int dim, long x, Point_Struct *p, int K, int stride,
                                    const float *coord, float *work_mem, const int *center_table,
                                    bool *switch_membership)
{
    const int bid = blockIdx.x + gridDim.x * blockIdx.y, tid = blockDim.x * bid + threadIdx.x;
    if (tid >= num) return;
    float *lower = &work_mem[tid * stride];
    const float x_cost = d_dist(tid, x, num, dim, coord) * p[tid].weight;
    if (x_cost < p[tid].cost) {
        switch_membership[tid] = 1;
        lower[K] += x_cost - p[tid].cost;
    } else
        lower[center_table[p[tid].assign]] += p[tid].cost - x_cost;
}

static pthread_barrier_t barrier;

int main()
{
    const int num = 600, dim = 5, iterations = 12;
    std::vector<float> coord(num * dim);
    std::mt19937 rng(11);
    std::normal_distribution<float> normal(0, 1);
    for (int i = 0; i < num; i++)
        for (int d = 0; d < dim; d++) coord[d * num + i] = normal(rng) + (i % 4) * 6;

    Point_Struct *p, *p_d;
    bool *switched, *switched_d;
    float *coord_d, *work_d = NULL, *work = NULL;
    int *table_d = NULL, stride_capacity = 0;
    checkCudaErrors(cudaHostAlloc((void **)&p, num * sizeof *p,
                                  cudaHostAllocWriteCombined | cudaHostAllocPortable));
    checkCudaErrors(cudaMallocHost((void **)&switched, num * sizeof(bool)));
    checkCudaErrors(cudaMalloc((void **)&p_d, num * sizeof *p));
    checkCudaErrors(cudaMalloc((void **)&switched_d, num * sizeof(bool)));
    checkCudaErrors(cudaMalloc((void **)&coord_d, num * dim * sizeof(float)));
    checkCudaErrors(
        cudaMemcpy(coord_d, coord.data(), num * dim * sizeof(float), cudaMemcpyHostToDevice));
    auto distance = [&](int a, int b) {
        float sum = 0;
        for (int d = 0; d < dim; d++)
            sum += (coord[d * num + a] - coord[d * num + b]) *
                   (coord[d * num + a] - coord[d * num + b]);
        return sum;
    };

    /* the first centre, by host threads that meet at a barrier */
    std::vector<int> centers(1, 0);
    std::vector<double> partial(3);
    double total = 0;
    pthread_barrier_init(&barrier, NULL, 3);
    std::vector<std::thread> workers;
    for (int t = 0; t < 3; t++)
        workers.emplace_back([&, t] {
            for (int i = t; i < num; i += 3) {
                p[i].weight = 1, p[i].assign = 0, p[i].cost = distance(i, 0);
                partial[t] += p[i].cost;
            }
            if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
                total = std::accumulate(partial.begin(), partial.end(), 0.0);
        });
    for (auto &w : workers) w.join();
    const double first = total, z = first / 40;

    for (int it = 0; it < iterations; it++) {
        const long x = (long)(rng() % num);
        const int K = (int)centers.size(), stride = K + 1;
        std::vector<int> table(num);
        for (int c = 0; c < K; c++) table[centers[c]] = c;
        if (stride > stride_capacity) { /* grows as centres are opened */
            stride_capacity = 2 * stride;
            cudaFree(work_d), cudaFree(table_d), cudaFreeHost(work);
            checkCudaErrors(
                cudaMalloc((void **)&work_d, (size_t)stride_capacity * num * sizeof(float)));
            checkCudaErrors(cudaMalloc((void **)&table_d, num * sizeof(int)));
            checkCudaErrors(
                cudaMallocHost((void **)&work, (size_t)stride_capacity * num * sizeof(float)));
        }
        checkCudaErrors(cudaMemcpy(p_d, p, num * sizeof *p, cudaMemcpyHostToDevice));
        checkCudaErrors(cudaMemcpy(table_d, &table[0], num * sizeof(int), cudaMemcpyHostToDevice));
        checkCudaErrors(cudaMemset(switched_d, 0, num * sizeof(bool)));
        checkCudaErrors(cudaMemset(work_d, 0, (size_t)stride * num * sizeof(float)));
        const int num_blocks = (num + THREADS_PER_BLOCK - 1) / THREADS_PER_BLOCK;
        kernel_compute_cost<<<dim3((num_blocks + 1) / 2, 2), THREADS_PER_BLOCK>>>(
            num, dim, x, p_d, K, stride, coord_d, work_d, table_d, switched_d);
        getLastCudaError("cost");
        checkCudaErrors(
            cudaMemcpy(work, work_d, (size_t)stride * num * sizeof(float), cudaMemcpyDeviceToHost));
        checkCudaErrors(
            cudaMemcpy(switched, switched_d, num * sizeof(bool), cudaMemcpyDeviceToHost));
        double gain = -z, want_gain = -z;
        for (int i = 0; i < num; i++) {
            gain -= work[i * stride + K];
            const float cost = distance(i, (int)x) * p[i].weight;
            EXPECT(switched[i] == (cost < p[i].cost), "%d of %d", i, it);
            if (cost < p[i].cost) want_gain += p[i].cost - cost;
        }
        EXPECT(close_to(gain, want_gain, 1e-4), "round %d: %g, not %g", it, gain, want_gain);
        if (gain > 0) {
            for (int i = 0; i < num; i++)
                if (switched[i]) p[i].assign = x, p[i].cost = distance(i, (int)x);
            centers.push_back((int)x);
            total -= gain + z;
        }
    }
    EXPECT(centers.size() > 2 && total < first / 2, "%zu centres, %g of %g", centers.size(), total,
           first);

    /* a producer of filled buffers, a consumer on the device: a queue, events for reuse */
    enum { BUFFERS = 3, ROUNDS = 9, N = 256 };
    std::mutex m;
    std::condition_variable cv;
    std::deque<int> full, empty = {0, 1, 2};
    float *pinned[BUFFERS], *sums;
    cudaEvent_t used[BUFFERS];
    cudaStream_t stream;
    checkCudaErrors(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    checkCudaErrors(cudaMallocManaged(&sums, N * sizeof(float)));
    std::fill(sums, sums + N, 0);
    for (int i = 0; i < BUFFERS; i++) {
        checkCudaErrors(cudaHostAlloc(&pinned[i], N * sizeof(float), cudaHostAllocDefault));
        checkCudaErrors(cudaEventCreateWithFlags(&used[i], cudaEventDisableTiming));
    }
    std::thread producer([&] {
        for (int round = 0; round < ROUNDS; round++) {
            std::unique_lock<std::mutex> lock(m);
            cv.wait(lock, [&] { return !empty.empty(); });
            const int b = empty.front();
            empty.pop_front();
            lock.unlock();
            checkCudaErrors(
                cudaEventSynchronize(used[b])); /* an event that was never recorded is done */
            for (int i = 0; i < N; i++) pinned[b][i] = (float)(round * i);
            lock.lock();
            full.push_back(b);
            cv.notify_all();
        }
    });
    extern __global__ void add_kernel(float *, const float *);
    for (int round = 0; round < ROUNDS; round++) {
        std::unique_lock<std::mutex> lock(m);
        cv.wait(lock, [&] { return !full.empty(); });
        const int b = full.front();
        full.pop_front();
        lock.unlock();
        add_kernel<<<1, N, 0, stream>>>(sums, pinned[b]);
        checkCudaErrors(cudaEventRecord(used[b], stream));
        lock.lock();
        empty.push_back(b);
        cv.notify_all();
    }
    producer.join();
    checkCudaErrors(cudaStreamSynchronize(stream));
    for (int i = 0; i < N; i++) EXPECT(sums[i] == 36 * i, "%d: %g", i, sums[i]);
    pthread_barrier_destroy(&barrier);
    return verdict();
}

__global__ void add_kernel(float *to, const float *from)
{
    to[threadIdx.x] += from[threadIdx.x];
}
