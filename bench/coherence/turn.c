/* SPDX-License-Identifier: MIT */
/*
 * coherence/turn.c - the kernel threads take turns by virtual clocks
 *
 * The member whose clock is behind runs until its clock is QUANTUM ahead of the next. A
 * member that sleeps is at its deadline's time. All is under one lock but the clock of
 * the member that runs. If a kernel thread blocks in a call that is not ours, another
 * takes its turn after STALL_NS. One that has only lost its CPU keeps the turn.
 *
 * In plain C11: lockfree/atomic.h would call us.
 */
#include "coherence/turn.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#include "coherence/mesi.h"
#include "syscall.h"

#define QUANTUM		50000		/* picoseconds */
#define STALL_NS	20000000
#define NOBODY		MESI_CPUS

enum state { OUT, READY, SLEEPS };

struct member {
	_Alignas(64) int64_t clock;	/* picoseconds from the begin */
	enum state state;
	int tid;
	_Atomic uint32_t go;		/* futex: its turn may have come */
	_Atomic uint32_t *word;		/* that it sleeps on */
	int64_t deadline;		/* picoseconds */
	int timed_out;
};

struct turn_costs turn_costs = {
	.hit = 500, .near = 76000, .far = 200000, .call = 500000, .wake = 5000000,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct member members[MESI_CPUS];
static unsigned used;			/* members so far */
static atomic_uint running = NOBODY;
static atomic_int is_on;
static _Atomic int64_t limit;	/* the clock that ends the turn */
static int64_t reached;		/* the clock that was picked last */
static int64_t began, last_end;		/* nanoseconds */
static atomic_ulong progress;
static unsigned rescues;
static struct {
	int64_t at;		/* picoseconds */
	void (*fn)(void);	/* NULL: none */
} alarms[2];

/* With --wrap; see wrap.c. */
int __real_wefti_os_kthread_is_asleep(int tid);

static long futex(_Atomic uint32_t *w, int op, long value, struct timespec *t)
{
	return wefti_arch_syscall(SYS_futex, (long)w, op | FUTEX_PRIVATE_FLAG, value,
				  (long)t, 0, 0);
}

int64_t turn_real_now(void)
{
	struct timespec t = { 0, 0 };

	(void)wefti_arch_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&t, 0, 0, 0,
				 0);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int turn_is_on(void)
{
	return atomic_load_explicit(&is_on, memory_order_relaxed);
}

static int64_t due(const struct member *m)
{
	return m->state == READY ? m->clock :
	       m->state == SLEEPS ? m->deadline : INT64_MAX;
}

/* Under the lock: the one whose time is the earliest has its turn. */
static void pick(void)
{
	unsigned best = NOBODY;
	int64_t first = INT64_MAX, second = INT64_MAX;

	for (unsigned i = 0; i < used; i++) {
		int64_t t = due(&members[i]);

		if (t < first) {
			second = first;
			first = t;
			best = i;
		} else if (t < second) {
			second = t;
		}
	}
	atomic_store(&running, best);
	if (best == NOBODY)
		return;
	if (members[best].state == SLEEPS) {
		members[best].clock = first;
		members[best].timed_out = 1;
		members[best].state = READY;
	}
	reached = first;
	for (unsigned i = 0; i < 2; i++) {
		void (*fn)(void) = first >= alarms[i].at ? alarms[i].fn : NULL;

		if (fn) {
			alarms[i].fn = NULL;
			fn();
		}
	}
	limit = second < INT64_MAX - QUANTUM ? second + QUANTUM : INT64_MAX;
	atomic_fetch_add(&members[best].go, 1);
	futex(&members[best].go, FUTEX_WAKE, 1, NULL);
}

/* Under the lock. Does the one that has the turn block? */
static int is_stalled(unsigned long before)
{
	unsigned who = atomic_load(&running);

	return turn_is_on() && before == atomic_load(&progress) &&
	       (who == NOBODY || __real_wefti_os_kthread_is_asleep(members[who].tid));
}

/* Under the lock, which it releases meanwhile. */
static void wait_for_turn(unsigned cpu)
{
	struct timespec nap = { 0, STALL_NS };

	members[cpu].tid = (int)wefti_arch_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
	while (turn_is_on() && atomic_load(&running) != cpu) {
		uint32_t seen = atomic_load(&members[cpu].go);
		unsigned long before = atomic_load(&progress);
		long r;

		pthread_mutex_unlock(&lock);
		r = futex(&members[cpu].go, FUTEX_WAIT, (long)seen, &nap);
		pthread_mutex_lock(&lock);
		if (r != -ETIMEDOUT || atomic_load(&running) == cpu ||
		    !is_stalled(before))
			continue;
		if (atomic_load(&running) != NOBODY)
			members[atomic_load(&running)].state = OUT;
		atomic_fetch_add(&progress, 1);
		rescues++;
		pick();
	}
}

/* Under the lock: one more wants the turn. */
static void lower_limit(const struct member *m)
{
	if (m->clock + QUANTUM < limit)
		limit = m->clock + QUANTUM;
}

/* Under the lock. */
static void join(unsigned cpu)
{
	if (cpu >= used)
		used = cpu + 1;
	if (members[cpu].state == OUT && members[cpu].clock < reached)
		members[cpu].clock = reached;
	members[cpu].state = READY;
	lower_limit(&members[cpu]);
	if (atomic_load(&running) == NOBODY)
		pick();
}

static int has_turn(unsigned cpu)
{
	return atomic_load_explicit(&running, memory_order_relaxed) == cpu;
}

void turn_spend(unsigned cpu, int64_t ps)
{
	if (!turn_is_on())
		return;
	if (has_turn(cpu)) {
		members[cpu].clock += ps;
		atomic_fetch_add_explicit(&progress, 1, memory_order_relaxed);
		if (members[cpu].clock <= atomic_load_explicit(&limit, memory_order_relaxed))
			return;
		pthread_mutex_lock(&lock);
		if (turn_is_on() && has_turn(cpu))
			pick();
	} else {
		pthread_mutex_lock(&lock);
		if (turn_is_on()) {
			join(cpu);
			members[cpu].clock += ps;
		}
	}
	wait_for_turn(cpu);
	pthread_mutex_unlock(&lock);
}

void turn_transfer(unsigned cpu, int64_t *free_at, int64_t ps)
{
	int64_t now = members[cpu].clock;
	int64_t begin = *free_at > now ? *free_at : now;

	if (!turn_is_on() || !has_turn(cpu))
		return;
	*free_at = begin + ps;
	turn_spend(cpu, begin + ps - now);
}

int64_t turn_now(unsigned cpu)
{
	int64_t real;

	if (turn_is_on())
		return began + (has_turn(cpu) ? members[cpu].clock : reached) / 1000;
	real = turn_real_now();
	return real > last_end ? real : last_end;
}

int turn_sleep(unsigned cpu, _Atomic uint32_t *w, uint32_t value, int64_t deadline)
{
	struct member *me = &members[cpu];

	turn_spend(cpu, turn_costs.call);
	pthread_mutex_lock(&lock);
	if (!turn_is_on() || atomic_load(w) != value) {
		pthread_mutex_unlock(&lock);
		return 0;
	}
	me->word = w;
	me->timed_out = 0;
	me->deadline = deadline == INT64_MAX ? INT64_MAX :
		       deadline < began ? 0 : (deadline - began) * 1000;
	if (me->deadline < me->clock)
		me->deadline = me->clock;
	me->state = SLEEPS;
	if (has_turn(cpu))
		pick();
	wait_for_turn(cpu);
	pthread_mutex_unlock(&lock);
	return me->timed_out ? -ETIMEDOUT : 0;
}

int turn_wake(unsigned cpu, _Atomic uint32_t *w, int count)
{
	int woken = 0;

	turn_spend(cpu, turn_costs.call);
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < used && woken < count && turn_is_on(); i++) {
		struct member *m = &members[i];

		if (m->state != SLEEPS || m->word != w)
			continue;
		m->clock = members[cpu].clock + turn_costs.wake;
		m->state = READY;
		lower_limit(m);
		woken++;
	}
	pthread_mutex_unlock(&lock);
	/* Those that slept before the part. */
	if (woken < count)
		woken += (int)futex(w, FUTEX_WAKE, count - woken, NULL);
	return woken;
}

static void set_cost(const char *name, int64_t *ps)
{
	const char *s = getenv(name);

	if (s)
		*ps = (int64_t)(strtod(s, NULL) * 1000);
}

void turn_begin(void)
{
	const char *s = getenv("WEFT_COHERENCE_SOCKET");

	set_cost("WEFT_COHERENCE_HIT", &turn_costs.hit);
	set_cost("WEFT_COHERENCE_NEAR", &turn_costs.near);
	set_cost("WEFT_COHERENCE_FAR", &turn_costs.far);
	turn_costs.socket = s ? (unsigned)strtoul(s, NULL, 10) : 0;
	pthread_mutex_lock(&lock);
	began = turn_real_now();
	began = began > last_end ? began : last_end;
	reached = 0;
	rescues = 0;
	for (unsigned i = 0; i < MESI_CPUS; i++) {
		members[i].state = OUT;
		members[i].clock = 0;
	}
	atomic_store(&running, NOBODY);
	atomic_store(&is_on, 1);
	pthread_mutex_unlock(&lock);
}

void turn_at(int64_t ns, void (*fn)(void))
{
	pthread_mutex_lock(&lock);
	unsigned i = alarms[0].fn != NULL;

	alarms[i].at = ns * 1000;
	alarms[i].fn = fn;
	pthread_mutex_unlock(&lock);
}

void turn_gather(unsigned cpu, unsigned count, _Atomic uint32_t *(*word)(unsigned cpu))
{
	struct timespec nap = { 0, 1000000 };
	int missing = 1;

	turn_spend(cpu, 0);
	for (unsigned tries = 0; missing && tries < 5000; tries++) {
		missing = 0;
		for (unsigned i = 0; i < count; i++) {
			pthread_mutex_lock(&lock);
			missing += members[i].state == OUT;
			pthread_mutex_unlock(&lock);
			futex(word(i), FUTEX_WAKE, 1, NULL);
		}
		(void)wefti_arch_syscall(SYS_nanosleep, (long)&nap, 0, 0, 0, 0, 0);
		/* The turn may have been taken meanwhile. */
		turn_spend(cpu, 0);
	}
}

void turn_end(void)
{
	pthread_mutex_lock(&lock);
	last_end = began + reached / 1000;
	atomic_store(&is_on, 0);
	atomic_store(&running, NOBODY);
	for (unsigned i = 0; i < used; i++) {
		atomic_fetch_add(&members[i].go, 1);
		futex(&members[i].go, FUTEX_WAKE, 1, NULL);
	}
	pthread_mutex_unlock(&lock);
}

unsigned turn_rescues(void)
{
	return rescues;
}
