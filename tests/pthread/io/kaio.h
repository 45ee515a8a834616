/* SPDX-License-Identifier: MIT */
/*
 * kaio.h - requests of the kernel's asynchronous I/O, which end when a test says so
 *
 * Each is that a pipe can be read.
 */
#ifndef WEFT_TESTS_KAIO_H
#define WEFT_TESTS_KAIO_H

#include "compare.h"

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <stdint.h>
#include <sys/syscall.h>

#define MOST	8

/* libaio's: under weft there are such without it. */
int io_setup(int requests, aio_context_t *context) __attribute__((weak));
int io_submit(aio_context_t context, long n, struct iocb **list)
	__attribute__((weak));
int io_destroy(aio_context_t context) __attribute__((weak));
int io_getevents(aio_context_t context, long min, long most,
		 struct io_event *events, struct timespec *time)
	__attribute__((weak));

struct scene {
	aio_context_t context;
	int pipe[2];
	long min;
	struct timespec *time;
	struct io_event event[MOST];
	long n;			/* what io_getevents() gave; or an errno value */
};

static int by_function;	/* or by syscall() */

/* As from syscall(). */
static inline long answer(int r)
{
	if (r >= 0)
		return r;
	errno = -r;
	return -1;
}

static inline long call_setup(aio_context_t *context)
{
	return by_function && io_setup ? answer(io_setup(MOST, context)) :
					 syscall(SYS_io_setup, MOST, context);
}

static inline long call_submit(aio_context_t context, long n, struct iocb **list)
{
	return by_function && io_submit ? answer(io_submit(context, n, list)) :
					  syscall(SYS_io_submit, context, n, list);
}

static inline long call_destroy(aio_context_t context)
{
	return by_function && io_destroy ? answer(io_destroy(context)) :
					   syscall(SYS_io_destroy, context);
}

static inline long call_get(struct scene *s)
{
	return by_function && io_getevents ?
	       answer(io_getevents(s->context, s->min, MOST, s->event,
				   s->time)) :
	       syscall(SYS_io_getevents, s->context, s->min, MOST, s->event,
		       s->time);
}

static inline void begin(struct scene *s)
{
	*s = (struct scene){ .min = 1 };
	if (call_setup(&s->context) != 0 ||
	    pipe2(s->pipe, O_NONBLOCK) != 0)
		abort();
}

static inline void end(struct scene *s)
{
	if (call_destroy(s->context) != 0)
		abort();
	close(s->pipe[0]);
	close(s->pipe[1]);
}

static inline struct iocb request(struct scene *s, uint64_t number)
{
	return (struct iocb){
		.aio_data = number, .aio_lio_opcode = IOCB_CMD_POLL,
		.aio_fildes = (uint32_t)s->pipe[0], .aio_buf = POLLIN,
	};
}

static inline void submit(struct scene *s, uint64_t number)
{
	struct iocb cb = request(s, number), *list = &cb;

	if (call_submit(s->context, 1, &list) != 1)
		abort();
}

/* All that have been submitted end. */
static inline void let_end(struct scene *s)
{
	if (write(s->pipe[1], "x", 1) != 1)
		abort();
}

static inline void take_byte(struct scene *s)
{
	char byte;

	if (read(s->pipe[0], &byte, 1) != 1)
		abort();
}

static inline void *get(void *arg)
{
	struct scene *s = arg;

	s->n = call_get(s);
	if (s->n < 0)
		s->n = -errno;
	return s;
}

static inline void tell(const struct scene *s)
{
	uint64_t numbers = 0;

	for (long i = 0; i < s->n; i++)
		numbers += s->event[i].data;
	printf("%ld %lu\n", s->n, (unsigned long)numbers);
}

static inline void a_moment(void)
{
	usleep(20000);
}

static inline void both_ways(void (*fn)(void))
{
	for (by_function = 0; by_function < 2; by_function++)
		fn();
}

/* Three times, one request after the other. */
static inline void wait_for_one(void)
{
	struct scene s;
	pthread_t t;

	begin(&s);
	for (int round = 0; round < 3; round++) {
		t = start(get, &s);
		a_moment();
		submit(&s, 40 + (uint64_t)round);
		a_moment();
		let_end(&s);
		finish(t);
		tell(&s);
		take_byte(&s);
	}
	end(&s);
}

#endif
