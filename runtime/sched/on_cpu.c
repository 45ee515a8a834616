/* SPDX-License-Identifier: MIT */
/*
 * sched/on_cpu.c - where threads are that use the CPU, for the recorder
 *
 * A timer on the CPU clock of each kernel thread that carries a VCPU sends it a signal. So
 * a kernel thread that sleeps gets none, and a system call that waits is hardly ever
 * interrupted. The handler copies the registers and the stack into an event, and
 * `weft profile` finds the calls (sched/stacks.c has the reasons).
 *
 * The handler may interrupt anything: malloc, the loader, a switch, another event. So it
 * calls nothing but wefti_os_copy(), a system call that fails where no memory is, and
 * writes to the common ring, in which a stopped writer is passed over. Between the two
 * instructions of a switch the thread that it names may be the other one of the two.
 *
 * The copy is made in a buffer, as the length of the stack is not known before. The
 * alternate stack is too small for it. If all buffers are in use, the sample is lost.
 *
 * Rejected: the monitor sends the signals. It would interrupt system calls of threads
 * that have just begun to wait, and would measure wall time. perf_event_open(): most
 * containers forbid it. Unwinding by the observer (observe/look.c): the VCPU would wait
 * for an answer, and programs would be slower by the depth of their stacks.
 *
 * Writers
 *   buffer.used  give, take, wefti_on_cpu_forget
 *   period_ns  wefti_on_cpu_sample
 *
 * Pairs
 *   P1  a handler gives a buffer back  ->  another one takes it: its words
 */
#include "sched/on_cpu.h"

#include "interrupted.h"
#include "os/call/copy.h"
#include "os/signal/cpu_timer.h"
#include "sched/loop.h"
#include "sched/record.h"
#include "sched/stacks.h"

#define NS_PER_SECOND	INT64_C(1000000000)
#define BUFFERS		8
#define TIMERS		512

static struct buffer {
	_Atomic uint32_t used;
	uint64_t words[WEFTI_RECORD_STACK_WORDS + WEFTI_STACK_BYTES_MOST / sizeof(uint64_t)];
} buffers[BUFFERS] TABLE;

static _Atomic int64_t period_ns;

/* The caller's: the kernel threads that are sampled. */
static struct { int tid, timer; } timers[TIMERS] TABLE;
static unsigned timer_count;

static struct buffer *take(void)
{
	for (unsigned i = 0; i < BUFFERS; i++) {
		uint32_t none = 0;

		if (cas_acquire(&buffers[i].used, &none, 1))	/* P1 */
			return &buffers[i];
	}
	return NULL;
}

static void give(struct buffer *b)
{
	store_release(&b->used, 0);	/* P1 */
}

static uintptr_t frame_pointer(const ucontext_t *uc)
{
	uintptr_t fp;

	return wefti_arch_register(uc, WEFTI_ARCH_NUMBER_FP, &fp) == 0 ? fp : 0;
}

static void sample(int signal, siginfo_t *info, void *context)
{
	const uint64_t times = 1 + (uint64_t)(info->si_overrun > 0 ? info->si_overrun : 0);
	const ucontext_t *uc = context;
	const struct wefti_thread *self = wefti_self();
	const uintptr_t sp = wefti_arch_ucontext_sp(uc);
	struct buffer *b;
	size_t bytes;

	(void)signal;
	if (wefti_record_is_parents() || !load_acquire(&wefti_recorder.on))	/* of memory.c: P1 */
		return;
	b = take();
	if (!b)
		return;
	*(struct wefti_record_stack *)b->words = (struct wefti_record_stack){
		.why = times, .pc = wefti_arch_ucontext_pc(uc), .sp = sp,
		.fp = frame_pointer(uc), .link = wefti_arch_ucontext_link(uc),
	};
	bytes = wefti_os_copy(b->words + WEFTI_RECORD_STACK_WORDS, (const void *)sp,
			      wefti_stack_bytes(self, sp));
	wefti_record_put_common_words(&wefti_recorder.common,
		wefti_record_what(WEFTI_EVENT_SAMPLE, 0), wefti_record_now(),
		wefti_recorder_id(self), times * (uint64_t)load_relaxed(&period_ns), b->words,
		(unsigned)(WEFTI_RECORD_STACK_WORDS + bytes / sizeof(uint64_t)));
	give(b);
}

static int is_sampled(int tid)
{
	for (unsigned i = 0; i < timer_count; i++)
		if (timers[i].tid == tid)
			return 1;
	return 0;
}

void wefti_on_cpu_end(void)
{
	for (unsigned i = 0; i < timer_count; i++)
		wefti_os_cpu_timer_end(timers[i].timer);
	timer_count = 0;
}

static int start(int tid)
{
	int timer;

	if (timer_count == TIMERS)	/* most of their kernel threads have ended */
		wefti_on_cpu_end();
	timer = wefti_os_cpu_timer_start(tid, load_relaxed(&period_ns));
	if (timer < 0)
		return timer;
	timers[timer_count].tid = tid;
	timers[timer_count++].timer = timer;
	return 0;
}

/* The child of a fork has no timers yet. These numbers may be those of its first ones. */
void wefti_on_cpu_forget(void)
{
	timer_count = 0;
	for (unsigned i = 0; i < BUFFERS; i++)
		store_relaxed(&buffers[i].used, 0);
}

int wefti_on_cpu_sample(unsigned hz)
{
	const int64_t period = NS_PER_SECOND / hz;
	int error = 0;

	if (load_relaxed(&period_ns) != period)
		wefti_on_cpu_end();
	store_relaxed(&period_ns, period);
	wefti_os_cpu_timer_handler(sample);
	for (unsigned i = 0; i < wefti_rt.vcpu_count && !error; i++) {
		const int tid = wefti_kthread_carrier(wefti_vcpu_at(i));

		if (tid > 0 && !is_sampled(tid))
			error = start(tid);
	}
	return error;
}
