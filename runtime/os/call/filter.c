/* SPDX-License-Identifier: MIT */
/*
 * os/call/filter.c - what a program's own filter of system calls would do to weft
 *
 * A filter may end the process at a call, so no call can be tried. The filter's program
 * is followed instead, for each call of os/call/calls.h. The call's number is known and
 * its arguments are not: a branch that depends on an argument is followed both ways. The
 * program only jumps forwards, so one pass finds every answer that it may give. The
 * mildest one counts. What is not followed (the second register, the scratch memory,
 * the CPU's name) counts as unknown, which can only make an answer milder.
 *
 * A filter that the process inherits cannot be read. So the calls that weft needs are
 * tried. A filter that ends the process at one of them would do so a moment later.
 */
#include "os/call/filter.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/call/calls.h"
#include "os/call/copy.h"
#include "os/call/missing.h"
#include "os/call/newer.h"
#include "os/call/vm.h"
#include "syscall.h"

#define LINES_MOST	BPF_MAXINSNS
#define NOT_HERE	(-1)		/* the CPU has no such call */

#ifndef SYS_arch_prctl
#define SYS_arch_prctl	NOT_HERE
#endif
#ifndef SYS_epoll_wait
#define SYS_epoll_wait	NOT_HERE
#endif
#ifndef SYS_poll
#define SYS_poll	NOT_HERE
#endif

enum need { LIBC, PROGRAM, ENDS, ELSE };

#define CALL(name, need, where, since, without)	{ #name, SYS_##name, need },

static const struct {
	const char *name;
	int number;
	enum need need;
} calls[] = { WEFTI_CALLS(CALL) };

/* The mildest first. */
enum answer { PASSES, REFUSED, DEADLY };

/* What is known where a line begins. */
struct state {
	uint32_t a;		/* the accumulator */
	uint8_t is_reached;
	uint8_t is_known;	/* is a? */
};

struct work {
	struct sock_filter line[LINES_MOST];
	struct state at[LINES_MOST];
	unsigned lines;
};

static void arrive(struct work *w, size_t line, struct state with)
{
	struct state *to;

	if (line >= w->lines)
		return;
	to = &w->at[line];
	if (!to->is_reached)
		*to = with;
	else if (!with.is_known || to->a != with.a)
		to->is_known = 0;
}

static enum answer answer_of(uint32_t value)
{
	switch (value & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_KILL_PROCESS: case SECCOMP_RET_KILL_THREAD:
	case SECCOMP_RET_TRAP:
		return DEADLY;
	case SECCOMP_RET_ERRNO:
		return REFUSED;
	default:
		return PASSES;
	}
}

static void load(const struct sock_filter *line, uint32_t number, struct state *s)
{
	s->is_known = 1;
	if (BPF_MODE(line->code) == BPF_ABS &&
	    line->k == offsetof(struct seccomp_data, nr))
		s->a = number;
	else if (BPF_MODE(line->code) == BPF_IMM)
		s->a = line->k;
	else
		s->is_known = 0;
}

static void compute(const struct sock_filter *line, struct state *s)
{
	if (BPF_SRC(line->code) == BPF_K && BPF_OP(line->code) == BPF_AND)
		s->a &= line->k;
	else
		s->is_known = 0;
}

static int holds(const struct sock_filter *line, uint32_t a)
{
	switch (BPF_OP(line->code)) {
	case BPF_JEQ:
		return a == line->k;
	case BPF_JGT:
		return a > line->k;
	case BPF_JGE:
		return a >= line->k;
	default:
		return (a & line->k) != 0;
	}
}

static void jump(struct work *w, size_t i, struct state s)
{
	const struct sock_filter *line = &w->line[i];
	const int is_known = s.is_known && BPF_SRC(line->code) == BPF_K;

	if (BPF_OP(line->code) == BPF_JA) {
		arrive(w, i + 1 + line->k, s);
		return;
	}
	if (!is_known || holds(line, s.a))
		arrive(w, i + 1 + line->jt, s);
	if (!is_known || !holds(line, s.a))
		arrive(w, i + 1 + line->jf, s);
}

static enum answer follow(struct work *w, uint32_t number)
{
	enum answer mildest = DEADLY, here;
	int is_whole = 0;	/* else the kernel takes no such program */

	for (size_t i = 0; i < w->lines; i++)
		w->at[i].is_reached = 0;
	w->at[0] = (struct state){ .is_reached = 1 };
	for (size_t i = 0; i < w->lines; i++) {
		const struct sock_filter *line = &w->line[i];
		struct state s = w->at[i];

		if (!s.is_reached)
			continue;
		switch (BPF_CLASS(line->code)) {
		case BPF_LD:
			load(line, number, &s);
			break;
		case BPF_ALU:
			compute(line, &s);
			break;
		case BPF_MISC:
			s.is_known &= BPF_MISCOP(line->code) == BPF_TAX;
			break;
		case BPF_JMP:
			jump(w, i, s);
			continue;
		case BPF_RET:
			here = BPF_RVAL(line->code) == BPF_K ? answer_of(line->k) :
							       PASSES;
			mildest = here < mildest ? here : mildest;
			is_whole = 1;
			continue;
		}
		arrive(w, i + 1, s);
	}
	return is_whole ? mildest : PASSES;
}

static int read_filter(const void *filter, struct work *w)
{
	struct sock_fprog program;
	size_t bytes;

	if (wefti_os_copy(&program, filter, sizeof(program)) != sizeof(program) ||
	    !program.len || program.len > LINES_MOST)
		return 0;
	w->lines = program.len;
	bytes = w->lines * sizeof(w->line[0]);
	return wefti_os_copy(w->line, program.filter, bytes) == bytes;
}

static void look(struct work *w, struct wefti_os_filtered *seen)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		enum answer answer;

		if (calls[i].number < 0 ||
		    (calls[i].need != ENDS && calls[i].need != ELSE))
			continue;
		answer = follow(w, (uint32_t)calls[i].number);
		if (answer != PASSES && calls[i].need == ENDS && !seen->needed)
			seen->needed = calls[i].name;
		if (answer == DEADLY && !seen->deadly)
			seen->deadly = calls[i].name;
	}
}

COLD void wefti_os_filter_look(const void *filter, struct wefti_os_filtered *seen)
{
	const size_t page = wefti_os_page_size();
	const size_t bytes = (sizeof(struct work) + page - 1) / page * page;
	struct work *w = wefti_os_vm_reserve(bytes);

	*seen = (struct wefti_os_filtered){ NULL, NULL };
	if (!w)
		return;
	if (read_filter(filter, w))
		look(w, seen);
	wefti_os_vm_unmap(w, bytes);
}

static long call(long number, long a, long b, long c, long d)
{
	return wefti_arch_syscall(number, a, b, c, d, 0, 0);
}

/* The calls that END it in os/call/calls.h, each without an effect. */
COLD const char *wefti_os_needed_refused(void)
{
	const uint64_t no_signal = 0;
	const struct timespec no_time = { 0, 0 };
	const long tid = call(SYS_gettid, 0, 0, 0, 0);

	if (wefti_os_is_missing(tid))
		return "gettid";
	if (wefti_os_is_missing(call(SYS_rt_sigtimedwait, (long)&no_signal, 0,
				     (long)&no_time, sizeof(no_signal))))
		return "rt_sigtimedwait";
	if (wefti_os_is_missing(call(SYS_sigaltstack, 0, 0, 0, 0)))
		return "sigaltstack";
	if (wefti_os_is_missing(call(SYS_fcntl, 0, F_GETFL, 0, 0)))
		return "fcntl";
	if (wefti_os_is_missing(call(SYS_tgkill, getpid(), tid, 0, 0)))
		return "tgkill";
	return NULL;
}
