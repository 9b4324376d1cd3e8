/* kmeans (features through a texture of linear memory, centres in __constant__, partial sums of the
 * host) and a layer of back propagation with a block's own reduction. */
#include "helper.h"
#include <float.h>
#include <vector>

enum { POINTS = 1000, FEATURES = 6, CLUSTERS = 5, THREADS = 128 };

texture<float, 1, cudaReadModeElementType> t_features;
__constant__ float c_clusters[CLUSTERS * FEATURES];

__global__ void invert_mapping(float *input, float *output, int npoints, int nfeatures)
{
    const int point_id = threadIdx.x + blockDim.x * blockIdx.x;
    if (point_id < npoints)
        for (int i = 0; i < nfeatures; i++)
            output[point_id + npoints * i] = input[point_id * nfeatures + i];
}

__global__ void kmeansPoint(int nfeatures, int npoints, int nclusters, int *membership,
                            unsigned *changed)
{
    const unsigned block_id = gridDim.x * blockIdx.y + blockIdx.x;
    const unsigned point_id = block_id * blockDim.x * blockDim.y + threadIdx.x;
    int index = -1;
    if (point_id < npoints) {
        float min_dist = FLT_MAX;
        for (int i = 0; i < nclusters; i++) {
            float dist = 0;
            for (int j = 0; j < nfeatures; j++) {
                const float diff =
                    tex1Dfetch(t_features, point_id + j * npoints) - c_clusters[i * nfeatures + j];
                dist += diff * diff;
            }
            if (dist < min_dist) min_dist = dist, index = i;
        }
    }
    const bool moved = point_id < npoints && membership[point_id] != index;
    const int count = __syncthreads_count(moved);
    if (threadIdx.x == 0) atomicAdd(changed, count);
    if (point_id < npoints) membership[point_id] = index;
}

#define WIDTH  16
#define HEIGHT 16

__global__ void layerforward(float *input, float *weights, float *partial, int in, int hid)
{
    const int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    const int index = (hid + 1) * HEIGHT * by + (hid + 1) * ty + tx + 1 + (hid + 1);
    const int index_in = HEIGHT * by + ty + 1;
    __shared__ float input_node[HEIGHT];
    __shared__ float weight_matrix[HEIGHT][WIDTH];
    if (tx == 0) input_node[ty] = input[index_in];
    __syncthreads();
    weight_matrix[ty][tx] = weights[index];
    __syncthreads();
    weight_matrix[ty][tx] = weight_matrix[ty][tx] * input_node[ty];
    __syncthreads();
    for (int i = 1; i <= __log2f(HEIGHT); i++) {
        const int power_two = __powf(2, i) + 0.5f;
        if (ty % power_two == 0)
            weight_matrix[ty][tx] = weight_matrix[ty][tx] + weight_matrix[ty + power_two / 2][tx];
        __syncthreads();
    }
    if (tx == 0) partial[by * hid + ty] = weight_matrix[tx][ty];
}

int main()
{
    std::vector<float> features(POINTS * FEATURES), clusters(CLUSTERS * FEATURES);
    std::vector<int> membership(POINTS, -1), want(POINTS, -1);
    srand(3);
    for (auto &f : features) f = (float)(rand() % 1000) / 100;
    for (int i = 0; i < CLUSTERS * FEATURES; i++) clusters[i] = features[i];
    float *d_features, *d_flipped;
    int *d_membership;
    unsigned *d_changed;
    const size_t bytes = features.size() * sizeof(float);
    checkCudaErrors(cudaMalloc(&d_features, bytes));
    checkCudaErrors(cudaMalloc(&d_flipped, bytes));
    checkCudaErrors(cudaMalloc(&d_membership, POINTS * sizeof(int)));
    checkCudaErrors(cudaMallocManaged(&d_changed, sizeof *d_changed));
    checkCudaErrors(cudaMemcpy(d_features, &features[0], bytes, cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemset(d_membership, 0xff, POINTS * sizeof(int)));
    const int blocks = (POINTS + THREADS - 1) / THREADS;
    invert_mapping<<<blocks, THREADS>>>(d_features, d_flipped, POINTS, FEATURES);
    cudaChannelFormatDesc chDesc0 = cudaCreateChannelDesc<float>();
    t_features.filterMode = cudaFilterModePoint;
    t_features.normalized = false;
    t_features.channelDesc = chDesc0;
    checkCudaErrors(cudaBindTexture(NULL, &t_features, d_flipped, &chDesc0, bytes));

    for (int round = 0; round < 5; round++) {
        *d_changed = 0;
        checkCudaErrors(cudaMemcpyToSymbol(
            c_clusters, &clusters[0], clusters.size() * sizeof(float), 0, cudaMemcpyHostToDevice));
        kmeansPoint<<<dim3(blocks / 2, 2), THREADS>>>(FEATURES, POINTS, CLUSTERS, d_membership,
                                                      d_changed);
        checkCudaErrors(cudaDeviceSynchronize());
        checkCudaErrors(
            cudaMemcpy(&membership[0], d_membership, POINTS * sizeof(int), cudaMemcpyDeviceToHost));
        unsigned changed = 0;
        for (int p = 0; p < POINTS; p++) {
            int best = -1;
            float least = FLT_MAX;
            for (int c = 0; c < CLUSTERS; c++) {
                float dist = 0;
                for (int f = 0; f < FEATURES; f++) {
                    const float diff = features[p * FEATURES + f] - clusters[c * FEATURES + f];
                    dist += diff * diff;
                }
                if (dist < least) least = dist, best = c;
            }
            changed += best != want[p];
            want[p] = best;
            EXPECT(membership[p] == best, "round %d point %d: %d", round, p, membership[p]);
        }
        EXPECT(*d_changed == changed, "%u, not %u", *d_changed, changed);
        std::vector<int> size(CLUSTERS);
        clusters.assign(CLUSTERS * FEATURES, 0);
        for (int p = 0; p < POINTS; p++) {
            size[membership[p]]++;
            for (int f = 0; f < FEATURES; f++)
                clusters[membership[p] * FEATURES + f] += features[p * FEATURES + f];
        }
        for (int i = 0; i < CLUSTERS * FEATURES; i++)
            if (size[i / FEATURES]) clusters[i] /= (float)size[i / FEATURES];
    }

    const int in = 128, hid = 16, num_blocks = in / 16;
    std::vector<float> input(in + 1), weights((in + 1) * (hid + 1)), partial(num_blocks * WIDTH);
    for (int i = 0; i <= in; i++) input[i] = 0.1f * (i % 7);
    for (size_t i = 0; i < weights.size(); i++) weights[i] = 0.01f * (i % 23) - 0.1f;
    float *d_input, *d_weights, *d_partial;
    checkCudaErrors(cudaMalloc((void **)&d_input, input.size() * 4));
    checkCudaErrors(cudaMalloc((void **)&d_weights, weights.size() * 4));
    checkCudaErrors(cudaMalloc((void **)&d_partial, partial.size() * 4));
    checkCudaErrors(cudaMemcpy(d_input, &input[0], input.size() * 4, cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemcpy(d_weights, &weights[0], weights.size() * 4, cudaMemcpyHostToDevice));
    layerforward<<<dim3(1, num_blocks), dim3(16, 16)>>>(d_input, d_weights, d_partial, in, hid);
    checkCudaErrors(cudaMemcpy(&partial[0], d_partial, partial.size() * 4, cudaMemcpyDeviceToHost));
    for (int j = 0; j < hid; j++) {
        double sum = 0, want_sum = 0;
        for (int k = 0; k < num_blocks; k++) sum += partial[k * hid + j];
        for (int i = 1; i <= in; i++) want_sum += input[i] * weights[i * (hid + 1) + j + 1];
        EXPECT(close_to(sum, want_sum, 1e-4), "%d: %g, not %g", j, sum, want_sum);
    }
    checkCudaErrors(cudaUnbindTexture(t_features));
    cudaFree(d_features);
    return verdict();
}
