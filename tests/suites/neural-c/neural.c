#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include "neural.h"

int layer_size = 512;
extern void layer_forward_cuda(NET *net, float *hidden);

float squash(float x) { return (1.0 / (1.0 + exp(-x))); }

static float **alloc_2d_dbl(int m, int n)
{
  int i;
  float **new = (float **) malloc((unsigned) (m * sizeof(float *)));
  for (i = 0; i < m; i++) new[i] = (float *) malloc((unsigned) (n * sizeof(float)));
  return new;
}

int main(int argc, char *argv[])
{
  NET net;
  int i, j, bad = 0;
  float hidden[17];
  net.input_n = layer_size; net.hidden_n = 16;
  net.input_units = malloc((layer_size + 1) * sizeof(float));
  net.input_weights = alloc_2d_dbl(layer_size + 1, 17);
  net.input_units[0] = 1.0f;
  load(&net);
  for (i = 0; i <= layer_size; i++) for (j = 0; j <= 16; j++) net.input_weights[i][j] = ((i + 3 * j) % 17 - 8) / 64.0f;
  layer_forward_cuda(&net, hidden);
  for (j = 1; j <= 16; j++) {
    float sum = 0;
    for (i = 0; i <= layer_size; i++) sum += net.input_weights[i][j] * net.input_units[i];
    if (fabsf(squash(sum) - hidden[j]) > 1e-4f) { printf("unit %d: %f, not %f\n", j, hidden[j], squash(sum)); bad = 1; }
  }
  puts(bad ? "FAILED" : "PASSED");
  return bad;
}
