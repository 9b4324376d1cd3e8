#ifndef _NEEDLE_H_
#define _NEEDLE_H_
#ifdef RD_WG_SIZE_0
#define BLOCK_SIZE RD_WG_SIZE_0
#else
#define BLOCK_SIZE 16
#endif
#define LIMIT -999
#endif
