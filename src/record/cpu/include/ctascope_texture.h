/* A texture or surface as device code sees it: what a cudaTextureObject_t, a cudaSurfaceObject_t
 * and the 8-byte device variable behind a texture<> or surface<> reference point at.
 *
 * The runtime writes it (cpu/runtime/texture.c), device code reads it (the language headers). It
 * lives until the object is destroyed or the reference is bound anew, and never changes while a
 * kernel runs. Coordinates outside, filters and conversions are device code's business. */
#ifndef CTASCOPE_TEXTURE_H
#define CTASCOPE_TEXTURE_H

enum cts_texture_form {
    CTS_TEXTURE_LINEAR = 0, /* plain memory: width texels; tex1Dfetch */
    CTS_TEXTURE_PITCH = 1,  /* plain memory: width x height texels, rows pitch_bytes apart */
    CTS_TEXTURE_ARRAY = 2   /* a CUDA array; rows, then slices (depth, layers, or cube faces) */
};

struct cts_texture {
    unsigned char *data;            /* texel (0, 0, 0) */
    unsigned long long width;       /* texels */
    unsigned long long height;      /* texels; 0: 1-D */
    unsigned long long depth;       /* texels, or layers, or 6 x layers faces; 0: 1-D or 2-D */
    unsigned long long pitch_bytes; /* row to row */
    unsigned long long slice_bytes; /* slice or layer to the next */
    unsigned int texel_bytes;       /* all channels */
    unsigned int channel_count;     /* 1, 2 or 4 */
    unsigned int channel_bits;      /* of each channel: 8, 16 or 32 */
    unsigned int channel_kind;      /* enum cudaChannelFormatKind */
    unsigned int form;              /* enum cts_texture_form */
    unsigned int array_flags;       /* cudaArrayLayered | cudaArrayCubemap | ... */
    unsigned int address_mode[3];   /* enum cudaTextureAddressMode */
    unsigned int filter_mode;       /* enum cudaTextureFilterMode */
    unsigned int read_mode;         /* enum cudaTextureReadMode */
    unsigned int normalized;        /* 1: coordinates 0..1 */
    unsigned int srgb;              /* 1: 8-bit channels are sRGB */
    float border[4];
};

#endif
