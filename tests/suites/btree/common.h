#ifndef COMMON_H
#define COMMON_H
#define DEFAULT_ORDER 16
#define fp            float
typedef struct record {
    int value;
} record;
typedef struct knode {
    int location;
    int indices[DEFAULT_ORDER + 1];
    int keys[DEFAULT_ORDER + 1];
    bool is_leaf;
    int num_keys;
} knode;
#ifdef __cplusplus
extern "C"
#endif
    void
    kernel_gpu_cuda_wrapper(record *records, long records_mem, knode *knodes, long knodes_elem,
                            long knodes_mem, int order, long maxheight, int count, long *currKnode,
                            long *offset, int *keys, record *ans);
#endif
