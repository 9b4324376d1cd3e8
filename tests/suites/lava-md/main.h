#ifdef __cplusplus
extern "C" {
#endif
#define fp float
#define NUMBER_PAR_PER_BOX 100
#define NUMBER_THREADS 128
#define DOT(A,B) ((A.x)*(B.x)+(A.y)*(B.y)+(A.z)*(B.z))
typedef struct { fp x, y, z; } THREE_VECTOR;
typedef struct { fp v, x, y, z; } FOUR_VECTOR;
typedef struct nei_str { int x, y, z; int number; long offset; } nei_str;
typedef struct box_str { int x, y, z; int number; long offset; int nn; nei_str nei[26]; } box_str;
typedef struct par_str { fp alpha; } par_str;
typedef struct dim_str {
	int cur_arg; int arch_arg; int cores_arg; int boxes1d_arg;
	long number_boxes; long box_mem; long space_elem; long space_mem; long space_mem2;
} dim_str;
void kernel_gpu_cuda_wrapper(par_str par_cpu, dim_str dim_cpu, box_str* box_cpu, FOUR_VECTOR* rv_cpu, fp* qv_cpu, FOUR_VECTOR* fv_cpu);
#ifdef __cplusplus
}
#endif
