/* The switch between fibers for x86-64; see fiber.h. What the psABI calls callee-saved is kept;
 * MXCSR and the x87 control word are not, because device code does not change them. */
#ifdef __x86_64__
	.text

	.macro load_frame
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbx
	pop %rbp
	.endm

	/* the frame of who calls to *rdi, then the one at rsi */
	.macro swap_frames
	push %rbp
	push %rbx
	push %r12
	push %r13
	push %r14
	push %r15
	mov %rsp, (%rdi)
	mov %rsi, %rsp
	load_frame
	.endm

	/* void cts_fiber_swap(void **save, void *to) */
	.p2align 4
	.globl cts_fiber_swap
	.hidden cts_fiber_swap
	.type cts_fiber_swap, @function
cts_fiber_swap:
	swap_frames
	ret
	.size cts_fiber_swap, . - cts_fiber_swap

	/* void cts_fiber_swap_last(void **save, void *to): a jump in place of the return */
	.p2align 4
	.globl cts_fiber_swap_last
	.hidden cts_fiber_swap_last
	.type cts_fiber_swap_last, @function
cts_fiber_swap_last:
	swap_frames
	pop %rcx
	jmp *%rcx
	.size cts_fiber_swap_last, . - cts_fiber_swap_last

	/* void cts_fiber_jump(void *to) */
	.p2align 4
	.globl cts_fiber_jump
	.hidden cts_fiber_jump
	.type cts_fiber_jump, @function
cts_fiber_jump:
	mov %rdi, %rsp
	load_frame
	ret
	.size cts_fiber_jump, . - cts_fiber_jump

	/* Where a new fiber starts: calls rbx(r12), which must not return. */
	.p2align 4
	.globl cts_fiber_begin
	.hidden cts_fiber_begin
	.type cts_fiber_begin, @function
cts_fiber_begin:
	.cfi_startproc
	.cfi_undefined rip
	mov %r12, %rdi
	xor %ebp, %ebp
	call *%rbx
	ud2
	.cfi_endproc
	.size cts_fiber_begin, . - cts_fiber_begin
#endif
	.section .note.GNU-stack, "", %progbits
