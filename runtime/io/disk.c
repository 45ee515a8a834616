/* SPDX-License-Identifier: MIT */
/*
 * io/disk.c - calls that wait for a disk, without one kernel thread for each
 *
 * There is one queue of the kernel's, made by the first call. The kernel reports
 * finished calls by the poller's eventfd (sched/poller.c): a VCPU that looks at
 * descriptors then looks here. The eventfd counts up when a finished call is in the
 * queue, and a VCPU that takes its value looks at the queue after that. So a call that
 * was not in the queue yet makes the poller return once more. The protocol between the
 * thread and the VCPU that takes its call from the queue is in io/kernel_call.h.
 *
 * The queue's states: NONE --by the first call--> OPENING --> the kernel's queue; or
 * NEVER, if the kernel has none; or NONE again, if there are too many now. NONE after a
 * stop and in the child of a fork. A thread that finds it OPENING parks for a moment
 * and looks again, which is not lock-free. All else is wait-free, as far as the
 * kernel's calls are.
 *
 * Writers
 *   queue  the_queue, wefti_disk_forget, wefti_disk_stop
 */
#include "io/disk.h"

#include <errno.h>

#include "io/fd_wait.h"
#include "io/kernel_call.h"
#include "io/span.h"
#include "life/few.h"
#include "os/call/clock.h"
#include "os/call/descriptor.h"
#include "sched/poller.h"
#include "weft/runtime.h"

#define AT_ONCE		512	/* calls in the queue */
#define TAKEN		16
#define PAUSE_NS	INT64_C(30000)
#define PAUSE_MOST_NS	INT64_C(3200000)
#define PATIENCE_NS	INT64_C(200000000)

enum { NONE, OPENING, NEVER };		/* else the kernel's queue, a larger number */

static _Atomic uint64_t queue;

int wefti_disk_any_waits(void)
{
	return load_seq_cst(&wefti_poller.kernel_calls) != 0;
}

void wefti_disk_complete(void)
{
	struct wefti_os_disk_done done[TAKEN];
	int n = TAKEN;

	while (n == TAKEN && wefti_disk_any_waits()) {
		n = wefti_os_disk_take(load_seq_cst(&queue), done, TAKEN);
		for (int i = 0; i < n; i++) {
			fetch_sub_seq_cst(&wefti_poller.kernel_calls, 1);
			wefti_kernel_call_done(
				(struct wefti_kernel_call *)(uintptr_t)
				done[i].data, done[i].result);
		}
	}
}

static void pause_for(int64_t ns)
{
	struct wefti_thread *self = wefti_enter();

	(void)wefti_park_begin(self, WEFTI_WAIT_TIMED, WEFTI_WHY_DISK, NULL);
	(void)wefti_park(self, wefti_os_now_ns() + ns);
	wefti_leave(self);
}

/* Its state when no thread is opening it. */
static uint64_t await_queue(void)
{
	uint64_t q = load_seq_cst(&queue);

	for (; unlikely(q == OPENING); q = load_seq_cst(&queue))
		pause_for(PAUSE_NS);
	return q;
}

/*
 * Returns 0 if there is none. One thread opens it and others wait: closing a surplus
 * queue takes the kernel some 30 ms.
 */
static uint64_t the_queue(void)
{
	uint64_t q;

	do {
		q = await_queue();
		if (likely(q != NONE))
			return q > NEVER ? q : 0;
	} while (!cas_seq_cst(&queue, &q, OPENING));
	switch (wefti_os_disk_open(AT_ONCE, &q)) {
	case 0:
		break;
	case -ENOSYS:
		q = NEVER;
		break;
	default:
		q = NONE;
	}
	store_seq_cst(&queue, q);
	return q > NEVER ? q : 0;
}

/* kernel_calls is counted up before the kernel gets the call: of poller.c: P4. */
static int submit(const struct wefti_os_disk_call *call,
		  struct wefti_kernel_call *c)
{
	uint64_t q = the_queue(), poller;
	int error;

	if (!q || wefti_fd_poller(&poller) != 0)
		return -ENOTSUP;
	fetch_add_seq_cst(&wefti_poller.kernel_calls, 1);
	error = wefti_os_disk_submit(q, call, wefti_poller_eventfd(poller),
				     (uintptr_t)c);
	if (error)
		fetch_sub_seq_cst(&wefti_poller.kernel_calls, 1);
	return error;
}

static int has_vcpu(const struct wefti_thread *self)
{
	return self && self->kind != WEFTI_KIND_FOREIGN &&
	       load_seq_cst(&wefti_rt.state) == WEFTI_RT_ON;
}

ssize_t wefti_disk_do(const struct wefti_os_disk_call *call)
{
	struct wefti_thread *self = wefti_self();
	struct wefti_kernel_call c = { .result = 0 };
	ssize_t r;

	if (!has_vcpu(self) || submit(call, &c) != 0)
		return -ENOTSUP;
	self = wefti_enter();
	r = wefti_kernel_call_wait(&c, self);
	wefti_leave(self);
	return r;
}

/* --- reading ahead ------------------------------------------------- */

ssize_t wefti_disk_read_on(int fd, const struct iovec *iov, int count,
			   off_t at)
{
	int64_t end = wefti_os_now_ns() + PATIENCE_NS, pause = PAUSE_NS;
	ssize_t r = -EAGAIN;

	if (!has_vcpu(wefti_self()))
		return r;
	wefti_os_fd_read_ahead(fd, at, wefti_span(iov, count).left);
	while (r == -EAGAIN && wefti_os_now_ns() < end) {
		pause_for(pause);
		r = wefti_os_fd_readv_at_once(fd, iov, count, at);
		if (pause < PAUSE_MOST_NS)
			pause *= 2;
	}
	return r;
}

static ssize_t read_in_region(int fd, const struct iovec *iov, int count,
			      off_t at)
{
	ssize_t r = at < 0 ? wefti_os_fd_readv(fd, iov, count) :
			     wefti_os_fd_preadv(fd, iov, count, at);

	weft_block_end();
	return r;
}

/* r: why it could not be read at once. */
static ssize_t read_waiting(int fd, const struct iovec *iov, int count,
			    off_t at, ssize_t r)
{
	if (r == -EAGAIN) {
		if (wefti_block_begin_few())
			return read_in_region(fd, iov, count, at);
		r = wefti_disk_read_on(fd, iov, count, at);
		if (r != -EAGAIN)
			return r;
	}
	weft_block_begin();
	return read_in_region(fd, iov, count, at);
}

static int has_to_wait(ssize_t r)
{
	return r == -EAGAIN || r == -EOPNOTSUPP;
}

static ssize_t read_some(void *arg, const struct iovec *iov, int count, off_t at)
{
	const int fd = *(const int *)arg;
	ssize_t r;

	do {
		r = wefti_os_fd_readv_at_once(fd, iov, count, at);
		if (has_to_wait(r))
			r = read_waiting(fd, iov, count, at, r);
	} while (r == -EINTR);
	return r;
}

ssize_t wefti_disk_read(int fd, const struct iovec *iov, int count, off_t at)
{
	return wefti_span_do(iov, count, at, read_some, &fd);
}

/* --- the runtime's end --------------------------------------------- */

void wefti_disk_stop(void)
{
	uint64_t q = xchg_seq_cst(&queue, NONE);

	if (q > NEVER)
		wefti_os_disk_close(q);
}

void wefti_disk_forget(void)
{
	store_seq_cst(&queue, NONE);
	store_seq_cst(&wefti_poller.kernel_calls, 0);
}
