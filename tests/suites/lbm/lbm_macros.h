#ifndef _LBM_MACROS_H_
#define _LBM_MACROS_H_
#include "layout_config.h"
#define CALC_INDEX(x,y,z,e) ( TOTAL*(e) + ((x)+(y)*PADDED_X+(z)*PADDED_X*SIZE_Y) )
#define SWEEP_VAR int __temp_x__, __temp_y__, __temp_z__;
#define SWEEP_X  __temp_x__
#define SWEEP_Y  __temp_y__
#define SWEEP_Z  __temp_z__
#define GRID_ENTRY(g,x,y,z,e) ((g)[CALC_INDEX( x,  y,  z, e)])
#define SRC_C(g)  (GRID_ENTRY(g, SWEEP_X, SWEEP_Y, SWEEP_Z, 0))
#define SRC_E(g)  (GRID_ENTRY(g, (SWEEP_X+SIZE_X-1)%SIZE_X, SWEEP_Y, SWEEP_Z, 1))
#define SRC_N(g)  (GRID_ENTRY(g, SWEEP_X, (SWEEP_Y+SIZE_Y-1)%SIZE_Y, SWEEP_Z, 2))
#define SRC_T(g)  (GRID_ENTRY(g, SWEEP_X, SWEEP_Y, (SWEEP_Z+SIZE_Z-1)%SIZE_Z, 3))
#define DST(g,e)  (GRID_ENTRY(g, SWEEP_X, SWEEP_Y, SWEEP_Z, e))
#endif
