#pragma once
#include <vector>
namespace filters
{
std::vector<int> median3(const std::vector<int> &in);
std::vector<int> median3_host(const std::vector<int> &in);
struct cuda_error {
    int code;
    const char *what;
};
} // namespace filters
