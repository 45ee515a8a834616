/* SPDX-License-Identifier: MIT */
/* test_lacks.c - os/lacks: each lack of the kernel's that a user would notice is told */
#include "os/call/lacks.h"

#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "support.h"

/* --- in a program of its own, under a filter ---------------------------- */

static void print(const struct wefti_os_lack *lack, void *unused)
{
	(void)unused;
	printf("%s%s%s: %s\n", lack->name, lack->is_run ? ", weft run" : "",
	       lack->is_told_later ? ", later" : "", lack->without);
}

static int go(void)
{
	wefti_os_lacks(print, NULL);
	return 0;
}

/* --- which are told ------------------------------------------------------ */

/* Not on all CPUs. */
#ifndef SYS_arch_prctl
#define SYS_arch_prctl	-1
#endif

static char self[4096];

static void program(const void *path)
{
	execl(path, "test_lacks", "go", (char *)NULL);
}

static struct kernels_run base, got;

static int run(const struct kernels_kind_of *k, struct kernels_run *r)
{
	kernels_end(kernels_begin(k, program, self), r);
	CU_ASSERT_TRUE(r->status == 0 || kernels_is_missing(r));
	return r->status == 0;
}

static int is_told(const char *text)
{
	return strstr(got.text, text) != NULL;
}

#define REFUSES(call, error)						\
	{ .name = #call, .rules = { ALL_OF(call, error) }, .rule_count = 1 }

static void a_missing_call_is_told_of(void)
{
	static const struct {
		struct kernels_kind_of kind;
		const char *line;
		int is_new;	/* and so may be missing here */
	} calls[] = {
		{ REFUSES(epoll_create1, EPERM), "epoll_create1: a thread that waits for "
		  "a descriptor holds a kernel thread", 0 },
		{ REFUSES(epoll_ctl, ENOSYS), "epoll_ctl: ", 0 },
		{ REFUSES(eventfd2, EACCES), "eventfd2: ", 0 },
		{ REFUSES(futex_waitv, EPERM), "futex_waitv, weft run: a wait for an "
		  "object that processes share holds a kernel thread", 1 },
		{ REFUSES(io_setup, ENOSYS), "io_setup: each call that waits for a disk "
		  "holds a kernel thread\n", 0 },
		{ REFUSES(membarrier, EPERM), "membarrier, later: weft uses fences in "
		  "each call\n", 0 },
		{ REFUSES(pidfd_open, ENOSYS), "pidfd_open: a wait for a child "
		  "holds a kernel thread\n", 1 },
		{ REFUSES(preadv2, EPERM), "preadv2: ", 0 },
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		if (!run(&calls[i].kind, &got))
			continue;
		CU_ASSERT_TRUE(is_told(calls[i].line));
		if (!is_told(calls[i].line))
			printf("    %s:\n%s", calls[i].line, got.text);
		CU_ASSERT_TRUE(calls[i].is_new ||
			       !strstr(base.text, calls[i].line));
	}
}

static const struct kernels_part *part(const char *name)
{
	for (size_t i = 0; i < KERNELS_NPARTS; i++)
		if (strcmp(kernels_parts[i].name, name) == 0)
			return &kernels_parts[i];
	abort();
}

static void a_missing_flag_is_told_of(void)
{
	const struct kernels_kind_of flags = {
		.name = "flags", .rules = { WHERE(madvise, 2, 102, EINVAL),
			WHERE(prctl, 0, 59, EINVAL) }, .rule_count = 2,
	};

	if (!run(&flags, &got))
		return;
	CU_ASSERT_TRUE(is_told("GUARD_INSTALL, later: the guard of a stack takes two "
			       "mappings"));
	CU_ASSERT_TRUE(is_told("DISPATCH_INCLUSIVE_ON, weft run, later: the threads of "
			       "OpenMP hold kernel threads"));
}

static void a_missing_part_is_told_of(void)
{
	struct kernels_kind_of k = { .name = "parts", .part_count = 1 };

	k.parts[0] = part("HWCAP2_FSGSBASE");
	/* Where the thread pointer is always set by an instruction nothing is missing. */
	if (SYS_arch_prctl >= 0 && run(&k, &got))
		CU_ASSERT_TRUE(is_told("HWCAP2_FSGSBASE: weft uses arch_prctl at each "
				       "switch between threads\n"));
	k.parts[0] = part("/proc");
	if (run(&k, &got))
		CU_ASSERT_TRUE(is_told("/proc: "));
	CU_ASSERT_PTR_NULL(strstr(base.text, "/proc"));
}

/* --- weft run --check says the same ---------------------------------------- */

#define CLI	"cli/weft"

/* The program looked at is this one: another may be linked statically, as busybox is. */
static void check(const void *path)
{
	execl(path, "weft", "run", "--check", self, (char *)NULL);
}

static void a_check_tells_what_is_missing(void)
{
	static const char title[] = "What this kernel lacks, or a filter refuses:";
	static const struct kernels_kind_of kinds[] = {
		REFUSES(epoll_create1, EPERM), REFUSES(io_setup, ENOSYS),
	};
	static const char *const lines[] = {
		"  epoll_create1: without it, a thread that waits for a descriptor holds "
		"a kernel thread",
		"  io_setup: without it, each call that waits for a disk holds a kernel "
		"thread\n",
	};

	if (access(CLI, X_OK) != 0 || access(".libs/libweft-pthread.so", R_OK) != 0) {
		printf("    not here: there is no %s with its library\n", CLI);
		return;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		kernels_end(kernels_begin(&kinds[i], check, CLI), &got);
		if (kernels_is_missing(&got))
			continue;
		CU_ASSERT_EQUAL(got.status, 0);
		CU_ASSERT_TRUE(is_told(title));
		CU_ASSERT_TRUE(is_told(lines[i]));
		/* One sentence each, and the verdict comes last. */
		CU_ASSERT_TRUE(is_told("\nVerdict: "));
		if (strstr(got.text, "Verdict: ") && is_told(lines[i]))
			CU_ASSERT_TRUE(strstr(got.text, lines[i]) <
				       strstr(got.text, "Verdict: "));
		CU_ASSERT_PTR_NULL(strstr(base.text, lines[i] + 2));
	}
}

static const struct test_case cases[] = {
	TEST(a_missing_call_is_told_of),
	TEST(a_missing_flag_is_told_of),
	TEST(a_missing_part_is_told_of),
	TEST(a_check_tells_what_is_missing),
};

int main(int argc, char **argv)
{
	const struct kernels_kind_of as_it_is = kernels_kind(KERNELS_ALL);
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)argv;
	if (argc > 1)
		return go();
	if (n <= 0 || sandbox_is_left_out())
		return 77;
	kernels_end(kernels_begin(&as_it_is, program, self), &base);
	return test_main("os/lacks", cases, sizeof(cases) / sizeof(cases[0]));
}
