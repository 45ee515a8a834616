/* SPDX-License-Identifier: MIT */
/* test_kaio.c - the kernel's asynchronous I/O: waits for the end of requests */
#include "kaio.h"
#include "tasks.h"

#include <sys/eventfd.h>

#include "syscall.h"

#define FEW	4	/* beside those that carry VCPUs */

/* --- what ends a wait ---------------------------------------------- */

static void a_wait_ends_with_its_request(void)
{
	both_ways(wait_for_one);
}

static void wait_for_three(void)
{
	struct scene s;
	pthread_t t;

	begin(&s);
	s.min = 3;
	t = start(get, &s);
	/* The kernel may look again whether there is a byte before it ends a request. */
	for (uint64_t i = 1; i <= 3; i++) {
		a_moment();
		submit(&s, i);
		let_end(&s);
	}
	finish(t);
	tell(&s);
	end(&s);
}

static void it_waits_for_as_many_as_it_asks_for(void)
{
	both_ways(wait_for_three);
}

static void it_waits_no_longer_than_it_asks_for(void)
{
	struct timespec time = { 0, 30000000 };
	struct scene s;

	begin(&s);
	s.time = &time;
	finish(start(get, &s));
	tell(&s);
	submit(&s, 5);
	let_end(&s);
	s.min = 2;
	finish(start(get, &s));
	tell(&s);
	time = (struct timespec){ 0, 0 };
	finish(start(get, &s));
	tell(&s);
	end(&s);
}

static void a_context_that_is_destroyed_ends_its_waits(void)
{
	struct scene s, other;
	pthread_t a, b;

	begin(&s);
	other = s;
	a = start(get, &s);
	b = start(get, &other);
	a_moment();
	end(&s);
	finish(a);
	finish(b);
	tell(&s);
	tell(&other);
}

static void *get_one(void *arg)
{
	struct scene *s = arg;
	struct io_event event;
	long n = syscall(SYS_io_getevents, s->context, 1, 1, &event, NULL);

	return n == 1 ? (void *)(uintptr_t)event.data : NULL;
}

static void each_of_many_takes_one(void)
{
	pthread_t t[MOST];
	struct scene s;
	uintptr_t sum = 0;

	begin(&s);
	for (int i = 0; i < MOST; i++)
		t[i] = start(get_one, &s);
	a_moment();
	for (uint64_t i = 1; i <= MOST; i++)
		submit(&s, i);
	let_end(&s);
	for (int i = 0; i < MOST; i++)
		sum += (uintptr_t)finish(t[i]);
	printf("%ld\n", (long)sum);
	end(&s);
}

/* Threads that submit, and one that takes what ends, as in a database. */
static void *submit_many(void *arg)
{
	struct scene *s = arg;
	char byte = 0;
	int fd = open("/dev/zero", O_RDONLY);

	for (long i = scaled(1000); i > 0; ) {
		struct iocb cb = {
			.aio_data = 1, .aio_lio_opcode = IOCB_CMD_PREAD,
			.aio_fildes = (uint32_t)fd, .aio_buf = (uintptr_t)&byte,
			.aio_nbytes = 1,
		}, *list = &cb;
		long n = call_submit(s->context, 1, &list);

		if (n == 1)
			i--;
		else if (n < 0 && errno == EAGAIN)
			usleep(100);	/* there is no room */
		else
			abort();
	}
	close(fd);
	return NULL;
}

static void none_is_lost(void)
{
	struct scene s;
	pthread_t t[4];
	long left = 4 * scaled(1000), wrong = 0;

	begin(&s);
	for (int i = 0; i < 4; i++)
		t[i] = start(submit_many, &s);
	while (left > 0) {
		get(&s);
		if (s.n <= 0)
			abort();
		for (long i = 0; i < s.n; i++)
			wrong += s.event[i].data != 1;
		left -= s.n;
	}
	for (int i = 0; i < 4; i++)
		finish(t[i]);
	printf("left %ld, wrong %ld\n", left, wrong);
	end(&s);
}

/* --- requests that do not tell us ----------------------------------- */

/* While one waits for what does. */
static void one_that_tells_the_program_is_waited_for(void)
{
	int told = eventfd(0, EFD_NONBLOCK);
	struct scene s;
	uint64_t count = 0;
	struct iocb cb, *list = &cb;
	pthread_t t;

	begin(&s);
	t = start(get, &s);
	a_moment();
	cb = request(&s, 9);
	cb.aio_flags = IOCB_FLAG_RESFD;
	cb.aio_resfd = (uint32_t)told;
	show_errno("submit", call_submit(s.context, 1, &list) - 1);
	a_moment();
	let_end(&s);
	finish(t);
	tell(&s);
	/* The request is in the ring a little before the program is told. */
	while (poll(&(struct pollfd){ .fd = told, .events = POLLIN }, 1, -1) != 1)
		;
	show_errno("read", read(told, &count, sizeof(count)));
	printf("told %lu\n", (unsigned long)count);
	end(&s);
	close(told);
}

/* By instructions of the program's own, as where libaio is a part of it. */
static void one_that_nobody_saw_is_waited_for(void)
{
	struct scene s;
	struct iocb cb, *list = &cb;
	pthread_t t;

	begin(&s);
	call_destroy(s.context);
	s.context = 0;
	if (wefti_arch_syscall(SYS_io_setup, MOST, (long)&s.context, 0, 0, 0,
			       0) != 0)
		abort();
	t = start(get, &s);
	a_moment();
	cb = request(&s, 10);
	printf("%ld\n", wefti_arch_syscall(SYS_io_submit, (long)s.context, 1,
					   (long)&list, 0, 0, 0));
	a_moment();
	let_end(&s);
	finish(t);
	tell(&s);
	end(&s);
}

/* There are no green threads yet. */
static void one_from_before_the_first_thread_is_waited_for(void)
{
	struct scene s;
	pthread_t t;

	begin(&s);
	submit(&s, 11);
	t = start(get, &s);
	a_moment();
	submit(&s, 12);
	let_end(&s);
	finish(t);
	printf("%d\n", s.n >= 1);
	end(&s);
}

/* A request is used again as it was left. */
static void one_may_be_submitted_twice(void)
{
	struct scene s;
	struct iocb cb, *list = &cb;
	pthread_t t;

	begin(&s);
	cb = request(&s, 13);
	for (int round = 0; round < 2; round++) {
		t = start(get, &s);
		a_moment();
		show_errno("submit", call_submit(s.context, 1, &list) - 1);
		let_end(&s);
		finish(t);
		tell(&s);
		take_byte(&s);
	}
	end(&s);
}

/* --- how many kernel threads that takes ------------------------------ */

/* Each waits for a context of its own, and parks. */
static void a_waiting_thread_needs_no_kernel_thread(void)
{
	const char *vcpus = getenv("WEFT_VCPUS");
	static struct scene s[16];
	pthread_t t[16];
	int tasks;

	by_function = 1;
	for (int i = 0; i < 16; i++) {
		begin(&s[i]);
		t[i] = start(get, &s[i]);
	}
	for (int round = 0; round < 3; round++)
		a_moment();
	for (int tries = 0; tries < 1000; tries++) {	/* spare ones end */
		tasks = count_tasks(NULL) - (vcpus ? atoi(vcpus) : 2);
		if (tasks <= FEW)
			break;
		a_moment();
	}
	printf("few: %d\n", tasks <= FEW);
	for (int i = 0; i < 16; i++) {
		submit(&s[i], 1);
		let_end(&s[i]);
		finish(t[i]);
		end(&s[i]);
	}
}

static const struct compare_case cases[] = {
	COMPARE(a_wait_ends_with_its_request),
	COMPARE(it_waits_for_as_many_as_it_asks_for),
	COMPARE(it_waits_no_longer_than_it_asks_for),
	COMPARE(a_context_that_is_destroyed_ends_its_waits),
	COMPARE(each_of_many_takes_one),
	COMPARE(none_is_lost),
	COMPARE(one_that_tells_the_program_is_waited_for),
	COMPARE(one_that_nobody_saw_is_waited_for),
	COMPARE(one_from_before_the_first_thread_is_waited_for),
	COMPARE(one_may_be_submitted_twice),
	WEFT_ONLY(a_waiting_thread_needs_no_kernel_thread, "few: 1\n"),
};

COMPARE_MAIN(cases)
