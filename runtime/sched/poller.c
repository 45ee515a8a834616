/* SPDX-License-Identifier: MIT */
/*
 * sched/poller.c - finds ready descriptors: the VCPUs that look, and the one that
 * sleeps
 *
 * Structure
 *   There is one epoll instance, made at the first wait for a descriptor; a program
 *   without such a wait has none. The idle VCPU that keeps the time sleeps in it
 *   instead of on its futex; an eventfd in it wakes that VCPU. While no VCPU sleeps
 *   there, the running VCPUs look without waiting: before they search other queues, and
 *   every 64 switches. Where yields do not lead to a switch, help_yields() (sched/park.c)
 *   looks now and then. The monitor looks every half slice. If it finds that no VCPU
 *   sleeps in epoll, it also wakes an idle VCPU to do so.
 *
 *   Events are edges (EPOLLET): each is given to one looking kernel thread, which must
 *   handle it. The eventfd is level-triggered, and only the VCPU that slept in epoll
 *   takes its value, so a look of another VCPU does not swallow a wake-up. The kernel
 *   also counts the eventfd up, for calls that it does on its own (io/disk.c).
 *
 * States
 *   of the poller  OFF --first use--> ON --the runtime stops--> OFF
 *   of `sleeper`   0 --keeper, about to sleep--> its VCPU --awake--> 0
 *
 * Writers
 *   poller.handler  wefti_poller_start
 *   poller.instances  word_of
 *   poller.kernel_calls  io/disk.c: submit, wefti_disk_forget, wefti_disk_complete
 *   poller.sleeper  wefti_poller_sleep, wefti_poller_stop
 *   poller.starters  wake_keeper, wefti_poller_forget
 *   poller.word  wefti_poller_start, wefti_poller_stop
 *
 * Invariants
 *   I1  While all VCPUs idle and the poller is ON, the keeper of the time
 *       (sched/idle.c) sleeps in the poller, is about to, or has been woken and looks
 *       around.
 *   I2  A kernel thread that takes an event from the kernel handles it, and neither
 *       parks nor sleeps before it has. The keeper handles it after it has left idle.
 *   I3  A waker counts v->wake up before it looks at `sleeper`, and the VCPU sets
 *       `sleeper` before it looks at v->wake.
 *
 * Linearization
 *   An event: at the return of the epoll_wait() that gives it.
 *
 * Progress
 *   All is wait-free, as far as the kernel's calls are, except the sleep and the stop.
 *   The stop waits for a foreign thread that is about to wake the keeper. A kernel
 *   thread stopped between an event and its handling delays the threads that wait for
 *   that batch of descriptors. A sleeper that is stopped delays all events until the
 *   monitor is awake; the monitor then looks in its place.
 *
 * ABA and reclamation
 *   The instance's number distinguishes a registration with this poller from one with
 *   an earlier poller. A late write to an eventfd that was closed cannot happen: no
 *   VCPU is woken any more when the poller stops, and the stop waits for the foreign
 *   threads of P5.
 *
 * Pairs
 *   P1  start: word; fence; load timekeeper.
 *       keeper: timekeeper; fence (of wefti_timers_keep()); load word. One
 *       sees the other, so the keeper does not go on sleeping on its futex.
 *   P2  wake: v->wake; fence; load sleeper.
 *       keeper: sleeper; fence; load v->wake. One sees the other.
 *   P3  start stores handler, then word -> handle loads handler
 *   P4  a thread that begins a call of the kernel's counts kernel_calls up, then hands
 *       the call to the kernel, which counts the eventfd up at its end -> the VCPU that
 *       has read the eventfd loads kernel_calls: 0 says that another VCPU has already
 *       taken the end of that call.
 *   P5  start: starters; load timekeeper. stop: timekeeper is 0, as the VCPUs have
 *       ended; load starters. One sees the other: no VCPU is freed while it is woken.
 *
 * Source
 *   The poller has the same place in the idle loop as in Go's and Tokio's
 *   schedulers. Rejected: a kernel thread of its own, which costs two wake-ups
 *   for each event of an otherwise idle program. Models: tests/model (poller,
 *   keeper, idle_kernel_call; P5 is not in them).
 */
#include "sched/poller.h"

#include <errno.h>

#include "os/call/descriptor.h"
#include "os/call/futex.h"
#include "os/kthread/kthread.h"

struct wefti_poller wefti_poller;

static uint64_t word_of(int ep, int wake)
{
	uint32_t instance = fetch_add_relaxed(&wefti_poller.instances, 1) %
			    0xffff + 1;

	return (uint64_t)instance << 48 | (uint64_t)(unsigned)ep << 24 |
	       (unsigned)wake;
}

static void close_both(uint64_t word)
{
	(void)wefti_os_fd_close(wefti_poller_eventfd(word));
	(void)wefti_os_fd_close(wefti_poller_epoll(word));
}

static void wake_keeper(void)
{
	uint32_t keeper;

	fetch_add_seq_cst(&wefti_poller.starters, 1);		/* P5 */
	fence_seq_cst();	/* P1 */
	keeper = load_seq_cst(&wefti_rt.timekeeper);
	if (keeper)
		wefti_poller_wake_vcpu(wefti_vcpu_at(keeper - 1));
	fetch_sub_seq_cst(&wefti_poller.starters, 1);
}

int wefti_poller_start(wefti_poller_fn *handler)
{
	uint64_t off = 0, word;
	int ep, wake;

	if (wefti_poller_is_on())
		return 0;
	ep = wefti_os_epoll_open();
	if (ep < 0)
		return ep;
	wake = wefti_os_eventfd_open(ep, WEFTI_POLLER_OWN);
	if (wake < 0) {
		(void)wefti_os_fd_close(ep);
		return wake;
	}
	store_release(&wefti_poller.handler, handler);	/* P3 */
	word = word_of(ep, wake);
	if (!cas_seq_cst(&wefti_poller.word, &off, word)) {
		close_both(word);	/* another was first */
		return 0;
	}
	wake_keeper();
	return 0;
}

void wefti_poller_forget(void)
{
	store_seq_cst(&wefti_poller.starters, 0);
	wefti_poller_stop();
}

void wefti_poller_stop(void)
{
	uint64_t word;

	while (load_seq_cst(&wefti_poller.starters))	/* P5 */
		wefti_os_nap();
	word = xchg_seq_cst(&wefti_poller.word, 0);
	store_seq_cst(&wefti_poller.sleeper, 0);
	if (word)
		close_both(word);
}

void wefti_poller_handle(const struct wefti_poll_batch *batch)
{
	wefti_poller_fn *handler = load_acquire(&wefti_poller.handler); /* P3 */

	for (int i = 0; i < batch->count; i++)
		if (batch->event[i].data != WEFTI_POLLER_OWN ||
		    load_seq_cst(&wefti_poller.kernel_calls))	/* P4 */
			handler(batch->event[i].data, batch->event[i].ready);
}

COLD int wefti_poller_run(void)
{
	uint64_t word = load_seq_cst(&wefti_poller.word);
	struct wefti_poll_batch batch;

	batch.count = wefti_os_epoll_wait(wefti_poller_epoll(word),
					  batch.event, 0);
	wefti_poller_handle(&batch);
	return batch.count;
}

void wefti_poller_sleep(struct wefti_vcpu *v, uint32_t seen, int64_t until,
			struct wefti_poll_batch *batch)
{
	uint64_t word = load_seq_cst(&wefti_poller.word);

	store_seq_cst(&wefti_poller.sleeper, v->index + 1);
	fence_seq_cst();	/* P2 */
	if (load_seq_cst(&v->wake) == seen)
		batch->count = wefti_os_epoll_wait(wefti_poller_epoll(word),
						   batch->event, until);
	store_seq_cst(&wefti_poller.sleeper, 0);
	for (int i = 0; i < batch->count; i++)
		if (batch->event[i].data == WEFTI_POLLER_OWN) {
			wefti_os_eventfd_take(wefti_poller_eventfd(word));
			if (!load_seq_cst(&wefti_poller.kernel_calls)) /* P4 */
				batch->event[i] = batch->event[--batch->count];
			break;
		}
}

void wefti_poller_wake_vcpu(struct wefti_vcpu *v)
{
	fetch_add_seq_cst(&v->wake, 1);
	fence_seq_cst();	/* P2 */
	if (load_seq_cst(&wefti_poller.sleeper) != v->index + 1)
		wefti_os_futex_wake(&v->wake, 1);
	else
		wefti_os_eventfd_post(wefti_poller_eventfd(
			load_seq_cst(&wefti_poller.word)));
}
