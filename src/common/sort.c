#include "common/sort.h"
#include "common/promise.h"

#include <stdlib.h>

static int by_u32(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

size_t cts_sort_distinct_u32(uint32_t *numbers, size_t count)
{
    if (count) qsort(numbers, count, sizeof *numbers, by_u32);
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++)
        if (!distinct || numbers[distinct - 1] != numbers[i]) numbers[distinct++] = numbers[i];
    CTS_ASSERT_ORDER(i, distinct, numbers[i - 1] < numbers[i]);
    return distinct;
}
