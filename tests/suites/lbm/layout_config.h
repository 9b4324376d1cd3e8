#define SIZE_X (32)
#define SIZE_Y (16)
#define SIZE_Z (8)
#define PADDED_X (SIZE_X+32)
#define TOTAL (PADDED_X*SIZE_Y*SIZE_Z)
#define N_CELL_ENTRIES 4
