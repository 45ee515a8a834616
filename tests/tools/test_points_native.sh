#!/bin/sh
# SPDX-License-Identifier: MIT
# test_points_native.sh - programs of weft's own threads by weft cc: accesses to memory are points,
# races are told, and what weft orders is none
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"

weft=${WEFT_TEST_CLI-cli/weft}
if [ ! -x "$weft" ] || [ ! -f .libs/libweft-points.so ] || [ ! -f .libs/libweft.so ]; then
	echo "test_points_native.sh: left out, there is no $weft with its libraries"
	exit 0
fi
if ! echo 'int main(void) { return 0; }' >"$work/empty.c" ||
    ! "$weft" cc -o "$work/empty" "$work/empty.c" 2>/dev/null; then
	echo "test_points_native.sh: left out, the compiler has no -fsanitize=thread here"
	exit 0
fi

# compile NAME FILE FLAG...
compile()
{
	name=$1
	shift
	"$weft" cc -g -O1 -I"$top/include" -o "$work/$name" "$@" -L.libs -lweft \
		-Wl,-rpath,"$PWD/.libs" 2>"$work/compiler" ||
		{ cat "$work/compiler"; echo "cannot compile $name"; exit 1; }
}

explore()
{
	"$weft" explore --timeout 10m "$@"
}

compile race "$top/examples/buggy/native_race.c" -fno-inline
compile race.right "$top/examples/buggy/native_race.c" -DFIXED
passes "a race" status_is 1 explore --runs 10 "$work/race"
passes "it is told" says 'data race: thread [23] writes, at native_race.c:24; thread 1 reads, at native_race.c:55$'
passes "with its calls" says '^    called at native_race.c:37$'
passes "with the steps" says 'locks mutex [0-9]*, native_race.c:23'
list=$(sed -n 's/^ *weft run --seed \(list:[^ ]*\) .*/\1/p' "$work/said" | head -n 1)
passes "its shortest run" status_is 0 "$weft" run --seed "${list:-none}" "$work/race"
passes "tells it again" says '^weft: data race: nothing orders two accesses to 4 bytes'
passes "left alone" status_is 0 explore --runs 10 --no-races "$work/race"
passes "no race" status_is 0 explore --runs 20 "$work/race.right"

# A lost count, between the reading and the writing of a variable: accesses are points.
cat >"$work/count.c" <<'END'
#include <weft.h>
static volatile int count;
static void *add(void *a)
{
	count++;
	return a;
}
int main(void)
{
	uint64_t a, b;
	if (weft_start(0) || weft_spawn(&a, 0, add, 0) || weft_spawn(&b, 0, add, 0))
		return 2;
	(void)!weft_join(a, 0);
	(void)!weft_join(b, 0);
	return weft_stop() ? 2 : count == 2 ? 0 : 7;
}
END
compile count "$work/count.c"
passes "a lost count" status_is 1 explore --runs 40 --no-races "$work/count"
passes "is told" says 'exit status 7'
passes "no points, no lost count" status_is 0 explore --runs 10 --no-races --points none "$work/count"

# A wait that does not look again at its condition.
cat >"$work/once.c" <<'END'
#include <weft.h>
static struct weft_mutex lock = WEFT_MUTEX_INIT;
static struct weft_cond cond = WEFT_COND_INIT;
static int is_there;
static void *comes(void *a)
{
	(void)!weft_mutex_lock(&lock);
	is_there = 1;
	(void)!weft_cond_signal(&cond);
	(void)!weft_mutex_unlock(&lock);
	return a;
}
int main(void)
{
	int saw;
	uint64_t id;
	if (weft_start(0) || weft_spawn(&id, 0, comes, 0))
		return 2;
	(void)!weft_mutex_lock(&lock);
	LOOP (!is_there)
		(void)!weft_cond_wait(&cond, &lock);
	saw = is_there;
	(void)!weft_mutex_unlock(&lock);
	(void)!weft_join(id, 0);
	return weft_stop() ? 2 : saw ? 0 : 7;
}
END
compile if "$work/once.c" -DLOOP=if
compile while "$work/once.c" -DLOOP=while
passes "no wake-up without a signal" status_is 0 explore --runs 30 "$work/if"
passes "one, with --spurious" status_is 1 explore --runs 200 --spurious "$work/if"
passes "it is told, too" says 'exit status 7'
list=$(sed -n 's/^ *weft run --seed \(list:[^ ]*s[^ ]*\) .*/\1/p' "$work/said" | head -n 1)
passes "by a choice" status_is 7 "$weft" run --seed "${list:-none}" "$work/if"
passes "a loop is right" status_is 0 explore --runs 60 --spurious "$work/while"
passes "a search finds it" status_is 1 explore -s preempt --bound 2 --first --runs 1000 --spurious \
	"$work/if"

# RACE leaves out what orders two accesses, one after the other.
cat >"$work/orders.c" <<'END'
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft.h>
#define N	2
static struct weft_mutex mutex = WEFT_MUTEX_INIT;
static struct weft_cond cond = WEFT_COND_INIT;
static struct weft_rwlock rwlock = WEFT_RWLOCK_INIT;
static struct weft_sem sem;
static struct weft_barrier barrier;
static struct weft_once once = WEFT_ONCE_INIT;
static struct weft_lock word = WEFT_LOCK_INIT;
static struct weft_group group = WEFT_GROUP_INIT;
static struct weft_chan *met, *some, *alts;
static struct weft_ring *ring;
static struct weft_stack stack;
static _Atomic int flag, fenced;
static int by_mutex, by_rwlock, by_sem, by_barrier[2], by_once, by_word, by_chan, by_some,
	by_alt, by_atomic, by_fence, by_pipe, by_group, by_join, turn, ends[2], by_ring;
static struct item { struct weft_stack_node node; int value; } items[4];
static int first(void *a) { by_once = 1; (void)a; return 0; }
static int in_group(void *a)
{
	int local[64];
	memset(local, 1, sizeof(local));
	*(int *)a += local[3] != 0;
	return 0;
}
static void *work(void *number)
{
	int me = *(int *)number, v = 1, other;
	char byte = 0;
	uint64_t word64;
	struct weft_alt alt[2] = { { .op = WEFT_ALT_SEND, .chan = alts, .elem = &v },
				   { .op = WEFT_ALT_RECV, .chan = alts, .elem = &other } };
	struct weft_stack_node *node;
	int *memory = malloc(400);
	memset(memory, me, 400);
	free(memory);
#if RACE == 1
	by_mutex++;
#endif
	(void)!weft_mutex_lock(&mutex);
#if RACE != 1
	by_mutex++;
#endif
	while (turn != me)
		(void)!weft_cond_wait(&cond, &mutex);
	turn++;
	(void)!weft_cond_broadcast(&cond);
	(void)!weft_mutex_unlock(&mutex);
	(void)!weft_rwlock_write(&rwlock);
	by_rwlock++;
	(void)!weft_rwlock_unlock(&rwlock);
#if RACE == 2
	(void)!weft_rwlock_read(&rwlock);
	by_rwlock++;
	(void)!weft_rwlock_unlock(&rwlock);
#endif
	(void)!weft_rwlock_read(&rwlock);
	other = by_rwlock;
	(void)!weft_rwlock_unlock(&rwlock);
	(void)!weft_sem_wait(&sem);
	by_sem++;
	(void)!weft_sem_post(&sem);
#if RACE == 6
	by_sem++;
#endif
#if RACE == 3
	other = by_barrier[!me];
#endif
	by_barrier[me] = 1;
	(void)!weft_barrier_wait(&barrier);
	other = by_barrier[!me];
	(void)!weft_barrier_wait(&barrier);
	by_barrier[!me] = 2;
	if (weft_once(&once, first, 0) || !by_once)
		abort();
	weft_lock_lock(&word);
	by_word++;
	weft_lock_unlock(&word);
#if RACE == 9
	by_word++;
#endif
	if (me == 0) {
		by_chan = by_some = by_atomic = by_pipe = 1;
		items[0].value = 2;
		weft_stack_push(&stack, &items[0].node);
		by_ring = 1;
		if (weft_ring_push(ring, 5))
			abort();
		if (weft_chan_send(met, &v, WEFT_FOREVER) || weft_chan_send(some, &v, WEFT_FOREVER))
			abort();
#if RACE == 4
		by_some = 2;
#endif
		atomic_store_explicit(&flag, 1, memory_order_release);
		by_fence = 1;
		atomic_thread_fence(memory_order_release);
		atomic_store_explicit(&fenced, 1, memory_order_relaxed);
		if (weft_write(ends[1], &byte, 1) != 1)
			abort();
	} else {
		while ((node = weft_stack_pop(&stack)) == NULL)
			weft_yield();
		((struct item *)node)->value++;
#if RACE == 7
		by_ring++;
#endif
		while (weft_ring_pop(ring, &word64))
			;
		by_ring++;
		if (weft_chan_recv(met, &v, WEFT_FOREVER))
			abort();
		by_chan++;
		if (weft_chan_recv(some, &v, WEFT_FOREVER))
			abort();
		by_some++;
		while (!atomic_load_explicit(&flag, memory_order_acquire))
			;
		by_atomic++;
		while (!atomic_load_explicit(&fenced, memory_order_relaxed))
			;
#if RACE != 5
		atomic_thread_fence(memory_order_acquire);
#endif
		by_fence++;
		if (weft_read(ends[0], &byte, 1) != 1)
			abort();
		by_pipe++;
	}
	if (me || RACE == 8)
		by_alt = 1;
	if (weft_alt(alt, 2, WEFT_FOREVER) < 0 || (!me && !by_alt))
		abort();
	return 0;
}
int main(void)
{
	static int numbers[N] = { 0, 1 }, in[3];
	static char memory[4096] __attribute__((aligned(128)));
	const struct weft_attr detached = { .flags = WEFT_DETACHED };
	uint64_t id[N];
	if (weft_start(0) || weft_sem_init(&sem, 1) || weft_barrier_init(&barrier, N) ||
	    weft_chan_create(&met, sizeof(int), 0, 0) || weft_chan_create(&some, sizeof(int), 2, 0) ||
	    weft_chan_create(&alts, sizeof(int), 0, 0) || pipe(ends) ||
	    weft_ring_init(&ring, memory, sizeof(memory), 4))
		return 2;
	for (int i = 0; i < N; i++)
		if (weft_spawn(&id[i], 0, work, &numbers[i]))
			return 2;
	for (int i = 0; i < N; i++)
		if (weft_join(id[i], 0))
			return 3;
	by_mutex = by_alt = 0;
	for (int i = 0; i < 3; i++)
		if (weft_group_spawn(&group, 0, 0, in_group, &in[i]))
			return 4;
	if (weft_group_wait(&group, WEFT_FOREVER, 0) || in[0] + in[1] + in[2] != 3)
		return 5;
	/* Each gets the stack of one that has ended, which nothing orders. */
	for (int i = 0; i < 3; i++) {
		if (weft_spawn(&id[0], &detached, (void *(*)(void *))(void *)in_group, &in[i]))
			return 6;
		weft_yield();
		weft_yield();
	}
	if (weft_wait_all(WEFT_FOREVER))
		return 7;
	return weft_stop() || in[0] + in[1] + in[2] != 6;
}
END
compile orders "$work/orders.c" -DRACE=0
passes "a normal run" status_is 0 "$work/orders"
passes "all is ordered" status_is 0 explore --runs 20 "$work/orders"
passes "in one course" sh -c "! grep -q 'another course' '$work/said'"
for race in 1 2 3 4 5 6 7 8; do
	compile orders "$work/orders.c" -DRACE=$race
	passes "race $race" status_is 1 explore --runs 40 --first "$work/orders"
	passes "race $race is told" says 'data race: '
done
finish
