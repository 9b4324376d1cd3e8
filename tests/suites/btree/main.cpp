#include <cstdio>
#include <cstdlib>
#include <climits>
#include <vector>
#include "common.h"
// A two-level-and-more tree of fan-out 16 over sorted keys 0, 3, 6, ...
int main()
{
    const int order = 16, leaves = 256, count = 500;
    std::vector<record> records(leaves * order);
    std::vector<knode> nodes;
    for (int i = 0; i < leaves * order; i++) records[i].value = 7 * i + 1;
    nodes.resize(1 + 16 + leaves);
    for (int l = 0; l < leaves; l++) {
        knode &n = nodes[17 + l];
        n.is_leaf = true;
        n.num_keys = order;
        n.location = 17 + l;
        for (int k = 0; k <= order; k++) {
            n.keys[k] = k < order ? 3 * (l * order + k) : INT_MAX;
            n.indices[k] = l * order + k;
        }
    }
    for (int l = 0; l < 16; l++) {
        knode &n = nodes[1 + l];
        n.is_leaf = false;
        n.num_keys = order;
        n.location = 1 + l;
        for (int k = 0; k <= order; k++) {
            n.keys[k] = k < order ? 3 * 16 * (16 * l + k) : INT_MAX;
            n.indices[k] = 17 + 16 * l + k;
        }
    }
    for (int k = 0; k <= order; k++) {
        nodes[0].keys[k] = k < order ? 3 * 256 * k : INT_MAX;
        nodes[0].indices[k] = 1 + k;
    }
    nodes[0].is_leaf = false;
    nodes[0].num_keys = order;
    nodes[0].location = 0;
    std::vector<long> curr(count, 0), off(count, 0);
    std::vector<int> keys(count);
    std::vector<record> ans(count);
    for (int i = 0; i < count; i++) {
        keys[i] = (i * 37) % (3 * leaves * order);
        ans[i].value = -1;
    }
    kernel_gpu_cuda_wrapper(&records[0], records.size() * sizeof(record), &nodes[0], nodes.size(),
                            nodes.size() * sizeof(knode), order, 2, count, &curr[0], &off[0],
                            &keys[0], &ans[0]);
    int bad = 0;
    for (int i = 0; i < count; i++) {
        int want = keys[i] % 3 == 0 ? 7 * (keys[i] / 3) + 1 : -1;
        if (ans[i].value != want && bad++ < 5)
            printf("key %d: %d, not %d\n", keys[i], ans[i].value, want);
    }
    puts(bad ? "FAILED" : "PASSED");
    return bad ? 1 : 0;
}
