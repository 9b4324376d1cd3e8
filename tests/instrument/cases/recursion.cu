// What cannot be inlined is marked in place, and its parameters' spaces come from all its calls.
struct node {
    float value;
    node *left, *right;
};
__device__ __noinline__ float sum(node *n)
{
    if (!n) return 0;
    float below = sum(n->left);
    return n->value + below * sum(n->right);
}
__device__ __noinline__ float pick(const float *p, int i)
{
    return p[i];
}
__device__ __noinline__ float both(const float *p, int i)
{
    return p[i + 1];
}
__device__ __noinline__ float *second(float *p)
{
    return p + 1;
}
__global__ void k(node *root, float *out)
{
    __shared__ float tile[32];
    tile[LANE] = 1;
    out[LANE] = sum(root) + pick(tile, LANE) + both(tile, LANE) + both(out, LANE);
    *second(out) = 3;
}
//@ has load 4 global .*function='sum\(node\*\)' type='float' variable='n->value'
//@ has load 8 global .*function='sum\(node\*\)' type='node\*' variable='n->left'
//@ has load 4 shared .*function='pick\(float const\*, int\)' type='float' variable='p'
//@ has load 4 generic .*function='both\(float const\*, int\)' type='float' variable='p'
//@ has 29:[0-9]+ store 4 global
//@ no-ir ^attributes #[01] = .*(memory|nofree|willreturn|norecurse)
//@ no-ir ^define .*(nocapture|readonly)
