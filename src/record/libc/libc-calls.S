/* Functions of the C library's names, hidden in the recorder that they are linked into: each jumps
 * to where cts_libc_calls says, in the order of names.inc. A call before that table is filled fills
 * it: all registers that can hold arguments are kept. See libc-find.c. */
	.hidden	cts_libc_calls
	.hidden	cts_libc_find
	.bss
	.balign	8
	.globl	cts_libc_calls
	.type	cts_libc_calls, %object
cts_libc_calls:
	.text

#ifdef __x86_64__
#define CALL(name) \
	.globl name; .hidden name; .type name, %function; \
	.bss; 1: .skip 8; .text; \
	.balign 16; \
name:	.cfi_startproc; \
	movq 1b(%rip), %r11; \
	testq %r11, %r11; \
	je 2f; \
	jmp *%r11; \
2:	leaq 1b(%rip), %r11; \
	jmp fill; \
	.cfi_endproc; \
	.size name, . - name;
#include "names.inc"

	.balign	16
fill:	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$192, %rsp
	movq	%rdi, (%rsp)
	movq	%rsi, 8(%rsp)
	movq	%rdx, 16(%rsp)
	movq	%rcx, 24(%rsp)
	movq	%r8, 32(%rsp)
	movq	%r9, 40(%rsp)
	movq	%rax, 48(%rsp)
	movq	%r11, 56(%rsp)
	movaps	%xmm0, 64(%rsp)
	movaps	%xmm1, 80(%rsp)
	movaps	%xmm2, 96(%rsp)
	movaps	%xmm3, 112(%rsp)
	movaps	%xmm4, 128(%rsp)
	movaps	%xmm5, 144(%rsp)
	movaps	%xmm6, 160(%rsp)
	movaps	%xmm7, 176(%rsp)
	call	cts_libc_find
	movq	(%rsp), %rdi
	movq	8(%rsp), %rsi
	movq	16(%rsp), %rdx
	movq	24(%rsp), %rcx
	movq	32(%rsp), %r8
	movq	40(%rsp), %r9
	movq	48(%rsp), %rax
	movq	56(%rsp), %r11
	movaps	64(%rsp), %xmm0
	movaps	80(%rsp), %xmm1
	movaps	96(%rsp), %xmm2
	movaps	112(%rsp), %xmm3
	movaps	128(%rsp), %xmm4
	movaps	144(%rsp), %xmm5
	movaps	160(%rsp), %xmm6
	movaps	176(%rsp), %xmm7
	leave
	.cfi_def_cfa %rsp, 8
	jmp	*(%r11)
	.cfi_endproc
#elif defined(__aarch64__)
#define CALL(name) \
	.globl name; .hidden name; .type name, %function; \
	.bss; 1: .skip 8; .text; \
name:	.cfi_startproc; \
	adrp x16, 1b; \
	add x16, x16, :lo12:1b; \
	ldr x17, [x16]; \
	cbz x17, fill; \
	br x17; \
	.cfi_endproc; \
	.size name, . - name;
#include "names.inc"

	.balign	16
fill:	.cfi_startproc
	stp	x29, x30, [sp, #-224]!
	.cfi_def_cfa_offset 224
	.cfi_offset x29, -224
	.cfi_offset x30, -216
	stp	x0, x1, [sp, #16]
	stp	x2, x3, [sp, #32]
	stp	x4, x5, [sp, #48]
	stp	x6, x7, [sp, #64]
	stp	x8, x16, [sp, #80]
	stp	q0, q1, [sp, #96]
	stp	q2, q3, [sp, #128]
	stp	q4, q5, [sp, #160]
	stp	q6, q7, [sp, #192]
	bl	cts_libc_find
	ldp	x0, x1, [sp, #16]
	ldp	x2, x3, [sp, #32]
	ldp	x4, x5, [sp, #48]
	ldp	x6, x7, [sp, #64]
	ldp	x8, x16, [sp, #80]
	ldp	q0, q1, [sp, #96]
	ldp	q2, q3, [sp, #128]
	ldp	q4, q5, [sp, #160]
	ldp	q6, q7, [sp, #192]
	ldp	x29, x30, [sp], #224
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	ldr	x17, [x16]
	br	x17
	.cfi_endproc
#endif
	.section .note.GNU-stack, "", %progbits
