/* Every texture and surface function, for references and objects, and their binding. */
texture<float> linear;
static texture<int4, cudaTextureType2D> plane;
texture<unsigned char, cudaTextureType2D, cudaReadModeNormalizedFloat>
    picture(1, cudaFilterModeLinear, cudaAddressModeWrap);
texture<short2, cudaTextureType3D, cudaReadModeNormalizedFloat> volume;
texture<float2, cudaTextureType2DLayered> layers;
texture<float, cudaTextureTypeCubemap> cube;
texture<ushort4, cudaTextureType1D> line;
surface<void, cudaSurfaceType2D> canvas;
surface<void, cudaSurfaceType3D> block;

__global__ void references(float *out, int i)
{
    out[0] = tex1Dfetch(linear, i) + (float)tex1D(line, 1.5f).w;
    out[1] = (float)tex2D(plane, 1, 2).y + tex2D(picture, 0.1f, 0.2f);
    out[2] = tex3D(volume, 1, 2, 3).y + tex2DLayered(layers, 1, 2, 3).x;
    out[3] = texCubemap(cube, 1, 0, 0);
    surf2Dwrite(1.0f, canvas, i * 4, i);
    surf3Dwrite(make_uchar4(1, 2, 3, 4), block, i * 4, i, i, cudaBoundaryModeZero);
    out[4] = surf2Dread<float>(canvas, i * 4, 3, cudaBoundaryModeClamp);
    surf2Dread(&out[5], canvas, i * 4, 3);
}

template <class T> __device__ float first(T value)
{
    return (float)value.x;
}
__global__ void objects(float *out, int i, cudaTextureObject_t t, cudaSurfaceObject_t s)
{
    float4 v;
    tex2D(&v, t, 1, 2);
    out[0] = v.w + tex1Dfetch<float>(t, i) + tex1D<float>(t, 1) + tex2D<float>(t, 1, 2);
    out[1] = tex3D<float>(t, 1, 2, 3) + tex1DLayered<float>(t, 1, 2) +
             tex2DLayered<float>(t, 1, 2, 3) + texCubemap<float>(t, 1, 0, 0);
    out[2] =
        tex1DLod<float>(t, 1, 0) + tex2DLod<float>(t, 1, 2, 0) + tex3DLod<float>(t, 1, 2, 3, 0);
    out[3] = tex2DGrad<float>(t, 1, 2, make_float2(0, 0), make_float2(0, 0));
    out[4] = first(tex1Dfetch<uchar4>(t, i)) + first(tex2D<short2>(t, 1, 2)) +
             first(tex2D<uint4>(t, 1, 2)) + first(tex3D<int1>(t, 1, 2, 3));
    out[5] = tex2D<unsigned char>(t, 1, 2) + tex2D<char>(t, 1, 2) + tex2D<int>(t, 1, 2);
    surf1Dwrite(1, s, 4 * i);
    surf2Dwrite(make_float2(1, 2), s, i * 8, i);
    surf3Dwrite((unsigned char)3, s, i, i, i);
    surf2DLayeredwrite(1.0f, s, i * 4, i, 2);
    out[6] = surf1Dread<float>(s, 4 * i) + surf2Dread<float>(s, 4 * i, 3) +
             surf3Dread<float>(s, 4 * i, 1, 2) + surf2DLayeredread<float>(s, 4 * i, 1, 2);
}

int main()
{
    float *memory = nullptr;
    cudaArray_t array = nullptr;
    size_t offset;
    linear.filterMode = cudaFilterModePoint;
    linear.addressMode[0] = cudaAddressModeClamp;
    linear.normalized = false;
    cudaBindTexture(&offset, linear, memory, 100);
    cudaBindTexture(0, linear, memory, linear.channelDesc, 100);
    cudaBindTexture(0, linear, memory);
    cudaBindTexture2D(0, plane, memory, plane.channelDesc, 1, 2, 3);
    cudaBindTextureToArray(picture, array);
    cudaBindTextureToArray(picture, array, cudaCreateChannelDesc<unsigned char>());
    cudaBindTextureToArray(&picture, array, &picture.channelDesc);
    cudaBindSurfaceToArray(canvas, array);
    references<<<1, 1>>>(memory, 3);
    objects<<<1, 1>>>(memory, 3, 0, 0);
    cudaUnbindTexture(linear);
    cudaUnbindTexture(&linear);
}
