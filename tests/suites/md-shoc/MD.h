#ifndef MD_H__
#define MD_H__
#include <vector>
template <class T> struct vec4; 
template <> struct vec4<float> { typedef float4 type; typedef float3 three; };
template <> struct vec4<double> { typedef double4 type; typedef double3 three; };
#define POTENTIALMIN 0.0001
static const int domainEdge = 20, maxNeighbors = 16;
#endif
