// One field of many: the same sum over an array of structs of 24 bytes of which 8 are read, and
// over a struct of arrays. The first moves three times the bytes that it uses.
// structs [ELEMENTS = 65536]
#include "common.h"
#include <vector>

struct Particle {
    double mass;
    float x, y, z, charge;
};
struct Particles {
    double *mass;
};

__global__ void weigh_array_of_structs(const Particle *particles, double *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2.0 * particles[i].mass;
}

__global__ void weigh_struct_of_arrays(Particles particles, double *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2.0 * particles.mass[i];
}

int main(int argc, char **argv)
{
    const int n = argument(argc, argv, 1, 65536);
    std::vector<Particle> structs(n);
    std::vector<double> masses(n), first(n), second(n);
    for (int i = 0; i < n; i++) structs[i].mass = masses[i] = i % 1000;

    Particle *d_structs = device_copy(structs.data(), n);
    Particles d_arrays = {device_copy(masses.data(), n)};
    double *d_out;
    CHECK(cudaMalloc(&d_out, n * sizeof(double)));
    weigh_array_of_structs<<<(n + 255) / 256, 256>>>(d_structs, d_out, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(first.data(), d_out, n * sizeof(double), cudaMemcpyDeviceToHost));
    weigh_struct_of_arrays<<<(n + 255) / 256, 256>>>(d_arrays, d_out, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(second.data(), d_out, n * sizeof(double), cudaMemcpyDeviceToHost));

    bool right = first == second;
    for (int i = 0; i < n; i++) right &= first[i] == 2.0 * masses[i];
    CHECK(cudaFree(d_structs));
    CHECK(cudaFree(d_arrays.mass));
    CHECK(cudaFree(d_out));
    return verdict("structs", right);
}
