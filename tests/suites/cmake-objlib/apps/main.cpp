#include "filters.hpp"
#include <cstdio>
#include <cuda_runtime_api.h>
int main()
{
    std::vector<int> v(1000);
    for (size_t i = 0; i < v.size(); i++) v[i] = int(i * 7919 % 101);
    try {
        bool ok = filters::median3(v) == filters::median3_host(v);
        std::printf("filters %s: %s (runtime %d)\n", FILTERS_VERSION, ok ? "ok" : "wrong",
                    CUDART_VERSION);
        return ok ? 0 : 1;
    } catch (const filters::cuda_error &e) {
        std::printf("%s\n", e.what);
        return 2;
    }
}
