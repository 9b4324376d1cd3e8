/* The switch between fibers for aarch64; see fiber.h. x19-x30 and d8-d15 are callee-saved; FPCR is
 * not kept, because device code does not change it. The frame is 160 bytes:
 * x19..x28 at 0, x29 and x30 at 80, d8..d15 at 96. */
#ifdef __aarch64__
	.text

	.macro load_frame
	ldp x19, x20, [sp, #0]
	ldp x21, x22, [sp, #16]
	ldp x23, x24, [sp, #32]
	ldp x25, x26, [sp, #48]
	ldp x27, x28, [sp, #64]
	ldp x29, x30, [sp, #80]
	ldp d8, d9, [sp, #96]
	ldp d10, d11, [sp, #112]
	ldp d12, d13, [sp, #128]
	ldp d14, d15, [sp, #144]
	add sp, sp, #160
	.endm

	/* the frame of who calls to *x0, then the one at x1 */
	.macro swap_frames
	sub sp, sp, #160
	stp x19, x20, [sp, #0]
	stp x21, x22, [sp, #16]
	stp x23, x24, [sp, #32]
	stp x25, x26, [sp, #48]
	stp x27, x28, [sp, #64]
	stp x29, x30, [sp, #80]
	stp d8, d9, [sp, #96]
	stp d10, d11, [sp, #112]
	stp d12, d13, [sp, #128]
	stp d14, d15, [sp, #144]
	mov x9, sp
	str x9, [x0]
	mov sp, x1
	load_frame
	.endm

	/* void cts_fiber_swap(void **save, void *to) */
	.p2align 4
	.globl cts_fiber_swap
	.hidden cts_fiber_swap
	.type cts_fiber_swap, %function
cts_fiber_swap:
	swap_frames
	ret
	.size cts_fiber_swap, . - cts_fiber_swap

	/* void cts_fiber_swap_last(void **save, void *to): a jump in place of the return */
	.p2align 4
	.globl cts_fiber_swap_last
	.hidden cts_fiber_swap_last
	.type cts_fiber_swap_last, %function
cts_fiber_swap_last:
	swap_frames
	br x30
	.size cts_fiber_swap_last, . - cts_fiber_swap_last

	/* void cts_fiber_jump(void *to) */
	.p2align 4
	.globl cts_fiber_jump
	.hidden cts_fiber_jump
	.type cts_fiber_jump, %function
cts_fiber_jump:
	mov sp, x0
	load_frame
	ret
	.size cts_fiber_jump, . - cts_fiber_jump

	/* Where a new fiber starts: calls x19(x20), which must not return. */
	.p2align 4
	.globl cts_fiber_begin
	.hidden cts_fiber_begin
	.type cts_fiber_begin, %function
cts_fiber_begin:
	.cfi_startproc
	.cfi_undefined x30
	mov x0, x20
	mov x29, xzr
	blr x19
	brk #1
	.cfi_endproc
	.size cts_fiber_begin, . - cts_fiber_begin
#endif
	.section .note.GNU-stack, "", %progbits
