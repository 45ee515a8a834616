/* SPDX-License-Identifier: MIT */
/*
 * test_poll.c - io/poll, sched/poller: which VCPU looks, which sleeps, and the
 * cost
 */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockfree/atomic.h"
#include "loop.h"
#include "sched/poller.h"
#include "ticks.h"

#define MANY	20

static void poll_tells_which_of_many(void)
{
	struct pollfd fds[MANY + 2];
	int fd[MANY][2], file = open("/dev/null", O_RDWR);

	runtime_begin();
	for (int i = 0; i < MANY; i++) {
		must(weft_pipe(fd[i], 0) == 0);
		fds[i] = (struct pollfd){ .fd = fd[i][0], .events = POLLIN };
	}
	fds[MANY] = (struct pollfd){ .fd = -1, .events = POLLIN };
	CU_ASSERT_EQUAL(weft_poll(fds, MANY + 1, WEFT_NO_WAIT), -EAGAIN);
	CU_ASSERT_EQUAL(weft_poll(fds, MANY + 1, weft_clock() + 1000000),
			-ETIMEDOUT);
	for (int i = 0; i < MANY; i += 7)
		must(weft_write(fd[i][1], "x", 1) == 1);
	CU_ASSERT_EQUAL(weft_poll(fds, MANY + 1, WEFT_FOREVER), 3);
	for (int i = 0; i < MANY; i++)
		CU_ASSERT_EQUAL(fds[i].revents, i % 7 ? 0 : POLLIN);
	/* A file is always ready, a number that is closed is an answer. */
	fds[1].fd = file;
	fds[2].fd = 19999;
	CU_ASSERT_EQUAL(weft_poll(fds, MANY, WEFT_FOREVER), 5);
	CU_ASSERT_EQUAL(fds[1].revents, POLLIN);
	CU_ASSERT_EQUAL(fds[2].revents, POLLNVAL);
	for (int i = 0; i < MANY; i++) {
		must(weft_close(fd[i][0]) == 0);
		must(weft_close(fd[i][1]) == 0);
	}
	runtime_end();
	close(file);
}

struct poller {
	struct pollfd fds[MANY];
	_Atomic int begun;
	int result;
};

static void *poll_all(void *arg)
{
	struct poller *p = arg;

	store_relaxed(&p->begun, 1);
	p->result = weft_poll(p->fds, MANY, WEFT_FOREVER);
	return NULL;
}

/* One descriptor in several polls, twice in one, for both directions. */
static void all_who_poll_a_descriptor_are_woken(void)
{
	struct poller p[4];
	uint64_t id[4];
	int fd[2];

	runtime_begin();
	must(weft_socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
	for (int round = 0; round < 50; round++) {
		char byte;

		for (int i = 0; i < 4; i++) {
			p[i].begun = 0;
			for (int k = 0; k < MANY; k++)
				p[i].fds[k] = (struct pollfd){
					.fd = k < 2 ? fd[0] : -1,
					.events = POLLIN,
				};
			id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, poll_all,
					   &p[i]);
		}
		for (int i = 0; i < 4 && round % 2; i++)
			while (!load_relaxed(&p[i].begun))
				rest();
		must(weft_write(fd[1], "x", 1) == 1);
		for (int i = 0; i < 4; i++) {
			join(id[i]);
			/* The byte may come between the looks at the two. */
			CU_ASSERT_TRUE(p[i].result == 1 || p[i].result == 2);
		}
		must(weft_read(fd[0], &byte, 1) == 1);
		CU_ASSERT_EQUAL(weft_wait_fd(fd[0], POLLIN | POLLOUT,
					     WEFT_FOREVER), POLLOUT);
	}
	must(weft_close(fd[0]) == 0);
	must(weft_close(fd[1]) == 0);
	runtime_end();
}

static void *accept_one(void *arg)
{
	return (void *)(intptr_t)weft_accept(*(int *)arg, NULL, NULL);
}

static void a_server_without_clients_uses_no_cpu(void)
{
	struct sockaddr_in address;
	int server;
	uint64_t id;

	runtime_begin();
	server = loop_listen(&address);
	id = spawn(accept_one, &server);
	CU_ASSERT_TRUE(ticks_of_idling(1) <= 1);
	CU_ASSERT_EQUAL(weft_cancel(id), 0);
	CU_ASSERT_EQUAL((intptr_t)join(id), -ECANCELED);
	CU_ASSERT_EQUAL(weft_close(server), 0);
	runtime_end();
}

struct ball {
	int in, out;
	size_t rounds;
	_Atomic int *stop;
};

static void *volley(void *arg)
{
	struct ball *b = arg;
	char byte;

	for (size_t i = 0; i < b->rounds; i++) {
		must(weft_read(b->in, &byte, 1) == 1);
		must(weft_write(b->out, &byte, 1) == 1);
		if (i % 64 == 0)
			rest();		/* timers and descriptors at once */
	}
	return NULL;
}

/* All VCPUs idle, again and again, just when something comes. */
static void no_wake_is_lost_between_work_and_sleep(void)
{
	enum { PAIRS = 6 };
	struct ball b[2 * PAIRS];
	uint64_t id[2 * PAIRS];
	int fd[PAIRS][2];

	runtime_begin();
	for (int i = 0; i < PAIRS; i++) {
		must(weft_socketpair(AF_UNIX, SOCK_STREAM, 0, fd[i]) == 0);
		for (int k = 0; k < 2; k++) {
			b[2 * i + k] = (struct ball){
				.in = fd[i][k], .out = fd[i][k],
				.rounds = test_scaled(2000),
			};
			id[2 * i + k] = spawn_with(i % 2 ? WEFT_LIGHT : 0,
						   volley, &b[2 * i + k]);
		}
		must(weft_write(fd[i][0], "x", 1) == 1);
	}
	for (int i = 0; i < 2 * PAIRS; i++)
		join(id[i]);
	for (int i = 0; i < PAIRS; i++) {
		must(weft_close(fd[i][0]) == 0);
		must(weft_close(fd[i][1]) == 0);
	}
	runtime_end();
}

static void *compute(void *arg)
{
	volatile uint64_t n = 0;

	while (!load_relaxed((_Atomic int *)arg))
		n = n + 1;
	return NULL;
}

/* Threads that never let go of a VCPU do not keep descriptors from others. */
static void descriptors_are_looked_at_beside_threads_that_compute(void)
{
	_Atomic int stop = 0;
	struct ball b[2];
	uint64_t id[2], hog[10];
	unsigned hogs;
	int fd[2];

	runtime_begin();
	hogs = weft_vcpus() < 10 ? weft_vcpus() : 10;
	must(weft_socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
	for (int k = 0; k < 2; k++) {
		b[k] = (struct ball){ .in = fd[k], .out = fd[k], .rounds = 20 };
		id[k] = spawn(volley, &b[k]);
	}
	for (unsigned i = 0; i < hogs; i++)
		hog[i] = spawn(compute, &stop);
	must(weft_write(fd[0], "x", 1) == 1);
	for (int k = 0; k < 2; k++)
		join(id[k]);
	store_relaxed(&stop, 1);
	for (unsigned i = 0; i < hogs; i++)
		join(hog[i]);
	must(weft_close(fd[0]) == 0);
	must(weft_close(fd[1]) == 0);
	runtime_end();
}

static void use_descriptors(void)
{
	struct ball b[2];
	uint64_t id[2];
	int fd[2];

	must(weft_start(NULL) == 0);
	must(weft_pipe(fd, 0) == 0);
	must(weft_close(fd[0]) == 0 && weft_close(fd[1]) == 0);
	must(weft_socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
	for (int k = 0; k < 2; k++) {
		b[k] = (struct ball){ .in = fd[k], .out = fd[k], .rounds = 50 };
		id[k] = spawn(volley, &b[k]);
	}
	must(weft_write(fd[0], "x", 1) == 1);
	for (int k = 0; k < 2; k++)
		join(id[k]);
	must(weft_close(fd[0]) == 0 && weft_close(fd[1]) == 0);
	must(weft_stop() == 0);
}

/*
 * The child has the descriptors, and none of the threads that waited for them.
 */
static void the_child_of_a_fork_has_a_poller_of_its_own(void)
{
	struct ball b = { .rounds = 1 };
	size_t before = open_descriptors();
	int fd[2], status;
	char byte;
	uint64_t id;
	pid_t child;

	runtime_begin();
	must(weft_socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
	b.in = b.out = fd[0];
	id = spawn(volley, &b);
	/* One that is being opened while another forks would be the child's, too. */
	while (!wefti_poller_is_on())
		rest();
	rest();
	child = fork();
	must(child >= 0);
	if (child == 0) {
		size_t now = open_descriptors();

		if (now != before + 2)
			fprintf(stderr, "%zu descriptors, %zu before\n", now,
				before);
		must(now == before + 2);
		/* TSan has no threads in the child of a process that had some. */
		for (int i = 0; i < 2 && test_threads(10000) == 10000; i++)
			use_descriptors();
		must(open_descriptors() == before + 2);
		exit(42);
	}
	weft_block_begin();
	must(waitpid(child, &status, 0) == child);
	weft_block_end();
	CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 42);
	CU_ASSERT_EQUAL(weft_write(fd[1], "x", 1), 1);
	CU_ASSERT_EQUAL(weft_read(fd[1], &byte, 1), 1);
	join(id);
	must(weft_close(fd[0]) == 0);
	must(weft_close(fd[1]) == 0);
	runtime_end();
	CU_ASSERT_EQUAL(open_descriptors(), before);
}

static const struct test_case cases[] = {
	TEST(poll_tells_which_of_many),
	TEST(all_who_poll_a_descriptor_are_woken),
	TEST(a_server_without_clients_uses_no_cpu),
	TEST(no_wake_is_lost_between_work_and_sleep),
	TEST(descriptors_are_looked_at_beside_threads_that_compute),
	TEST(the_child_of_a_fork_has_a_poller_of_its_own),
};

TEST_MAIN("io/poll", cases)
