/* SPDX-License-Identifier: MIT */
/*
 * test_stall_seat.c - the monitor stops at each step of taking a VCPU, while the
 * thread that has it goes on
 *
 * There is one VCPU. The victim blocks in the kernel with it, and another thread
 * is ready. The monitor stops before its n-th step of the taking; the victim comes
 * back, and calls, parks, or ends. The monitor goes on to a later step and stops
 * again; then the victim calls, is woken, or another thread begins, in the struct
 * of the one that has ended. Then the monitor goes on for good. All that time
 * whoever is inside the runtime has to have the VCPU that its own kernel thread
 * carries: two kernel threads would else work on one ring.
 */
#include "steer.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "sched/seat.h"
#include "thread/bare.h"

#define NAPS		5	/* for what cannot come where the seat is lost */
#define BEATS		50	/* of each, when the monitor has gone on */

enum deed { CALLS, PARKS, ENDS, DEEDS };

static const char *const deed_name[] = { "calls", "parks", "ends" };

static struct {
	enum deed deed;
	size_t first, then;		/* the steps of the two stops */
	int end[2];			/* a pipe: the victim blocks in it */
	_Atomic(struct wefti_thread *) victim;	/* NULL: not aimed at */
	_Atomic int returned, taken;	/* the taking; has it taken */
	_Atomic int other_taking;	/* one is under way that is not aimed */
	_Atomic int came_back;		/* the victim, from the kernel */
	_Atomic int again, over;
	_Atomic size_t beats[2];	/* of the victim, or the one after it; of
					 * the other one */
	struct weft_sem sem;
	_Atomic size_t same_struct;
} scene;

int __real_wefti_seat_take(struct wefti_vcpu *v, struct wefti_thread *t,
			   int64_t now);
int __wrap_wefti_seat_take(struct wefti_vcpu *v, struct wefti_thread *t,
			   int64_t now);

int __wrap_wefti_seat_take(struct wefti_vcpu *v, struct wefti_thread *t,
			   int64_t now)
{
	int aimed, is_taken;

	store_seq_cst(&scene.other_taking, 1);
	aimed = t == load_seq_cst(&scene.victim);
	if (aimed) {
		store_seq_cst(&scene.other_taking, 0);
		store_seq_cst(&scene.victim, NULL);
		steps_begin(scene.first);
	}
	is_taken = __real_wefti_seat_take(v, t, now);
	if (aimed) {
		steps_end();
		store_seq_cst(&scene.taken, is_taken);
		store_seq_cst(&scene.returned, 1);
	}
	store_seq_cst(&scene.other_taking, 0);
	return is_taken;
}

/* Inside the runtime. */
static void beat(unsigned who)
{
	struct wefti_thread *self = wefti_enter();

	must(self->vcpu->kthread->tid == (int)syscall(SYS_gettid));
	must(load_seq_cst(&self->vcpu->current) == self);
	wefti_leave(self);
	fetch_add_seq_cst(&scene.beats[who], 1);
}

static void beat_to_the_end(unsigned who)
{
	while (!load_seq_cst(&scene.over)) {
		beat(who);
		weft_yield();
	}
}

static void *goes_on(void *arg)
{
	struct wefti_thread *was = arg;

	if (wefti_self() == was)
		fetch_add_seq_cst(&scene.same_struct, 1);
	beat_to_the_end(0);
	return NULL;
}

/*
 * On a loaded machine the monitor may take the thread's VCPU before the thread is the
 * victim. The thread has it back when this returns, and the next taking is aimed.
 */
static void become_victim(void)
{
	store_seq_cst(&scene.victim, wefti_self());
	while (load_seq_cst(&scene.other_taking))
		wefti_arch_pause();
	wefti_leave(wefti_enter());
}

static void *play_victim(void *arg)
{
	char byte;

	become_victim();
	must(read(scene.end[0], &byte, 1) == 1);
	store_seq_cst(&scene.came_back, 1);
	if (scene.deed == ENDS)
		return arg;
	if (scene.deed == PARKS) {
		must(weft_sem_wait(&scene.sem) == 0);
	} else {
		beat(0);
		while (!load_seq_cst(&scene.again))
			;
	}
	beat_to_the_end(0);
	return arg;
}

/* Runs where the victim has gone, and begins what comes after it. */
static void *play_other(void *arg)
{
	const struct weft_attr attr = { .flags = WEFT_LIGHT };
	struct wefti_thread *victim = arg;
	uint64_t id = 0;

	while (!load_seq_cst(&scene.over)) {
		beat(1);
		if (load_seq_cst(&scene.again) && scene.deed == ENDS && !id)
			must(weft_spawn(&id, &attr, goes_on, victim) == 0);
		weft_yield();
	}
	if (id)
		join(id);
	return NULL;
}

/* It may be that nobody can: the seat is the monitor's. */
static void await_beat(unsigned who, size_t seen)
{
	for (int i = 0; i < NAPS; i++) {
		if (load_seq_cst(&scene.beats[who]) != seen)
			return;
		stall_nap();
	}
}

/* Returns 1 if the monitor is stopped, 0 if it has done with it. */
static int await_stop(void)
{
	while (!steps_stopped() && !load_seq_cst(&scene.returned))
		stall_nap();
	return steps_stopped();
}

static size_t beats_of(unsigned who)
{
	return load_seq_cst(&scene.beats[who]);
}

static void first_deed(void)
{
	unsigned who = scene.deed != CALLS;
	size_t seen = beats_of(who);

	must(write(scene.end[1], "x", 1) == 1);
	await_beat(who, seen);
}

static void second_deed(void)
{
	size_t seen = beats_of(0);

	if (scene.deed == PARKS)
		must(weft_sem_post(&scene.sem) == 0);
	store_seq_cst(&scene.again, 1);
	await_beat(0, seen);
}

/*
 * The next run must not take the end of this taking for that of its own, and its victim
 * must not read what was written for this one, which is not joined if it ends.
 */
static void await_end(void)
{
	while (!load_seq_cst(&scene.returned) || !load_seq_cst(&scene.came_back))
		stall_nap();
}

/* Returns how often the monitor was stopped: up to twice. */
static int run(enum deed deed, size_t first, size_t then)
{
	const struct weft_attr light = {
		.flags = WEFT_LIGHT | (deed == ENDS ? WEFT_DETACHED : 0),
	};
	uint64_t victim, other;
	int stops = 0;

	scene.deed = deed;
	scene.first = first;
	scene.then = then;
	must(weft_sem_init(&scene.sem, 0) == 0);
	store_seq_cst(&scene.victim, NULL);
	store_seq_cst(&scene.returned, 0);
	store_seq_cst(&scene.came_back, 0);
	store_seq_cst(&scene.again, 0);
	store_seq_cst(&scene.over, 0);
	must(weft_spawn(&victim, &light, play_victim, NULL) == 0);
	other = spawn_with(WEFT_LIGHT, play_other,
			   wefti_slot_get((uint32_t)victim));
	stops += await_stop();
	first_deed();
	if (stops) {
		steps_go_to(then);
		stops += await_stop();
	}
	second_deed();
	steps_release();
	await_end();
	for (unsigned who = 0; who < 2; who++) {
		size_t seen = beats_of(who);

		while (beats_of(who) < seen + BEATS)
			stall_nap();
	}
	store_seq_cst(&scene.over, 1);
	if (deed != ENDS)
		join(victim);
	join(other);
	return stops;
}

/*
 * As run(). No stop means that the taking has no step `first`. Only one that took the
 * VCPU has shown that: the victim may not have been in the kernel yet.
 */
static int run_to_the_end(enum deed deed, size_t first, size_t then)
{
	int stops;

	do
		stops = run(deed, first, then);
	while (!stops && !load_seq_cst(&scene.taken));
	return stops;
}

static void *steer(void *arg)
{
	must(pipe(scene.end) == 0);
	for (enum deed deed = CALLS; deed < DEEDS; deed++) {
		size_t n = 1, pairs = 0;

		for (int stops = 2; stops > 0; n++) {
			size_t m = n + 1;

			while ((stops = run_to_the_end(deed, n, m)) == 2)
				m++, pairs++;
		}
		printf("    the victim %s: stopped at %zu steps, and at %zu pairs "
		       "of steps\n", deed_name[deed], n - 2, pairs);
		fflush(stdout);
		must(n - 2 > 5 && pairs > 10);
	}
	must(load_seq_cst(&scene.same_struct) > 0);
	close(scene.end[0]);
	close(scene.end[1]);
	return arg;
}

static void whoever_is_inside_has_the_vcpu_that_its_kernel_thread_carries(void)
{
	stall_steer_on(1, steer, NULL);
}

static const struct test_case cases[] = {
	TEST(whoever_is_inside_has_the_vcpu_that_its_kernel_thread_carries),
};

TEST_MAIN("stall/seat", cases)
