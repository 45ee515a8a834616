/* SPDX-License-Identifier: MIT */
/*
 * kernels.h - a program on another kernel, or in another sandbox, than there is
 *
 * Everything is done from outside, before the program begins: a filter of system calls,
 * bits of the auxiliary vector cleared, another file system over /proc or /sys. The kinds
 * are the sets below, and each row of the flags and parts in os/call/calls.h. The program
 * prints what it finds. That has to be the same as without, and so has its status.
 */
#ifndef WEFT_TESTS_KERNELS_H
#define WEFT_TESTS_KERNELS_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/call/calls.h"
#include "os/call/newer.h"
#include "sandbox.h"

#define KERNELS_LAST	0x3fffffff	/* above all numbers */
#define KERNELS_LINES	600
#define KERNELS_PARTS	8
#define KERNELS_MISSING	77		/* cannot be had here */
#define KERNELS_BROKEN	98

/* Newer than all headers, or not on all CPUs. */
#define NR_CLONE3	435
#define NR_PIDFD_SEND	424	/* the first since Linux 5.1 */
#define NR_EPOLL_PWAIT2	441	/* the first since Linux 5.11 */

/* The calls from `from` to `to`; if `mask` is not 0 only where an argument fits. */
struct kernels_rule {
	long from, to;
	int argument;
	unsigned value;
	int is_mask;		/* one of the bits, else the whole value */
	unsigned error;
};

struct kernels_set {
	const char *name;
	int version;		/* flags and parts that came later are missing; 0: none */
	struct kernels_rule rules[24];
};

#define ALL_OF(name, error)	{ SYS_##name, SYS_##name, -1, 0, 0, error }
#define ONE_OF(number, error)	{ number, number, -1, 0, 0, error }
#define FROM(number, error)	{ number, KERNELS_LAST, -1, 0, 0, error }
#define WHERE(name, argument, value, error)				\
	{ SYS_##name, SYS_##name, argument, value, 0, error }

/* In each the first rule that fits decides. */
static const struct kernels_set kernels_sets[] = {
	{ "Linux 4.18", 418, { FROM(NR_PIDFD_SEND, ENOSYS) } },
	{ "Linux 5.10", 510, { FROM(NR_EPOLL_PWAIT2, ENOSYS) } },
	{ "Docker's default profile", 0, {
		ONE_OF(NR_CLONE3, ENOSYS), ALL_OF(unshare, EPERM), ALL_OF(setns, EPERM),
		{ SYS_clone, SYS_clone, 0, 0x7e020000, 1, EPERM },	/* CLONE_NEW* */
		ALL_OF(bpf, EPERM), ALL_OF(perf_event_open, EPERM),
		ALL_OF(userfaultfd, EPERM), ALL_OF(mbind, EPERM),
		ALL_OF(set_mempolicy, EPERM), ALL_OF(get_mempolicy, EPERM),
		ALL_OF(personality, EPERM), ALL_OF(add_key, EPERM),
		ALL_OF(keyctl, EPERM), ALL_OF(kcmp, EPERM), ALL_OF(acct, EPERM),
		ALL_OF(open_by_handle_at, EPERM),
		{ 425, 427, -1, 0, 0, EPERM },			/* io_uring */
	} },
	{ "an old libseccomp", 0, {
		ONE_OF(NR_CLONE3, ENOSYS), ALL_OF(rseq, EPERM),
		FROM(NR_PIDFD_SEND, EPERM),
	} },
	{ "gVisor", 0, {
		ALL_OF(rseq, ENOSYS), { 424, 427, -1, 0, 0, ENOSYS },
		{ 434, 435, -1, 0, 0, ENOSYS }, { 437, 438, -1, 0, 0, ENOSYS },
		{ 440, 440, -1, 0, 0, ENOSYS }, { 442, KERNELS_LAST, -1, 0, 0, ENOSYS },
		ALL_OF(userfaultfd, ENOSYS), ALL_OF(perf_event_open, ENODEV),
		ALL_OF(sched_setattr, ENOSYS), ALL_OF(sched_getattr, ENOSYS),
		ALL_OF(vmsplice, ENOSYS), WHERE(madvise, 2, 102, EINVAL),
		WHERE(madvise, 2, 103, EINVAL), WHERE(preadv2, 5, 8, EOPNOTSUPP),
		WHERE(pwritev2, 5, 8, EOPNOTSUPP), WHERE(prctl, 0, 59, EINVAL),
	} },
};

#define KERNELS_SETS	(sizeof(kernels_sets) / sizeof(kernels_sets[0]))

#define KERNELS_FLAG(name, call, argument, value, error, need, where, since, without) \
	{ #name " of " #call, since, WHERE(call, argument, value, error) },

static const struct {
	const char *name;
	int since;
	struct kernels_rule rule;
} kernels_flags[] = { WEFTI_FLAGS(KERNELS_FLAG) };

#define KERNELS_FLAGS	(sizeof(kernels_flags) / sizeof(kernels_flags[0]))

enum kernels_kind { KERNELS_AUXV, KERNELS_TREE };

#define KERNELS_PART(name, kind, value, bits, need, where, since, without)	\
	{ #name, KERNELS_##kind, value, bits, since },

static const struct kernels_part {
	const char *name;
	enum kernels_kind kind;
	unsigned long type, bits;
	int since;
} kernels_parts[] = { WEFTI_PARTS(KERNELS_PART) };

#define KERNELS_NPARTS	(sizeof(kernels_parts) / sizeof(kernels_parts[0]))
#define KERNELS_ALL	(KERNELS_SETS + KERNELS_FLAGS + KERNELS_NPARTS)

/* What one kind takes away. */
struct kernels_kind_of {
	const char *name;
	struct kernels_rule rules[32];
	size_t rule_count;
	const struct kernels_part *parts[KERNELS_PARTS];
	size_t part_count;
};

/* A call that is missing as a whole has no flags. */
static inline void kernels_add_flag(struct kernels_kind_of *k,
				    const struct kernels_rule *flag)
{
	for (size_t i = 0; i < k->rule_count; i++)
		if (k->rules[i].argument < 0 && k->rules[i].from <= flag->from &&
		    flag->from <= k->rules[i].to)
			return;
	k->rules[k->rule_count++] = *flag;
}

/* The i-th of KERNELS_ALL; any other: nothing is taken away. */
static inline struct kernels_kind_of kernels_kind(size_t i)
{
	struct kernels_kind_of k = { .name = "as it is" };
	const struct kernels_set *s = i < KERNELS_SETS ? &kernels_sets[i] : NULL;

	if (s) {
		k.name = s->name;
		for (const struct kernels_rule *r = s->rules; r->to; r++)
			k.rules[k.rule_count++] = *r;
		for (size_t n = 0; n < KERNELS_FLAGS && s->version; n++)
			if (kernels_flags[n].since > s->version)
				kernels_add_flag(&k, &kernels_flags[n].rule);
		for (size_t n = 0; n < KERNELS_NPARTS && s->version; n++)
			if (kernels_parts[n].since > s->version)
				k.parts[k.part_count++] = &kernels_parts[n];
	} else if (i < KERNELS_SETS + KERNELS_FLAGS) {
		k.name = kernels_flags[i - KERNELS_SETS].name;
		k.rules[k.rule_count++] = kernels_flags[i - KERNELS_SETS].rule;
	} else if (i < KERNELS_ALL) {
		k.parts[k.part_count++] =
			&kernels_parts[i - KERNELS_SETS - KERNELS_FLAGS];
		k.name = k.parts[0]->name;
	}
	return k;
}

/* --- the filter ----------------------------------------------------- */

static struct sock_filter kernels_lines[KERNELS_LINES];
static unsigned short kernels_used;

static inline void kernels_line(unsigned code, unsigned k, unsigned yes, unsigned no)
{
	if (kernels_used == KERNELS_LINES)
		_exit(KERNELS_BROKEN);
	kernels_lines[kernels_used++] = (struct sock_filter)
		{ (unsigned short)code, (unsigned char)yes, (unsigned char)no, k };
}

static inline void kernels_rule_lines(const struct kernels_rule *r)
{
	const unsigned has_argument = r->argument >= 0;

	kernels_line(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	kernels_line(BPF_JMP | BPF_JGE | BPF_K, (unsigned)r->from, 0,
		     2 + 2 * has_argument);
	kernels_line(BPF_JMP | BPF_JGT | BPF_K, (unsigned)r->to, 1 + 2 * has_argument, 0);
	if (has_argument) {
		kernels_line(BPF_LD | BPF_W | BPF_ABS, (unsigned)(offsetof(
			     struct seccomp_data, args) + 8 * (size_t)r->argument), 0, 0);
		kernels_line(BPF_JMP | BPF_K | (unsigned)(r->is_mask ? BPF_JSET : BPF_JEQ),
			     r->value, 0, 1);
	}
	kernels_line(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | r->error, 0, 0);
}

/* Makes a call that the rule refuses: it has to return the rule's error. */
static inline int kernels_is_refused(const struct kernels_rule *r)
{
	long a[6] = { 0 };

	if (r->argument >= 0)
		a[r->argument] = (long)r->value;
	return syscall(r->from, a[0], a[1], a[2], a[3], a[4], a[5]) == -1 &&
	       errno == (int)r->error;
}

static inline void kernels_filter(const struct kernels_kind_of *k)
{
	struct sock_fprog program = { .filter = kernels_lines };

	if (!k->rule_count)
		return;
	for (size_t i = 0; i < k->rule_count; i++)
		kernels_rule_lines(&k->rules[i]);
	kernels_line(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
	program.len = kernels_used;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(KERNELS_MISSING);
	for (size_t i = 0; i < k->rule_count; i++)
		if (!kernels_is_refused(&k->rules[i])) {
			fprintf(stderr, "call %ld is not refused\n", k->rules[i].from);
			_exit(KERNELS_BROKEN);
		}
}

/* --- parts ------------------------------------------------------------ */

static inline void kernels_hide(const char *path)
{
	if (unshare(CLONE_NEWNS) != 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", path, "tmpfs", 0, NULL) != 0)
		_exit(KERNELS_MISSING);
}

static inline int kernels_has(const struct kernels_kind_of *k, enum kernels_kind kind)
{
	for (size_t i = 0; i < k->part_count; i++)
		if (k->parts[i]->kind == kind)
			return 1;
	return 0;
}

/* Where the stack of a process begins that has just been executed; 0: not known. */
static inline unsigned long kernels_stack(pid_t pid)
{
	char path[40], text[1024];
	unsigned long start = 0;
	const char *at;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	at = fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
	for (int field = 2; at && field < 28; field++)
		at = strchr(at + 1, ' ');
	if (at)
		start = strtoul(at, NULL, 10);
	fclose(file);
	return start;
}

static inline long kernels_word(pid_t pid, unsigned long at)
{
	return ptrace(PTRACE_PEEKDATA, pid, (void *)at, NULL);
}

/* Returns 1 if all of them were there. */
static inline int kernels_clear(pid_t pid, const struct kernels_kind_of *k)
{
	const size_t word = sizeof(long);
	unsigned long at = kernels_stack(pid), type;
	size_t found = 0;

	if (!at)
		return 0;
	at += word * (2 + (unsigned long)kernels_word(pid, at));	/* argv */
	while (kernels_word(pid, at))
		at += word;
	for (at += word; (type = (unsigned long)kernels_word(pid, at)) != 0;
	     at += 2 * word)
		for (size_t i = 0; i < k->part_count; i++) {
			unsigned long value = (unsigned long)kernels_word(pid, at + word);

			if (k->parts[i]->type != type ||
			    k->parts[i]->kind != KERNELS_AUXV)
				continue;
			found++;
			value &= ~k->parts[i]->bits;
			/* An entry without bits is none: its type becomes AT_IGNORE. */
			(void)ptrace(PTRACE_POKEDATA, pid, (void *)(at + word),
				     (void *)value);
			if (!value)
				(void)ptrace(PTRACE_POKEDATA, pid, (void *)at, (void *)1);
		}
	return found > 0;
}

struct kernels_child {
	pid_t pid;		/* 0: it has ended already */
	int out, status;
};

/* The child stops where it has executed the program. */
static inline void kernels_clear_at_exec(struct kernels_child *c,
					 const struct kernels_kind_of *k)
{
	if (waitpid(c->pid, &c->status, 0) != c->pid)
		abort();
	if (!WIFSTOPPED(c->status)) {
		c->pid = 0;
		return;
	}
	if (!kernels_clear(c->pid, k))
		fprintf(stderr, "%s: not in the auxiliary vector here\n", k->name);
	(void)ptrace(PTRACE_DETACH, c->pid, NULL, NULL);
}

/* --- a run ------------------------------------------------------------ */

struct kernels_run {
	char text[8192];
	int status;
};

/* `run` executes the program, and does not return. */
typedef void kernels_program(const void *arg);

static inline struct kernels_child kernels_begin(const struct kernels_kind_of *k,
						 kernels_program *run, const void *arg)
{
	const int is_traced = kernels_has(k, KERNELS_AUXV);
	struct kernels_child c = { .status = 0 };

	c.pid = sandbox_fork(&c.out);
	if (c.pid == 0) {
		for (size_t i = 0; i < k->part_count; i++)
			if (k->parts[i]->kind == KERNELS_TREE)
				kernels_hide(k->parts[i]->name);
		if (is_traced && ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
			_exit(KERNELS_MISSING);
		kernels_filter(k);
		run(arg);
		_exit(KERNELS_BROKEN);
	}
	if (is_traced)
		kernels_clear_at_exec(&c, k);
	return c;
}

static inline void kernels_end(struct kernels_child c, struct kernels_run *r)
{
	memset(r, 0, sizeof(*r));
	sandbox_read(c.out, r->text, sizeof(r->text));
	r->status = c.status;
	if (c.pid && waitpid(c.pid, &r->status, 0) != c.pid)
		abort();
}

static inline int kernels_is_missing(const struct kernels_run *r)
{
	return r->status == KERNELS_MISSING << 8;
}

/* A run that was not what it should be is the same as no other. */
static inline int kernels_are_same(const struct kernels_run *a,
				   const struct kernels_run *b)
{
	return a->status != KERNELS_BROKEN << 8 && a->status == b->status &&
	       strcmp(a->text, b->text) == 0;
}

#endif
