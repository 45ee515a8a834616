/* SPDX-License-Identifier: MIT */
/* test_asked.c - observe/asked: another process asks, well and badly */
#include "threads.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockfree/atomic.h"
#include "observe/asked.h"
#include "observe/profile.h"
#include "observe/recording.h"
#include "os/signal/signal.h"

static void *wait_for(void *sem)
{
	must(weft_sem_wait(sem) == 0);
	return NULL;
}

static pid_t asked;		/* the process with the runtime */

static void ask(uint64_t value)
{
	const union sigval v = { .sival_ptr = (void *)(uintptr_t)value };

	must(sigqueue(asked, wefti_os_preempt_signal(), v) == 0);
}

static uint64_t marked(int fd)
{
	return wefti_asked_value(0, fd);
}

/* As weft dump does it. Returns whether it was a dump, and all of one. */
static int is_given_a_dump(void)
{
	static const char end_mark[] = "weft: end of dump\n";
	static char text[1 << 18];
	size_t used = 0;
	int end[2];
	ssize_t n;

	must(pipe(end) == 0);
	do
		ask(marked(end[1]));
	while (poll(&(struct pollfd){ .fd = end[0], .events = POLLIN }, 1,
		    100) <= 0);
	n = read(end[0], text, 1);
	close(end[1]);
	while (n > 0 && used < sizeof(text) - 1) {
		used += (size_t)n;
		n = read(end[0], text + used, sizeof(text) - 1 - used);
	}
	close(end[0]);
	text[used] = 0;
	return strncmp(text, "weft: asked by", 14) == 0 &&
	       strstr(text, "\"waits\"") && used > sizeof(end_mark) &&
	       strcmp(text + used - strlen(end_mark), end_mark) == 0;
}

static void ask_once(void)
{
	must(is_given_a_dump());
}

/* A file with this text. */
static int file_of(const char *text)
{
	const int fd = memfd_create("request", 0);

	must(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	return fd;
}

/* Asks by a file until there is an answer. Returns whether it begins so. */
static int is_answered(const char *request, const char *begin)
{
	const int file = file_of(request);
	char text[4096] = "";
	int end[2];

	must(pipe(end) == 0);
	do
		ask(wefti_asked_value(file, end[1]));
	while (poll(&(struct pollfd){ .fd = end[0], .events = POLLIN }, 1,
		    100) <= 0);
	must(read(end[0], text, sizeof(text) - 1) > 0);
	close(file);
	close(end[0]);
	close(end[1]);
	return strncmp(text, begin, strlen(begin)) == 0;
}

static void ask_by_words(void)
{
	char longest[2 * WEFTI_ASKED_MOST];

	must(is_answered("dump", "weft: asked by"));
	must(is_answered("dump ", "weft: asked by"));
	must(is_answered("dum", WEFTI_ASKED_UNKNOWN));
	must(is_answered("dumps", WEFTI_ASKED_UNKNOWN));
	must(is_answered(" dump", WEFTI_ASKED_UNKNOWN));
	memset(longest, 'd', sizeof(longest));
	longest[sizeof(longest) - 1] = 0;
	must(is_answered(longest, WEFTI_ASKED_UNKNOWN));
	must(is_answered("dump", "weft: asked by"));
}

/* The request must be a file with something in it. */
static void ask_by_what_is_no_file(void)
{
	int end[2], answer[2];

	must(pipe(end) == 0 && pipe(answer) == 0);
	ask(wefti_asked_value(end[0], answer[1]));
	ask(wefti_asked_value(file_of(""), answer[1]));
	ask(wefti_asked_value(WEFTI_ASKED_FDS - 1, answer[1]));
	ask(wefti_asked_value(open("/dev/null", O_RDONLY), answer[1]));
	must(is_given_a_dump());
	must(poll(&(struct pollfd){ .fd = answer[0], .events = POLLIN }, 1, 0) == 0);
}

static void ask_again_and_again(void)
{
	for (int i = 0; i < 5; i++)
		must(is_given_a_dump());
}

/* What cannot be answered is not, and is in nobody's way. */
static void ask_badly(void)
{
	int file = open("/dev/null", O_RDWR), pair[2];

	ask(marked(999));
	ask(marked(-1));
	ask(marked(file));
	ask((uint64_t)1 << 32);
	ask(0);
	must(is_given_a_dump());
	/* An asker that goes away without having read. */
	must(pipe(pair) == 0 && fcntl(pair[1], F_SETPIPE_SZ, 4096) > 0);
	ask(marked(pair[1]));
	usleep(20000);
	close(pair[0]);
	close(pair[1]);
	/* It may be waited for meanwhile, for two seconds. */
	must(is_given_a_dump());
}

/* The child is made before there is a runtime, and waits for it. */
static void with_a_child(void (*asks)(void))
{
	struct weft_sem sem = WEFT_SEM_INIT;
	int go[2], status;
	uint64_t id[60];
	pid_t child;

	CU_ASSERT_EQUAL_FATAL(pipe(go), 0);
	asked = getpid();
	fflush(NULL);
	child = fork();
	if (child == 0) {
		char c;

		close(go[1]);
		must(read(go[0], &c, 1) == 1);
		asks();
		_exit(0);
	}
	runtime_begin();
	for (int i = 0; i < 60; i++)
		id[i] = spawn_named("waits", 0, wait_for, &sem);
	CU_ASSERT_EQUAL(write(go[1], "x", 1), 1);
	while (waitpid(child, &status, WNOHANG) == 0)
		rest();
	CU_ASSERT_EQUAL(status, 0);
	for (int i = 0; i < 60; i++)
		weft_sem_post(&sem);
	for (int i = 0; i < 60; i++)
		join(id[i]);
	runtime_end();
	close(go[0]);
	close(go[1]);
}

static void an_asker_is_given_a_dump(void)
{
	with_a_child(ask_once);
	with_a_child(ask_again_and_again);
}

static void a_request_is_a_word_of_a_file(void)
{
	with_a_child(ask_by_words);
	with_a_child(ask_by_what_is_no_file);
}

static void a_wrong_request_gets_none(void)
{
	with_a_child(ask_badly);
}

static _Atomic int urgents;

static void on_urgent(int signal)
{
	(void)signal;
	fetch_add_seq_cst(&urgents, 1);
}

/* The program's own handler gets what is no request, and nothing else. */
static void a_request_that_nobody_answers_is_not_the_programs(void)
{
	const struct sigaction own = { .sa_handler = on_urgent };
	struct sigaction before;

	CU_ASSERT_EQUAL(sigaction(wefti_os_preempt_signal(), &own, &before), 0);
	setenv("WEFT_DUMP", "off", 1);
	setenv("WEFT_DEADLOCK", "off", 1);
	runtime_begin();
	unsetenv("WEFT_DUMP");
	unsetenv("WEFT_DEADLOCK");
	asked = getpid();
	ask(marked(3));
	ask((uint64_t)WEFTI_RECORDING_MARK << 32);
	ask((uint64_t)WEFTI_PROFILE_MARK << 32);
	CU_ASSERT_EQUAL(load_seq_cst(&urgents), 0);
	do {		/* the kernel makes one signal of two that wait */
		ask(1);
		rest();
	} while (load_seq_cst(&urgents) == 0);
	runtime_end();
	CU_ASSERT_EQUAL(sigaction(wefti_os_preempt_signal(), &before, NULL), 0);
}

static void a_signal_that_asks_for_nothing_is_left(void)
{
	siginfo_t info = { .si_code = SI_QUEUE, .si_pid = 1 };

	CU_ASSERT_EQUAL(wefti_asked_note(&info), 0);
	info.si_value.sival_ptr = (void *)(uintptr_t)marked(3);
	info.si_code = SI_USER;
	CU_ASSERT_EQUAL(wefti_asked_note(&info), 0);
	info.si_code = SI_QUEUE;
	info.si_pid = 0;
	CU_ASSERT_EQUAL(wefti_asked_note(&info), 0);
	wefti_asked_answer();		/* nobody has */
}

/* In the child of a fork it may have been the parent that was asked. */
static void what_was_asked_before_the_start_is_not_answered(void)
{
	siginfo_t info = { .si_code = SI_QUEUE, .si_pid = getpid() };
	int end[2];

	CU_ASSERT_EQUAL_FATAL(pipe(end), 0);
	info.si_value.sival_ptr = (void *)(uintptr_t)marked(end[1]);
	CU_ASSERT_EQUAL(wefti_asked_note(&info), 1);
	runtime_begin();
	wefti_asked_answer();
	CU_ASSERT_EQUAL(poll(&(struct pollfd){ .fd = end[0], .events = POLLIN }, 1, 0), 0);
	runtime_end();
	close(end[0]);
	close(end[1]);
}

static const struct test_case cases[] = {
	TEST(a_signal_that_asks_for_nothing_is_left),
	TEST(a_request_that_nobody_answers_is_not_the_programs),
	TEST(an_asker_is_given_a_dump),
	TEST(a_request_is_a_word_of_a_file),
	TEST(a_wrong_request_gets_none),
	TEST(what_was_asked_before_the_start_is_not_answered),
};

TEST_MAIN("observe/asked", cases)
