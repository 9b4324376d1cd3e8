#include <cstdio>
#include <cstdint>
#include <cmath>
#include <vector>
#include <algorithm>
#include <cuda_runtime.h>
#define gpuErrchk(ans)                                                                             \
    {                                                                                              \
        gpuAssert((ans), __FILE__, __LINE__);                                                      \
    }
inline void gpuAssert(cudaError_t code, const char *file, int line, bool abort = true)
{
    if (code != cudaSuccess) {
        fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
        if (abort) exit(code);
    }
}
typedef struct {
    double energy, total_xs, elastic_xs, absorbtion_xs, fission_xs, nu_fission_xs;
} NuclideGridPoint;
typedef struct {
    int *num_nucs;
    double *concs;
    int *mats;
    double *unionized;
    int *index;
    NuclideGridPoint *grid;
    unsigned long *verification;
} SimulationData;
__host__ __device__ double LCG_random_double(uint64_t *seed)
{
    const uint64_t m = 9223372036854775808ULL, a = 2806196910506780709ULL, c = 1ULL;
    *seed = (a * (*seed) + c) % m;
    return (double)(*seed) / (double)m;
}
__host__ __device__ uint64_t fast_forward_LCG(uint64_t seed, uint64_t n)
{
    const uint64_t m = 9223372036854775808ULL;
    uint64_t a = 2806196910506780709ULL, c = 1ULL;
    n = n % m;
    uint64_t a_new = 1, c_new = 0;
    while (n > 0) {
        if (n & 1) {
            a_new *= a;
            c_new = c_new * a + c;
        }
        c *= (a + 1);
        a *= a;
        n >>= 1;
    }
    return (a_new * seed + c_new) % m;
}
__host__ __device__ long grid_search(long n, double quarry, const double *__restrict__ A)
{
    long lower = 0, upper = n - 1, length = upper - lower;
    while (length > 1) {
        long mid = lower + (length / 2);
        if (A[mid] > quarry)
            upper = mid;
        else
            lower = mid;
        length = upper - lower;
    }
    return lower;
}
__host__ __device__ int pick_mat(uint64_t *seed)
{
    const double dist[4] = {0.14, 0.05, 0.62, 0.19};
    double roll = LCG_random_double(seed);
    for (int i = 0; i < 4; i++) {
        double running = 0;
        for (int j = i; j > 0; j--) running += dist[j];
        if (roll < running) return i;
    }
    return 0;
}
template <class Sim>
__host__ __device__ unsigned long lookup(long i, const Sim &in, long n_iso, long n_gp, int max_nucs)
{
    uint64_t seed = fast_forward_LCG(1070, 2 * i);
    double e = LCG_random_double(&seed);
    int mat = pick_mat(&seed);
    double macro[5] = {0};
    long idx = grid_search(n_iso * n_gp, e, in.unionized);
    for (int j = 0; j < in.num_nucs[mat]; j++) {
        int nuc = in.mats[mat * max_nucs + j];
        const NuclideGridPoint *low = &in.grid[nuc * n_gp + in.index[idx * n_iso + nuc]],
                               *high = low + 1;
        double f = (high->energy - e) / (high->energy - low->energy),
               conc = in.concs[mat * max_nucs + j];
        macro[0] += conc * (high->total_xs - f * (high->total_xs - low->total_xs));
        macro[1] += conc * (high->elastic_xs - f * (high->elastic_xs - low->elastic_xs));
        macro[4] += conc * high->nu_fission_xs;
    }
    double max = -1;
    int at = 0;
    for (int j = 0; j < 5; j++)
        if (macro[j] > max) {
            max = macro[j];
            at = j;
        }
    return at + 1;
}
__global__ void xs_lookup_kernel_baseline(SimulationData GSD, long lookups, long n_iso, long n_gp,
                                          int max_nucs)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lookups) return;
    GSD.verification[i] = lookup(i, GSD, n_iso, n_gp, max_nucs);
}
template <class T> T *upload(const std::vector<T> &v)
{
    T *p;
    gpuErrchk(cudaMalloc((void **)&p, v.size() * sizeof(T)));
    gpuErrchk(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    return p;
}
int main()
{
    const long n_iso = 12, n_gp = 64, lookups = 5000;
    const int max_nucs = 8;
    std::vector<NuclideGridPoint> grid(n_iso * n_gp);
    uint64_t seed = 42;
    for (auto &g : grid) {
        g.energy = LCG_random_double(&seed);
        g.total_xs = LCG_random_double(&seed);
        g.elastic_xs = LCG_random_double(&seed);
        g.nu_fission_xs = LCG_random_double(&seed);
        g.absorbtion_xs = g.fission_xs = 0;
    }
    std::vector<double> un;
    for (long i = 0; i < n_iso; i++) {
        std::sort(grid.begin() + i * n_gp, grid.begin() + (i + 1) * n_gp,
                  [](auto &a, auto &b) { return a.energy < b.energy; });
        grid[i * n_gp].energy = 0;
        grid[(i + 1) * n_gp - 1].energy = 1;
    }
    for (auto &g : grid) un.push_back(g.energy);
    std::sort(un.begin(), un.end());
    std::vector<int> index(un.size() * n_iso);
    for (size_t e = 0; e < un.size(); e++)
        for (long i = 0; i < n_iso; i++) {
            int k = 0;
            while (k < n_gp - 2 && grid[i * n_gp + k + 1].energy <= un[e]) k++;
            index[e * n_iso + i] = k;
        }
    std::vector<int> num = {8, 3, 5, 2}, mats;
    std::vector<double> concs;
    for (int m = 0; m < 4; m++)
        for (int j = 0; j < max_nucs; j++) {
            mats.push_back((m * 5 + j * 7) % n_iso);
            concs.push_back(0.1 * (j + 1));
        }
    SimulationData H = {num.data(),   concs.data(), mats.data(), un.data(),
                        index.data(), grid.data(),  nullptr},
                   D = {upload(num),   upload(concs), upload(mats), upload(un),
                        upload(index), upload(grid),  nullptr};
    gpuErrchk(cudaMalloc((void **)&D.verification, lookups * sizeof(unsigned long)));
    int nthreads = 256, nblocks = ceil((double)lookups / (double)nthreads);
    xs_lookup_kernel_baseline<<<nblocks, nthreads>>>(D, lookups, n_iso, n_gp, max_nucs);
    gpuErrchk(cudaPeekAtLastError());
    gpuErrchk(cudaDeviceSynchronize());
    std::vector<unsigned long> v(lookups);
    gpuErrchk(cudaMemcpy(v.data(), D.verification, lookups * 8, cudaMemcpyDeviceToHost));
    int bad = 0;
    for (long i = 0; i < lookups; i++) bad += v[i] != lookup(i, H, n_iso, n_gp, max_nucs);
    printf("bad %d\n", bad);
    return bad > 2;
}
