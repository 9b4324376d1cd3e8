/* Elements of a dimension with an element stride s are at coordinate + i * s, for
 * i < ceil(box / s); those outside of the tensor are not touched. The first dimension has no
 * element stride. */
#include "record/inject/cubin/tensor-box.h"

#include "record/inject/cubin/tensor-map.h"

/* Elements of a dimension that lie in the tensor. */
struct span {
    uint32_t count;
    uint64_t first; /* coordinate; 0 if there are none */
};

static struct span span_of(int64_t point, uint32_t box, uint32_t step, uint64_t size)
{
    const int64_t most = (box + step - 1) / step, last = (int64_t)size - 1 - point;
    const int64_t begin = point < 0 ? (-point + step - 1) / step : 0;
    const int64_t end = last < 0 ? 0 : last / step + 1 < most ? last / step + 1 : most;
    if (end <= begin) return (struct span){0};
    return (struct span){(uint32_t)(end - begin), (uint64_t)(point + begin * step)};
}

bool cts_tensor_box(const uint32_t map_words[16], const uint32_t point[5],
                    struct cts_tensor_rows *rows)
{
    struct cts_tensor_map map;
    if (!cts_tensor_map_decode(map_words, &map) || map.im2col || map.interleaved) return false;
    const struct span row = span_of((int32_t)point[0], map.box[0], 1, map.size[0]);
    *rows = (struct cts_tensor_rows){
        .base = map.address + row.first * map.element_bytes,
        .row_bytes = (row.count ? row.count : map.box[0]) * map.element_bytes,
        .box = {.extents = {1, 1, 1, 1}},
    };
    bool is_empty = !row.count;
    for (uint32_t d = 1; d < map.dimensions; d++) {
        const uint32_t step = (map_words[13] >> 3 * d & 7) + 1;
        const struct span span = span_of((int32_t)point[d], map.box[d], step, map.size[d]);
        rows->box.extents[d - 1] = span.count;
        rows->box.strides[d - 1] = map.stride_bytes[d] * step;
        rows->base += span.first * map.stride_bytes[d];
        is_empty |= !span.count;
    }
    if (is_empty) rows->box.extents[0] = 0;
    return true;
}
