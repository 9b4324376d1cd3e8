#ifndef CUTOFF_H
#define CUTOFF_H
#ifdef __cplusplus
extern "C" {
#endif
#define SHIFTED
#define BIN_DEPTH 8
#define BIN_SIZE 32
typedef struct { float x, y, z, q; } Atom;
typedef struct { int nx, ny, nz; float h; } Lattice;
int gpu_compute_cutoff_potential_lattice(float *lattice, Lattice dim, float cutoff, const Atom *atoms, int natoms);
#ifdef __cplusplus
}
#endif
#endif
