#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include "lbm_macros.h"
void LBM_run(float *grid, int steps);
int main(void)
{
    float *g = calloc(TOTAL * N_CELL_ENTRIES, 4), *h = calloc(TOTAL * N_CELL_ENTRIES, 4),
          *n = calloc(TOTAL * N_CELL_ENTRIES, 4);
    int bad = 0;
    for (int i = 0; i < TOTAL * N_CELL_ENTRIES; i++) g[i] = h[i] = 0.1f + i % 7 * 0.01f;
    LBM_run(g, 5);
    for (int s = 0; s < 5; s++) {
        SWEEP_VAR for (SWEEP_Z = 0; SWEEP_Z < SIZE_Z;
                       SWEEP_Z++) for (SWEEP_Y = 0; SWEEP_Y < SIZE_Y;
                                       SWEEP_Y++) for (SWEEP_X = 0; SWEEP_X < SIZE_X; SWEEP_X++)
        {
            float f[4] = {SRC_C(h), SRC_E(h), SRC_N(h), SRC_T(h)}, r = f[0] + f[1] + f[2] + f[3];
            for (int e = 0; e < 4; e++) DST(n, e) = (1 - 1.85f) * f[e] + 1.85f * 0.25f * r;
        }
        float *t = h;
        h = n;
        n = t;
    }
    for (int z = 0; z < SIZE_Z; z++)
        for (int y = 0; y < SIZE_Y; y++)
            for (int x = 0; x < SIZE_X; x++)
                for (int e = 0; e < 4; e++)
                    bad += fabs(GRID_ENTRY(g, x, y, z, e) - GRID_ENTRY(h, x, y, z, e)) > 1e-4;
    printf("bad %d\n", bad);
    return bad != 0;
}
