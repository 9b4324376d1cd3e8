#include <cuda_runtime_api.h>
#include <cuda_runtime.h>
#include <iostream>
#include <cmath>
#include "ResultDatabase.h"
template <class T> double runReduce(const T *in, int n, T *result);
extern template double runReduce<float>(const float *, int, float *);
extern template double runReduce<double>(const double *, int, double *);
template <class T> bool RunTest(const char *name, ResultDatabase &db) {
    const int n = 20000;
    T *h; cudaMallocHost((void **)&h, n * sizeof(T));
    double want = 0;
    for (int i = 0; i < n; i++) { h[i] = i % 3; want += h[i]; }
    T got = 0;
    for (int pass = 0; pass < 2; pass++) { double s = runReduce<T>(h, n, &got); db.AddResult(name, "s", s); }
    cudaFreeHost(h);
    bool ok = std::fabs(got - want) < 1e-6 * want;
    std::cout << name << (ok ? ": Passed" : ": FAILED") << " " << got << " " << want << std::endl;
    return ok;
}
int main() {
    ResultDatabase db;
    try { db.Dump(); throw std::runtime_error("checked"); } catch (std::exception &e) { std::cout << e.what() << "\n"; }
    int device = -1; cudaGetDevice(&device);
    bool ok = RunTest<float>("Reduction", db) && RunTest<double>("Reduction-DP", db);
    db.Dump();
    return ok && device == 0 ? 0 : 1;
}
