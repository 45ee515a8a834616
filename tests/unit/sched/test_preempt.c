/* SPDX-License-Identifier: MIT */
/*
 * test_preempt.c - sched/preempt: a thread that computes without a call stops nobody
 */
#include "threads.h"

#include <fenv.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "lockfree/atomic.h"
#include "os/call/tid.h"
#include "os/kthread/kthread.h"
#include "os/signal/signal.h"
#include "sched/preempt.h"

/* One VCPU, and slices short enough for a test. */
static const struct weft_options one = { .vcpus = 1, .slice_ns = 2000000 };

static uint64_t preemptions(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++)
		sum += load_relaxed(&wefti_vcpu_at(i)->stat_preemptions);
	return sum;
}

/* Those of threads with TLS of their own; the seats taken from light ones. */
static uint64_t stops(void)
{
	return preemptions() + load_relaxed(&wefti_rt.compensations);
}

/* The child runs first, and so main goes on only if it is stopped. */
static void a_spinning_thread_does_not_stop_the_only_vcpu(void)
{
	for (unsigned flags = 0; flags <= WEFT_LIGHT; flags++) {
		_Atomic int flag = 0;
		uint64_t id;

		CU_ASSERT_EQUAL_FATAL(weft_start(&one), 0);
		id = spawn_with(flags, spin_until, &flag);
		CU_ASSERT_TRUE(stops() > 0);
		store_relaxed(&flag, 1);
		join(id);
		runtime_end();
	}
}

struct pair {
	_Atomic int flag[2];
};

static void *answer(void *arg)
{
	struct pair *p = arg;

	for (int i = 1; i <= 5; i++) {
		while (load_acquire(&p->flag[0]) < i)
			wefti_arch_pause();
		store_release(&p->flag[1], i);
	}
	return NULL;
}

static void *ask(void *arg)
{
	struct pair *p = arg;

	for (int i = 1; i <= 5; i++) {
		store_release(&p->flag[0], i);
		while (load_acquire(&p->flag[1]) < i)
			wefti_arch_pause();
	}
	return NULL;
}

static void two_spinners_that_wait_for_each_other_go_on(void)
{
	for (unsigned flags = 0; flags <= WEFT_LIGHT; flags++) {
		struct pair p = { { 0, 0 } };
		uint64_t id[2];

		CU_ASSERT_EQUAL_FATAL(weft_start(&one), 0);
		id[0] = spawn_with(flags, answer, &p);
		id[1] = spawn_with(flags, ask, &p);
		join(id[0]);
		join(id[1]);
		CU_ASSERT_EQUAL(load_relaxed(&p.flag[1]), 5);
		runtime_end();
	}
}

struct wish {
	struct weft_sem sem;
	_Atomic int flag;
};

static void *wait_and_say_so(void *arg)
{
	struct wish *w = arg;

	must(weft_sem_wait(&w->sem) == 0);
	store_relaxed(&w->flag, 1);
	return NULL;
}

/* It is made ready by main, which then computes like the others. */
static void a_woken_thread_runs_although_all_others_compute(void)
{
	for (unsigned flags = 0; flags <= WEFT_LIGHT; flags++) {
		_Atomic int stop = 0;
		struct wish w = { .flag = 0 };
		uint64_t id[3];

		CU_ASSERT_EQUAL_FATAL(weft_start(&one), 0);
		id[0] = spawn(wait_and_say_so, &w);
		id[1] = spawn_with(flags, spin_until, &stop);
		id[2] = spawn_with(flags, spin_until, &stop);
		must(weft_sem_post(&w.sem) == 0);
		spin_until(&w.flag);
		store_relaxed(&stop, 1);
		for (int i = 0; i < 3; i++)
			join(id[i]);
		runtime_end();
	}
}

/* Threads that lose their seat go to another queue than threads that yield. */
static void a_yielding_thread_runs_although_seats_are_taken(void)
{
	_Atomic int stop = 0;
	uint64_t id[2];

	CU_ASSERT_EQUAL_FATAL(weft_start(&one), 0);
	for (int i = 0; i < 2; i++)
		id[i] = spawn_with(WEFT_LIGHT, spin_until, &stop);
	for (int i = 0; i < 5; i++)
		weft_yield();
	store_relaxed(&stop, 1);
	for (int i = 0; i < 2; i++)
		join(id[i]);
	runtime_end();
}

struct worker {
	_Atomic int *stop;
	int number;
	_Atomic size_t rounds;
};

/* A sum whose many terms are in registers while the signal comes. */
static __attribute__((noinline)) double mix(double seed, int rounds)
{
	double a = seed, b = seed + 1, c = seed + 2, d = seed + 3;
	double e = seed + 4, f = seed + 5, g = seed + 6, h = seed + 7;

	for (int i = 0; i < rounds; i++) {
		a = a * 0.75 + h;
		b = b * 0.625 + a;
		c = c * 0.5 + b;
		d = d * 0.375 + c;
		e = e * 0.25 + d;
		f = f * 0.125 + e;
		g = g * 0.5625 + f;
		h = h * 0.4375 - g * 0.0009765625;
	}
	return a + b + c + d + e + f + g + h;
}

#if defined(__x86_64__)
/* Fills a vector register with a number, spins, and looks at it. */
__attribute__((target("avx"), noinline)) static int keep_vector(uint64_t n)
{
	uint64_t in[4] = { n, ~n, n * 3, n ^ 77 }, out[4];

	__asm__ volatile("vmovdqu %1, %%ymm7\n\t"
			 "vmovdqu %1, %%ymm15\n\t"
			 "mov $200000, %%ecx\n"
			 "1:\tdec %%ecx\n\t"
			 "jnz 1b\n\t"
			 "vpxor %%xmm0, %%xmm0, %%xmm0\n\t"
			 "vorps %%ymm7, %%ymm15, %%ymm7\n\t"
			 "vmovdqu %%ymm7, %0\n\t"
			 "vzeroupper"
			 : "=m"(out) : "m"(in)
			 : "ecx", "cc", "memory", "xmm0", "xmm7", "xmm15");
	return memcmp(in, out, sizeof(in)) == 0;
}

static int vectors_are_kept(uint64_t n)
{
	return !__builtin_cpu_supports("avx") || keep_vector(n);
}
#else
static int vectors_are_kept(uint64_t n)
{
	return n != 0;	/* the doubles of mix() are in vector registers */
}
#endif

static const int modes[] = {
	FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO,
};

static void *compute(void *arg)
{
	struct worker *w = arg;
	int mode = modes[w->number % 4];
	double expected;

	must(fesetround(mode) == 0);
	expected = mix(w->number, 1000);
	errno = 1000 + w->number;
	while (!load_relaxed(w->stop)) {
		double got = mix(w->number, 1000);

		must(memcmp(&got, &expected, sizeof(got)) == 0);
		must(fegetround() == mode);
		must(vectors_are_kept((uint64_t)w->number + 1));
		must(errno == 1000 + w->number || !own_tls());
		fetch_add_relaxed(&w->rounds, 1);
	}
	return NULL;
}

/* Each goes on until all have been through a few slices. */
static void run_workers(unsigned flags)
{
	enum { WORKERS = 6 };
	_Atomic int stop = 0;
	struct worker w[WORKERS];
	uint64_t id[WORKERS], before;

	for (int i = 0; i < WORKERS; i++)
		w[i] = (struct worker){ .stop = &stop, .number = i };
	before = stops();
	for (int i = 0; i < WORKERS; i++)
		id[i] = spawn_with(flags, compute, &w[i]);
	for (int i = 0; i < WORKERS; i++)
		while (load_relaxed(&w[i].rounds) < 3)
			rest();
	while (!(flags & WEFT_LIGHT) && preemptions() - before < 3 * WORKERS)
		rest();
	store_relaxed(&stop, 1);
	for (int i = 0; i < WORKERS; i++)
		join(id[i]);
}

static void registers_rounding_and_errno_survive_preemption(void)
{
	static const struct weft_options slices = { .slice_ns = 2000000 };

	if (!own_tls_at_start())
		return;
	CU_ASSERT_EQUAL_FATAL(weft_start(&one), 0);
	run_workers(0);
	runtime_end();
	/* And when it comes back on another kernel thread. */
	CU_ASSERT_EQUAL_FATAL(weft_start(&slices), 0);
	run_workers(0);
	runtime_end();
}

static void registers_survive_the_loss_of_the_seat(void)
{
	CU_ASSERT_EQUAL_FATAL(weft_start(&one), 0);
	run_workers(WEFT_LIGHT);
	runtime_end();
}

struct home {
	_Atomic int stop;
	_Atomic size_t rounds;
};

/* What libc keeps for each thread, looked at over many preemptions. */
static void *look_at_tls(void *arg)
{
	static _Thread_local uint64_t mine;
	struct home *h = arg;
	pthread_t self = pthread_self();

	mine = weft_self();
	while (!load_relaxed(&h->stop)) {
		char *text = malloc(100);

		must(text != NULL);
		must(mine == weft_self());
		must(pthread_equal(self, pthread_self()));
		snprintf(text, 100, "%s", strerror((int)(mine % 30)));
		must(strcmp(text, strerror((int)(mine % 30))) == 0);
		free(text);
		fetch_add_relaxed(&h->rounds, 1);
		if (load_relaxed(&wefti_self()->attention))
			weft_yield();	/* without a VCPU it is not preempted */
	}
	return NULL;
}

static void tls_and_libc_survive_preemption_and_migration(void)
{
	static const struct weft_options slices = { .slice_ns = 1000000 };
	struct home h = { 0, 0 };
	uint64_t id[8];

	if (!own_tls_at_start())
		return;
	CU_ASSERT_EQUAL_FATAL(weft_start(&slices), 0);
	for (int i = 0; i < 8; i++)
		id[i] = spawn(look_at_tls, &h);
	while (stops() < 50 || load_relaxed(&h.rounds) < 1000)
		rest();
	store_relaxed(&h.stop, 1);
	for (int i = 0; i < 8; i++)
		join(id[i]);
	runtime_end();
}

#define COMPUTING	6
#define PAIRS		3000
#define SIGNALS		100000

static _Atomic int computes_on;		/* the kernel thread of the VCPU */
static _Atomic int all_is_sent;

static void *compute_on(void *arg)
{
	store_relaxed(&computes_on, gettid());
	while (!load_relaxed(&all_is_sent))
		(void)mix(1, 1000);
	return arg;
}

static void signal_it(void)
{
	while (!load_relaxed(&computes_on))
		wefti_os_yield();
	(void)!wefti_os_kthread_signal(load_relaxed(&computes_on),
				       wefti_os_preempt_signal());
}

/*
 * As the monitor does when a slice is over, and once more some moments later: on
 * machines with large vector registers a frame takes a fifth of the least stack.
 */
static void *signal_in_pairs(void *arg)
{
	for (size_t i = test_scaled(PAIRS); i > 0; i--) {
		uint64_t before = preemptions();

		signal_it();
		for (size_t n = i % 200; n > 0; n--)
			wefti_arch_pause();
		signal_it();
		for (int n = 0; n < 100 && preemptions() == before; n++)
			wefti_os_yield();
	}
	store_relaxed(&all_is_sent, 1);
	return arg;
}

/* Faster than they are handled. */
static void *signal_without_end(void *arg)
{
	for (size_t n = test_scaled(SIGNALS); n > 0; n--)
		signal_it();
	store_relaxed(&all_is_sent, 1);
	return arg;
}

static void send_to_least_stacks(void *(*send)(void *arg), int senders)
{
	const struct weft_attr least = { .stack_bytes = 16384 };
	uint64_t id[COMPUTING];
	pthread_t sender[2];

	computes_on = all_is_sent = 0;
	if (!own_tls_at_start())
		return;
	must(weft_start(&one) == 0);
	for (int i = 0; i < COMPUTING; i++)
		must(weft_spawn(&id[i], &least, compute_on, NULL) == 0);
	for (int i = 0; i < senders; i++)
		must(pthread_create(&sender[i], NULL, send, NULL) == 0);
	for (int i = 0; i < COMPUTING; i++)
		join(id[i]);
	while (senders-- > 0)
		pthread_join(sender[senders], NULL);
	runtime_end();
}

static void signals_find_room_on_a_least_stack(void)
{
	send_to_least_stacks(signal_in_pairs, 1);
	send_to_least_stacks(signal_without_end, 2);
}

#define KEPT	5

static _Atomic int asked;

static int keep_for_some(void)
{
	return fetch_add_relaxed(&asked, 1) < KEPT;
}

/* Main goes on only when the child is stopped, or has lost the VCPU. */
static void a_thread_keeps_its_vcpu_as_long_as_a_layer_above_says(void)
{
	_Atomic int flag = 0;
	uint64_t before, id;
	int times, is_taken;

	if (!own_tls_at_start())
		return;
	CU_ASSERT_EQUAL_FATAL(weft_start(&one), 0);
	store_relaxed(&asked, 0);
	before = load_relaxed(&wefti_rt.compensations);
	store_relaxed(&wefti_preempt_keeps, keep_for_some);
	id = spawn(spin_until, &flag);
	times = load_relaxed(&asked);
	is_taken = load_relaxed(&wefti_rt.compensations) != before;
	store_relaxed(&wefti_preempt_keeps, NULL);
	if (times <= KEPT && !is_taken)
		printf("asked %d times; more than %d were expected\n", times,
		       KEPT);
	CU_ASSERT_TRUE(times > KEPT || is_taken);
	store_relaxed(&flag, 1);
	join(id);
	runtime_end();
}

static int keep(void)
{
	return 1;
}

static _Atomic int met;

static void meet(ucontext_t *uc, const siginfo_t *info)
{
	(void)uc;
	(void)info;
	store_relaxed(&met, 1);
}

static void *insist_on(void *arg)
{
	wefti_preempt_insist(arg);
	return NULL;
}

static void *be_insisted_on(void *arg)
{
	pthread_t thread;

	(void)arg;
	must(pthread_create(&thread, NULL, insist_on, wefti_self()) == 0);
	while (!load_relaxed(&met))
		wefti_arch_pause();
	weft_block_begin();
	pthread_join(thread, NULL);
	weft_block_end();
	return NULL;
}

/* It computes until the hook is called; its VCPU is its own all the time. */
static void a_thread_that_keeps_its_vcpu_comes_through_the_hook(void)
{
	if (!own_tls_at_start())
		return;
	CU_ASSERT_EQUAL_FATAL(weft_start(&one), 0);
	store_relaxed(&met, 0);
	store_relaxed(&wefti_preempt_keeps, keep);
	store_relaxed(&wefti_preempt_hook, meet);
	join(spawn(be_insisted_on, NULL));
	store_relaxed(&wefti_preempt_keeps, NULL);
	store_relaxed(&wefti_preempt_hook, NULL);
	CU_ASSERT_EQUAL(preemptions(), 0);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(signals_find_room_on_a_least_stack),
	TEST(a_spinning_thread_does_not_stop_the_only_vcpu),
	TEST(two_spinners_that_wait_for_each_other_go_on),
	TEST(a_woken_thread_runs_although_all_others_compute),
	TEST(a_yielding_thread_runs_although_seats_are_taken),
	TEST(registers_rounding_and_errno_survive_preemption),
	TEST(registers_survive_the_loss_of_the_seat),
	TEST(tls_and_libc_survive_preemption_and_migration),
	TEST(a_thread_keeps_its_vcpu_as_long_as_a_layer_above_says),
	TEST(a_thread_that_keeps_its_vcpu_comes_through_the_hook),
};

TEST_MAIN("sched/preempt", cases)
