/* Kernels of the CUDA driver without a GPU, for its programs: cuModuleGetFunction() finds them by
 * name, whatever the module. n: elements. */
#ifndef CTS_FAKE_CUDA_H
#define CTS_FAKE_CUDA_H

/* name, parameters' sizes */
#define FAKE_KERNELS(X)                                                                            \
    X(fill, sizeof(void *), sizeof(float), sizeof(int))   /* x, value, n */                        \
    X(twice, sizeof(void *), sizeof(void *), sizeof(int)) /* x, y, n: y = 2x */                    \
    X(add, sizeof(void *), sizeof(void *), sizeof(int))   /* x, y, n: y += x */                    \
    X(chase, sizeof(void *), sizeof(void *), sizeof(int)) /* table, y, n: y = 2 * *table[0] */     \
    X(tick, sizeof(void *), 0, 0)                         /* x: a number that never comes again */ \
    X(crash, 0, 0, 0)                                     /* the device is lost */

#endif
