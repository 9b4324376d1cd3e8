#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include "cutoff.h"
int main(int argc, char *argv[])
{
    Lattice d = {32, 32, 16, 0.5f};
    int natoms = 60, n, i, j, k, bad = 0;
    float cutoff = 6.f, *lat = (float *)malloc(d.nx * d.ny * d.nz * sizeof(float));
    Atom *a = (Atom *)malloc(natoms * sizeof(Atom));
    srand(3);
    for (n = 0; n < natoms; n++) {
        a[n].x = 16.f * rand() / RAND_MAX;
        a[n].y = 16.f * rand() / RAND_MAX;
        a[n].z = 8.f * rand() / RAND_MAX;
        a[n].q = n % 2 ? 1.f : -0.5f;
    }
    if (gpu_compute_cutoff_potential_lattice(lat, d, cutoff, a, natoms)) return 2;
    for (k = 0; k < d.nz; k += 3)
        for (j = 0; j < d.ny; j += 5)
            for (i = 0; i < d.nx; i++) {
                double e = 0;
                for (n = 0; n < natoms; n++) {
                    double dx = a[n].x - i * d.h, dy = a[n].y - j * d.h, dz = a[n].z - k * d.h,
                           r2 = dx * dx + dy * dy + dz * dz;
                    if (r2 < cutoff * cutoff) {
                        double s = 1 - r2 / (cutoff * cutoff);
                        e += a[n].q / sqrt(r2) * s * s;
                    }
                }
                if (fabs(e - lat[(k * d.ny + j) * d.nx + i]) > 1e-3 * (1 + fabs(e))) {
                    if (bad++ < 5)
                        printf("%d %d %d: %g %g\n", i, j, k, e, lat[(k * d.ny + j) * d.nx + i]);
                }
            }
    printf("%s\n", bad ? "Mismatch" : "Pass");
    return bad != 0;
}
