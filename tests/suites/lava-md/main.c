#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <stdbool.h>
#include "main.h"
long long get_time();
int main(void)
{
    int B = 3, i, j, k, l, m, n, nh = 0, bad = 0;
    par_str par_cpu;
    dim_str dim_cpu;
    long long t = get_time();
    par_cpu.alpha = 0.5;
    dim_cpu.boxes1d_arg = B;
    dim_cpu.number_boxes = B * B * B;
    dim_cpu.space_elem = dim_cpu.number_boxes * NUMBER_PAR_PER_BOX;
    dim_cpu.space_mem = dim_cpu.space_elem * sizeof(FOUR_VECTOR);
    dim_cpu.space_mem2 = dim_cpu.space_elem * sizeof(fp);
    dim_cpu.box_mem = dim_cpu.number_boxes * sizeof(box_str);
    box_str *box = (box_str *)malloc(dim_cpu.box_mem);
    for (i = 0; i < B; i++)
        for (j = 0; j < B; j++)
            for (k = 0; k < B; k++) {
                box[nh].x = k;
                box[nh].y = j;
                box[nh].z = i;
                box[nh].number = nh;
                box[nh].offset = nh * NUMBER_PAR_PER_BOX;
                box[nh].nn = 0;
                for (l = -1; l < 2; l++)
                    for (m = -1; m < 2; m++)
                        for (n = -1; n < 2; n++)
                            if (((i + l) >= 0 && (j + m) >= 0 && (k + n) >= 0) &&
                                ((i + l) < B && (j + m) < B && (k + n) < B) &&
                                (l != 0 || m != 0 || n != 0)) {
                                nei_str *e = &box[nh].nei[box[nh].nn++];
                                e->x = k + n;
                                e->y = j + m;
                                e->z = i + l;
                                e->number = (e->z * B * B) + (e->y * B) + e->x;
                                e->offset = e->number * NUMBER_PAR_PER_BOX;
                            }
                nh++;
            }
    FOUR_VECTOR *rv = (FOUR_VECTOR *)malloc(dim_cpu.space_mem),
                *fv = (FOUR_VECTOR *)calloc(1, dim_cpu.space_mem);
    fp *qv = (fp *)malloc(dim_cpu.space_mem2);
    srand(5);
    for (i = 0; i < dim_cpu.space_elem; i++) {
        rv[i].v = (rand() % 10 + 1) / 10.0;
        rv[i].x = (rand() % 10 + 1) / 10.0;
        rv[i].y = (rand() % 10 + 1) / 10.0;
        rv[i].z = (rand() % 10 + 1) / 10.0;
        qv[i] = (rand() % 10 + 1) / 10.0;
    }
    kernel_gpu_cuda_wrapper(par_cpu, dim_cpu, box, rv, qv, fv);
    for (l = 0; l < nh; l++)
        for (i = 0; i < NUMBER_PAR_PER_BOX; i += 33) {
            FOUR_VECTOR a = rv[box[l].offset + i], f = {0, 0, 0, 0};
            double s[4] = {0, 0, 0, 0};
            for (k = 0; k < 1 + box[l].nn; k++) {
                long o = box[k == 0 ? l : box[l].nei[k - 1].number].offset;
                for (j = 0; j < NUMBER_PAR_PER_BOX; j++) {
                    FOUR_VECTOR b = rv[o + j];
                    double v = exp(-2.0 * 0.25 * (a.v + b.v - DOT(a, b)));
                    s[0] += qv[o + j] * v;
                    s[1] += qv[o + j] * 2 * v * (a.x - b.x);
                    s[2] += qv[o + j] * 2 * v * (a.y - b.y);
                    s[3] += qv[o + j] * 2 * v * (a.z - b.z);
                }
            }
            f = fv[box[l].offset + i];
            if (fabs(f.v - s[0]) > 1e-3 * fabs(s[0]) || fabs(f.x - s[1]) > 0.05 ||
                fabs(f.z - s[3]) > 0.05)
                bad++;
        }
    printf("bad %d, %lld us\n", bad, get_time() - t);
    return bad != 0;
}
