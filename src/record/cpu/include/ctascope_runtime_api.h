/* The CUDA runtime API of the CPU device: types, enums, structs and functions, as C declarations
 * for C and C++. It is the truth for both sides: users' sources get it through cuda_runtime.h and
 * cuda_runtime_api.h, and libctascope_cpu.so (cpu/runtime/) is compiled against it.
 *
 * Names, enum values and signatures are those of CUDA 12's documented API. Layouts are our own
 * where programs only use names: everything that a program compiles against comes from here.
 * What CUDA 12 removed but older programs use (texture references, cudaThread*) is here too.
 *
 * `ctascope cc --device=cuda` compiles with these headers where no toolkit is. Then CTS_CUDART is
 * 12 or 13, the version of NVIDIA's runtime that the program is for; names, layouts and signatures
 * are that one's, and what it does not have is not declared.
 * A function that is declared here either works or returns cudaErrorNotSupported after one line
 * on stderr. What is not declared, the compiler refuses by name.
 *
 * The functions are thread-safe, as CUDA's are. */
#ifndef CTASCOPE_RUNTIME_API_H
#define CTASCOPE_RUNTIME_API_H

#include "ctascope/guards.h"

#include "ctascope/api/devices.h"
#include "ctascope/api/errors.h"
#include "ctascope/api/graphs.h"
#include "ctascope/api/launches.h"
#include "ctascope/api/memory.h"
#include "ctascope/api/registration.h"
#include "ctascope/api/streams.h"
#include "ctascope/api/textures.h"

#endif
