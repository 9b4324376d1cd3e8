// API of CUDA 12: cudaThreadSetCacheConfig
#include <stdio.h>
#include <sys/time.h>
#include <float.h>
#include <vector>
#include <math.h>
#include <inttypes.h>
#include "cuda.h"
#define ceilDiv(a, b) (a + b - 1) / b
#define DEFAULT_THREADS_PER_BLOCK 256
#define gpuErrchk(ans) { gpuAssert((ans), __FILE__, __LINE__); }
#define FMT "8.4f"
inline void gpuAssert(cudaError_t code, char *file, int line, bool abort=true)
{
   if (code != cudaSuccess) 
   {
      fprintf(stderr,"GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
      if (abort) exit(code);
   }
}
typedef struct latLong
{
  float lat;
  float lng;
} LatLong;
typedef struct record
{
  char recString[53];
  float distance;
} Record;
__global__ void euclid(LatLong *d_locations, float *d_distances, int numRecords,float lat, float lng)
{
	int globalId = blockDim.x * ( gridDim.x * blockIdx.y + blockIdx.x ) + threadIdx.x;
    LatLong *latLong = d_locations+globalId;
    if (globalId < numRecords) {
        float *dist=d_distances+globalId;
        *dist = (float)sqrt((lat-latLong->lat)*(lat-latLong->lat)+(lng-latLong->lng)*(lng-latLong->lng));
	}
}
void findLowest(std::vector<Record> &records,float *distances,int numRecords,int topN){
  register int i,j;
  int minLoc;
  Record *tempRec;
  float tempDist;
  for(i=0;i<topN;i++) {
    minLoc = i;
    for(j=i;j<numRecords;j++) {
      float val = distances[j];
      if (val < distances[minLoc]) minLoc = j;
    }
    tempRec = &records[i];
    Record x = *tempRec; records[i] = records[minLoc]; records[minLoc] = x;
    tempDist = distances[i];
    distances[i] = distances[minLoc];
    distances[minLoc] = tempDist;
    records[i].distance = distances[i];
  }
}
int main(int argc, char* argv[])
{
  int resultsCount=10, n = 5000;
  float lat = 30, lng = 90;
  std::vector<Record> records;
  std::vector<LatLong> locations;
  int64_t seed = 12345;
  for (int i = 0; i < n; i++) {
    seed = (seed * 6364136223846793005ll + 1442695040888963407ll);
    LatLong here = { (float)((seed >> 33) & 0xffff) / 400, (float)((seed >> 40) & 0xffff) / 200 };
    Record r = {"", 0};
    snprintf(r.recString, sizeof r.recString, "%"FMT" %"FMT, here.lat, here.lng);
    locations.push_back(here); records.push_back(r);
  }
  cudaDeviceProp deviceProp;
  cudaGetDeviceProperties( &deviceProp, 0 );
  cudaThreadSetCacheConfig(cudaFuncCachePreferL1);
  unsigned long maxGridX = deviceProp.maxGridSize[0];
  unsigned long threadsPerBlock = deviceProp.maxThreadsPerBlock < DEFAULT_THREADS_PER_BLOCK ? deviceProp.maxThreadsPerBlock : DEFAULT_THREADS_PER_BLOCK;
  unsigned long blocks = ceilDiv( n, threadsPerBlock );
  unsigned long gridY = ceilDiv( blocks, maxGridX );
  unsigned long gridX = ceilDiv( blocks, gridY );
  dim3 gridDim( gridX, gridY );
  float *distances = (float *)malloc(sizeof(float) * n), *d_distances;
  LatLong *d_locations;
  gpuErrchk(cudaMalloc((void **) &d_locations,sizeof(LatLong) * n));
  gpuErrchk(cudaMalloc((void **) &d_distances,sizeof(float) * n));
  gpuErrchk(cudaMemcpy( d_locations, &locations[0], sizeof(LatLong) * n, cudaMemcpyHostToDevice));
  euclid <<< gridDim, threadsPerBlock >>> (d_locations,d_distances,n,lat,lng);
  gpuErrchk(cudaMemcpy( distances, d_distances, sizeof(float)*n, cudaMemcpyDeviceToHost ));
  bool good = true;
  for (int i = 0; i < n; i++) good = good && fabsf(distances[i] - hypotf(lat - locations[i].lat, lng - locations[i].lng)) < 1e-3f;
  findLowest(records,distances,n,resultsCount);
  for(int i=0;i<resultsCount;i++) printf("%s --> Distance=%f\n",records[i].recString,records[i].distance);
  for(int i=1;i<resultsCount;i++) good = good && records[i-1].distance <= records[i].distance;
  printf("Seed %"PRId64"\n", seed);
  puts(good ? "PASSED" : "FAILED");
  cudaFree(d_locations); cudaFree(d_distances);
  return !good;
}
