/* SPDX-License-Identifier: MIT */
/*
 * test_uring.c - io_uring: which programs are told that there is none
 *
 * The functions of liburing are those that a program finds when it is linked
 * with it. Where liburing or libaio is not installed, nothing is shown.
 */
#include "compare.h"

#include <dlfcn.h>
#include <linux/io_uring.h>
#include <sys/syscall.h>

#define RING	1024	/* bytes; more than a struct io_uring has */

static int has(const char *name)
{
	return dlopen(name, RTLD_NOW | RTLD_GLOBAL) != NULL;
}

static int has_liburing(void)
{
	return has("liburing.so.2") || has("liburing.so.1");
}

static int has_libaio(void)
{
	return has("libaio.so.1") || has("libaio.so.1t64");
}

/* As a program that is linked with liburing. */

static int init(void *ring, unsigned flags)
{
	int (*fn)(unsigned, void *, unsigned) = (int (*)(unsigned, void *,
		unsigned))dlsym(RTLD_DEFAULT, "io_uring_queue_init");

	return fn(4, ring, flags);
}

static int init_params(void *ring, unsigned flags)
{
	int (*fn)(unsigned, void *, void *) = (int (*)(unsigned, void *,
		void *))dlsym(RTLD_DEFAULT, "io_uring_queue_init_params");
	struct io_uring_params params = { .flags = flags };

	return fn(4, ring, &params);
}

static int call(const char *name, void *ring)
{
	int (*fn)(void *) = (int (*)(void *))dlsym(RTLD_DEFAULT, name);

	return fn(ring);
}

/* 0, or an errno value; -1: the two differ. */
static int ring_of_library(void)
{
	int (*const by[2])(void *, unsigned) = { init, init_params };
	int error[2];

	for (int i = 0; i < 2; i++) {
		_Alignas(64) char ring[RING] = "";

		error[i] = by[i](ring, 0);
		if (error[i] == 0)
			call("io_uring_queue_exit", ring);
	}
	return error[0] == error[1] ? -error[0] : -1;
}

static int ring_of_kernel(void)
{
	struct io_uring_params params = { .flags = 0 };
	long fd = syscall(SYS_io_uring_setup, 4, &params);

	if (fd < 0)
		return errno;
	close((int)fd);
	return 0;
}

static void *nothing(void *arg)
{
	return arg;
}

/* A container may have none for anybody. */
static void it_is_as_the_kernel_has_it(int is_there)
{
	printf("as the kernel has it: %d\n",
	       !is_there || ring_of_library() == ring_of_kernel());
}

static void where_libaio_is_loaded_too_there_is_none(void)
{
	int is_there = has_liburing() && has_libaio();

	finish(start(nothing, NULL));
	show("ring", is_there ? ring_of_library() : ENOSYS);
}

static void else_there_is(void)
{
	int is_there = has_liburing();

	finish(start(nothing, NULL));
	it_is_as_the_kernel_has_it(is_there);
}

static void on_request_it_is_there(void)
{
	int is_there = has_liburing() && has_libaio();

	setenv("WEFT_IO_URING", "yes", 1);
	finish(start(nothing, NULL));
	it_is_as_the_kernel_has_it(is_there);
}

static void on_request_there_is_none(void)
{
	int is_there = has_liburing();

	setenv("WEFT_IO_URING", "no", 1);
	finish(start(nothing, NULL));
	show("ring", is_there ? ring_of_library() : ENOSYS);
	show("the kernel's", ring_of_kernel());
}

static void *ask_for_odd_rings(void *arg)
{
	_Alignas(64) char ring[RING] = "";

	show("its thread's", -init(ring, 1u << 12));
	show("and by parameters", -init_params(ring, 1u << 12 | 1u << 13));
	show("registered", -call("io_uring_register_ring_fd", ring));
	return arg;
}

/* The flags are IORING_SETUP_SINGLE_ISSUER and IORING_SETUP_DEFER_TASKRUN. */
static void a_ring_is_no_threads(void)
{
	setenv("WEFT_IO_URING", "yes", 1);
	if (has_liburing())
		finish(start(ask_for_odd_rings, NULL));
	else
		puts("its thread's: EINVAL\nand by parameters: EINVAL\n"
		     "registered: EINVAL");
}

static void a_program_without_threads_has_what_there_is(void)
{
	it_is_as_the_kernel_has_it(has_liburing() && has_libaio());
}

static const struct compare_case cases[] = {
	WEFT_ONLY(where_libaio_is_loaded_too_there_is_none, "ring: ENOSYS\n"),
	COMPARE(else_there_is),
	COMPARE(on_request_it_is_there),
	WEFT_ONLY(on_request_there_is_none,
		  "ring: ENOSYS\nthe kernel's: ENOSYS\n"),
	WEFT_ONLY(a_ring_is_no_threads, "its thread's: EINVAL\n"
		  "and by parameters: EINVAL\nregistered: EINVAL\n"),
	COMPARE(a_program_without_threads_has_what_there_is),
};

COMPARE_MAIN(cases)
