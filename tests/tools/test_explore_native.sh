#!/bin/sh
# SPDX-License-Identifier: MIT
# test_explore_native.sh - weft explore: programs of weft's own threads
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317,SC1091,SC2154
. "$(dirname "$0")/common.sh"

weft=${WEFT_TEST_CLI-cli/weft}
if [ ! -x "$weft" ] || [ ! -f .libs/libweft-explore.so ] || [ ! -f .libs/libweft.so ] ||
    ! command -v "${CC-cc}" >/dev/null; then
	echo "test_explore_native.sh: left out, there is no $weft with its libraries, or no compiler"
	exit 0
fi

# compile NAME FILE FLAG...
compile()
{
	name=$1
	shift
	# shellcheck disable=SC2086 # CC may have options
	${CC-cc} -g -O1 -I"$top/include" -o "$work/$name" "$@" -L.libs -lweft \
		-Wl,-rpath,"$PWD/.libs" || { echo "cannot compile $name"; exit 1; }
}

explore()
{
	"$weft" explore --timeout 10m "$@"
}

cat >"$work/embrace.c" <<'END'
#include <weft.h>
static struct weft_mutex lock[2] = { WEFT_MUTEX_INIT, WEFT_MUTEX_INIT };
static void *work(void *first)
{
	struct weft_mutex *one = first, *other = one == lock ? lock + 1 : lock;
	(void)!weft_mutex_lock(one);
	(void)!weft_mutex_lock(other);
	(void)!weft_mutex_unlock(other);
	(void)!weft_mutex_unlock(one);
	return first;
}
int main(void)
{
	uint64_t a, b;
	if (weft_start(0) || weft_spawn(&a, 0, work, lock) || weft_spawn(&b, 0, work, lock + 1) ||
	    weft_join(a, 0) || weft_join(b, 0))
		return 1;
	return weft_stop() != 0;
}
END

# says MESSAGE: the last output has it
says()
{
	grep -q -e "$1" "$work/last"
}

# status_is STATUS COMMAND...: its output is in $work/last
status_is()
{
	wanted=$1
	shift
	"$@" >"$work/last" 2>&1
	got=$?
	[ "$got" = "$wanted" ] || { cat "$work/last"; echo "status $got"; return 1; }
}

compile native "$top/examples/buggy/native.c"
compile native.right "$top/examples/buggy/native.c" -DFIXED
passes "an early close" status_is 1 explore --runs 100 "$work/native"
passes "it is told" says 'exit status 1'
passes "with the steps" says '^ *[0-9]*  *closes channel 1, native.c:[0-9]'
passes "in a column for each thread" says '^  *thread 1  *thread 2  *thread 3'
passes "in one course" sh -c "! grep -q 'another course' '$work/last'"
seed=$(sed -n 's/.*seeds \([0-9]*\).*/\1/p' "$work/last")
list=$(sed -n 's/^ *weft run --seed \(list:[^ ]*\) .*/\1/p' "$work/last" | head -n 1)
i=0
while [ $i -lt 10 ]; do
	passes "again: seed $seed" status_is 1 "$weft" run --seed "$seed" "$work/native"
	grep interleaving "$work/last" >>"$work/courses"
	i=$((i + 1))
done
passes "each the same" sh -c "[ \$(sort -u '$work/courses' | wc -l) = 1 ]"
passes "its shortest run" status_is 1 "$weft" run --seed "${list:-none}" "$work/native"
passes "has few choices" sh -c "[ \$(echo '$list' | tr / '\\n' | grep -c @) -le 4 ]"
passes "no alarm" status_is 0 explore --runs 100 "$work/native.right"

for strategy in random pct pos weights robin changes preempt delay; do
	passes "$strategy finds it" status_is 1 explore --first --runs 1000 -s $strategy "$work/native"
	passes "$strategy finds nothing else" \
		status_is 0 explore --runs 100 -s $strategy "$work/native.right"
done
passes "in one course by delays" status_is 1 explore --runs 30 -s delay "$work/native"
passes "by delays" sh -c "! grep -q 'another course' '$work/last'"

compile embrace "$work/embrace.c"
passes "locks in the wrong order" status_is 1 explore --runs 100 "$work/embrace"
passes "a deadlock is told" says 'deadlock: no thread can go on'
passes "and which thread has the locks" \
	says 'thread 2 locks mutex [12], which thread 3 holds, at embrace.c:[0-9]'
list=$(sed -n 's/^ *weft run --seed \(list:[^ ]*\) .*/\1/p' "$work/last" | head -n 1)
passes "once more" status_is 134 "$weft" run --seed "${list:-none}" "$work/embrace"
passes "the runtime tells it, too" says 'deadlock: all 3 threads are parked'
passes "and its cycle" says 'waits for itself through'
passes "a normal run" status_is 0 "$work/embrace"
passes "no end" status_is 1 explore --runs 1 --steps 8 "$work/embrace"
passes "no end is told" says 'no end after 8 steps'

# A thread unlocks a mutex that another one holds: -EPERM, and that one still holds it.
cat >"$work/keeper.c" <<'END'
#include <weft.h>
static struct weft_mutex lock = WEFT_MUTEX_INIT;
static struct weft_sem never;
static void *keep(void *arg)
{
	(void)!weft_mutex_lock(&lock);
	(void)!weft_sem_wait(&never);
	return arg;
}
static void *want(void *arg)
{
	(void)!weft_mutex_unlock(&lock);
	(void)!weft_mutex_lock(&lock);
	return arg;
}
int main(void)
{
	uint64_t a, b;
	if (weft_start(0) || weft_sem_init(&never, 0) || weft_spawn(&a, 0, keep, 0))
		return 1;
	weft_yield();
	if (weft_spawn(&b, 0, want, 0) || weft_join(a, 0) || weft_join(b, 0))
		return 1;
	return weft_stop() != 0;
}
END
compile keeper "$work/keeper.c"
passes "an unlock in vain" status_is 1 explore --runs 100 "$work/keeper"
passes "leaves the holder" says 'thread 3 locks mutex 1, which thread 2 holds, at keeper.c:1[0-9]'

# All orders: with two threads that each make one step, there are not many.
cat >"$work/few.c" <<'END'
#include <weft.h>
static struct weft_mutex lock = WEFT_MUTEX_INIT;
static int order[2], n;
static void *work(void *number)
{
	(void)!weft_mutex_lock(&lock);
	order[n++] = *(int *)number;
	(void)!weft_mutex_unlock(&lock);
	return 0;
}
int main(void)
{
	static int numbers[2] = { 1, 2 };
	uint64_t id[2];
	if (weft_start(0))
		return 2;
	for (int i = 0; i < 2; i++)
		if (weft_spawn(&id[i], 0, work, &numbers[i]))
			return 2;
	for (int i = 0; i < 2; i++)
		(void)!weft_join(id[i], 0);
	return weft_stop() || order[0] == 2;
}
END
compile few "$work/few.c"
passes "all orders" status_is 1 explore -s preempt --bound 2 --runs 100000 "$work/few"
passes "have run" says 'preemptions: all orders with up to 2 have run'
orders=$(sed -n 's/^\([0-9]*\) runs.*/\1/p' "$work/last")
passes "with a reduction" status_is 1 explore -s preempt --bound 2 --reduce --runs 100000 "$work/few"
reduced=$(sed -n 's/^\([0-9]*\) runs.*/\1/p' "$work/last")
passes "fewer have run: $reduced of $orders" [ "${reduced:-0}" -lt "${orders:-0}" ]

# The unlock may hand the mutex over: then the other thread has it before the next lock.
cat >"$work/hand.c" <<'END'
#include <weft.h>
static struct weft_mutex lock = WEFT_MUTEX_INIT;
static int taken;
static void *take(void *unused)
{
	(void)!weft_mutex_lock(&lock);
	taken = 1;
	(void)!weft_mutex_unlock(&lock);
	return unused;
}
int main(void)
{
	uint64_t id;
	int was_taken;
	if (weft_start(0) || weft_mutex_lock(&lock) || weft_spawn(&id, 0, take, 0))
		return 2;
	weft_yield();
	weft_yield();
	(void)!weft_mutex_unlock(&lock);
	(void)!weft_mutex_lock(&lock);
	was_taken = taken;
	(void)!weft_mutex_unlock(&lock);
	(void)!weft_join(id, 0);
	return weft_stop() ? 2 : was_taken ? 7 : 0;
}
END
compile hand "$work/hand.c"
passes "no hand-off" status_is 0 "$weft" run --seed list: "$work/hand"
handed=
for n in 1 2 3 4 5 6 7 8 9 10; do
	"$weft" run --seed list:1h0@$n "$work/hand" >"$work/last" 2>&1
	[ $? != 7 ] || handed="$handed $n"
done
passes "a hand-off, once" [ "${handed# }" -gt 0 ]
passes "a search finds it" status_is 1 explore -s preempt --bound 1 --runs 10000 "$work/hand"

# Groups of threads, light threads, and more threads one after the other than are alive at once.
cat >"$work/many.c" <<'END'
#include <weft.h>
static struct weft_mutex lock = WEFT_MUTEX_INIT;
static int count;
static void *add(void *unused)
{
	(void)!weft_mutex_lock(&lock);
	count++;
	(void)!weft_mutex_unlock(&lock);
	return unused;
}
static int fetch(void *unused)
{
	return add(unused) != unused;
}
int main(void)
{
	const struct weft_attr light = { .flags = WEFT_LIGHT };
	struct weft_group group = WEFT_GROUP_INIT;
	uint64_t id;
	if (weft_start(0))
		return 2;
	for (int i = 0; i < 1500; i++)
		if (weft_spawn(&id, i % 2 ? &light : 0, add, 0) || weft_join(id, 0))
			return 3;
	for (int i = 0; i < 3; i++)
		if (weft_group_spawn(&group, 0, 0, fetch, 0))
			return 4;
	if (weft_group_wait(&group, WEFT_FOREVER, 0))
		return 5;
	return weft_stop() || count != 1503;
}
END
compile many "$work/many.c"
passes "many threads" status_is 0 explore --runs 5 "$work/many"
passes "in one course, too" sh -c "! grep -q 'another course' '$work/last'"

# Hours are over at once. Sleeps in the place of waits fail, as a thread may be that slow.
cat >"$work/time.c" <<'END'
#include <errno.h>
#include <time.h>
#include <unistd.h>
#include <weft.h>
#define HOUR (INT64_C(3600) * 1000000000)
static struct weft_mutex lock = WEFT_MUTEX_INIT;
static struct weft_cond cond = WEFT_COND_INIT;
static struct weft_sem sem;
static struct weft_chan *chan;
static int late, order[4], n, ends[2];
static void *sleeper(void *arg)
{
	int i = *(int *)arg;
	(void)!weft_sleep((4 - i) * HOUR);
	order[n++] = i;
	return 0;
}
static void *slow(void *arg)
{
	int64_t until = weft_clock() + 5000000;
	(void)!weft_sleep(1000000);
	while (weft_clock() < until)
		;
	if (write(ends[1], "x", 1) != 1)
		_exit(9);
	return arg;
}
int main(int argc, char **argv)
{
	static int numbers[4] = { 0, 1, 2, 3 };
	uint64_t id[4], s;
	int64_t begin, value;
	struct timespec t1, t2;
	char c;
	struct weft_ticker ticker;
	if (weft_start(0) || weft_chan_create(&chan, sizeof(int), 0, 0) || pipe(ends))
		return 2;
	begin = weft_clock();
	clock_gettime(CLOCK_MONOTONIC, &t1);
	for (int i = 0; i < 4; i++)
		if (weft_spawn(&id[i], 0, sleeper, &numbers[i]))
			return 2;
	(void)!weft_mutex_lock(&lock);
	if (weft_cond_wait_until(&cond, &lock, weft_deadline(HOUR)) != -ETIMEDOUT)
		return 3;
	(void)!weft_mutex_unlock(&lock);
	if (weft_sem_wait_until(&sem, weft_deadline(HOUR)) != -ETIMEDOUT)
		return 4;
	if (weft_chan_recv(chan, &value, weft_deadline(HOUR)) != -ETIMEDOUT)
		return 5;
	for (int i = 0; i < 4; i++)
		(void)!weft_join(id[i], 0);
	clock_gettime(CLOCK_MONOTONIC, &t2);
	if (weft_clock() - begin < 4 * HOUR || t2.tv_sec - t1.tv_sec < 4 * 3600)
		return 6;
	if (weft_spawn(&s, 0, slow, 0))
		return 2;
	if (weft_read(ends[0], &c, 1) != 1)
		return 7;
	(void)!weft_join(s, 0);
	if (weft_ticker_init(&ticker, weft_deadline(HOUR), HOUR))
		return 8;
	for (int i = 0; i < 3; i++)
		if (weft_ticker_wait(&ticker) < 1)
			return 8;
	for (int i = 0; i < 4; i++)
		late |= order[i] != 3 - i;
	(void)argv;
	return weft_stop() || (argc > 1 && late);
}
END
compile time "$work/time.c"
passes "virtual time" status_is 0 explore --runs 60 "$work/time"
passes "in one course by the clock" sh -c "! grep -q 'another course' '$work/last'"
passes "a sleep that is not long enough" status_is 1 explore --runs 60 "$work/time" x
list=$(sed -n 's/^ *weft run --seed \(list:[^ ]*t0@[^ ]*\) .*/\1/p' "$work/last" | head -n 1)
passes "by a deadline that comes early" status_is 1 "$weft" run --seed "${list:-none}" "$work/time" x

# A deadline that nobody waits for any more, a descriptor that nobody waits for, a child, and
# a loop of the runtime's that waits for a time.
for example in guide/08_groups manual/io_wait manual/process manual/trace; do
	compile example "$top/examples/$example.c"
	passes "$example" status_is 0 explore --runs 20 "$work/example"
	# When the child ends is no order of threads.
	[ $example = manual/process ] ||
		passes "$example in one course" sh -c "! grep -q 'another course' '$work/last'"
done

# A crash and a failed assertion end the run, and are told with their place.
cat >"$work/crash.c" <<'END'
#include <assert.h>
#include <weft.h>
static struct weft_mutex lock = WEFT_MUTEX_INIT;
static int n, *p;
static void *set(void *a)
{
	(void)!weft_mutex_lock(&lock);
	p = &n;
	(void)!weft_mutex_unlock(&lock);
	return a;
}
static void *use(void *a)
{
	(void)!weft_mutex_lock(&lock);
#ifdef ASSERT
	assert(p);
#else
	*p = 1;
#endif
	(void)!weft_mutex_unlock(&lock);
	return a;
}
int main(void)
{
	uint64_t a, b;
	if (weft_start(0) || weft_spawn(&a, 0, set, 0) || weft_spawn(&b, 0, use, 0))
		return 2;
	(void)!weft_join(a, 0);
	(void)!weft_join(b, 0);
	return weft_stop() != 0;
}
END
for flag in -DNONE -DASSERT; do
	compile crash "$work/crash.c" "$flag"
	passes "a crash: $flag" status_is 1 explore --runs 60 "$work/crash"
	passes "its place: $flag" says 'in thread 3, at crash.c:[0-9]'
	passes "its end: $flag" sh -c "! grep -q 'in time' '$work/last'"
done

# Sockets: more than one takes, and a connection.
cat >"$work/talk.c" <<'END'
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <weft.h>
static char text[300000];
static struct sockaddr_un name = { .sun_family = AF_UNIX };
static void *serve(void *listens)
{
	int fd = weft_accept(*(int *)listens, 0, 0);
	size_t n = 0;
	ssize_t got;
	while ((got = weft_recv(fd, text, sizeof(text), 0)) > 0)
		n += (size_t)got;
	weft_close(fd);
	return n == sizeof(text) ? 0 : listens;
}
int main(int argc, char **argv)
{
	int listens = socket(AF_UNIX, SOCK_STREAM, 0), fd = socket(AF_UNIX, SOCK_STREAM, 0);
	void *failed;
	uint64_t id;
	size_t n = 0;
	ssize_t sent;
	(void)argc;
	strncpy(name.sun_path, argv[1], sizeof(name.sun_path) - 1);
	unlink(argv[1]);
	if (weft_start(0) || bind(listens, (struct sockaddr *)&name, sizeof(name)) ||
	    listen(listens, 1) || weft_spawn(&id, 0, serve, &listens))
		return 2;
	if (weft_connect(fd, (struct sockaddr *)&name, sizeof(name)) != 0)
		return 3;
	for (; n < sizeof(text); n += (size_t)sent)
		if ((sent = weft_send(fd, text + n, sizeof(text) - n, 0)) <= 0)
			return 4;
	weft_close(fd);
	return weft_join(id, &failed) || failed || weft_stop();
}
END
compile talk "$work/talk.c"
passes "sockets" status_is 0 explore -j 1 --runs 40 "$work/talk" "$work/socket"
passes "are points" status_is 0 "$weft" run --seed 3 --steps "$work/talk" "$work/socket"
passes "in words" says 'thread 1   connects'

# A child of a fork is not explored, and has the machine's clock. A mutex of libc's holds the VCPU.
cat >"$work/fork.c" <<'END'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct weft_mutex own = WEFT_MUTEX_INIT;
static int n;
static void *work(void *a)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&lock);
		n++;
		weft_yield();
		pthread_mutex_unlock(&lock);
		(void)!weft_mutex_lock(&own);
		(void)!weft_mutex_unlock(&own);
	}
	return a;
}
int main(void)
{
	uint64_t id[2];
	int status;
	pid_t pid;
	if (weft_start(0))
		return 2;
	for (int i = 0; i < 2; i++)
		if (weft_spawn(&id[i], 0, work, 0))
			return 2;
	for (int i = 0; i < 2; i++)
		(void)!weft_join(id[i], 0);
	pid = fork();
	if (pid == 0) {
		if (weft_start(0) || weft_spawn(&id[0], 0, work, 0))
			_exit(3);
		(void)!weft_sleep(30000000);
		(void)!weft_join(id[0], 0);
		_exit(n == 9 ? 0 : 4);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		return 5;
	return weft_stop() || n != 6;
}
END
compile fork "$work/fork.c" -pthread
passes "a child of a fork" status_is 0 explore --runs 3 "$work/fork"

# test_points_native.sh has more of programs that weft cc has compiled.
if "$weft" cc -g -O1 -I"$top/include" -o "$work/races" "$work/few.c" -L.libs -lweft \
    -Wl,-rpath,"$PWD/.libs"; then
	passes "a program of weft cc" status_is 0 explore --runs 3 -s robin "$work/races"
	passes "has no race" sh -c "! grep -q 'data race' '$work/last'"
fi
finish
