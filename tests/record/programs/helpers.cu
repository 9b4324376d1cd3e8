// Allocations through helpers. A comment names the variable and type that the allocation of its
// line gets.
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <cuda_runtime.h>

enum { N = 64 };

template <typename T> struct Buffer {
    T *data = nullptr;
    explicit Buffer(size_t count)
    {
        if (cudaMalloc(&data, count * sizeof(T)) != cudaSuccess) throw 1;
    }
    Buffer(const Buffer &) = delete;
    Buffer(Buffer &&other) : data(other.data) { other.data = nullptr; }
    ~Buffer() { cudaFree(data); }
};

template <typename T> T *allocate(size_t count)
{
    T *memory;
    if (cudaMalloc(&memory, count * sizeof(T)) != cudaSuccess) return nullptr;
    return memory;
}

static void *bytes(size_t size)
{
    void *memory = nullptr;
    cudaMalloc(&memory, size);
    return memory;
}

static float *floats(size_t count)
{
    return static_cast<float *>(bytes(count * sizeof(float)));
}

static void into(double **to, size_t count)
{
    cudaMalloc(to, count * sizeof(double));
}

static void both(int **first, float **second, size_t count)
{
    cudaMalloc(first, count * sizeof(int));
    cudaMalloc(second, count * sizeof(float));
}

struct Simulation {
    Buffer<float> heat, flux;
    short *mask;
    Simulation(size_t count)
        : heat(count), // = simulation.heat float
          flux(count)  // = simulation.flux float
    {
        cudaMalloc(&mask, count * sizeof(short)); // = simulation.mask short
    }
};

class Growing
{
    float *data_ = nullptr;

  public:
    void grow(size_t count)
    {
        cudaFree(data_);
        cudaMalloc(&data_, count * sizeof(float));
    }
};

struct Free {
    void operator()(float *memory) const { cudaFree(memory); }
};

// Nobody's in particular: a table that the helper keeps itself.
static float *kept;
static void keep(size_t count)
{
    cudaMalloc(&kept, count * sizeof(float)); // = kept float
}

int main()
{
    float *plain;
    cudaMalloc(&plain, N);        // = plain float
    Buffer<float> positions(N);   // = positions float
    Buffer<double> velocities(N); // = velocities double
    int *ids = allocate<int>(N);  // = ids int
    float *forces;
    forces = allocate<float>(N); // = forces float
    float *heat = floats(N);     // = heat float
    double *energy;
    into(&energy, N); // = energy double
    int *rows;
    float *values;
    both(&rows, &values, N); // = rows int = values float
    Simulation simulation(N);
    std::unique_ptr<float, Free> owned(allocate<float>(N)); // = owned float
    Growing grown, other;
    grown.grow(N); // = grown float
    other.grow(N); // = other float
    float *table[2];
    table[1] = allocate<float>(N); // = table[1] float
    std::vector<float *> list;
    list.push_back(allocate<float>(N)); // = list float
    auto *made = new Buffer<char>(N);   // = made char
    keep(N);
    printf("%d\n", ids && forces && heat && energy && rows && values && table[1] && made);
    return 0;
}
