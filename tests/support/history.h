/* SPDX-License-Identifier: MIT */
/*
 * history.h - records calls with their times, and asks whether they linearize
 *
 * A recorder belongs to one kernel thread and holds its operations in order.
 * Each is stamped before its call and after its return from one counter that
 * all recorders share, by seq_cst RMWs: if one operation returned before
 * another was called, their stamps say so.
 *
 *	i = history_call(&rec, OP_PUSH, x);
 *	history_return(&rec, i, wefti_ring_push(ring, x));
 *
 * The checker looks for an order of all operations that respects the stamps
 * and that a sequential model accepts. It takes whole histories that begin in
 * the model's first state; HISTORY_MAX operations are the limit.
 */
#ifndef WEFT_TESTS_HISTORY_H
#define WEFT_TESTS_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#define HISTORY_MAX	64

/* One call. What kind, arg, result and more mean is the model's affair. */
struct history_op {
	uint64_t called, returned;	/* stamps */
	uint64_t arg, result;
	const uint64_t *more;		/* a longer result, or NULL */
	int kind;
	int who;			/* for print only */
};

struct history_recorder {
	struct history_op *op;
	size_t count, capacity;
	int who;
};

/* All recorders of one history share a clock; begin it at zero. */
void history_clock_reset(void);

/* Where it is, for recorders of several processes; NULL: the process's own. */
void history_clock_at(_Atomic uint64_t *clock);

void history_recorder_init(struct history_recorder *r, int who,
			   struct history_op *op, size_t capacity);

/* Returns the index for history_return(); ends the program when it is full. */
size_t history_call(struct history_recorder *r, int kind, uint64_t arg);
void history_return(struct history_recorder *r, size_t index, uint64_t result);

/*
 * Where the members of a crew begin a round at the same moment, as far as that
 * can be had: calls of 100 ns do not overlap behind a barrier that sleeps.
 * Zero-filled is ready; `members` is the same in each call.
 */
struct history_gate {
	_Atomic uint32_t arrived;
};

void history_gate_pass(struct history_gate *gate, uint32_t members);

/*
 * A sequential object. Its state is state_bytes of plain memory that compare
 * equal by memcmp exactly when the states are equal.
 */
struct history_model {
	size_t state_bytes;
	void (*begin)(void *state, const void *setup);
	/* Does the op. Returns 0 if it cannot have the result it had. */
	int (*step)(void *state, const struct history_op *op);
	const char *const *kind_name;
};

enum history_verdict {
	HISTORY_LINEARIZABLE,
	HISTORY_BROKEN,
	HISTORY_TOO_LONG,
	HISTORY_UNDECIDED	/* the search came to its bound */
};

/*
 * `setup` goes to the model's begin. Where many calls overlap, a history without an
 * order has factorially many beginnings. So the search keeps at most
 * HISTORY_MEMO_MOST of them, and then gives no verdict.
 */
#define HISTORY_MEMO_MOST	((size_t)1 << 17)

enum history_verdict history_check(const struct history_model *model,
				   const void *setup,
				   const struct history_op *op, size_t count);

/*
 * A history made by hand: each operation is { called, returned, arg, result,
 * more, kind, caller }.
 */
#define HISTORY_JUDGE(model, setup, ...)				\
	history_check((model), (setup),					\
		      (const struct history_op[]){ __VA_ARGS__ },	\
		      sizeof((const struct history_op[]){ __VA_ARGS__ }) / \
		      sizeof(struct history_op))

/* The operations of all recorders into one array; returns how many. */
size_t history_merge(struct history_op *out, size_t capacity,
		     const struct history_recorder *r, size_t recorders);

/* On stderr, in the order of their calls. */
void history_print(const struct history_model *model,
		   const struct history_op *op, size_t count);

#endif
