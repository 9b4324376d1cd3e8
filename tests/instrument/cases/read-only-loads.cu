// __ldg and __ldu, scalar and vector.
typedef float float4v __attribute__((ext_vector_type(4)));
typedef int int2v __attribute__((ext_vector_type(2)));
__global__ void k(const float *a, const float4v *v, const int2v *i, float *out)
{
    float4v w = __nvvm_ldg_f4(v + LANE);
    int2v j = __nvvm_ldg_i2(i + LANE);
    out[LANE] = __nvvm_ldg_f(a + LANE) + w.x + w.w + j.y + __nvvm_ldu_f(a);
}
//@ has 8:17 load 4 global .*type='float' variable='a'
//@ has 6:17 load 16 global .*type='<4 x float>' variable='v'
//@ has 7:15 load 8 global .*type='<2 x int>' variable='i'
//@ count 4 site .* load
