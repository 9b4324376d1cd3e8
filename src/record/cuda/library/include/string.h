/* <string.h> for the device library on a GPU, which has the builtins alone. */
#ifndef CTS_CUDA_LIBRARY_STRING_H
#define CTS_CUDA_LIBRARY_STRING_H
#define memcpy(to, from, size_bytes)  __builtin_memcpy(to, from, size_bytes)
#define memset(to, value, size_bytes) __builtin_memset(to, value, size_bytes)
#endif
