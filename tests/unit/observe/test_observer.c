/* SPDX-License-Identifier: MIT */
/* Tests of observe/observer: which kernel threads it is, and when. */
#include "child.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/resource.h>

#include "observe/dump.h"
#include "observe/observer.h"

static void libunwind_is_found_by_the_start(void)
{
	for (int i = 0; i < 2; i++) {
		runtime_begin();
		CU_ASSERT_TRUE(wefti_os_unwind_is_loaded());
		CU_ASSERT_EQUAL(wefti_observer_kthreads(), 1);
		runtime_end();
	}
}

static void changes_its_root(void)
{
	must(chroot("/tmp") == 0);
	must(weft_start(NULL) == 0);
	fprintf(stderr, "loaded: %d\n", wefti_os_unwind_is_loaded());
	must(weft_dump(STDERR_FILENO) == 0);
	must(weft_stop() == 0);
}

static void in_another_root_it_is_never_loaded(void)
{
	if (geteuid() != 0) {
		printf("    not tested: needs root\n");
		return;
	}
	child_begin(changes_its_root);
	child_end();
	CU_ASSERT(child_said("loaded: 0\n"));
	CU_ASSERT(child_said("libunwind is not loaded"));
	CU_ASSERT(child_said("weft: end of dump\n"));
	CU_ASSERT_EQUAL(child.status, 0);
}

static char folder[] = "/tmp/weft-root-XXXXXX";

/* Its names mean something else, and there is no descriptor left. */
static void changes_all(void)
{
	struct rlimit none = { 0, 0 };

	must(weft_start(NULL) == 0);
	must(chroot(folder) == 0 && chdir("/") == 0);
	must(setrlimit(RLIMIT_NOFILE, &none) == 0);
	must(setuid(65534) == 0);
	must(weft_dump(STDERR_FILENO) == 0);
}

static void what_the_program_does_after_the_start_leaves_the_stacks(void)
{
	if (geteuid() != 0) {
		printf("    not tested: needs root\n");
		return;
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	child_begin(changes_all);
	child_end();
	CU_ASSERT(child_said("weft: end of dump\n"));
	CU_ASSERT_FALSE(child_said("libunwind is not loaded"));
	CU_ASSERT(child_said("    #4  "));
	CU_ASSERT_EQUAL(child.status, 0);
	CU_ASSERT_EQUAL(rmdir(folder), 0);
}

/* --- one that is lent ---------------------------------------------- */

static sem_t rung;

static void ring(void)
{
	sem_post(&rung);
}

static void *work_when_it_rings(void *unused)
{
	for (;;) {
		sem_wait(&rung);
		wefti_observer_work();
	}
	return unused;
}

static void lends_a_kernel_thread(void)
{
	pthread_t t;

	sem_init(&rung, 0, 0);
	must(pthread_create(&t, NULL, work_when_it_rings, NULL) == 0);
	wefti_observer_lend(ring);
	must(weft_start(NULL) == 0);
	fprintf(stderr, "of its own: %u\n", wefti_observer_kthreads());
	wefti_observer_on_quit(SIGQUIT, NULL, NULL);	/* as a layer above */
	child_wait();
	must(weft_stop() == 0);
	fprintf(stderr, "stopped, and wants no more: %d\n",
		wefti_observer_work() == INT64_MAX);
}

static void a_lent_kernel_thread_writes_the_dump(void)
{
	child_begin(lends_a_kernel_thread);
	CU_ASSERT(child_expect("weft: end of dump\n"));
	CU_ASSERT(child_said("of its own: 0\n"));
	CU_ASSERT(child_said("weft: SIGQUIT\n"));
	child_go();
	child_end();
	CU_ASSERT(child_said("stopped, and wants no more: 1\n"));
	CU_ASSERT_EQUAL(child.status, 0);
}

/* libunwind is found once in a process, so the tests with a child go first. */
static const struct test_case cases[] = {
	TEST(in_another_root_it_is_never_loaded),
	TEST(what_the_program_does_after_the_start_leaves_the_stacks),
	TEST(a_lent_kernel_thread_writes_the_dump),
	TEST(libunwind_is_found_by_the_start),
};

TEST_MAIN("observe/observer", cases)
