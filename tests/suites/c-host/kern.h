#include <cuda_runtime.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct { float4 pos; int3 cell; double weight; } particle;
extern const void *const advance_entry;
void reset_count(void);
int read_count(void);
#ifdef __cplusplus
}
#endif
