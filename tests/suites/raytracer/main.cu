#include <iostream>
#include <time.h>
#include <float.h>
#include <curand_kernel.h>
#include "vec3.h"
#define checkCudaErrors(val) check_cuda((val), #val, __FILE__, __LINE__)
void check_cuda(cudaError_t result, char const *const func, const char *const file, int const line)
{
    if (result) {
        std::cerr << "CUDA error = " << static_cast<unsigned int>(result) << " at " << file << ":"
                  << line << " '" << func << "' \n";
        cudaDeviceReset();
        exit(99);
    }
}
struct ray {
    vec3 A, B;
    __device__ ray() {}
    __device__ ray(const vec3 &a, const vec3 &b)
    {
        A = a;
        B = b;
    }
    __device__ vec3 at(float t) const { return A + t * B; }
};
class material;
struct hit_record {
    float t;
    vec3 p, normal;
    material *mat_ptr;
};
#define RANDVEC3                                                                                   \
    vec3(curand_uniform(local_rand_state), curand_uniform(local_rand_state),                       \
         curand_uniform(local_rand_state))
__device__ vec3 random_in_unit_sphere(curandState *local_rand_state)
{
    vec3 p;
    do {
        p = 2.0f * RANDVEC3 - vec3(1, 1, 1);
    } while (dot(p, p) >= 1.0f);
    return p;
}
class material
{
  public:
    __device__ virtual bool scatter(const ray &r_in, const hit_record &rec, vec3 &attenuation,
                                    ray &scattered, curandState *s) const = 0;
};
class lambertian : public material
{
  public:
    __device__ lambertian(const vec3 &a) : albedo(a) {}
    __device__ virtual bool scatter(const ray &, const hit_record &rec, vec3 &attenuation,
                                    ray &scattered, curandState *s) const
    {
        vec3 target = rec.p + rec.normal + random_in_unit_sphere(s);
        scattered = ray(rec.p, target - rec.p);
        attenuation = albedo;
        return true;
    }
    vec3 albedo;
};
class metal : public material
{
  public:
    __device__ metal(const vec3 &a, float f) : albedo(a), fuzz(f < 1 ? f : 1) {}
    __device__ virtual bool scatter(const ray &r, const hit_record &rec, vec3 &attenuation,
                                    ray &scattered, curandState *s) const
    {
        vec3 v = unit_vector(r.B), refl = v - 2.0f * dot(v, rec.normal) * rec.normal;
        scattered = ray(rec.p, refl + fuzz * random_in_unit_sphere(s));
        attenuation = albedo;
        return dot(scattered.B, rec.normal) > 0.0f;
    }
    vec3 albedo;
    float fuzz;
};
class hitable
{
  public:
    __device__ virtual bool hit(const ray &r, float t_min, float t_max, hit_record &rec) const = 0;
    __device__ virtual ~hitable() {}
};
class sphere : public hitable
{
  public:
    __device__ sphere(vec3 cen, float r, material *m) : center(cen), radius(r), mat_ptr(m) {}
    __device__ ~sphere() { delete mat_ptr; }
    __device__ virtual bool hit(const ray &r, float t_min, float t_max, hit_record &rec) const
    {
        vec3 oc = r.A - center;
        float a = dot(r.B, r.B), b = dot(oc, r.B), c = dot(oc, oc) - radius * radius,
              d = b * b - a * c;
        if (d > 0) {
            for (int k = -1; k < 2; k += 2) {
                float t = (-b + k * sqrtf(d)) / a;
                if (t < t_max && t > t_min) {
                    rec.t = t;
                    rec.p = r.at(t);
                    rec.normal = (rec.p - center) / radius;
                    rec.mat_ptr = mat_ptr;
                    return true;
                }
            }
        }
        return false;
    }
    vec3 center;
    float radius;
    material *mat_ptr;
};
class hitable_list : public hitable
{
  public:
    __device__ hitable_list(hitable **l, int n)
    {
        list = l;
        list_size = n;
    }
    __device__ virtual bool hit(const ray &r, float t_min, float t_max, hit_record &rec) const
    {
        hit_record t;
        bool any = false;
        float closest = t_max;
        for (int i = 0; i < list_size; i++)
            if (list[i]->hit(r, t_min, closest, t)) {
                any = true;
                closest = t.t;
                rec = t;
            }
        return any;
    }
    hitable **list;
    int list_size;
};
__device__ vec3 color(const ray &r, hitable **world, curandState *s)
{
    ray cur = r;
    vec3 att(1, 1, 1);
    for (int i = 0; i < 20; i++) {
        hit_record rec;
        if ((*world)->hit(cur, 0.001f, FLT_MAX, rec)) {
            ray sc;
            vec3 a;
            if (rec.mat_ptr->scatter(cur, rec, a, sc, s)) {
                att = att * a;
                cur = sc;
            } else
                return vec3(0, 0, 0);
        } else {
            vec3 u = unit_vector(cur.B);
            float t = 0.5f * (u.y() + 1.0f);
            return att * ((1.0f - t) * vec3(1, 1, 1) + t * vec3(0.5, 0.7, 1.0));
        }
    }
    return vec3(0, 0, 0);
}
__global__ void render_init(int mx, int my, curandState *rs)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x, j = threadIdx.y + blockIdx.y * blockDim.y;
    if ((i >= mx) || (j >= my)) return;
    int p = j * mx + i;
    curand_init(1984 + p, 0, 0, &rs[p]);
}
__global__ void render(vec3 *fb, int mx, int my, int ns, hitable **world, curandState *rs)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x, j = threadIdx.y + blockIdx.y * blockDim.y;
    if ((i >= mx) || (j >= my)) return;
    int p = j * mx + i;
    curandState s = rs[p];
    vec3 col(0, 0, 0);
    for (int k = 0; k < ns; k++) {
        float u = float(i + curand_uniform(&s)) / mx, v = float(j + curand_uniform(&s)) / my;
        col += color(ray(vec3(0, 0, 0), vec3(-2 + 4 * u, -1 + 2 * v, -1)), world, &s);
    }
    rs[p] = s;
    col = col / float(ns);
    for (int k = 0; k < 3; k++) col[k] = sqrt(col[k]);
    fb[p] = col;
}
__global__ void create_world(hitable **l, hitable **w)
{
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        l[0] = new sphere(vec3(0, 0, -1), 0.5, new lambertian(vec3(0.8, 0.3, 0.3)));
        l[1] = new sphere(vec3(0, -100.5, -1), 100, new lambertian(vec3(0.8, 0.8, 0.0)));
        l[2] = new sphere(vec3(1, 0, -1), 0.5, new metal(vec3(0.8, 0.6, 0.2), 0.1));
        *w = new hitable_list(l, 3);
    }
}
__global__ void free_world(hitable **l, hitable **w)
{
    for (int i = 0; i < 3; i++) delete l[i];
    delete *w;
}
int main()
{
    const int nx = 64, ny = 32;
    vec3 *fb;
    checkCudaErrors(cudaMallocManaged((void **)&fb, nx * ny * sizeof(vec3)));
    curandState *rs;
    checkCudaErrors(cudaMalloc((void **)&rs, nx * ny * sizeof(curandState)));
    hitable **l, **w;
    checkCudaErrors(cudaMalloc((void **)&l, 3 * sizeof(hitable *)));
    checkCudaErrors(cudaMalloc((void **)&w, sizeof(hitable *)));
    create_world<<<1, 1>>>(l, w);
    checkCudaErrors(cudaGetLastError());
    checkCudaErrors(cudaDeviceSynchronize());
    dim3 blocks(nx / 8 + 1, ny / 8 + 1), threads(8, 8);
    render_init<<<blocks, threads>>>(nx, ny, rs);
    render<<<blocks, threads>>>(fb, nx, ny, 8, w, rs);
    checkCudaErrors(cudaGetLastError());
    checkCudaErrors(cudaDeviceSynchronize());
    double sky = 0, ground = 0;
    int bad = 0;
    for (int p = 0; p < nx * ny; p++)
        for (int k = 0; k < 3; k++) bad += !(fb[p][k] >= 0 && fb[p][k] <= 1);
    for (int i = 0; i < nx; i++) {
        sky += fb[(ny - 1) * nx + i][2] / nx;
        ground += fb[i][2] / nx;
    }
    free_world<<<1, 1>>>(l, w);
    checkCudaErrors(cudaDeviceSynchronize());
    std::cout << "sky " << sky << " ground " << ground << " bad " << bad << "\n";
    cudaFree(fb);
    cudaDeviceReset();
    return bad || sky < 0.9 || ground > 0.35;
}
