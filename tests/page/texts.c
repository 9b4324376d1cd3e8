/* Prints numbers and how the terminal words them, for check-texts.mjs: "KIND NUMBER TEXT". */
#include <stdio.h>
#include <stdlib.h>

#include "common/text-table.h"
#include "../unit/random.h"

static void print(uint64_t value)
{
    if (value >> 53) return; /* a browser has no such numbers */
    printf("time %llu %s\n", (unsigned long long)value, cts_time_text(value).text);
    printf("bytes %llu %s\n", (unsigned long long)value, cts_bytes_text(value).text);
    printf("count %llu %s\n", (unsigned long long)value, cts_count_text(value).text);
}

int main(void)
{
    for (uint64_t power = 1; power < (uint64_t)1 << 53; power *= 2)
        for (int beside = -2; beside <= 2; beside++) print(power + (uint64_t)beside);
    for (uint64_t power = 1; power < 10000000000000000; power *= 10)
        for (int beside = -2; beside <= 2; beside++) {
            print(power + (uint64_t)beside);
            print(power - power / 2000 + (uint64_t)beside); /* 999.5 */
        }
    /* ties: eighths and quarters of a unit */
    for (uint64_t i = 0; i < 200; i++) {
        print(i * 125);
        print(i * 1280);
        print(i * 125000);
    }
    for (unsigned i = 0; i < 3000; i++) print(random_u64() >> (11 + below(53)));
    for (unsigned i = 0; i < 2000; i++) {
        const uint64_t whole = 1 + below(i % 2 ? 100000 : 800), part = below(whole + 1);
        const double share = (double)part / (double)whole;
        char text[32];
        snprintf(text, sizeof text, "%.1f%%", 100 * share);
        printf("percent %.17g %s\n", share, text);
        printf("rating %.17g %.3f\n", share, share);
    }
    return EXIT_SUCCESS;
}
