/* SPDX-License-Identifier: MIT */
/* test_plan9.c - a program written for Plan 9's thread(3) does what it says */
#include <stdio.h>
#include <stdlib.h>
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
	TEST(procs_may_be_left_behind),
};

void threadmain(int argc, char **argv)
{
	USED(argc);
	USED(argv);
	threadexitsall(test_main("plan9/plan9", cases,
				 sizeof(cases) / sizeof(cases[0])) ? "failed" :
								     nil);
}
