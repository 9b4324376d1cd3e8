#include "MD.h"
#include <cassert>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <iostream>
#include <list>
using namespace std;
struct texReader_sp { cudaTextureObject_t t; __device__ __forceinline__ float4 operator()(int idx) const { return tex1Dfetch<float4>(t, idx); } };
struct texReader_dp { cudaTextureObject_t t; __device__ __forceinline__ double4 operator()(int idx) const {
    int4 v = tex1Dfetch<int4>(t, idx*2); double2 a = make_double2(__hiloint2double(v.y, v.x), __hiloint2double(v.w, v.z));
    v = tex1Dfetch<int4>(t, idx*2 + 1); double2 b = make_double2(__hiloint2double(v.y, v.x), __hiloint2double(v.w, v.z));
    double4 r; r.x = a.x; r.y = a.y; r.z = b.x; r.w = b.y; return r; } };
template <class T, class forceVecType, class posVecType, bool useTexture, typename texReader>
__global__ void compute_lj_force(forceVecType* __restrict__ force3, const posVecType* __restrict__ position, const int neighCount, const int* __restrict__ neighList,
                                 const T cutsq, const T lj1, const T lj2, const int inum, texReader positionTexReader)
{
    unsigned int idx = blockIdx.x*blockDim.x + threadIdx.x;
    if (idx >= inum) return;
    posVecType ipos = position[idx];
    forceVecType f = {0.0f, 0.0f, 0.0f};
    int j = 0;
    while (j < neighCount) {
        int jidx = neighList[j*inum + idx];
        posVecType jpos;
        if (useTexture) jpos = positionTexReader(jidx); else jpos = position[jidx];
        T delx = ipos.x - jpos.x, dely = ipos.y - jpos.y, delz = ipos.z - jpos.z, r2inv = delx*delx + dely*dely + delz*delz;
        if (r2inv < cutsq) {
            r2inv = 1.0f/r2inv;
            T r6inv = r2inv * r2inv * r2inv, forceC = r2inv*r6inv*(lj1*r6inv - lj2);
            f.x += delx * forceC; f.y += dely * forceC; f.z += delz * forceC;
        }
        j++;
    }
    force3[idx] = f;
}
template <class T, class R> bool runTest(const string& testName) {
    typedef typename vec4<T>::type posVecType; typedef typename vec4<T>::three forceVecType;
    const int nAtom = 256; posVecType *position, *d_position; forceVecType *force, *d_force; int *neighborList, *d_neighborList;
    cudaMallocHost((void**)&position, nAtom*sizeof(posVecType)); cudaMallocHost((void**)&force, nAtom*sizeof(forceVecType)); cudaMallocHost((void**)&neighborList, nAtom*maxNeighbors*sizeof(int));
    cudaMalloc((void**)&d_position, nAtom*sizeof(posVecType)); cudaMalloc((void**)&d_force, nAtom*sizeof(forceVecType)); cudaMalloc((void**)&d_neighborList, nAtom*maxNeighbors*sizeof(int));
    srand48(8650341L);
    for (int i = 0; i < nAtom; i++) { position[i].x = drand48()*domainEdge; position[i].y = drand48()*domainEdge; position[i].z = drand48()*domainEdge; position[i].w = 0; }
    for (int i = 0; i < nAtom; i++) { // insertion of the nearest, by distance
        list<pair<T, int> > near;
        for (int j = 0; j < nAtom; j++) if (i != j) { T x = position[i].x-position[j].x, y = position[i].y-position[j].y, z = position[i].z-position[j].z; near.push_back(make_pair(x*x+y*y+z*z, j)); }
        near.sort(); int k = 0; for (typename list<pair<T,int> >::iterator it = near.begin(); k < maxNeighbors; ++it, ++k) neighborList[k*nAtom+i] = it->second;
    }
    cudaMemcpy(d_position, position, nAtom*sizeof(posVecType), cudaMemcpyHostToDevice); cudaMemcpy(d_neighborList, neighborList, nAtom*maxNeighbors*sizeof(int), cudaMemcpyHostToDevice);
    cudaResourceDesc rd; memset(&rd, 0, sizeof(rd)); rd.resType = cudaResourceTypeLinear; rd.res.linear.devPtr = d_position; rd.res.linear.sizeInBytes = nAtom*sizeof(posVecType);
    rd.res.linear.desc = sizeof(T) == 4 ? cudaCreateChannelDesc<float4>() : cudaCreateChannelDesc<int4>();
    cudaTextureDesc td; memset(&td, 0, sizeof(td)); td.readMode = cudaReadModeElementType; R reader; cudaCreateTextureObject(&reader.t, &rd, &td, NULL);
    compute_lj_force<T, forceVecType, posVecType, true, R><<<nAtom/128, 128>>>(d_force, d_position, maxNeighbors, d_neighborList, T(16), T(1.5), T(2), nAtom, reader);
    cudaError_t e = cudaDeviceSynchronize(); if (e) { cerr << cudaGetErrorString(e) << endl; return false; }
    cudaMemcpy(force, d_force, nAtom*sizeof(forceVecType), cudaMemcpyDeviceToHost); double worst = 0;
    for (int i = 0; i < nAtom; i++) { double fx = 0; for (int k = 0; k < maxNeighbors; k++) { int j = neighborList[k*nAtom+i]; double x = position[i].x-position[j].x, y = position[i].y-position[j].y, z = position[i].z-position[j].z, r = x*x+y*y+z*z; if (r < 16) { r = 1/r; double r6 = r*r*r; fx += x*r*r6*(1.5*r6-2); } } worst = fmax(worst, fabs(fx-force[i].x)/(1+fabs(fx))); }
    cout << testName << (worst < 1e-3 ? " Passed " : " FAILED ") << worst << endl; return worst < 1e-3;
}
int main() { bool a = runTest<float, texReader_sp>("MD-LJ"), b = runTest<double, texReader_dp>("MD-LJ-DP"); return !(a && b); }
