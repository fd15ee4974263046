/* Hand-written functions: CFI of every form that assemblers can say, and code that has none between code that has. */
	.text

/* The CFA in a scratch register, then in a preserved one; the stack pointer moved anywhere meanwhile. */
	.globl	cfa_in_register
	.type	cfa_in_register, @function
cfa_in_register:
	.cfi_startproc
	lea	8(%rsp), %r10
	.cfi_def_cfa %r10, 0
	and	$-64, %rsp
	push	%rbx
	.cfi_escape 0x10, 3, 2, 0x77, 0		/* rbx is saved at *rsp: only while nothing more is pushed */
	mov	%r10, %rbx
	.cfi_def_cfa %rbx, 0
	sub	$48, %rsp
	.cfi_escape 0x10, 3, 2, 0x77, 48
	call	*%rdi
	add	$48, %rsp
	.cfi_escape 0x10, 3, 2, 0x77, 0
	mov	%rbx, %r10
	.cfi_def_cfa %r10, 0
	pop	%rbx
	.cfi_same_value %rbx
	lea	-8(%r10), %rsp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	cfa_in_register, . - cfa_in_register

/* The CFA by an expression: saved on the stack, as cryptographic code does: *(rsp + 16) + 8. */
	.globl	cfa_expression
	.type	cfa_expression, @function
cfa_expression:
	.cfi_startproc
	mov	%rsp, %rax
	.cfi_def_cfa %rax, 8
	push	%rbx
	.cfi_offset %rbx, -16
	push	%r12
	.cfi_offset %r12, -24
	sub	$40, %rsp
	and	$-64, %rsp
	mov	%rax, 16(%rsp)
	.cfi_escape 0x0f, 5, 0x77, 16, 0x06, 0x23, 8
	xor	%ebx, %ebx
	mov	$77, %r12
	call	*%rdi
	mov	16(%rsp), %rax
	.cfi_def_cfa %rax, 8
	mov	-16(%rax), %r12
	.cfi_restore %r12
	mov	-8(%rax), %rbx
	.cfi_restore %rbx
	mov	%rax, %rsp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	cfa_expression, . - cfa_expression

/* The return address in a register for a while, and rbp in another. */
	.globl	address_in_register
	.type	address_in_register, @function
address_in_register:
	.cfi_startproc
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	.cfi_register %rip, %rdx
	mov	%rbp, %r11
	.cfi_register %rbp, %r11
	xor	%ebp, %ebp
	inc	%rbp
	mov	%r11, %rbp
	.cfi_same_value %rbp
	push	%rdx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rip, -8
	jmp	*%rdi
	.cfi_endproc
	.size	address_in_register, . - address_in_register

/* States remembered and restored around an early exit; rbp used as a plain register. */
	.globl	remembered
	.type	remembered, @function
remembered:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	push	%rbx
	.cfi_def_cfa_offset 24
	.cfi_offset %rbx, -24
	mov	$1, %ebp
	sub	$8, %rsp
	.cfi_def_cfa_offset 32
	test	%rsi, %rsi
	je	1f
	.cfi_remember_state
	mov	%rdi, %rbx
	call	*%rdi
	add	$8, %rsp
	.cfi_def_cfa_offset 24
	pop	%rbx
	.cfi_def_cfa_offset 16
	pop	%rbp
	.cfi_def_cfa_offset 8
	ret
1:	.cfi_restore_state
	call	*%rdi
	add	$8, %rsp
	.cfi_def_cfa_offset 24
	pop	%rbx
	.cfi_restore %rbx
	.cfi_def_cfa_offset 16
	pop	%rbp
	.cfi_restore %rbp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	remembered, . - remembered

/* No CFI, but a frame pointer. */
	.globl	without_cfi
	.type	without_cfi, @function
without_cfi:
	push	%rbp
	mov	%rsp, %rbp
	sub	$32, %rsp
	call	*%rdi
	call	without_cfi_leaf
	leave
	ret
	.size	without_cfi, . - without_cfi

/* Neither, called directly. */
	.type	without_cfi_leaf, @function
without_cfi_leaf:
	mov	%rdi, %rax
	add	$1, %rax
	ret
	.size	without_cfi_leaf, . - without_cfi_leaf

	.section .note.GNU-stack, "", @progbits
