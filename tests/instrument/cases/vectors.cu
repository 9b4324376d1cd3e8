// Vector accesses: of a vector type, and of scalars that are read as one.
typedef float float4v __attribute__((ext_vector_type(4)));
struct __attribute__((aligned(16))) quad {
    float x, y, z, w;
};
__global__ void k(float4v *v, float *a, quad *q)
{
    v[LANE] = *reinterpret_cast<float4v *>(a + 4 * LANE);
    q[LANE].z = 2;
}
//@ has load 16 global .*type='<4 x float>' variable='a'
//@ has store 16 global .*type='<4 x float>' variable='v'
//@ has store 4 global .*type='float' variable='q->z'
