/* SPDX-License-Identifier: MIT */
/* test_tasks.c - os/tasks: each kernel thread once, and what is read of it */
#include "os/call/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holdings.h"
#include "lockfree/atomic.h"
#include "os/call/futex.h"
#include "os/call/tid.h"
#include "os/kthread/kthread.h"

#define CREW	200		/* more than the kernel lists in one call */

static int crew_tid[CREW], seen[CREW + 64];
static size_t seen_count;
static _Atomic uint32_t here, is_over;

static void *wait_here(void *tid)
{
	*(int *)tid = wefti_os_gettid();
	fetch_add_seq_cst(&here, 1);
	while (!load_seq_cst(&is_over))
		wefti_os_futex_wait(&is_over, 0, INT64_MAX);
	return NULL;
}

static void note(int tid, void *arg)
{
	CU_ASSERT_PTR_EQUAL(arg, &here);
	if (seen_count < sizeof(seen) / sizeof(*seen))
		seen[seen_count++] = tid;
}

static size_t times_seen(int tid)
{
	size_t n = 0;

	for (size_t i = 0; i < seen_count; i++)
		n += seen[i] == tid;
	return n;
}

static void each_is_visited_once_however_many_there_are(void)
{
	static pthread_t crew[CREW];
	size_t listed, wrong = 0;

	store_seq_cst(&is_over, 0);
	for (int i = 0; i < CREW; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&crew[i], NULL, wait_here,
						     &crew_tid[i]), 0);
	while (load_seq_cst(&here) < CREW)
		wefti_os_yield();
	listed = holdings_entries("/proc/self/task") - 2;	/* . and .. */
	CU_ASSERT_EQUAL(wefti_os_tasks(note, &here), (int)listed);
	CU_ASSERT_EQUAL(wefti_os_tasks(NULL, NULL), (int)listed);
	CU_ASSERT_EQUAL(seen_count, listed);
	for (size_t i = 0; i < CREW; i++)
		wrong += times_seen(crew_tid[i]) != 1;
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(times_seen(wefti_os_gettid()), 1);
	CU_ASSERT_EQUAL(times_seen(0), 0);
	store_seq_cst(&is_over, 1);
	wefti_os_futex_wake(&is_over, CREW);
	for (int i = 0; i < CREW; i++)
		pthread_join(crew[i], NULL);
}

static void a_line_is_cut_where_it_or_the_room_ends(void)
{
	int tid = wefti_os_gettid();
	char line[64], small[5] = "....", one[1] = { '.' };

	CU_ASSERT_EQUAL_FATAL(pthread_setname_np(pthread_self(), "a (name) b"),
			      0);
	wefti_os_task_line(tid, "comm", line, sizeof(line));
	CU_ASSERT_STRING_EQUAL(line, "a (name) b");
	wefti_os_task_line(tid, "status", line, sizeof(line));
	CU_ASSERT_STRING_EQUAL(line, "Name:\ta (name) b");
	wefti_os_task_line(tid, "comm", small, sizeof(small));
	CU_ASSERT_STRING_EQUAL(small, "a (n");
	wefti_os_task_line(tid, "comm", one, sizeof(one));
	CU_ASSERT_EQUAL(one[0], 0);
	/* An empty first line. */
	CU_ASSERT_EQUAL_FATAL(pthread_setname_np(pthread_self(), ""), 0);
	wefti_os_task_line(tid, "comm", line, sizeof(line));
	CU_ASSERT_STRING_EQUAL(line, "");
}

static void a_text_has_all_lines(void)
{
	int tid = wefti_os_gettid();
	char text[64];

	CU_ASSERT_EQUAL_FATAL(pthread_setname_np(pthread_self(), "a\nb) S 7"),
			      0);
	CU_ASSERT_EQUAL(wefti_os_task_text(tid, "comm", text, sizeof(text)), 1);
	CU_ASSERT_STRING_EQUAL(text, "a\nb) S 7\n");
	/* So the state is found behind the last bracket: not that of the name. */
	CU_ASSERT_EQUAL(wefti_os_kthread_state(tid), 'R');
	CU_ASSERT_EQUAL(wefti_os_task_text(tid, "no such file", text,
					   sizeof(text)), 0);
	CU_ASSERT_STRING_EQUAL(text, "");
	/* A file that is empty says nothing: it has no children. */
	CU_ASSERT_EQUAL(wefti_os_task_text(tid, "children", text,
					   sizeof(text)), 0);
	CU_ASSERT_STRING_EQUAL(text, "");
}

static void what_cannot_be_read_is_an_empty_line(void)
{
	static const char *const files[] = {
		"no such file", "", "fd", "comm/comm",
		"a name of a file that is so long that its path does not fit",
	};
	char room[128], *line = room + 64;

	memset(room, '.', 64);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		strcpy(line, "as before");
		wefti_os_task_line(wefti_os_gettid(), files[i], line, 64);
		CU_ASSERT_STRING_EQUAL(line, "");
	}
	strcpy(line, "as before");
	wefti_os_task_line(-1, "comm", line, 64);
	CU_ASSERT_STRING_EQUAL(line, "");
	strcpy(line, "as before");
	wefti_os_task_line(1 << 30, "comm", line, 64);
	CU_ASSERT_STRING_EQUAL(line, "");
	/* A negative result was no index. */
	for (int i = 0; i < 64; i++)
		CU_ASSERT_EQUAL(room[i], '.');
}

/* As where /proc is not mounted. */
static void without_proc_nobody_is_visited(void)
{
	struct rlimit before, none;
	char line[64] = "as before";
	int tid = wefti_os_gettid();

	CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	seen_count = 0;
	CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &none), 0);
	errno = 17;
	CU_ASSERT_EQUAL(wefti_os_tasks(note, &here), -1);
	wefti_os_task_line(tid, "comm", line, sizeof(line));
	CU_ASSERT_EQUAL(errno, 17);
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &before), 0);
	CU_ASSERT_EQUAL(seen_count, 0);
	CU_ASSERT_STRING_EQUAL(line, "");
}

static void no_descriptor_is_left_open(void)
{
	size_t before = holdings_entries("/proc/self/fd");
	char line[64];

	for (int i = 0; i < 10; i++) {
		CU_ASSERT_TRUE(wefti_os_tasks(NULL, NULL) > 0);
		wefti_os_task_line(wefti_os_gettid(), "comm", line,
				   sizeof(line));
		wefti_os_task_line(wefti_os_gettid(), "fd", line, sizeof(line));
	}
	CU_ASSERT_EQUAL(holdings_entries("/proc/self/fd"), before);
}

static pid_t make_traced(void)
{
	pid_t child = fork();

	if (child == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
			raise(SIGSTOP);
		_exit(0);
	}
	return child;
}

static void the_tracer_of_a_process_is_told(void)
{
	pid_t child;
	int status;

	CU_ASSERT_EQUAL(wefti_os_tracer(-1), 0);
	child = make_traced();
	CU_ASSERT_EQUAL_FATAL(waitpid(child, &status, 0), child);
	if (!WIFSTOPPED(status)) {
		puts("    not tried: no process can be traced here");
		return;
	}
	CU_ASSERT_EQUAL(wefti_os_tracer(child), wefti_os_gettid());
	CU_ASSERT_EQUAL(ptrace(PTRACE_DETACH, child, NULL, NULL), 0);
	CU_ASSERT_EQUAL(wefti_os_tracer(child), 0);
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT_EQUAL(wefti_os_tracer(child), 0);
}

static void what_one_blocks_is_told(void)
{
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, SIGUSR2);
	CU_ASSERT_EQUAL(wefti_os_task_blocks(wefti_os_gettid(), SIGUSR2), 0);
	pthread_sigmask(SIG_BLOCK, &one, NULL);
	CU_ASSERT_EQUAL(wefti_os_task_blocks(wefti_os_gettid(), SIGUSR2), 1);
	CU_ASSERT_EQUAL(wefti_os_task_blocks(wefti_os_gettid(), SIGUSR1), 0);
	CU_ASSERT_EQUAL(wefti_os_task_blocks(wefti_os_gettid(), SIGHUP), 0);
	CU_ASSERT_EQUAL(wefti_os_task_blocks(-1, SIGUSR2), 0);
	sigemptyset(&one);
	sigaddset(&one, SIGSYS);
	pthread_sigmask(SIG_SETMASK, &one, NULL);
	CU_ASSERT_EQUAL(wefti_os_task_blocks(wefti_os_gettid(), SIGSYS), 1);
	CU_ASSERT_EQUAL(wefti_os_task_blocks(wefti_os_gettid(), SIGUSR2), 0);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}

static void a_descriptor_of_a_process_tells_which(void)
{
	int fd = open("/proc/self/", O_RDONLY | O_DIRECTORY);

	CU_ASSERT_EQUAL(wefti_os_pidfd_process(-1), -1);
	CU_ASSERT_EQUAL(wefti_os_pidfd_process(0), -1);
	CU_ASSERT_EQUAL(wefti_os_pidfd_process(fd), getpid());
	close(fd);
	fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY);
	CU_ASSERT_EQUAL(wefti_os_pidfd_process(fd), -1);
	close(fd);
	fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (fd < 0)
		return;		/* the kernel has none */
	CU_ASSERT_EQUAL(wefti_os_pidfd_process(fd), getpid());
	close(fd);
	CU_ASSERT_EQUAL(wefti_os_pidfd_process(fd), -1);
}

static const struct test_case cases[] = {
	TEST(each_is_visited_once_however_many_there_are),
	TEST(a_line_is_cut_where_it_or_the_room_ends),
	TEST(a_text_has_all_lines),
	TEST(what_cannot_be_read_is_an_empty_line),
	TEST(without_proc_nobody_is_visited),
	TEST(no_descriptor_is_left_open),
	TEST(the_tracer_of_a_process_is_told),
	TEST(what_one_blocks_is_told),
	TEST(a_descriptor_of_a_process_tells_which),
};

TEST_MAIN("os/tasks", cases)
