/* The layout of textures and surfaces, shared by the runtime and by device code; device code is
 * compiled with users' include path, so that the header lies there. */
#ifndef CTS_RECORD_CPU_TEXTURE_H
#define CTS_RECORD_CPU_TEXTURE_H

#include "include/ctascope_texture.h"

#endif
