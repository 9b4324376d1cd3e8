// Gravitation among n bodies with two kernels a step: `forces` reads all positions (tile by tile
// through shared memory) and updates the velocities of its block's bodies; `move` updates the
// positions of its own bodies. Positions go from every block to every block: 16 bytes x block size
// to each of the others, an all-to-all.
// nbody [BODIES = 512] [STEPS = 5]
#include "common.h"
#include <cmath>
#include <vector>

enum { BLOCK = 32 };

__global__ void forces(const float4 *position, float4 *velocity, int n, float dt)
{
    __shared__ float4 tile[BLOCK];
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const float4 here = i < n ? position[i] : make_float4(0, 0, 0, 0);
    float ax = 0, ay = 0, az = 0;
    for (int start = 0; start < n; start += BLOCK) {
        const int j = start + threadIdx.x;
        tile[threadIdx.x] = j < n ? position[j] : make_float4(0, 0, 0, 0); // no mass, no force
        __syncthreads();
        for (int k = 0; k < BLOCK; k++) {
            const float4 other = tile[k];
            const float dx = other.x - here.x, dy = other.y - here.y, dz = other.z - here.z;
            const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
            const float pull = other.w * inverse * inverse * inverse;
            ax += pull * dx, ay += pull * dy, az += pull * dz;
        }
        __syncthreads();
    }
    if (i < n) {
        float4 v = velocity[i];
        v.x += ax * dt, v.y += ay * dt, v.z += az * dt;
        velocity[i] = v;
    }
}

__global__ void move(float4 *position, const float4 *velocity, int n, float dt)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n) return;
    float4 p = position[i];
    const float4 v = velocity[i];
    p.x += v.x * dt, p.y += v.y * dt, p.z += v.z * dt;
    position[i] = p;
}

static void step_host(std::vector<float4> &position, std::vector<float4> &velocity, float dt)
{
    for (size_t i = 0; i < position.size(); i++) {
        double ax = 0, ay = 0, az = 0;
        for (const float4 &other : position) {
            const double dx = other.x - position[i].x, dy = other.y - position[i].y,
                         dz = other.z - position[i].z;
            const double inverse = 1 / std::sqrt(dx * dx + dy * dy + dz * dz + 1e-3);
            const double pull = other.w * inverse * inverse * inverse;
            ax += pull * dx, ay += pull * dy, az += pull * dz;
        }
        velocity[i].x += (float)ax * dt, velocity[i].y += (float)ay * dt;
        velocity[i].z += (float)az * dt;
    }
    for (size_t i = 0; i < position.size(); i++) {
        position[i].x += velocity[i].x * dt, position[i].y += velocity[i].y * dt;
        position[i].z += velocity[i].z * dt;
    }
}

int main(int argc, char **argv)
{
    const int n = argument(argc, argv, 1, 512), steps = argument(argc, argv, 2, 5);
    const float dt = 0.01f;
    std::vector<float4> position(n), velocity(n), result(n);
    Random random;
    for (int i = 0; i < n; i++) {
        position[i] = make_float4(random.unit(), random.unit(), random.unit(), 1.0f / n);
        velocity[i] = make_float4(0, 0, 0, 0);
    }
    float4 *d_position = device_copy(position.data(), n);
    float4 *d_velocity = device_copy(velocity.data(), n);
    const int blocks = (n + BLOCK - 1) / BLOCK;
    for (int t = 0; t < steps; t++) {
        forces<<<blocks, BLOCK>>>(d_position, d_velocity, n, dt);
        move<<<blocks, BLOCK>>>(d_position, d_velocity, n, dt);
        CHECK(cudaGetLastError());
        step_host(position, velocity, dt);
    }
    CHECK(cudaMemcpy(result.data(), d_position, n * sizeof(float4), cudaMemcpyDeviceToHost));
    bool right = true;
    for (int i = 0; i < n; i++)
        right &= std::fabs(result[i].x - position[i].x) + std::fabs(result[i].y - position[i].y) +
                     std::fabs(result[i].z - position[i].z) <
                 1e-3f;
    CHECK(cudaFree(d_position));
    CHECK(cudaFree(d_velocity));
    return verdict("nbody", right);
}
