// Names of kernels are the source's, without the return type; two instances are two kernels.
namespace {
template <class T, unsigned N> __global__ void reduce(T *a) { a[LANE] += a[LANE + N]; }
} // namespace
void *keep[] = {(void *)reduce<float, 256>, (void *)reduce<double, 2>};
static __global__ void quiet(float *a) { a[LANE] = 0; }
extern "C" __global__ void plain(float *a) { a[LANE] = 0; }
void *keep_quiet = (void *)quiet;
//@ has ^kernel '\(anonymous namespace\)::reduce<float, 256u>\(float\*\)'
//@ has ^kernel '\(anonymous namespace\)::reduce<double, 2u>\(double\*\)'
//@ has ^kernel 'quiet\(float\*\)'
//@ has ^kernel 'plain' symbol='plain' flags=0 at templates.cu:7
