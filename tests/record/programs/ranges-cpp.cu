// Launches inside and outside of ranges that nvtx3.hpp makes. Launch x makes x + 1 accesses.
// Compiled by nvcc with the toolkit's header, too, as C++11 and later.
#include <nvtx3/nvtx3.hpp>
#include <string>
#include <utility>

struct library {
    static constexpr const char *name{"library"};
};
struct io {
    static constexpr const char *name{"io"};
    static constexpr nvtx3::category::id_type id{7};
};
struct solving {
    static constexpr const char *message{"solve"};
};
constexpr const char *library::name, *io::name, *solving::message;
constexpr nvtx3::category::id_type io::id;

__global__ void store(int *to, int x)
{
    to[x] = x;
}

static int *memory;

static void launch(int x)
{
    store<<<1, x + 1>>>(memory, x);
}

static void refine(bool deep)
{
    NVTX3_FUNC_RANGE();
    launch(1);
    NVTX3_FUNC_RANGE_IF_IN(library, deep);
    launch(2);
}

static nvtx3::unique_range handed_on()
{
    const std::string text("solve");
    nvtx3::unique_range range{nvtx3::rgb{255, 127, 0}, text};
    return range;
}

int main()
{
    cudaMalloc(&memory, 4096);
    launch(0);
    refine(true);
    {
        const nvtx3::scoped_range range{nvtx3::payload{1.5}, "solve", nvtx3::category{3}, "second"};
        launch(3);
        nvtx3::mark("solve");
    }
    launch(4);
    {
        nvtx3::unique_range outer = handed_on();
        nvtx3::unique_range owner{std::move(outer)};
        launch(5);
    }
    {
        const nvtx3::event_attributes attributes{
            nvtx3::registered_string_in<library>::get<solving>(), nvtx3::color{0xff00ff00u},
            nvtx3::named_category_in<library>::get<io>(), nvtx3::payload{std::int64_t{4}}};
        const nvtx3::scoped_range_in<library> range{attributes};
        launch(6);
        nvtx3::mark_in<library>(attributes);
    }
    const nvtx3::range_handle began = nvtx3::start_range(L"solve");
    launch(7);
    nvtx3::end_range(began);
    launch(8);
    return cudaDeviceSynchronize() != cudaSuccess;
}
