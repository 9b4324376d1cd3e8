// A kernel of templates of templates, whose name has thousands of characters, stores to nowhere.
#include <cstdio>

template <class First, class Second> struct pair_of_types_with_a_long_name {
};
template <int DEPTH> struct nested {
    using below = typename nested<DEPTH - 1>::type;
    using type = pair_of_types_with_a_long_name<below, below>;
};
template <> struct nested<0> {
    using type = int;
};

template <class T> __global__ void store(int *to)
{
    to[threadIdx.x] = 1;
}

int main()
{
    store<nested<6>::type><<<2, 32>>>((int *)64);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
