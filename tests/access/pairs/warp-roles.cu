// A warp fills stages that three others consume, with cuda::barrier: full and empty. 1: the consumers
// read before they have waited for 'full'. 2: they give the stage back before they have read it.
#include "pair.h"
#include "block-barrier.h"
enum { STAGES = 2, ROUNDS = 8, CTAS = 12, WARPS = 4, EACH = 96 };
using barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void pipeline(const int *in, int *out)
{
    __shared__ int stages[STAGES][EACH];
    __shared__ barrier full[STAGES], empty[STAGES];
    const int t = threadIdx.x;
    if (t < STAGES) {
        init(&full[t], WARPS * 32);
        init(&empty[t], WARPS * 32);
    }
    __syncthreads();
    const int *const mine = in + blockIdx.x * ROUNDS * EACH;
    if (t < 32) {
        for (int r = 0; r < ROUNDS; r++) {
            const int s = r % STAGES;
            empty[s].arrive_and_wait();
            for (int i = t; i < EACH; i += 32) stages[s][i] = mine[r * EACH + i]; // @1 possible race // @2 possible race
            (void)full[s].arrive();
        }
    } else {
        int sum = 0;
        for (int s = 0; s < STAGES; s++) (void)empty[s].arrive();
        for (int r = 0; r < ROUNDS; r++) {
            const int s = r % STAGES;
            auto token = full[s].arrive();
            if (DEFECT == 1) sum += stages[s][EACH - 1 - (t - 32)]; // @1 possible race|uninitialised read
            full[s].wait(std::move(token));
            if (DEFECT == 2 && r + STAGES < ROUNDS) (void)empty[s].arrive();
            if (DEFECT != 1) sum += stages[s][EACH - 1 - (t - 32)]; // @2 possible race
            if (DEFECT != 2 && r + STAGES < ROUNDS) (void)empty[s].arrive();
        }
        out[blockIdx.x * EACH + t - 32] = sum;
    }
}

int main()
{
    int *const in = device_array<int>(CTAS * ROUNDS * EACH, [](size_t i) { return int(i % 13); });
    int *const out = device_zeros<int>(CTAS * EACH);
    pipeline<<<CTAS, 32 * WARPS>>>(in, out);
    CHECK(cudaDeviceSynchronize());
}
