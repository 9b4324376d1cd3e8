// What our cuFFT's plans and kernels share: a transform is a list of steps, each one a launch.
#ifndef CTS_LIBRARIES_FFT_H
#define CTS_LIBRARIES_FFT_H

#include <cufft.h>

#include "elements.h"

enum fft_buffer { FFT_IN, FFT_OUT, FFT_WORK, FFT_BUFFERS };

// Which of the N elements of a line are stored, and how.
enum fft_kind {
    FFT_COMPLEX, // all
    FFT_REAL,    // the real parts
    FFT_HALF,    // complex, 0 to N / 2: the others are their conjugates
};

// Where a step's lines are: element `index` of a line is at offset + index * stride, in elements of
// this side's kind.
struct fft_side {
    fft_buffer buffer;
    fft_kind kind;
    long long offset, stride;
    long long n; // N: also where the step sees a part of each line
    long long index_step;
};

// The lines of a step: one for each combination of the loops' counters.
struct fft_loop {
    long long count;
    long long in_step, out_step;   // to the address
    long long in_index, out_index; // to the index
};

enum { FFT_LOOPS = 8, FFT_FACTORS = 32, FFT_MAX_RADIX = 31 };

enum fft_step_type {
    FFT_LINES,         // transforms of n elements
    FFT_CHIRP_IN,      // out[j] = in[j] c(j), 0 from n on; m elements
    FFT_CHIRP_FILTER,  // out[j] = 1 / c(j), also for -j; m elements
    FFT_CHIRP_PRODUCT, // out[j] *= filter[j]; m elements
    FFT_CHIRP_OUT,     // out[j] = in[j] c(j) / m; n elements
};

struct fft_step {
    fft_step_type type;
    int sign; // CUFFT_FORWARD, CUFFT_INVERSE; 0: as asked
    long long n, m;
    fft_side in, out;
    int loop_count;
    fft_loop loops[FFT_LOOPS];
    long long line_count;
    // The result k of a line is turned by exp(sign 2 pi i k c / twiddle_n), c the counter of a
    // loop.
    long long twiddle_n;
    int twiddle_loop;
    long long filter_offset; // in the work area
    int factor_count;
    unsigned char factors[FFT_FACTORS];
};

#endif
