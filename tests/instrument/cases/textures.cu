// Texture fetches are loads of texels, named after the texture; handles are not recorded.
//@ headers
//@ env CTS_DEVICE=cpu
texture<float, 2, cudaReadModeElementType> reference;
struct arguments {
    cudaTextureObject_t texture;
};
__global__ void k(cudaTextureObject_t object, cudaSurfaceObject_t surface, arguments a, float *out)
{
    int i = threadIdx.x;
    out[i] = tex1Dfetch<float>(object, i);
    out[i] += tex2D(reference, i, i);
    out[i] += tex1Dfetch<float>(a.texture, i);
    surf2Dwrite(out[i], surface, i * 4, 3);
}
//@ has 11:14 load 4 global .*variable='object'
//@ has 12:15 load 4 global .*variable='reference'
//@ has 13:15 load 4 global .*variable='a.texture'
//@ has 14:5 store 4 global .*type='float' variable='surface'
//@ no site .* load 8
//@ no generic
//@ has ^variable 'reference' .* kind=5
