/* SPDX-License-Identifier: MIT */
/*
 * os/object/cfi.c - from a function's frame to its caller's, by the unwind tables
 *
 * DWARF 5, section 6.4. The entries (os/object/cfi_entry.c) have instructions that say,
 * for each instruction of the function, where its caller's registers are. They say it by
 * rows, each for a part of the function: the frame's address (CFA), and a rule for each
 * register.
 *
 * All that is read may be wrong: wefti_os_unwind_read() never faults, and each loop reads
 * on, or has a bound.
 */
#include "os/object/cfi.h"

#include <errno.h>

#include "os/object/cfi_entry.h"

#define REGISTERS	WEFTI_ARCH_UNWIND_REGISTERS
#define DEEP		8	/* remembered rows */
#define FOUND		61	/* not a power of two: functions are aligned */

enum how { SAME, UNDEFINED, AT, OFFSET, IN_REGISTER, AT_PLACE, IS_VALUE };

struct rule {
	enum how how;
	int64_t value;		/* offset, register, or the program's address */
	size_t bytes;		/* of the program */
};

/* What the table says at one instruction. */
struct row {
	struct rule cfa;	/* IN_REGISTER with an offset, or IS_VALUE */
	uint64_t cfa_register;
	uint64_t link;		/* the register that has the return address */
	struct rule reg[REGISTERS];
};

static struct row first, now, kept[DEEP];

#define CFA_ADVANCE		1	/* the two highest bits */
#define CFA_OFFSET		2
#define CFA_RESTORE		3
#define CFA_NOP			0x00
#define CFA_ADVANCE1		0x02
#define CFA_ADVANCE2		0x03
#define CFA_ADVANCE4		0x04
#define CFA_OFFSET_EXTENDED	0x05
#define CFA_RESTORE_EXTENDED	0x06
#define CFA_UNDEFINED		0x07
#define CFA_SAME		0x08
#define CFA_REGISTER		0x09
#define CFA_REMEMBER		0x0a
#define CFA_RECALL		0x0b
#define CFA_DEF			0x0c
#define CFA_DEF_REGISTER	0x0d
#define CFA_DEF_OFFSET		0x0e
#define CFA_DEF_EXPRESSION	0x0f
#define CFA_EXPRESSION		0x10
#define CFA_OFFSET_SF		0x11
#define CFA_DEF_SF		0x12
#define CFA_DEF_OFFSET_SF	0x13
#define CFA_VAL_OFFSET		0x14
#define CFA_VAL_OFFSET_SF	0x15
#define CFA_VAL_EXPRESSION	0x16
#define CFA_NEGATE_RA		0x2d	/* AArch64: the return address is signed, or not */
#define CFA_ARGS_SIZE		0x2e

struct run {
	const struct wefti_cie *c;
	struct wefti_bytes b;
	uintptr_t at;		/* the row's first address */
	size_t depth;		/* of the remembered rows */
};

static void set(uint64_t number, enum how how, int64_t value)
{
	if (number < REGISTERS)
		now.reg[number] = (struct rule){ .how = how, .value = value };
}

static void restore(uint64_t number)
{
	if (number < REGISTERS)
		now.reg[number] = first.reg[number];
}

static struct rule take_program(struct run *r, enum how how)
{
	const uint64_t bytes = wefti_bytes_uleb(&r->b);
	const struct rule rule = { how, (int64_t)r->b.at, (size_t)bytes };

	if (bytes > WEFTI_CFI_ENTRY_MOST)
		r->b.failed = 1;
	r->b.at += (uintptr_t)bytes;
	return rule;
}

static void set_program(struct run *r, enum how how)
{
	const uint64_t number = wefti_bytes_uleb(&r->b);
	const struct rule rule = take_program(r, how);

	if (number < REGISTERS)
		now.reg[number] = rule;
}

static int64_t take_offset(struct run *r, int is_signed)
{
	const int64_t value = is_signed ? wefti_bytes_sleb(&r->b) :
					  (int64_t)wefti_bytes_uleb(&r->b);

	return (int64_t)((uint64_t)value * (uint64_t)r->c->data_align);
}

static void remember(struct run *r)
{
	if (r->depth == DEEP)
		r->b.failed = 1;
	else
		kept[r->depth++] = now;
}

static void recall(struct run *r)
{
	if (r->depth == 0)
		r->b.failed = 1;
	else
		now = kept[--r->depth];
}

static void define_cfa(uint64_t number, int64_t offset)
{
	now.cfa = (struct rule){ .how = IN_REGISTER, .value = offset };
	now.cfa_register = number;
}

/* Instructions that say where the frame is, or keep rows. Returns 0 if it is none. */
static int do_frame(struct run *r, unsigned op)
{
	uint64_t number;

	switch (op) {
	case CFA_REMEMBER:
		remember(r);
		return 1;
	case CFA_RECALL:
		recall(r);
		return 1;
	case CFA_DEF:
		number = wefti_bytes_uleb(&r->b);
		define_cfa(number, (int64_t)wefti_bytes_uleb(&r->b));
		return 1;
	case CFA_DEF_SF:
		number = wefti_bytes_uleb(&r->b);
		define_cfa(number, take_offset(r, 1));
		return 1;
	case CFA_DEF_REGISTER:
		now.cfa_register = wefti_bytes_uleb(&r->b);
		return 1;
	case CFA_DEF_OFFSET:
		now.cfa.value = (int64_t)wefti_bytes_uleb(&r->b);
		return 1;
	case CFA_DEF_OFFSET_SF:
		now.cfa.value = take_offset(r, 1);
		return 1;
	case CFA_DEF_EXPRESSION:
		now.cfa = take_program(r, IS_VALUE);
		return 1;
	default:
		return 0;
	}
}

/* Instructions that say where a register is. Returns 0 if it is none. */
static int do_register(struct run *r, unsigned op)
{
	const int is_signed = op == CFA_OFFSET_SF || op == CFA_VAL_OFFSET_SF;
	uint64_t number;

	switch (op) {
	case CFA_OFFSET_EXTENDED:
	case CFA_OFFSET_SF:
		number = wefti_bytes_uleb(&r->b);
		set(number, AT, take_offset(r, is_signed));
		return 1;
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
		number = wefti_bytes_uleb(&r->b);
		set(number, OFFSET, take_offset(r, is_signed));
		return 1;
	case CFA_REGISTER:
		number = wefti_bytes_uleb(&r->b);
		set(number, IN_REGISTER, (int64_t)wefti_bytes_uleb(&r->b));
		return 1;
	case CFA_RESTORE_EXTENDED:
		restore(wefti_bytes_uleb(&r->b));
		return 1;
	case CFA_UNDEFINED:
		set(wefti_bytes_uleb(&r->b), UNDEFINED, 0);
		return 1;
	case CFA_SAME:
		set(wefti_bytes_uleb(&r->b), SAME, 0);
		return 1;
	case CFA_EXPRESSION:
		set_program(r, AT_PLACE);
		return 1;
	case CFA_VAL_EXPRESSION:
		set_program(r, IS_VALUE);
		return 1;
	default:
		return 0;
	}
}

static void advance(struct run *r, uint64_t units)
{
	r->at += (uintptr_t)(units * r->c->code_align);
}

static void do_other(struct run *r, unsigned op)
{
	if (op == CFA_ADVANCE1)
		advance(r, wefti_bytes_take(&r->b, 1));
	else if (op == CFA_ADVANCE2)
		advance(r, wefti_bytes_take(&r->b, 2));
	else if (op == CFA_ADVANCE4)
		advance(r, wefti_bytes_take(&r->b, 4));
	else if (op == CFA_ARGS_SIZE)
		(void)wefti_bytes_uleb(&r->b);
	else if (op != CFA_NOP && op != CFA_NEGATE_RA)
		r->b.failed = 1;
}

/* Makes `now` the row of the instruction. */
static int run(const struct wefti_cie *c, struct wefti_bytes code, uintptr_t low,
	       uintptr_t pc)
{
	struct run r = { .c = c, .b = code, .at = low };

	while (r.at <= pc && wefti_bytes_left(&r.b)) {
		const unsigned op = (unsigned)wefti_bytes_take(&r.b, 1), low_bits = op & 0x3f;

		if (op >> 6 == CFA_ADVANCE)
			advance(&r, low_bits);
		else if (op >> 6 == CFA_OFFSET)
			set(low_bits, AT, take_offset(&r, 0));
		else if (op >> 6 == CFA_RESTORE)
			restore(low_bits);
		else if (!do_frame(&r, op) && !do_register(&r, op))
			do_other(&r, op);
	}
	return r.b.failed ? -EINVAL : 0;
}

/* --- the caller's registers */

static int find_cfa(const struct wefti_cfi_frame *f, const struct row *row, uintptr_t *cfa)
{
	*cfa = 0;
	if (row->cfa.how == IS_VALUE)
		return wefti_os_cfi_expression(f, (uintptr_t)row->cfa.value, row->cfa.bytes,
					       cfa);
	if (row->cfa.how != IN_REGISTER || row->cfa_register >= REGISTERS)
		return -1;
	*cfa = f->reg[row->cfa_register] + (uintptr_t)row->cfa.value;
	return 0;
}

static int read_at(uintptr_t at, uintptr_t *value)
{
	return wefti_os_unwind_read(value, at, sizeof(*value)) ? 0 : -1;
}

/* f: the function's own registers. *value: the caller's, with the function's in it. */
static int find_register(const struct wefti_cfi_frame *f, const struct rule *rule,
			 uintptr_t cfa, uintptr_t *value)
{
	uintptr_t found = cfa;

	switch (rule->how) {
	case AT:
		return read_at(cfa + (uintptr_t)rule->value, value);
	case OFFSET:
		*value = cfa + (uintptr_t)rule->value;
		return 0;
	case IN_REGISTER:
		if ((uint64_t)rule->value >= REGISTERS)
			return -1;
		*value = f->reg[rule->value];
		return 0;
	case AT_PLACE:
	case IS_VALUE:
		if (wefti_os_cfi_expression(f, (uintptr_t)rule->value, rule->bytes,
					    &found) != 0)
			return -1;
		if (rule->how == AT_PLACE)
			return read_at(found, value);
		*value = found;
		return 0;
	default:
		return 0;
	}
}

static int find_all(struct wefti_cfi_frame *f, const struct row *row)
{
	const struct wefti_cfi_frame own = *f;
	uintptr_t cfa;

	if (row->reg[row->link].how == UNDEFINED || find_cfa(&own, row, &cfa) != 0)
		return -EINVAL;
	f->reg[WEFTI_ARCH_NUMBER_SP] = cfa;
	for (size_t i = 0; i < REGISTERS; i++)
		if (find_register(&own, &row->reg[i], cfa, &f->reg[i]) != 0)
			return -EINVAL;
	f->pc = wefti_arch_code(f->reg[row->link]);
	return 0;
}

/* Makes `now` the instruction's row. */
static int find_row(uintptr_t pc)
{
	struct wefti_bytes code;
	struct wefti_cie c;
	uintptr_t low;

	if (wefti_os_cfi_entries(pc, &c, &code, &low) != 0)
		return -ENOENT;
	first = now = (struct row){ .link = c.link };
	if (run(&c, c.code, pc, pc) != 0)
		return -EINVAL;
	first = now;
	return run(&c, code, low, pc);
}

/* Rows that were found: the threads of a program wait in few places. */
static struct found {
	uintptr_t pc;		/* 0: none */
	struct row row;
} rows[FOUND];

void wefti_os_cfi_forget(void)
{
	for (size_t i = 0; i < FOUND; i++)
		rows[i].pc = 0;
}

int wefti_os_cfi_step(struct wefti_cfi_frame *f, uintptr_t pc)
{
	struct found *r = &rows[pc % FOUND];

	if (r->pc != pc) {
		const int error = find_row(pc);

		if (error)
			return error;
		*r = (struct found){ pc, now };
	}
	return find_all(f, &r->row);
}
