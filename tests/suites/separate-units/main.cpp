#include <cstdio>
extern "C" int go(float *host, int n);
int main() { float x[200]; for (int i = 0; i < 200; i++) x[i] = i; int c = go(x, 200), bad = c != 200; for (int i = 0; i < 200; i++) bad += x[i] != 2.0f * i * (i % 4 + 1) * 3; printf("%s %d\n", bad ? "FAILED" : "PASSED", c); return bad != 0; }
