/* SPDX-License-Identifier: MIT */
/*
 * test_fd_wait.c - io/fd_wait: what may be watched, of which descriptor an event is,
 * which sides an interest joins, and how a wait ends
 */
#include "io/fd_wait.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "../chan/crowd.h"
#include "sched/poller.h"

enum { READ = WEFTI_READ_SIDE, WRITE = WEFTI_WRITE_SIDE };

static int fd[2];

static void begin(void)
{
	runtime_begin();
	must(weft_socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
}

static void end(void)
{
	must(weft_close(fd[0]) == 0 && weft_close(fd[1]) == 0);
	runtime_end();
}

static struct wefti_interest open_interest(int number, short events)
{
	struct wefti_interest i;

	must(wefti_interest_open(&i, number, events) == 0);
	must(wefti_interest_note(&i) == 0);
	return i;
}

static struct wefti_sides *sides_of(int number)
{
	return &wefti_fd_find((uint32_t)number)->sides;
}

static void some_descriptors_cannot_be_watched(void)
{
	int file, closed;
	struct wefti_interest i;

	begin();
	must(wefti_interest_open(&i, -1, POLLIN) == -EBADF);
	must(wefti_interest_open(&i, 1 << 22, POLLIN) == -EMFILE);
	/* A file is always ready: no error of an interest. */
	must((file = weft_open("/proc/self/exe", O_RDONLY, 0)) >= 0);
	i = open_interest(file, POLLIN);
	must(wefti_fd_watch(&i.use) == -EPERM);
	must(wefti_interest_watch(&i) == 0);
	wefti_interest_close(&i);
	must(weft_close(file) == 0);

	must((closed = fcntl(fd[0], F_DUPFD, 900)) >= 900);
	must(close(closed) == 0);
	i = open_interest(closed, POLLIN);
	must(wefti_fd_watch(&i.use) == -EBADF);
	must(wefti_interest_watch(&i) == -EBADF);
	wefti_interest_close(&i);
	end();
}

static void a_descriptor_that_is_closing_is_not_noted(void)
{
	struct wefti_interest i;
	int high;

	begin();
	/* A number that no other kernel thread gets in between. */
	must((high = fcntl(fd[0], F_DUPFD, 900)) >= 900);
	i = open_interest(high, POLLIN);
	must(weft_close(high) == 0);
	must(wefti_interest_note(&i) == -EBADF);
	must(fcntl(high, F_GETFD) >= 0);
	wefti_interest_close(&i);
	must(fcntl(high, F_GETFD) < 0);
	end();
}

/* Known without a question to the kernel, as long as it is the same file. */
static void an_interest_is_known_when_it_is_watched(void)
{
	struct wefti_interest i, known;

	begin();
	must(wefti_interest_known(&known, fd[0], POLLIN) == -ENOENT);
	i = open_interest(fd[1], POLLIN);
	must(wefti_interest_watch(&i) == 0);	/* there is a poller now */
	wefti_interest_close(&i);
	must(wefti_interest_known(&known, fd[0], POLLIN) == -ENOENT);
	must(wefti_interest_known(&known, -1, POLLIN) == -EBADF);
	must(wefti_fd_users(load_seq_cst(&wefti_fd_find((uint32_t)fd[0])->word))
	     == 0);

	i = open_interest(fd[0], POLLIN);
	must(wefti_interest_watch(&i) == 0);
	must(wefti_interest_watch(&i) == 0);
	wefti_interest_close(&i);
	must(wefti_interest_known(&known, fd[0], POLLOUT) == 0);
	must(known.events == POLLOUT);
	must(!known.place[READ].list && !known.place[WRITE].list);
	wefti_interest_close(&known);
	/* The number is another's: weft was told. */
	must(weft_adopt(fd[0]) == 0);
	must(wefti_interest_known(&known, fd[0], POLLIN) == -ENOENT);
	end();
	must(wefti_interest_known(&known, fd[0], POLLIN) == -ENOENT);
}

/* As the poller hands it on, of the descriptor as it is, or as it was. */
static void handle(int number, uint32_t generation, uint32_t ready)
{
	struct wefti_thread *self = wefti_enter();
	wefti_poller_fn *handler = load_seq_cst(&wefti_poller.handler);

	must(handler != NULL);
	handler((uint64_t)generation << 32 | (uint32_t)number, ready);
	wefti_leave(self);
}

static void an_event_is_of_one_descriptor_and_its_sides(void)
{
	struct wefti_interest i;
	int other;

	begin();
	i = open_interest(fd[1], POLLIN);
	must(wefti_interest_watch(&i) == 0);
	wefti_interest_close(&i);
	/* One that the kernel tells nothing of. */
	must((other = fcntl(fd[0], F_DUPFD, 900)) >= 900);
	must(weft_adopt(other) == 0);
	i = open_interest(other, POLLIN);
	for (uint32_t ready = 0; ready < 4; ready++)
		for (uint32_t late = 0; late < 2; late++) {
			struct wefti_interest now = i;

			handle(other, wefti_fd_generation(i.use.word) - late,
			       ready);
			must(wefti_interest_note(&now) == 0);
			CU_ASSERT_EQUAL(now.edges[READ] - i.edges[READ],
					!late && (ready & WEFTI_OS_READABLE));
			CU_ASSERT_EQUAL(now.edges[WRITE] - i.edges[WRITE],
					!late && (ready & WEFTI_OS_WRITABLE));
			i = now;
		}
	wefti_interest_close(&i);
	must(weft_close(other) == 0);
	end();
}

/* Where it joins, and what it is told of. */
static void an_interest_joins_the_sides_of_its_events(void)
{
	static const struct {
		short events;
		int reads, writes;
	} all[] = {
		{ POLLIN, 1, 0 }, { POLLPRI, 1, 0 }, { POLLRDHUP, 1, 0 },
		{ POLLRDNORM, 1, 0 }, { POLLRDBAND, 1, 0 },
		{ POLLOUT, 0, 1 }, { POLLWRNORM, 0, 1 }, { POLLWRBAND, 0, 1 },
		{ POLLIN | POLLOUT, 1, 1 }, { 0, 1, 0 }, { POLLERR, 1, 0 },
	};
	struct wefti_thread *t = wefti_thread_bare(WEFTI_KIND_FOREIGN, NULL);

	must(t != NULL);
	begin();
	for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
		for (int side = 0; side < WEFTI_SIDES; side++) {
			struct wefti_interest i = open_interest(fd[0],
								all[k].events);
			struct wefti_thread *self = wefti_enter();
			uint64_t seq = wefti_wait_begin(t, WEFTI_WAIT_TIMED);
			int joins = side == READ ? all[k].reads :
						   all[k].writes;

			must(wefti_interest_join(&i, t, seq) == 0);
			CU_ASSERT_EQUAL(i.place[READ].list != NULL,
					all[k].reads);
			CU_ASSERT_EQUAL(i.place[WRITE].list != NULL,
					all[k].writes);
			wefti_side_post(sides_of(fd[0]), side);
			CU_ASSERT_EQUAL(wefti_wait_cause(t), joins ?
					WEFTI_CAUSE_WOKEN : WEFTI_CAUSE_NONE);
			wefti_wait_resolve(t, seq, WEFTI_CAUSE_TIMEDOUT);
			wefti_interest_part(&i, t);
			CU_ASSERT_FALSE(wefti_side_any_waits(sides_of(fd[0])));
			/* Noted before an edge: it does not wait. */
			wefti_side_post(sides_of(fd[0]), side);
			seq = wefti_wait_begin(t, WEFTI_WAIT_TIMED);
			must(wefti_interest_join(&i, t, seq) == 0);
			/* Both edges, the first one too, came behind note. */
			CU_ASSERT_EQUAL(wefti_wait_cause(t), joins ?
					WEFTI_CAUSE_WOKEN : WEFTI_CAUSE_NONE);
			wefti_wait_resolve(t, seq, WEFTI_CAUSE_TIMEDOUT);
			wefti_interest_part(&i, t);
			wefti_leave(self);
			wefti_interest_close(&i);
		}
	end();
	wefti_thread_bare_free(t);
}

/* A wait or a rest, and how it ended. */
struct waiter {
	int side, rests, result;
	int64_t deadline;
	uint32_t edges;
};

static void *wait_for_edge(void *arg)
{
	struct waiter *w = arg;
	struct wefti_use use;

	must(wefti_fd_begin(&use, fd[0]) == 0);
	w->result = w->rests ?
		    wefti_fd_rest(&use, w->side, w->edges, w->deadline) :
		    wefti_fd_wait(&use, w->side, w->edges, WEFTI_SIDE_ALL,
				  w->deadline);
	(void)wefti_fd_end(&use);
	return NULL;
}

static void run_waiter(struct waiter *w, int result)
{
	wait_for_edge(w);
	CU_ASSERT_EQUAL(w->result, result);
	join(spawn_with(WEFT_LIGHT, wait_for_edge, w));
	CU_ASSERT_EQUAL(w->result, result);
}

static void set_edges(struct waiter *w)
{
	struct wefti_interest i = open_interest(fd[0], POLLIN | POLLOUT);

	/* The one that comes with the watching. */
	must(wefti_interest_watch(&i) == 0);
	wefti_interest_close(&i);
	w->edges = wefti_side_edges(sides_of(fd[0]), w->side);
}

static void a_wait_ends_by_an_edge_the_deadline_or_a_cancellation(void)
{
	begin();
	for (int how = 0; how < 4; how++) {
		/* Nothing comes to read, and there is no edge behind it. */
		struct waiter w = { .side = READ, .rests = how % 2 };
		uint64_t id;

		set_edges(&w);
		w.deadline = 1;
		run_waiter(&w, -ETIMEDOUT);
		w.deadline = weft_clock() + 100000;
		wait_for_edge(&w);
		CU_ASSERT_EQUAL(w.result, -ETIMEDOUT);
		CU_ASSERT_TRUE(weft_clock() >= w.deadline);

		w.deadline = WEFT_FOREVER;
		id = spawn_with(how / 2 ? WEFT_LIGHT : 0, wait_for_edge, &w);
		crowd_await_parked(id);
		must(weft_cancel(id) == 0);
		join(id);
		CU_ASSERT_EQUAL(w.result, -ECANCELED);

		id = spawn(wait_for_edge, &w);
		crowd_await_parked(id);
		handle(fd[0], wefti_fd_generation(load_seq_cst(
		       &wefti_fd_find((uint32_t)fd[0])->word)),
		       WEFTI_OS_READABLE);
		join(id);
		CU_ASSERT_EQUAL(w.result, 0);
		/* The same edge, for a thread that had tried before it. */
		run_waiter(&w, 0);
		CU_ASSERT_FALSE(wefti_side_any_waits(sides_of(fd[0])));
	}
	end();
}

/* What arrives ends a wait, and no rest: that has nobody watch it. */
static void a_rest_is_not_ended_by_what_arrives(void)
{
	struct waiter w = { .side = READ, .rests = 1 };

	begin();
	w.edges = wefti_side_edges(sides_of(fd[0]), READ);
	must(weft_write(fd[1], "x", 1) == 1);
	w.deadline = weft_clock() + 1000000;
	wait_for_edge(&w);
	CU_ASSERT_EQUAL(w.result, -ETIMEDOUT);
	w.rests = 0;
	w.deadline = WEFT_FOREVER;
	run_waiter(&w, 0);
	end();
}

static void without_a_runtime_the_kernel_waits(void)
{
	struct waiter w = { .side = READ };

	begin();
	end();
	must(weft_socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
	for (w.rests = 0; w.rests < 2; w.rests++) {
		w.deadline = weft_clock() + 100000;
		wait_for_edge(&w);
		CU_ASSERT_EQUAL(w.result, -ETIMEDOUT);
		CU_ASSERT_TRUE(weft_clock() >= w.deadline);
	}
	must(weft_write(fd[1], "x", 1) == 1);
	w.rests = 0;
	w.deadline = WEFT_FOREVER;
	wait_for_edge(&w);
	CU_ASSERT_EQUAL(w.result, 0);
	w.side = WRITE;
	wait_for_edge(&w);
	CU_ASSERT_EQUAL(w.result, 0);
	must(weft_close(fd[0]) == 0 && weft_close(fd[1]) == 0);
}

static const struct test_case cases[] = {
	TEST(some_descriptors_cannot_be_watched),
	TEST(a_descriptor_that_is_closing_is_not_noted),
	TEST(an_interest_is_known_when_it_is_watched),
	TEST(an_event_is_of_one_descriptor_and_its_sides),
	TEST(an_interest_joins_the_sides_of_its_events),
	TEST(a_wait_ends_by_an_edge_the_deadline_or_a_cancellation),
	TEST(a_rest_is_not_ended_by_what_arrives),
	TEST(without_a_runtime_the_kernel_waits),
};

TEST_MAIN("io/fd_wait", cases)
