#ifndef POLYBENCH_H
# define POLYBENCH_H
# define POLYBENCH_2D_ARRAY_DECL(var, type, dim1, dim2, ddim1, ddim2) type (*var)[dim1][dim2]; var = (type(*)[dim1][dim2]) malloc(sizeof(type) * (dim1) * (dim2))
# define POLYBENCH_ARRAY(x) *x
# define POLYBENCH_2D(var, dim1, dim2, ddim1, ddim2) var[dim1][dim2]
# define POLYBENCH_FREE_ARRAY(x) free((void*)x);
# define polybench_start_instruments polybench_timer_start();
# define polybench_stop_instruments polybench_timer_stop();
static double polybench_t_start;
static double rtclock() { struct timeval Tp; gettimeofday(&Tp, NULL); return (Tp.tv_sec + Tp.tv_usec * 1.0e-6); }
static void polybench_timer_start() { polybench_t_start = rtclock(); }
static void polybench_timer_stop() { printf("%0.6lf\n", rtclock() - polybench_t_start); }
static float absVal(float a) { if (a < 0) { return (a * -1); } else { return a; } }
static float percentDiff(double val1, double val2) {
  if ((absVal(val1) < 0.01) && (absVal(val2) < 0.01)) return 0.0f;
  else return 100.0f * (absVal(absVal(val1 - val2) / absVal(val1 + 0.00000001f)));
}
#endif
