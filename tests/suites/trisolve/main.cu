// Synchronisation-free sparse lower triangular solve: a warp a row, spinning on flags; level-set
// version for comparison.
#include <cstdio>
#include <cmath>
#include <vector>
#include <algorithm>
#include <cuda_runtime.h>
__global__ void sptrsv_syncfree(const int *rp, const int *ci, const double *v, const double *b,
                                volatile double *x, volatile int *ready, int n, int *counter)
{
    int row;
    if ((threadIdx.x & 31) == 0) row = atomicAdd(counter, 1);
    row = __shfl_sync(0xffffffff, row, 0);
    int lane = threadIdx.x & 31;
    if (row >= n) return;
    double s = 0;
    for (int k = rp[row] + lane; k < rp[row + 1] - 1; k += 32) {
        while (ready[ci[k]] == 0) __threadfence();
        __threadfence();
        s += v[k] * x[ci[k]];
    }
    for (int o = 16; o > 0; o >>= 1) s += __shfl_down_sync(0xffffffff, s, o);
    if (lane == 0) {
        x[row] = (b[row] - s) / v[rp[row + 1] - 1];
        __threadfence();
        ready[row] = 1;
    }
}
__global__ void level(const int *rows, int count, const int *rp, const int *ci, const double *v,
                      const double *b, double *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        int row = rows[i];
        double s = b[row];
        int k = rp[row];
        for (; k < rp[row + 1] - 1; k++) s -= v[k] * x[ci[k]];
        x[row] = s / v[k];
    }
}
int main()
{
    const int n = 800;
    std::vector<int> rp(1, 0), ci;
    std::vector<double> v, b(n), x(n), y(n);
    for (int i = 0; i < n; i++) {
        for (int j : {i - 97, i - 40, i - 13, i - 1})
            if (j >= 0 && (i * 7 + j) % 3) {
                ci.push_back(j);
                v.push_back(0.1 + 0.01 * ((i + j) % 11));
            }
        ci.push_back(i);
        v.push_back(2 + i % 3);
        rp.push_back(ci.size());
        b[i] = 1 + i % 5;
    }
    int *drp, *dci, *ready, *cnt, *rows;
    double *dv, *db, *dx;
    cudaMalloc(&drp, (n + 1) * 4);
    cudaMalloc(&dci, ci.size() * 4);
    cudaMalloc(&ready, n * 4);
    cudaMalloc(&cnt, 4);
    cudaMalloc(&rows, n * 4);
    cudaMalloc(&dv, v.size() * 8);
    cudaMalloc(&db, n * 8);
    cudaMalloc(&dx, n * 8);
    cudaMemcpy(drp, rp.data(), (n + 1) * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(dci, ci.data(), ci.size() * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(dv, v.data(), v.size() * 8, cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), n * 8, cudaMemcpyHostToDevice);
    cudaMemset(ready, 0, n * 4);
    cudaMemset(cnt, 0, 4);
    sptrsv_syncfree<<<(n + 3) / 4, 128>>>(drp, dci, dv, db, dx, ready, n, cnt);
    cudaMemcpy(x.data(), dx, n * 8, cudaMemcpyDeviceToHost);
    std::vector<int> lev(n, 0), order(n);
    for (int i = 0; i < n; i++) {
        order[i] = i;
        for (int k = rp[i]; k < rp[i + 1] - 1; k++) lev[i] = std::max(lev[i], lev[ci[k]] + 1);
    }
    std::stable_sort(order.begin(), order.end(), [&](int a, int c) { return lev[a] < lev[c]; });
    cudaMemcpy(rows, order.data(), n * 4, cudaMemcpyHostToDevice);
    cudaMemset(dx, 0, n * 8);
    for (int s = 0; s < n;) {
        int e = s;
        while (e < n && lev[order[e]] == lev[order[s]]) e++;
        level<<<(e - s + 63) / 64, 64>>>(rows + s, e - s, drp, dci, dv, db, dx);
        s = e;
    }
    cudaMemcpy(y.data(), dx, n * 8, cudaMemcpyDeviceToHost);
    int bad = 0;
    for (int i = 0; i < n; i++) {
        double s = 0, t = 0;
        for (int k = rp[i]; k < rp[i + 1]; k++) {
            s += v[k] * x[ci[k]];
            t += v[k] * y[ci[k]];
        }
        bad += fabs(s - b[i]) > 1e-10 || fabs(t - b[i]) > 1e-10;
    }
    printf("bad %d %s\n", bad, cudaGetErrorString(cudaGetLastError()));
    return bad != 0;
}
