#define fp float
#define NUMBER_THREADS 256
