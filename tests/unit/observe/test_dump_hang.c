/* SPDX-License-Identifier: MIT */
/* Tests of dumps by SIGQUIT: that they come, and again, whatever hangs. */
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <link.h>
#include <sys/time.h>

#include "child.h"
#include "interrupted.h"
#include "lockfree/atomic.h"
#include "support.h"

#define END	"weft: end of dump"

NOINLINE static void call_spin(void)
{
	for (;;)
		compiler_barrier();
}

static void *spinner(void *unused)
{
	call_spin();
	return unused;
}

/*
 * By SIGQUIT, and that names all of them, in that order. A kernel thread that got
 * no CPU for 50 ms has not answered, and threads that take turns go on meanwhile:
 * again then, and only then.
 */
static void dump_naming(const char *const *names)
{
	const char *at;
	int again;

	do {
		child_forget();
		child_signal(SIGQUIT);
		CU_ASSERT_FATAL(child_expect(END));
		again = child_said("did not answer") ||
			child_said("went on during the dump");
	} while (again);
	at = child.text;
	for (; *names; names++) {
		at = strstr(at, *names);
		if (!at)
			fprintf(stderr, "no %s in:\n%s", *names, child.text);
		CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	}
}

#define dump_naming(...) \
	dump_naming((const char *const []){ __VA_ARGS__, NULL })

static void spins(void)
{
	must(weft_start(&(struct weft_options){ .vcpus = 1 }) == 0);
	spawn_named("spinner", 0, spinner, NULL);
	fprintf(stderr, "runs\n");
	call_spin();
}

static void sigquit_shows_threads_that_compute(void)
{
	child_begin(spins);
	CU_ASSERT(child_expect("runs"));
	for (int i = 0; i < 3; i++)
		dump_naming(" call_spin+");
	child_kill();
}

/*
 * Where a signal came there is no call: its address is the function's own, be it
 * that of the first instruction (a compiler may put a mark for branches before it). The
 * caller of that has called, be it by its last one. Another text than call_spin()'s, for
 * compilers make one of two alike.
 */
NOINLINE static void call_for_ever(void)
{
	for (;;)
		__asm__ volatile("/* for ever */" ::: "memory");
}

NOINLINE static void is_interrupted(void)
{
	call_for_ever();
}

static void stay_in_handler(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	if (wefti_arch_ucontext_pc(context) - (uintptr_t)call_for_ever >= 16)
		return;		/* too early */
	fprintf(stderr, "in the handler\n");
	call_spin();
}

static void spins_in_handler(void)
{
	const struct itimerval each_ms = { { 0, 1000 }, { 0, 1000 } };
	struct sigaction action = {
		.sa_sigaction = stay_in_handler, .sa_flags = SA_SIGINFO,
	};

	must(weft_start(&(struct weft_options){ .vcpus = 1,
						.slice_ns = -1 }) == 0);
	must(sigaction(SIGVTALRM, &action, NULL) == 0);
	must(setitimer(ITIMER_VIRTUAL, &each_ms, NULL) == 0);
	is_interrupted();
}

static void functions_are_named_on_both_sides_of_a_signal(void)
{
	child_begin(spins_in_handler);
	CU_ASSERT(child_expect("in the handler"));
	for (int i = 0; i < 3; i++)
		dump_naming(" stay_in_handler+", " call_for_ever+",
			    " is_interrupted+", " spins_in_handler+",
			    " child_begin+");
	child_kill();
}

static _Atomic int deaf_count;

/* Every VCPU in a loop with all signals blocked: none answers. */
static void *deaf(void *unused)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (fetch_add_seq_cst(&deaf_count, 1) == 1)
		fprintf(stderr, "both run\n");
	call_spin();
	return unused;
}

static void all_hang(void)
{
	const struct weft_options options = { .vcpus = 2, .slice_ns = -1 };

	must(weft_start(&options) == 0);
	spawn_named("deaf", WEFT_LIGHT, deaf, NULL);
	deaf(NULL);
}

static void a_dump_comes_twice_when_all_vcpus_hang(void)
{
	child_begin(all_hang);
	CU_ASSERT(child_expect("both run"));
	for (int i = 0; i < 2; i++) {
		const char *at;

		child_forget();
		child_signal(SIGQUIT);
		CU_ASSERT(child_expect(END));
		at = strstr(child.text, "did not answer");
		CU_ASSERT_PTR_NOT_NULL_FATAL(at);
		CU_ASSERT_PTR_NOT_NULL(strstr(at + 1, "did not answer"));
	}
	child_kill();
}

/* The loader's lock is held here, and the object list with it. */
static int in_loader(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)info;
	(void)size;
	(void)unused;
	fprintf(stderr, "in the loader\n");
	call_spin();
	return 0;
}

static void hangs_in_loader(void)
{
	must(weft_start(NULL) == 0);
	dl_iterate_phdr(in_loader, NULL);
}

static void a_dump_comes_while_the_loaders_lock_is_held(void)
{
	child_begin(hangs_in_loader);
	CU_ASSERT(child_expect("in the loader"));
	for (int i = 0; i < 2; i++)
		dump_naming(" in_loader+");
	child_kill();
}

/* malloc's locks are free()d under by a handler that stays. */
static void stay(int signal)
{
	(void)signal;
	fprintf(stderr, "stays\n");
	call_spin();
}

static void hangs_in_malloc(void)
{
	void *blocks[64];
	struct sigaction action = { .sa_handler = stay };

	must(weft_start(&(struct weft_options){ .vcpus = 1,
						.slice_ns = -1 }) == 0);
	sigaction(SIGVTALRM, &action, NULL);
	fprintf(stderr, "ready\n");
	for (;;) {
		for (int i = 0; i < 64; i++)
			blocks[i] = malloc(5000);	/* beyond the caches */
		for (int i = 0; i < 64; i++)
			free(blocks[i]);
	}
}

static void a_dump_comes_twice_while_malloc_is_interrupted(void)
{
	for (int i = 0; i < 10; i++) {
		child_begin(hangs_in_malloc);
		CU_ASSERT(child_expect("ready\n"));
		child_signal(SIGVTALRM);
		CU_ASSERT(child_expect("stays\n"));
		for (int j = 0; j < 2; j++) {
			dump_naming(" stay+", " hangs_in_malloc+");
		}
		child_kill();
	}
}

/* The same in dlopen(), which has another lock. */

static char module_path[PATH_MAX];

/* A module beside this program, or in the folder that libtool puts it in. */
static void find_module(void)
{
	char self[PATH_MAX / 2] = "";
	static const char *const between[] = { "", "../" };

	CU_ASSERT_FATAL(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	char *folder = dirname(self);

	for (size_t i = 0; i < sizeof(between) / sizeof(between[0]); i++) {
		snprintf(module_path, sizeof(module_path), "%s/%s%s", folder,
			 between[i], "hanging_module.so");
		if (access(module_path, R_OK) == 0)
			return;
	}
	CU_FAIL_FATAL("there is no hanging_module.so");
}

static void hangs_in_dlopen_at_once(void)
{
	must(weft_start(NULL) == 0);
	dlopen(module_path, RTLD_NOW);
}

static void hangs_in_dlopen(void)
{
	must(weft_start(NULL) == 0);
	dlopen(module_path, RTLD_NOW);
}

static void a_dump_comes_twice_in_the_middle_of_dlopen(void)
{
	find_module();
	child_begin(hangs_in_dlopen);
	CU_ASSERT(child_expect("in dlopen"));
	for (int i = 0; i < 2; i++)
		dump_naming(" hang_in_constructor+");
	child_kill();
	child_begin(hangs_in_dlopen_at_once);
	CU_ASSERT(child_expect("in dlopen"));
	for (int i = 0; i < 2; i++) {
		child_forget();
		child_signal(SIGQUIT);
		CU_ASSERT(child_expect(END));
	}
	child_kill();
}

static const struct test_case cases[] = {
	TEST(sigquit_shows_threads_that_compute),
	TEST(functions_are_named_on_both_sides_of_a_signal),
	TEST(a_dump_comes_twice_when_all_vcpus_hang),
	TEST(a_dump_comes_while_the_loaders_lock_is_held),
	TEST(a_dump_comes_twice_while_malloc_is_interrupted),
	TEST(a_dump_comes_twice_in_the_middle_of_dlopen),
};

TEST_MAIN("observe/dump_hang", cases)
