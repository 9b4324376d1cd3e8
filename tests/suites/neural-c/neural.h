#ifndef _NEURAL_H_
#define _NEURAL_H_
#define WIDTH 16   // shared memory width  
#define HEIGHT 16  // shared memory height
#define ETA 0.3f
typedef struct {
  int input_n;
  int hidden_n;
  float *input_units;
  float **input_weights;
} NET;
float squash(float x);
void load(NET *net);
#endif
