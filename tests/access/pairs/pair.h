// What the programs of this folder share. -DDEFECT=1 and -DDEFECT=2 plant a defect each, -DDEFECT=0
// is the mended program. A line that carries "// @1 NAME" must get that finding with -DDEFECT=1
// ("NAME|OTHER": either); "// @0 NAME" marks a cost that the mended program truly has. "// @1? NAME":
// what not every run tells.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#ifndef DEFECT
#define DEFECT 0
#endif

#define CHECK(call)                                                                                \
    do {                                                                                           \
        if (cudaError_t error = (call)) {                                                          \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

// Device memory of `count` elements that hold `value(i)`.
template <typename T, typename F> T *device_array(size_t count, F value)
{
    std::vector<T> host(count);
    for (size_t i = 0; i < count; i++) host[i] = value(i);
    T *device;
    CHECK(cudaMalloc(&device, count * sizeof(T)));
    CHECK(cudaMemcpy(device, host.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T> T *device_zeros(size_t count)
{
    T *device;
    CHECK(cudaMalloc(&device, count * sizeof(T)));
    CHECK(cudaMemset(device, 0, count * sizeof(T)));
    return device;
}
