#ifndef TWOMM_CUH
# define TWOMM_CUH
# if !defined(STANDARD_DATASET) && !defined(MINI_DATASET)
#  define MINI_DATASET
# endif
# ifdef MINI_DATASET
#  define NI 40
#  define NJ 48
#  define NK 36
#  define NL 44
# endif
# define DATA_TYPE float
# define DATA_PRINTF_MODIFIER "%0.2lf "
#define DIM_THREAD_BLOCK_X 32
#define DIM_THREAD_BLOCK_Y 8
#endif
