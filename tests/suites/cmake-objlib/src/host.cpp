#include "filters.hpp"
#include <algorithm>
namespace filters
{
std::vector<int> median3_host(const std::vector<int> &in)
{
    std::vector<int> o(in);
    for (size_t i = 1; i + 1 < in.size(); i++) {
        int a[3] = {in[i - 1], in[i], in[i + 1]};
        std::sort(a, a + 3);
        o[i] = a[1];
    }
    return o;
}
} // namespace filters
