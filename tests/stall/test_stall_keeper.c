/* SPDX-License-Identifier: MIT */
/*
 * test_stall_keeper.c - the kernel thread of a VCPU that idles stops at each step
 *
 * From the moment in which it has found nothing to do until it looks for threads
 * again; most of that is the keeper of the time, in its futex or in epoll. While
 * it is stopped, for n from 1 until there are no more steps, on the other VCPUs
 *   - waits of each kind end at their deadlines, also when all else idles, and
 *     the monitor too;
 *   - a thread that waits for a descriptor is woken by it, while others are not
 *     all idle (sched/poller.c says what is held up when they are);
 *   - all calls go on, though the one that is stopped may have been chosen to
 *     run what they make ready.
 * It does not stop while it serves the timers that are due: it may then have a
 * thread in its hands, which nobody else can run. test_stall_timer.c stops it there.
 * There are two VCPUs: of more, one may sleep before its n-th step for as long as
 * the others are enough for what is to be done.
 */
#include <unistd.h>

#include "sched/idle.h"
#include "sched/timer.h"
#include "steer.h"

#define STEPS_MOST	100
#define TRIES		20
#define SOON_NS		300000
#define MONITOR_SLEEPS	50000000	/* it idles for six looks before */
#define WAITERS		4

static struct {
	_Atomic int aimed, over;
	size_t n;
	int fd[2];		/* nothing comes from it; -1: no poller */
} aim;

int __real_wefti_idle_wait(struct wefti_vcpu *v, int searching);
int __wrap_wefti_idle_wait(struct wefti_vcpu *v, int searching);
void __real_wefti_timers_run_all(void);
void __wrap_wefti_timers_run_all(void);

/* The first that idles after it was aimed at one is the victim. */
int __wrap_wefti_idle_wait(struct wefti_vcpu *v, int searching)
{
	int yes = 1, searches;

	if (!load_seq_cst(&aim.aimed) || !cas_seq_cst(&aim.aimed, &yes, 0))
		return __real_wefti_idle_wait(v, searching);
	steps_begin(aim.n);
	searches = __real_wefti_idle_wait(v, searching);
	steps_end();
	store_seq_cst(&aim.over, 1);
	return searches;
}

void __wrap_wefti_timers_run_all(void)
{
	steps_hold();
	__real_wefti_timers_run_all();
	steps_go_on();
}

static void *wait_in_cond(void *until)
{
	struct weft_mutex mutex = WEFT_MUTEX_INIT;
	struct weft_cond cond = WEFT_COND_INIT;

	must(weft_mutex_lock(&mutex) == 0);
	must(weft_cond_wait_until(&cond, &mutex, *(int64_t *)until) ==
	     -ETIMEDOUT);
	must(weft_mutex_unlock(&mutex) == 0);
	return NULL;
}

static void *wait_in_sem(void *until)
{
	struct weft_sem sem = WEFT_SEM_INIT;

	must(weft_sem_wait_until(&sem, *(int64_t *)until) == -ETIMEDOUT);
	return NULL;
}

static void *wait_asleep(void *until)
{
	must(weft_sleep_until(*(int64_t *)until) == 0);
	return NULL;
}

static void *wait_for_descriptor(void *until)
{
	char c;

	must(aim.fd[0] < 0 || weft_read_until(aim.fd[0], &c, 1,
			*(int64_t *)until) == -ETIMEDOUT);
	return NULL;
}

/* The first is alone: each ready thread more has another VCPU woken. */
static void deadlines_pass(int64_t ns)
{
	static void *(*const wait[WAITERS])(void *) = {
		wait_in_cond, wait_in_sem, wait_asleep, wait_for_descriptor,
	};
	int64_t until = weft_clock() + ns;
	uint64_t id[WAITERS];

	join(spawn(wait_asleep, &until));
	until = weft_clock() + ns;
	for (int i = 0; i < WAITERS; i++)
		id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, wait[i], &until);
	for (int i = 0; i < WAITERS; i++)
		join(id[i]);
}

struct letter {
	int fd[2];
	_Atomic int has_come;
};

static void *await_letter(void *arg)
{
	struct letter *l = arg;
	char c;

	must(weft_read(l->fd[0], &c, 1) == 1);
	store_seq_cst(&l->has_come, 1);
	return NULL;
}

static void *pass_the_time(void *arg)
{
	struct letter *l = arg;

	while (!load_seq_cst(&l->has_come))
		must(weft_sleep(SOON_NS) == 0);
	return NULL;
}

static void a_letter_comes(void)
{
	struct letter l = { .has_come = 0 };
	uint64_t reader, other;

	must(weft_pipe(l.fd, 0) == 0);
	reader = spawn(await_letter, &l);
	other = spawn(pass_the_time, &l);
	stall_await_parked(reader);
	must(weft_write(l.fd[1], "x", 1) == 1);
	join(reader);
	join(other);
	must(weft_close(l.fd[0]) == 0);
	must(weft_close(l.fd[1]) == 0);
}

/* What makes VCPUs idle, and wakes them, until the victim has gone its way. */
static int await_stop(void)
{
	while (!steps_stopped() && !load_seq_cst(&aim.over))
		deadlines_pass(SOON_NS);
	return steps_stopped();
}

/* Returns 1 if a VCPU was stopped before its n-th step. */
static int run_step(size_t n, int is_long)
{
	int stopped;

	aim.n = n;
	store_seq_cst(&aim.over, 0);
	store_seq_cst(&aim.aimed, 1);
	stopped = await_stop();
	if (stopped) {
		deadlines_pass(is_long ? MONITOR_SLEEPS : SOON_NS);
		if (aim.fd[0] >= 0)
			a_letter_comes();
		join(spawn(stall_probe, &aim));
		deadlines_pass(SOON_NS);
	}
	steps_release();
	while (!load_seq_cst(&aim.over))
		deadlines_pass(SOON_NS);
	return stopped;
}

static void *steer(void *unused)
{
	uint64_t random = test_seed(2);
	size_t stops = 0, n = 1;

	for (int tries = 0; n < STEPS_MOST && tries < TRIES;) {
		if (!run_step(n, test_random_below(&random, 4) == 0)) {
			tries++;
			continue;
		}
		tries = 0;
		stops++;
		n = stall_next_step(n, &random);
	}
	printf("    %u VCPUs%s: stopped at %zu steps\n", weft_vcpus(),
	       aim.fd[0] < 0 ? "" : ", a poller", stops);
	fflush(stdout);
	must(stops > 0);
	return unused;
}

static void *steer_with_poller(void *unused)
{
	must(weft_pipe(aim.fd, 0) == 0);
	(void)steer(unused);
	must(weft_close(aim.fd[0]) == 0);
	must(weft_close(aim.fd[1]) == 0);
	return unused;
}

static void stopped_it_delays_no_other_for_ever(void)
{
	aim.fd[0] = -1;
	stall_steer_on(2, steer, NULL);
}

static void in_the_poller_neither(void)
{
	stall_steer_on(2, steer_with_poller, NULL);
}

static const struct test_case cases[] = {
	TEST(stopped_it_delays_no_other_for_ever),
	TEST(in_the_poller_neither),
};

TEST_MAIN("stall/keeper", cases)
