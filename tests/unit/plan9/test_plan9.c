/* SPDX-License-Identifier: MIT */
/* test_plan9.c - a program written for Plan 9's thread(3) does what it says */
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

#include <weft/plan9.h>

int mainstacksize = 256 * 1024;

#define must(x)	((x) ? (void)0 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, \
					  __LINE__, #x), abort()))

static int running;		/* of one proc: never two */
static Ref left;

static void alone(void *arg)
{
	Channel *done = arg;

	for (int i = 0; i < 50; i++) {
		int before = running++;

		must(before == 0);
		for (volatile int n = 0; n < 100; n++)
			;
		running--;
		yield();
	}
	sendul(done, 1);
	threadexits(nil);
}

static void threads_of_one_proc_run_in_turns(void)
{
	Channel *done = chancreate(sizeof(ulong), 0);

	for (int i = 0; i < 10; i++)
		must(threadcreate(alone, done, 8192) > 0);
	for (int i = 0; i < 10; i++)
		must(recvul(done) == 1);
	chanfree(done);
}

static void blocks(void *arg)
{
	int *fd = arg;
	char c;

	must(read(fd[0], &c, 1) == 1);
	decref(&left);
}

static void a_proc_that_blocks_stops_no_other(void)
{
	int fd[2];

	must(pipe(fd) == 0);
	incref(&left);
	must(proccreate(blocks, fd, 8192) > 0);
	threads_of_one_proc_run_in_turns();
	must(write(fd[1], "x", 1) == 1);
	incref(&left);
	while (decref(&left) > 0) {
		incref(&left);
		yield();
	}
	close(fd[0]);
	close(fd[1]);
}

struct ends {
	Channel *in, *out;
};

static void doubles(void *arg)
{
	struct ends *e = arg;
	ulong v;

	while (recv(e->in, &v) > 0) {
		v *= 2;
		must(send(e->out, &v) == 1);
	}
	must(sendp(e->out, nil) == 1);
}

static void messages_go_in_all_forms(void)
{
	struct ends e = {
		chancreate(sizeof(ulong), 0), chancreate(sizeof(ulong), 1),
	};
	ulong v = 21;

	must(nbrecv(e.out, &v) == 0 && nbsend(e.in, &v) == 0);
	must(nbrecvul(e.out) == 0 && nbrecvp(e.out) == nil);
	must(threadcreate(doubles, &e, 8192) > 0);
	must(send(e.in, &v) == 1 && recvul(e.out) == 42);
	must(sendul(e.in, 4) == 1 && recvp(e.out) == (void *)8);
	must(nbsendul(e.out, 5) == 1 && nbsendp(e.out, nil) == 0);
	must(nbrecvul(e.out) == 5);
	chansetname(e.in, "in %d", 1);
	must(chanclose(e.in) == 0);
	must(recvp(e.out) == nil);
	chanfree(e.in);
	chanfree(e.out);
}

static void alt_takes_what_comes(void)
{
	struct ends e = {
		chancreate(sizeof(ulong), 0), chancreate(sizeof(ulong), 0),
	};
	ulong in = 0, out = 3, sum = 0;
	Alt a[] = {
		{ e.in, &out, CHANSND }, { e.out, &in, CHANRCV },
		{ nil, nil, CHANNOP }, { nil, nil, CHANNOBLK },
	};

	must(alt(a) == 3);
	a[3].op = CHANEND;
	must(proccreate(doubles, &e, 8192) > 0);
	for (int i = 0; i < 20; i++) {
		int at = alt(a);

		must(at == 0 || at == 1);
		if (at == 1) {
			must(in == 6);
			sum += in;
		}
	}
	must(sum > 0);
	/* What was sent last may still be on its way. */
	must(chanclose(e.in) == 0);
	while (recvp(e.out) != nil)
		;
	chanfree(e.in);
	chanfree(e.out);
}

static struct {
	QLock lock;
	Rendez full;
	RWLock rw;
	int count;
} shared;

static void counts(void *arg)
{
	rlock(&shared.rw);
	must(!canwlock(&shared.rw));
	runlock(&shared.rw);
	qlock(&shared.lock);
	shared.count++;
	if (shared.count == 5)
		must(rwakeupall(&shared.full) <= 1);
	qunlock(&shared.lock);
	USED(arg);
}

static void locks_and_rendez_work(void)
{
	shared.full.l = &shared.lock;
	for (int i = 0; i < 5; i++)
		must((i % 2 ? threadcreate : proccreate)(counts, nil, 8192) > 0);
	qlock(&shared.lock);
	must(!canqlock(&shared.lock));
	while (shared.count < 5)
		rsleep(&shared.full);
	qunlock(&shared.lock);
	wlock(&shared.rw);
	must(!canrlock(&shared.rw));
	wunlock(&shared.rw);
}

static void meets(void *arg)
{
	must(rendezvous(arg, (void *)1) == (void *)2);
}

static void two_meet_by_a_tag(void)
{
	for (int i = 0; i < 20; i++) {
		must((i % 2 ? threadcreate : proccreate)(meets, &left, 8192) >
		     0);
		must(rendezvous(&left, (void *)2) == (void *)1);
	}
}

static void an_ioproc_lets_others_run(void)
{
	Ioproc *io = ioproc();
	Channel *done = chancreate(sizeof(ulong), 0);
	int fd[2];
	char c;

	must(pipe(fd) == 0);
	must(iowrite(io, fd[1], "y", 1) == 1);
	must(threadcreate(alone, done, 8192) > 0);
	must(ioread(io, fd[0], &c, 1) == 1 && c == 'y');
	must(iosleep(io, 1) == 0);
	must(recvul(done) == 1);
	must(ioclose(io, fd[0]) == 0 && ioclose(io, fd[1]) == 0);
	must(ioopen(io, "/nonexistent", 0) == -1);
	closeioproc(io);
	chanfree(done);
}

static void threads_have_names_and_data(void)
{
	threadname("test %d", 7);
	must(threadgetname()[5] == '7');
	*threaddata() = &left;
	*procdata() = &shared;
	yield();
	must(*threaddata() == &left && *procdata() == &shared);
	must(threadid() > 0);
}

static void writes_in_two(void *arg)
{
	int *fd = arg;

	must(write(fd[1], "ab", 2) == 2);
	for (int i = 0; i < 20; i++)
		yield();
	must(write(fd[1], "cdef", 4) == 4);
	close(fd[1]);
}

static void ioreadn_reads_all_there_is(void)
{
	Ioproc *io = ioproc();
	char text[16] = "";
	int fd[2];

	must(pipe(fd) == 0);
	must(threadcreate(writes_in_two, fd, 8192) > 0);
	must(ioreadn(io, fd[0], text, 4) == 4 && !strcmp(text, "abcd"));
	must(ioreadn(io, fd[0], text, 16) == 2 && text[1] == 'f');
	must(ioreadn(io, fd[0], text, 16) == 0);
	must(ioclose(io, fd[0]) == 0);
	must(ioreadn(io, -1, text, 16) == -1);
	closeioproc(io);
}

static int turns;		/* of `takes_turns` */
static int enough;

static void takes_turns(void *arg)
{
	while (!enough) {
		turns++;
		yield();
	}
	sendul(arg, 1);
}

static void answers(void *arg)
{
	Channel *c = arg;

	usleep(1000);
	sendul(c, 7);
}

/* Where it waits, too; other procs do run. */
static void a_pinned_thread_keeps_its_proc_to_itself(void)
{
	Channel *c = chancreate(sizeof(ulong), 0);
	int before;

	turns = enough = 0;
	must(threadcreate(takes_turns, c, 8192) > 0);
	while (turns < 10)
		yield();
	threadpin();
	before = turns;
	for (int i = 0; i < 100; i++)
		yield();
	must(proccreate(answers, c, 8192) > 0);
	must(recvul(c) == 7);
	must(turns == before);
	threadunpin();
	while (turns == before)
		yield();
	enough = 1;
	must(recvul(c) == 1);
	chanfree(c);
}

/*
 * How a program ends: this one again, told which of these to be. Each is its
 * threadmain().
 */

static Channel *begin;
static int is_failing;	/* the proc's: the thread with the turn */

static void returns(void *arg)
{
	for (int i = 0; i < 5; i++)
		yield();
	USED(arg);
}

static void all_return(void)
{
	for (int i = 0; i < 5; i++) {
		must(threadcreate(returns, nil, 8192) > 0);
		must(proccreate(returns, nil, 8192) > 0);
	}
}

static void fails(void *arg)
{
	must(recvul(arg) == 1);
	is_failing = 1;
	threadexits("failed");
}

/* The last thread of the first proc, after threadmain() has returned. */
static void the_last_fails(void)
{
	begin = chancreate(sizeof(ulong), 1);
	must(threadcreate(fails, begin, 8192) > 0);
	must(sendul(begin, 1) == 1);
}

/*
 * If this thread has the turn after fails() has set is_failing, fails() has
 * ended.
 */
static void another_fails(void)
{
	begin = chancreate(sizeof(ulong), 0);
	must(threadcreate(fails, begin, 8192) > 0);
	must(sendul(begin, 1) == 1);
	while (!is_failing)
		yield();
	chanfree(begin);
}

static void another_proc_fails(void)
{
	begin = chancreate(sizeof(ulong), 0);
	must(proccreate(fails, begin, 8192) > 0);
	must(sendul(begin, 1) == 1);
}

static void fails_later(void *arg)
{
	USED(arg);
	usleep(20000);
	fputs("went on", stderr);
	threadexits("too late");
}

static void fails_and_leaves_a_proc(void)
{
	must(proccreate(fails_later, nil, 8192) > 0);
	threadexits("failed");
}

static void ends_all(void *arg)
{
	USED(arg);
	usleep(20000);
	threadexitsall("ended");
}

static void a_proc_ends_all(void)
{
	must(proccreate(ends_all, nil, 8192) > 0);
}

static const struct ending {
	const char *name;
	void (*main)(void);
	int status;
	const char *text;	/* it is among what it writes */
} endings[] = {
	{ "all-return", all_return, 0, "" },
	{ "the-last-fails", the_last_fails, 1, "" },
	{ "another-fails", another_fails, 0, "" },
	{ "another-proc-fails", another_proc_fails, 0, "" },
	{ "fails-and-leaves-a-proc", fails_and_leaves_a_proc, 1, "went on" },
	{ "a-proc-ends-all", a_proc_ends_all, 1, "" },
};

#define ENDINGS	(sizeof(endings) / sizeof(endings[0]))

extern char **environ;

/* QEMU does not go in front of what its program executes. */
static pid_t begin_self(const char *name, int err)
{
	char self[PATH_MAX] = "", first[8] = "test", *qemu;
	char *args[] = { first, self, (char *)(uintptr_t)name, nil };
	posix_spawn_file_actions_t to;
	pid_t pid;

	must(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	must(posix_spawn_file_actions_init(&to) == 0);
	must(posix_spawn_file_actions_adddup2(&to, err, 2) == 0);
	qemu = getenv("WEFT_TEST_QEMU");
	must((qemu ? posix_spawnp(&pid, qemu, &to, nil, args, environ) :
		     posix_spawn(&pid, self, &to, nil, args + 1, environ)) ==
	     0);
	must(posix_spawn_file_actions_destroy(&to) == 0);
	return pid;
}

static void ends(const struct ending *e)
{
	char text[4096] = "";
	size_t used = 0;
	ssize_t n;
	int fd[2], status;
	pid_t pid;

	must(pipe(fd) == 0);
	pid = begin_self(e->name, fd[1]);
	close(fd[1]);
	while ((n = read(fd[0], text + used, sizeof(text) - 1 - used)) > 0)
		used += (size_t)n;
	close(fd[0]);
	must(waitpid(pid, &status, 0) == pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != e->status ||
	    !strstr(text, e->text))
		fprintf(stderr, "%s: %x, %s\n", e->name, (unsigned)status,
			text);
	CU_ASSERT(WIFEXITED(status));
	CU_ASSERT_EQUAL(WEXITSTATUS(status), e->status);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, e->text));
}

static void a_program_ends_with_its_first_proc_s_status(void)
{
	for (size_t i = 0; i < ENDINGS; i++)
		ends(&endings[i]);
}

static Channel *silent;

static void waits_for_ever(void *arg)
{
	USED(arg);
	must(*threaddata() == nil && recvp(silent) == nil);
}

/* threadexitsall() ends them; AddressSanitizer calls nothing of it lost. */
static void procs_may_be_left_behind(void)
{
	silent = chancreate(sizeof(void *), 0);
	for (int i = 0; i < 20; i++)
		must(proccreate(waits_for_ever, nil, 8192) > 0);
	yield();
}

static const struct test_case cases[] = {
	TEST(threads_of_one_proc_run_in_turns),
	TEST(a_proc_that_blocks_stops_no_other),
	TEST(messages_go_in_all_forms),
	TEST(alt_takes_what_comes),
	TEST(locks_and_rendez_work),
	TEST(two_meet_by_a_tag),
	TEST(an_ioproc_lets_others_run),
	TEST(threads_have_names_and_data),
	TEST(ioreadn_reads_all_there_is),
	TEST(a_pinned_thread_keeps_its_proc_to_itself),
	TEST(a_program_ends_with_its_first_proc_s_status),
	TEST(procs_may_be_left_behind),
};

void threadmain(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < ENDINGS; i++) {
		if (!strcmp(argv[1], endings[i].name)) {
			endings[i].main();
			return;
		}
	}
	threadexitsall(test_main("plan9/plan9", cases,
				 sizeof(cases) / sizeof(cases[0])) ? "failed" :
								     nil);
}
