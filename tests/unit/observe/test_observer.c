/* SPDX-License-Identifier: MIT */
/* Tests of observe/observer: which kernel threads it is, and when. */
#include "child.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include "observe/dump.h"
#include "observe/observer.h"

/* As soon as the start is over, and never again. */
static void libunwind_is_loaded_when_the_start_is_over(void)
{
	runtime_begin();
	CU_ASSERT_FALSE(wefti_unwind_will_load());
	CU_ASSERT_TRUE(wefti_os_unwind_is_loaded());
	CU_ASSERT_EQUAL(wefti_observer_kthreads(), 1);
	runtime_end();
	runtime_begin();
	CU_ASSERT_FALSE(wefti_unwind_will_load());
	CU_ASSERT_EQUAL(wefti_observer_kthreads(), 1);
	runtime_end();
}

static void changes_its_root(void)
{
	must(chroot("/tmp") == 0);
	must(weft_start(NULL) == 0);
	fprintf(stderr, "loaded: %d, will be: %d\n", wefti_os_unwind_is_loaded(),
		wefti_unwind_will_load());
	must(weft_dump(STDERR_FILENO) == 0);
	must(weft_stop() == 0);
	fprintf(stderr, "loaded: %d\n", wefti_os_unwind_is_loaded());
}

static void in_another_root_it_is_never_loaded(void)
{
	if (geteuid() != 0) {
		printf("    not tested: needs root\n");
		return;
	}
	child_begin(changes_its_root);
	child_end();
	CU_ASSERT(child_said("loaded: 0, will be: 0\n"));
	CU_ASSERT(child_said("libunwind is not loaded"));
	CU_ASSERT(child_said("weft: end of dump\n"));
	CU_ASSERT(child_said("loaded: 0\n"));
	CU_ASSERT_EQUAL(child.status, 0);
}

/* --- the loader's end ----------------------------------------------- */

#define STARTS		20
#define IS_ENDING	4u	/* the kernel's PF_EXITING */

/* The flags of the kernel thread, the seventh word behind its name; 0: it is gone. */
static unsigned flags_of(const char *task)
{
	char path[300], line[600] = "";
	unsigned flags = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%s/stat", task);
	f = fopen(path, "r");
	if (!f)
		return 0;
	if (fgets(line, sizeof(line), f) && strstr(line, "(weft-loader) "))
		must(sscanf(strstr(line, "(weft-loader) ") + strlen("(weft-loader) "),
			    "%*c %*d %*d %*d %*d %*d %u", &flags) == 1);
	fclose(f);
	return flags;
}

/* Exits with 1 if the loader could still return to user mode. */
static void looks_for_the_loader(void)
{
	DIR *tasks;
	struct dirent *task;
	unsigned flags;
	int runs = 0;

	must(weft_start(NULL) == 0);
	tasks = opendir("/proc/self/task");
	must(tasks != NULL);
	while ((task = readdir(tasks)) != NULL) {
		flags = flags_of(task->d_name);
		runs += flags != 0 && !(flags & IS_ENDING);
	}
	_exit(runs != 0 && !wefti_unwind_will_load());
}

/* Else it would keep the ids that the program then changes. */
static void the_loader_has_ended_when_the_start_is_over(void)
{
	int good = 0, status;
	pid_t child_id;

	if (getenv("WEFT_TEST_QEMU")) {
		printf("    not tested: an emulator's kernel threads end later\n");
		return;
	}
	for (int i = 0; i < STARTS; i++) {
		child_id = fork();
		if (child_id == 0)
			looks_for_the_loader();
		must(waitpid(child_id, &status, 0) == child_id);
		good += status == 0;
	}
	CU_ASSERT_EQUAL(good, STARTS);
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
	while (wefti_unwind_will_load())	/* the start does not wait for ever */
		sched_yield();
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

/*
 * libunwind is loaded once in a process, so the tests with a child that loads
 * it go first.
 */
static const struct test_case cases[] = {
	TEST(the_loader_has_ended_when_the_start_is_over),
	TEST(in_another_root_it_is_never_loaded),
	TEST(a_lent_kernel_thread_writes_the_dump),
	TEST(libunwind_is_loaded_when_the_start_is_over),
};

TEST_MAIN("observe/observer", cases)
