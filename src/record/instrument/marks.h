/* What the two passes over device code say to each other.
 *
 * The *device pass* (device-pass.c, at the end of the optimisation of NVPTX IR) finds the memory
 * accesses, describes each in the module's named metadata and puts a mark at it. A later step reads
 * the marks: the *retarget pass* (CPU device) turns them into lane-buffer stores and log entries in
 * one copy of each function and drops them in another; for an NVIDIA GPU they become calls of the
 * producer. Marks are calls of external functions without attributes:
 *
 *   void __cts_access(i32 site, ptr address)      just before the instruction. Generic pointer.
 *   void __cts_access_range(i32 site, ptr address, i64 size_bytes)
 *                     a memory intrinsic of run-time length; sites `site` (16 bytes) and site + 1
 *                     (1 byte). Of constant length: one __cts_access of that width. A copy has a
 *                     mark for the load and one for the store.
 *   void __cts_value(i32 site, i64 word)          with values: once per 8 bytes, lowest first, for
 *                     at most CTS_LOG_VALUE_WORDS_MAX; a narrower last word is zero-extended. What
 *                     a load read and a store wrote; an atomic's is the old value, that it read.
 *
 *   void __cts_event(i32 site, i64 argument)
 *                     just before a barrier, fence or asynchronous copy (CTS_BARRIER_MAP in
 *                     trace/access.h); never 0
 *
 * With values, nothing that has marks stands between a mark and its values: loads, stores and
 * atomics have the mark before and the values after them, copies and memset of constant length have
 * all of it before, a store of a library function or of a range is marked after it. A range has no
 * value marks: the runtime reads the memory, which at the mark holds what was read or written.
 *
 * Named metadata, one MDNode an element, in order of index; integers are i32, texts MDStrings:
 *
 *   !cts.sites     {source, line, column, width, operation, space, is_volatile, loop_depth, loop,
 *                   function, type_name, variable, inlined_at}        -1: unknown source, no loop
 *   !cts.loops     {parent}                                           -1: outermost
 *   !cts.sources   {path, text}              text "" for a file that is not the user's
 *   !cts.variables {mangled, display name, element type, kind, source, line, function}
 *                  kind as in enum cts_variable_kind; sizes and addresses come from the global
 *   !cts.kernels   {mangled, display name, source, line, flags}      flags:
 * CTS_KERNEL_UNINSTRUMENTED !cts.skipped   {what, reason, source, line} !cts.options   {flags} enum
 * cts_file_flags
 *   !cts.padded_types {type, padding, alternatives, size}            see padding.h
 *
 * The passes are told what to do by the environment of the compiler, which `ctascope cc` sets; used
 * by hand (-fpass-plugin= alone) the defaults in brackets hold:
 *
 *   CTS_DEVICE      cpu | cuda [cuda]   what the device code will run on
 *   CTS_STEP        device | retarget | host   [by the module: NVPTX is device, else host]
 *   CTS_TU          the id of the translation unit, [a hash of the module's name]
 *   CTS_KERNELS     regular expression (POSIX extended) of kernels to instrument, on the demangled
 *                   name [all]
 *   CTS_SOURCES     regular expression of source files to instrument [all]
 *   CTS_STRICT      1: an integer division by zero is a fault (CPU device)
 *   CTS_LOCALS      1: record local memory too
 *   CTS_BARRIERS    0: leave out barriers, fences and asynchronous copies (to measure their cost)
 *   CTS_VALUES      1: record values
 *   CTS_HOST_ACCESSES  1: record the host's accesses (host pass)
 *   CTS_RDC         1: device functions and variables may be shared between translation units
 *   CTS_MARKS       drop: describe the accesses, leave no mark at them
 *   CTS_PRODUCER    file of bitcode: marks become calls of it, and the module gets its table (GPU)
 *   CTS_NOTES       1: print what was done to stderr
 *   CTS_DEBUG       1: device code on the CPU keeps its variables' debug information
 *   CTS_VERIFY      1: verify the module after each pass
 *
 * Order at the end of the NVPTX pipeline: address spaces are inferred, the lower pass runs (CPU
 * device), then the device pass. What the lower pass leaves or makes as a load, store, atomicrmw,
 * cmpxchg or memory intrinsic is seen; llvm.nvvm.{ldg,ldu,atomic}.* are recognised too, so it
 * leaves them alone or makes them ordinary instructions. What it makes a call that takes a pointer
 * is not seen.
 *
 * A __managed__ variable (the header's annotate("cts.managed")) is one symbol of host and device:
 * for the CPU device the host pass and the device pass rename it "cts.managed.<CTS_TU>.<mangled
 * name>" and give it external linkage and hidden visibility; the device's has the content, the
 * host's is a declaration. !cts.variables says the mangled name.
 */
#ifndef CTS_INSTRUMENT_MARKS_H
#define CTS_INSTRUMENT_MARKS_H

#include <llvm-c/Core.h>

#include "record/instrument/shim.h" /* cts_clone_function and the like */

#define CTS_MARK_ACCESS       "__cts_access"
#define CTS_MARK_ACCESS_RANGE "__cts_access_range"
#define CTS_MARK_VALUE        "__cts_value"
#define CTS_MARK_EVENT        "__cts_event"

/* The passes; each returns whether it changed the module. Errors that the user must see are printed
 * as clang prints its own, with position, and make the compiler fail. */
int cts_define_pass(LLVMModuleRef module);   /* start of the pipeline, NVPTX, device = cpu */
int cts_lower_pass(LLVMModuleRef module);    /* end of the pipeline, NVPTX, device = cpu:
                                                llvm.nvvm.X becomes __cts_nvvm_X, inline PTX
                                                becomes ordinary instructions or an error */
int cts_device_pass(LLVMModuleRef module);   /* right after it; device = cuda: alone */
int cts_retarget_pass(LLVMModuleRef module); /* start of the pipeline, step retarget */
int cts_host_pass(LLVMModuleRef module);     /* start of the pipeline, host */

#endif
