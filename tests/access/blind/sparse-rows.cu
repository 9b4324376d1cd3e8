// A sparse product with a warp for each row. 1: a thread for each row. 2: the values of a row are
// structs of an index and a value with a field in between.
#include "../pairs/pair.h"
enum { ROWS = 512, PER_ROW = 64 };
struct Entry {
    int column, unused[2];
    float value;
};

__global__ void product(const int *column, const float *value, const float *x, float *y)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int k = lane; k < PER_ROW; k += 32)
        sum += value[row * PER_ROW + k] *
               x[column[row * PER_ROW + k]]; // @0 scattered access | strided access
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (lane == 0) y[row] = sum;
}

__global__ void product_threads(const int *column, const float *value, const float *x, float *y)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < PER_ROW; k++)
        sum += value[row * PER_ROW + k] *
               x[column[row * PER_ROW + k]]; // @1 strided access | blocked arrangement
    y[row] = sum;
}

__global__ void product_entries(const Entry *entry, const float *x, float *y)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int k = lane; k < PER_ROW; k += 32)
        sum += entry[row * PER_ROW + k].value *
               x[entry[row * PER_ROW + k].column]; // @2 array of structs
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (lane == 0) y[row] = sum;
}

int main()
{
    int *column =
        device_array<int>(ROWS * PER_ROW, [](size_t i) { return (int)(i * 40503u % ROWS); });
    float *value = device_zeros<float>(ROWS * PER_ROW), *x = device_zeros<float>(ROWS),
          *y = device_zeros<float>(ROWS);
#if DEFECT == 1
    product_threads<<<ROWS / 128, 128>>>(column, value, x, y);
#elif DEFECT == 2
    product_entries<<<ROWS / 4, 128>>>(device_zeros<Entry>(ROWS * PER_ROW), x, y);
#else
    product<<<ROWS / 4, 128>>>(column, value, x, y);
#endif
    CHECK(cudaDeviceSynchronize());
}
