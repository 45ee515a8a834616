/* SPDX-License-Identifier: MIT */
/* test_filter.c - os/filter: what a filter of system calls would do to weft */
#include "os/call/filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "refused.h"
#include "support.h"

#define ALLOW	SECCOMP_RET_ALLOW
#define KILL	SECCOMP_RET_KILL_PROCESS
#define EPERMS	(SECCOMP_RET_ERRNO | EPERM)
#define NUMBER	offsetof(struct seccomp_data, nr)
#define ARG	offsetof(struct seccomp_data, args)

#define LOAD(offset)	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset))
#define RETURN(answer)	BPF_STMT(BPF_RET | BPF_K, (answer))
#define JUMP(how, k, yes, no)	BPF_JUMP(BPF_JMP | (how) | BPF_K, (k), (yes), (no))

static struct wefti_os_filtered look(struct sock_filter *lines, size_t n)
{
	const struct sock_fprog program = { (unsigned short)n, lines };
	struct wefti_os_filtered seen = { "?", "?" };

	wefti_os_filter_look(&program, &seen);
	return seen;
}

#define LOOK(...)							\
	look((struct sock_filter[]){ __VA_ARGS__ },			\
	     sizeof((struct sock_filter[]){ __VA_ARGS__ }) /		\
	     sizeof(struct sock_filter))

/* One call has this answer, and all others the other one. */
static struct wefti_os_filtered look_at_one(long number, unsigned answer,
					    unsigned others)
{
	return LOOK(LOAD(NUMBER), JUMP(BPF_JEQ, (unsigned)number, 0, 1),
		    RETURN(answer), RETURN(others));
}

static void each_call_is_found(void)
{
	for (size_t i = 0; i < REFUSED_CALLS; i++) {
		const struct refused_call *c = &refused_calls[i];
		const int ends = c->need == REFUSED_ENDS;
		const int counts = ends || c->need == REFUSED_ELSE;
		struct wefti_os_filtered seen;

		if (c->number < 0)
			continue;
		seen = look_at_one(c->number, EPERMS, ALLOW);
		CU_ASSERT_PTR_NULL(seen.deadly);
		CU_ASSERT(ends ? seen.needed && !strcmp(seen.needed, c->name)
			       : !seen.needed);
		seen = look_at_one(c->number, KILL, ALLOW);
		CU_ASSERT(counts ? seen.deadly && !strcmp(seen.deadly, c->name)
				 : !seen.deadly);
		CU_ASSERT(ends ? seen.needed != NULL : !seen.needed);
		seen = look_at_one(c->number, SECCOMP_RET_TRAP, ALLOW);
		CU_ASSERT_EQUAL(seen.deadly != NULL, counts);
	}
}

static void a_list_of_what_is_allowed_is_followed(void)
{
	static struct sock_filter line[2 * REFUSED_CALLS + 2];
	struct wefti_os_filtered seen;
	size_t n = 0;

	line[n++] = (struct sock_filter)LOAD(NUMBER);
	for (size_t i = 0; i < REFUSED_CALLS; i++) {
		if (refused_calls[i].number < 0)
			continue;
		line[n++] = (struct sock_filter)JUMP(
			BPF_JEQ, (unsigned)refused_calls[i].number, 0, 1);
		line[n++] = (struct sock_filter)RETURN(ALLOW);
	}
	line[n++] = (struct sock_filter)RETURN(KILL);
	seen = look(line, n);
	CU_ASSERT(!seen.needed && !seen.deadly);
	line[2].k = KILL;
	seen = look(line, n);
	CU_ASSERT(!seen.needed == (refused_calls[0].need != REFUSED_ENDS));
}

/* What an argument decides may pass. What is refused with each argument may not. */
static void arguments_are_not_known(void)
{
	struct wefti_os_filtered seen;

	seen = LOOK(LOAD(NUMBER), JUMP(BPF_JEQ, SYS_tgkill, 0, 3), LOAD(ARG),
		    JUMP(BPF_JEQ, 5, 1, 0), RETURN(KILL), RETURN(ALLOW));
	CU_ASSERT(!seen.needed && !seen.deadly);
	seen = LOOK(LOAD(NUMBER), JUMP(BPF_JEQ, SYS_tgkill, 0, 4), LOAD(ARG),
		    JUMP(BPF_JSET, 5, 0, 1), RETURN(KILL), RETURN(EPERMS),
		    RETURN(ALLOW));
	CU_ASSERT_PTR_NOT_NULL_FATAL(seen.needed);
	CU_ASSERT_STRING_EQUAL(seen.needed, "tgkill");
	CU_ASSERT_PTR_NULL(seen.deadly);
	/* It is compared with itself, by the second register. */
	seen = LOOK(LOAD(NUMBER), BPF_STMT(BPF_MISC | BPF_TAX, 0),
		    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 1), RETURN(KILL),
		    RETURN(ALLOW));
	CU_ASSERT(!seen.needed && !seen.deadly);
}

static void the_number_is_compared_in_all_ways(void)
{
	struct wefti_os_filtered seen;

	seen = LOOK(LOAD(NUMBER), JUMP(BPF_JGE, 0x40000000, 0, 1), RETURN(KILL),
		    RETURN(ALLOW));
	CU_ASSERT(!seen.needed && !seen.deadly);
	seen = LOOK(LOAD(NUMBER), JUMP(BPF_JGT, SYS_tgkill, 2, 0),
		    JUMP(BPF_JGE, SYS_tgkill, 0, 1), RETURN(KILL), RETURN(ALLOW));
	CU_ASSERT_PTR_NOT_NULL_FATAL(seen.deadly);
	CU_ASSERT_STRING_EQUAL(seen.deadly, "tgkill");
	seen = LOOK(LOAD(NUMBER), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0),
		    JUMP(BPF_JEQ, 0, 0, 1), RETURN(EPERMS), RETURN(ALLOW));
	CU_ASSERT_PTR_NOT_NULL(seen.needed);
	seen = LOOK(BPF_STMT(BPF_LD | BPF_IMM, 7),
		    BPF_STMT(BPF_JMP | BPF_JA, 1), RETURN(KILL),
		    JUMP(BPF_JEQ, 7, 0, 1), RETURN(ALLOW), RETURN(KILL));
	CU_ASSERT(!seen.needed && !seen.deadly);
	seen = LOOK(LOAD(NUMBER), BPF_STMT(BPF_RET | BPF_A, 0));
	CU_ASSERT(!seen.needed && !seen.deadly);
}

/* Nothing is said of it: the kernel refuses it. */
static void what_cannot_be_read_is_left_to_the_kernel(void)
{
	struct sock_filter kill = RETURN(KILL);
	struct sock_filter *none = mmap(NULL, 4096, PROT_NONE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct wefti_os_filtered seen;

	wefti_os_filter_look(none, &seen);
	CU_ASSERT(!seen.needed && !seen.deadly);
	seen = look(none, 3);
	CU_ASSERT(!seen.needed && !seen.deadly);
	seen = look(&kill, 0);
	CU_ASSERT(!seen.needed && !seen.deadly);
	seen = look(&kill, BPF_MAXINSNS + 1);
	CU_ASSERT(!seen.needed && !seen.deadly);
	seen = LOOK(JUMP(BPF_JEQ, 0, 200, 200));
	CU_ASSERT(!seen.needed && !seen.deadly);
	munmap(none, 4096);
}

/* The filter is inherited, so it cannot be read. */
static void a_needed_call_that_is_refused_is_named(void)
{
	if (sandbox_is_left_out())
		return;
	CU_ASSERT_PTR_NULL(wefti_os_needed_refused());
	for (size_t i = 0; i < REFUSED_CALLS; i++) {
		const struct refused_call *c = &refused_calls[i];
		const char *name;
		int status;
		pid_t child;

		if (c->need != REFUSED_ENDS)
			continue;
		child = fork();
		if (child == 0) {
			if (sandbox_refuses((unsigned)c->number, EPERM) != 0)
				_exit(1);
			name = wefti_os_needed_refused();
			/* AddressSanitizer calls sigaltstack() in front of _exit(). */
			syscall(SYS_exit_group,
				name && strcmp(name, c->name) == 0 ? 0 : 2);
		}
		CU_ASSERT_EQUAL_FATAL(waitpid(child, &status, 0), child);
		CU_ASSERT_EQUAL(status, 0);
	}
}

static const struct test_case cases[] = {
	TEST(each_call_is_found),
	TEST(a_list_of_what_is_allowed_is_followed),
	TEST(arguments_are_not_known),
	TEST(the_number_is_compared_in_all_ways),
	TEST(what_cannot_be_read_is_left_to_the_kernel),
	TEST(a_needed_call_that_is_refused_is_named),
};

TEST_MAIN("os/filter", cases)
