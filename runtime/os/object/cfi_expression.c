/* SPDX-License-Identifier: MIT */
/*
 * os/object/cfi_expression.c - DWARF's stack machine, for places on the stack
 *
 * DWARF 5, section 2.5.1. Linkers write such programs for the procedure linkage table,
 * and libc for where a handler returns to. Branches are left out, so that each program
 * ends.
 */
#include "os/object/cfi_bytes.h"

#define DEEP		32

#define OP_ADDR		0x03
#define OP_DEREF	0x06
#define OP_CONST1U	0x08	/* up to OP_CONST8S: 1, 2, 4, 8 bytes, without and with sign */
#define OP_CONST8S	0x0f
#define OP_CONSTU	0x10
#define OP_CONSTS	0x11
#define OP_DUP		0x12
#define OP_DROP		0x13
#define OP_OVER		0x14
#define OP_SWAP		0x16
#define OP_AND		0x1a
#define OP_MINUS	0x1c
#define OP_MUL		0x1e
#define OP_NEG		0x1f
#define OP_NOT		0x20
#define OP_OR		0x21
#define OP_PLUS		0x22
#define OP_PLUS_UCONST	0x23
#define OP_SHL		0x24
#define OP_SHR		0x25
#define OP_SHRA		0x26
#define OP_XOR		0x27
#define OP_EQ		0x29
#define OP_GE		0x2a
#define OP_GT		0x2b
#define OP_LE		0x2c
#define OP_LT		0x2d
#define OP_NE		0x2e
#define OP_LIT0		0x30
#define OP_LIT31	0x4f
#define OP_BREG0	0x70
#define OP_BREG31	0x8f
#define OP_BREGX	0x92
#define OP_NOP		0x96

struct machine {
	const struct wefti_cfi_frame *f;
	struct wefti_bytes b;
	uint64_t stack[DEEP];
	size_t depth;
};

static void push(struct machine *m, uint64_t value)
{
	if (m->depth == DEEP)
		m->b.failed = 1;
	else
		m->stack[m->depth++] = value;
}

static uint64_t pop(struct machine *m)
{
	if (m->depth == 0) {
		m->b.failed = 1;
		return 0;
	}
	return m->stack[--m->depth];
}

static void push_register(struct machine *m, uint64_t number)
{
	const int64_t offset = wefti_bytes_sleb(&m->b);

	if (number >= WEFTI_ARCH_UNWIND_REGISTERS)
		m->b.failed = 1;
	else
		push(m, m->f->reg[number] + (uint64_t)offset);
}

/* Operations that push what they read. Returns 0 if it is none of them. */
static int do_push(struct machine *m, unsigned op)
{
	if (op >= OP_LIT0 && op <= OP_LIT31)
		push(m, op - OP_LIT0);
	else if (op >= OP_BREG0 && op <= OP_BREG31)
		push_register(m, op - OP_BREG0);
	else if (op == OP_BREGX)
		push_register(m, wefti_bytes_uleb(&m->b));
	else if (op == OP_ADDR)
		push(m, wefti_bytes_take(&m->b, 8));
	else if (op >= OP_CONST1U && op <= OP_CONST8S && op % 2)
		push(m, (uint64_t)wefti_bytes_signed(&m->b, (size_t)1 << (op - OP_CONST1U) / 2));
	else if (op >= OP_CONST1U && op <= OP_CONST8S)
		push(m, wefti_bytes_take(&m->b, (size_t)1 << (op - OP_CONST1U) / 2));
	else if (op == OP_CONSTU)
		push(m, wefti_bytes_uleb(&m->b));
	else if (op == OP_CONSTS)
		push(m, (uint64_t)wefti_bytes_sleb(&m->b));
	else
		return 0;
	return 1;
}

static uint64_t read_word(struct machine *m, uint64_t at)
{
	uint64_t word = 0;

	if (!wefti_os_unwind_read(&word, (uintptr_t)at, sizeof(word)))
		m->b.failed = 1;
	return word;
}

/* Operations on the values on top. Returns 0 if it is none of them. */
static int do_one(struct machine *m, unsigned op)
{
	const uint64_t top = m->depth ? m->stack[m->depth - 1] : 0;
	const uint64_t below = m->depth > 1 ? m->stack[m->depth - 2] : 0;

	switch (op) {
	case OP_NOP:
		return 1;
	case OP_DEREF:
		push(m, read_word(m, pop(m)));
		return 1;
	case OP_DUP:
		push(m, top);
		return 1;
	case OP_DROP:
		(void)pop(m);
		return 1;
	case OP_OVER:
		push(m, below);
		return 1;
	case OP_SWAP:
		(void)pop(m), (void)pop(m);
		push(m, top), push(m, below);
		return 1;
	case OP_NEG:
		push(m, 0 - pop(m));
		return 1;
	case OP_NOT:
		push(m, ~pop(m));
		return 1;
	case OP_PLUS_UCONST:
		push(m, pop(m) + wefti_bytes_uleb(&m->b));
		return 1;
	default:
		return 0;
	}
}

static uint64_t of_two(struct machine *m, unsigned op, uint64_t a, uint64_t b)
{
	switch (op) {
	case OP_AND: return a & b;
	case OP_OR: return a | b;
	case OP_XOR: return a ^ b;
	case OP_PLUS: return a + b;
	case OP_MINUS: return a - b;
	case OP_MUL: return a * b;
	case OP_SHL: return b < 64 ? a << b : 0;
	case OP_SHR: return b < 64 ? a >> b : 0;
	case OP_SHRA: return (uint64_t)((int64_t)a >> (b < 64 ? b : 63));
	case OP_EQ: return a == b;
	case OP_NE: return a != b;
	case OP_GE: return (int64_t)a >= (int64_t)b;
	case OP_GT: return (int64_t)a > (int64_t)b;
	case OP_LE: return (int64_t)a <= (int64_t)b;
	case OP_LT: return (int64_t)a < (int64_t)b;
	default:
		m->b.failed = 1;
		return 0;
	}
}

int wefti_os_cfi_expression(const struct wefti_cfi_frame *f, uintptr_t at, size_t bytes,
			    uintptr_t *value)
{
	struct machine m = { .f = f, .b = { at, at + bytes, 0 },
			     .stack = { *value }, .depth = 1 };

	while (wefti_bytes_left(&m.b)) {
		const unsigned op = (unsigned)wefti_bytes_take(&m.b, 1);

		if (!do_push(&m, op) && !do_one(&m, op)) {
			const uint64_t b = pop(&m), a = pop(&m);

			push(&m, of_two(&m, op, a, b));
		}
	}
	*value = (uintptr_t)pop(&m);
	return m.b.failed ? -1 : 0;
}
