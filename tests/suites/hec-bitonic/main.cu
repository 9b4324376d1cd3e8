#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <vector>
#include <cmath>
#include <stdexcept>
#include <cuda.h>
#define BLOCK_SIZE 256
__global__ void bitonic_sort(const int seq_len, const int two_power, int *a)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    int seq_num = i / seq_len;
    int swapped_ele = -1;
    int h_len = seq_len / 2;
    if (i < (seq_len * seq_num) + h_len) swapped_ele = i + h_len;
    int odd = seq_num / two_power;
    bool increasing = ((odd % 2) == 0);
    if (swapped_ele != -1) {
        if (((a[i] > a[swapped_ele]) && increasing) || ((a[i] < a[swapped_ele]) && !increasing)) {
            int temp = a[i];
            a[i] = a[swapped_ele];
            a[swapped_ele] = temp;
        }
    }
}
int main(int argc, char *argv[])
{
    int n = 12, seed = 2;
    try {
        if (argc > 2) {
            n = std::stoi(argv[1]);
            seed = std::stoi(argv[2]);
            if (n < 1) throw std::invalid_argument("exponent");
        }
    } catch (std::exception const &e) {
        std::cerr << "bad argument " << e.what() << std::endl;
        return 1;
    }
    int size = pow(2, n);
    std::vector<int> data_cpu(size), data_gpu(size);
    srand(seed);
    for (int i = 0; i < size; i++) data_gpu[i] = data_cpu[i] = rand() % 1000;
    int *d_a;
    cudaMalloc(&d_a, sizeof(int) * size);
    cudaMemcpy(d_a, data_gpu.data(), sizeof(int) * size, cudaMemcpyHostToDevice);
    auto start = std::chrono::steady_clock::now();
    for (int step = 0; step < n; step++) {
        for (int stage = step; stage >= 0; stage--) {
            int seq_len = 1 << (stage + 1);
            int two_power = 1 << (step - stage);
            bitonic_sort<<<dim3((size + BLOCK_SIZE - 1) / BLOCK_SIZE), dim3(BLOCK_SIZE)>>>(
                seq_len, two_power, d_a);
        }
    }
    cudaDeviceSynchronize();
    auto end = std::chrono::steady_clock::now();
    std::cout << "Total kernel execution time: "
              << std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count() * 1e-6f
              << " (ms)\n";
    cudaMemcpy(data_gpu.data(), d_a, sizeof(int) * size, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    std::sort(data_cpu.begin(), data_cpu.end());
    std::cout << ((data_cpu == data_gpu) ? "PASS" : "FAIL") << std::endl;
    return data_cpu != data_gpu;
}
