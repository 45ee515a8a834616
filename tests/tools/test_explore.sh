#!/bin/sh
# SPDX-License-Identifier: MIT
# test_explore.sh - weft explore finds the bugs of examples/buggy, and weft run --seed
# repeats a run step by step
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"

weft=${WEFT_TEST_CLI-cli/weft}
if [ ! -x "$weft" ] || [ ! -f .libs/libweft-explore.so ] ||
    ! command -v "${CC-cc}" >/dev/null; then
	echo "test_explore.sh: left out, there is no $weft with its library, or no compiler"
	exit 0
fi

# compile NAME FILE FLAG...
compile()
{
	name=$1
	shift
	# shellcheck disable=SC2086 # CC may have options
	${CC-cc} -g -O1 -pthread -o "$work/$name" "$@" ||
		{ echo "cannot compile $name"; exit 1; }
}

# All kinds of points, with five threads.
cat >"$work/five.c" <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t order_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_barrier_t all_here;
static pthread_spinlock_t spin;
static mtx_t mutex;
static sem_t sem;
static int order[4], ended, tokens;
static void first(void) { usleep(1000); }
static void *work(void *number)
{
	pthread_once(&once, first);
	for (int i = 0; i < 5; i++) {
		pthread_mutex_lock(&lock);
		tokens++;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&lock);
		pthread_rwlock_rdlock(&order_lock);
		pthread_rwlock_unlock(&order_lock);
		sem_wait(&sem);
		sem_post(&sem);
		usleep(100);
		pthread_spin_lock(&spin);
		pthread_spin_unlock(&spin);
		mtx_lock(&mutex);
		mtx_unlock(&mutex);
		sched_yield();
	}
	pthread_barrier_wait(&all_here);
	pthread_rwlock_wrlock(&order_lock);
	order[ended++] = (int)(long)number;
	pthread_rwlock_unlock(&order_lock);
	return number;
}
int main(void)
{
	pthread_t threads[4];
	struct timespec time;
	sem_init(&sem, 0, 1);
	mtx_init(&mutex, mtx_plain);
	pthread_spin_init(&spin, 0);
	pthread_barrier_init(&all_here, NULL, 5);
	for (long i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
			return 2;
	pthread_mutex_lock(&lock);
	while (tokens < 20) {
		clock_gettime(CLOCK_REALTIME, &time);
		time.tv_sec++;
		pthread_cond_timedwait(&changed, &lock, &time);
	}
	pthread_mutex_unlock(&lock);
	pthread_barrier_wait(&all_here);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	clock_gettime(CLOCK_MONOTONIC, &time);
	printf("%d%d%d%d %ld.%09ld\n", order[0], order[1], order[2], order[3],
	       (long)time.tv_sec, time.tv_nsec);
	return 0;
}
END
compile five "$work/five.c"

# runs SEED TIMES FILE: the line of each run, with what the program has printed
runs()
{
	i=0
	while [ "$i" -lt "$2" ]; do
		"$weft" run --seed "$1" "$work/five" 2>&1 | tr '\n' ' '
		echo
		i=$((i + 1))
	done >"$3"
}

different()
{
	sort -u "$1" | wc -l
}

one_interleaving()
{
	runs "$1" 20 "$work/runs"
	[ "$(grep -c 'interleaving' "$work/runs")" = 20 ] && [ "$(different "$work/runs")" = 1 ]
}

for seed in 3 random:3 pct:3 pos:3; do
	passes "seed $seed, 20 times" one_interleaving "$seed"
done

each_its_own()
{
	: >"$work/all"
	for seed in 1 2 3 4 5 6 7 8 9; do
		runs "$seed" 1 "$work/runs"
		sed 's/.*interleaving //' "$work/runs" >>"$work/all"
	done
	[ "$(different "$work/all")" = 9 ]
}
passes "nine seeds, nine interleavings" each_its_own
passes "it has no bug" status_is 0 "$weft" explore --timeout 10m --runs 60 "$work/five"
passes "and it says so" says '^60 runs.* 5 threads.* different failures: 0$'

# again SEED NAME SIGNAL: the seed that explore told of repeats the failure
again()
{
	"$weft" run --seed "$1" "$work/$2" >"$work/said" 2>&1
	[ $? -gt 128 ]
}

# is_short LIST CHOICES
is_short()
{
	[ "$(printf '%s\n' "${1#list:}" | tr / '\n' | grep -c '@')" -le "$2" ] || { echo "$1"; false; }
}

# bug NAME MESSAGE CHOICES: CHOICES are enough
bug()
{
	compile "$1" "$top/examples/buggy/$1.c"
	passes "$1 is found" status_is 1 "$weft" explore --timeout 10m -j 1 --runs 100 \
		-o "$work/$1.found" "$work/$1"
	passes "$1 is told" says "$2"
	cp "$work/said" "$work/$1.told"
	refuses_course says 'took another course'
	seed=$(sed -n 's/^Again: weft run --seed \([^ ]*\) .*/\1/p' "$work/said")
	passes "$1 is kept" grep -q '^ *1  creates' "$work/$1.found/1.txt"
	passes "$1 by seed $seed" again "$seed" "$1"
	list=$(sed -n 's/^ *weft run --seed \(list:[^ ]*\) .*/\1/p' "$work/$1.told" | head -n 1)
	passes "$1 in few choices" is_short "$list" "$3"
	passes "$1 by $list" again "$list" "$1"
	compile "$1.right" "$top/examples/buggy/$1.c" -DFIXED
	passes "$1 without the bug" status_is 0 "$weft" explore --timeout 10m --runs 100 "$work/$1.right"
}

refuses_course()
{
	if "$@"; then
		echo "it says: $3"
		faults=$((faults + 1))
	fi
}

bug deadlock 'deadlock: .* locks mutex [12], which thread [12] holds' 1
bug lost_wakeup 'deadlock: .* waits for condition variable' 1
bug atomicity 'Assertion .tickets >= 0. failed' 2
bug order 'Segmentation fault' 2
bug double_unlock 'unlocks what no thread holds' 1
bug destroyed 'it was destroyed before' 4

# Where a crash and a failed assertion were, and that the program's own handler is left alone.
passes "order again" status_is 1 "$weft" explore --runs 100 "$work/order"
passes "the place of a crash" \
	says 'Segmentation fault in thread 2, at order[.:+].*, which uses address 0$'
passes "atomicity again" status_is 1 "$weft" explore --runs 100 "$work/atomicity"
passes "the place of an assertion" says 'Aborted in thread [23], at atomicity[.:+]'
cat >"$work/handles.c" <<'END'
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
static char *text;
static void handler(int unused) { (void)unused; _exit(5); }
static void *reads(void *unused) { (void)unused; return (void *)strlen(text); }
int main(int argc, char **argv)
{
	pthread_t thread;
	(void)argv;
	if (argc > 1)
		signal(SIGSEGV, handler);
	pthread_create(&thread, NULL, reads, NULL);
	return pthread_join(thread, NULL);
}
END
compile handles "$work/handles.c"
passes "a crash in libc" status_is 139 "$weft" run --seed 1 --steps "$work/handles"
passes "by its caller" says 'Segmentation fault in thread 2, at handles[.:+]'
passes "the program's handler" status_is 5 "$weft" run --seed 1 --steps "$work/handles" x
passes "its crash is its own" refuses says 'Segmentation fault in'

# The walk-through of doc/explore.md, line by line: but for addresses and speed, and where
# the text ends with dots.
as_in_the_text()
{
	sed -n '/^    \$ weft explore /,/^    Again:/{s/^    //;p;/^Again:/q;}' "$top/doc/explore.md" |
	    sed '1d;s/+0x[0-9a-f]*/+0x/g;s/ runs*, .* a second/ runs/;/seeds/!s/ \.\.\.$//' \
	    >"$work/text"
	(cd "$work" && "$cli" explore --timeout 10m -j 1 --runs 100 ./deadlock) |
	    sed 's/+0x[0-9a-f]*/+0x/g;s/ runs*, .* a second/ runs/' >"$work/said"
	awk 'NR == FNR { said[FNR] = $0; n = FNR; next }
	     index(said[FNR], $0) != 1 || ($0 == "") != (said[FNR] == "") {
		print "text: " $0; print "said: " said[FNR]; bad = 1
	     }
	     END { exit bad || n != FNR }' "$work/said" "$work/text"
}
case $weft in /*) cli=$weft ;; *) cli=$PWD/$weft ;; esac
if command -v addr2line >/dev/null; then
	passes "the walk-through" as_in_the_text
fi

# Virtual time: an hour passes at once; a thread that never ends is a hang.
cat >"$work/hour.c" <<'END'
#include <pthread.h>
#include <unistd.h>
static void *sleeps(void *unused) { sleep(3600); return unused; }
int main(int argc, char **argv)
{
	pthread_t thread;
	(void)argv;
	pthread_create(&thread, NULL, sleeps, NULL);
	while (argc > 1)
		usleep(1);
	return pthread_join(thread, NULL);
}
END
compile hour "$work/hour.c"
passes "an hour" status_is 0 "$weft" explore --timeout 10m --runs 3 "$work/hour"
passes "no end" status_is 1 "$weft" explore --timeout 10m --runs 3 --steps 500 "$work/hour" x
passes "and why" says 'no end after 500 steps'

# A cancellation ends a wait; a key's destructor locks; the status counts.
cat >"$work/ends.c" <<'END'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_key_t key;
static int destroyed;
static void destroy(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	destroyed++;
	pthread_mutex_unlock(&lock);
}
static void unlock(void *unused) { (void)unused; pthread_mutex_unlock(&lock); }
static void *waits(void *arg)
{
	pthread_setspecific(key, arg);
	pthread_mutex_lock(&lock);
	pthread_cleanup_push(unlock, NULL);
	for (;;)
		pthread_cond_wait(&never, &lock);
	pthread_cleanup_pop(0);
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	void *result;
	(void)argv;
	pthread_key_create(&key, destroy);
	pthread_create(&thread, NULL, waits, &key);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	return argc > 1 ? 7 : result == PTHREAD_CANCELED && destroyed == 1 ? 0 : 1;
}
END
compile ends "$work/ends.c"
passes "a cancelled thread" status_is 0 "$weft" explore --timeout 10m --runs 60 "$work/ends"
passes "a status" status_is 1 "$weft" explore --timeout 10m --runs 2 "$work/ends" x
passes "is told" says 'exit status 7$'

# A robust mutex of a thread that has ended goes to the thread that waits for it.
cat >"$work/robust.c" <<'END'
#include <errno.h>
#include <pthread.h>
static pthread_mutex_t lock;
static void *ends(void *unused) { pthread_mutex_lock(&lock); return unused; }
int main(void)
{
	pthread_mutexattr_t attr;
	pthread_t thread;
	int error;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&lock, &attr);
	pthread_create(&thread, NULL, ends, NULL);
	error = pthread_mutex_lock(&lock);
	if (error == EOWNERDEAD)
		pthread_mutex_consistent(&lock);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	return error != 0 && error != EOWNERDEAD;
}
END
compile robust "$work/robust.c"
passes "a robust mutex" status_is 0 "$weft" explore --timeout 10m --runs 40 "$work/robust"

# POSIX says which error such a wait returns, so it is no misuse.
cat >"$work/checked.c" <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
int main(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return pthread_cond_wait(&never, &lock) != EPERM;
}
END
compile checked "$work/checked.c"
passes "a wait with a checked mutex" \
    status_is 0 "$weft" explore --timeout 10m --runs 2 "$work/checked"

# A handler posts a semaphore while other threads can run. The alarm comes by real time, so
# the steps are not bounded here.
cat >"$work/handler.c" <<'END'
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>
static sem_t sem;
static volatile int is_taken;
static void post(int unused) { (void)unused; sem_post(&sem); }
static void *take(void *unused)
{
	sem_wait(&sem);
	is_taken = 1;
	return unused;
}
static void *yield(void *unused)
{
	sigset_t set;
	sigfillset(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	while (!is_taken)
		sched_yield();
	return unused;
}
int main(void)
{
	struct itimerval time = { .it_value = { 0, 1000 } };
	pthread_t threads[3];
	sem_init(&sem, 0, 0);
	signal(SIGALRM, post);
	pthread_create(&threads[0], NULL, take, NULL);
	for (int i = 1; i < 3; i++)
		pthread_create(&threads[i], NULL, yield, NULL);
	setitimer(ITIMER_REAL, &time, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
compile handler "$work/handler.c"
passes "a handler that posts" \
    status_is 0 "$weft" explore --timeout 10m --steps 1000000000 --runs 5 "$work/handler"

# Threads that talk through pipes.
cat >"$work/pipes.c" <<'END'
#include <poll.h>
#include <pthread.h>
#include <unistd.h>
static int there[2], back[2];
static void *echo(void *unused)
{
	char c;
	while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
		;
	return unused;
}
int main(void)
{
	struct pollfd fd;
	pthread_t threads[2];
	char c = 0;
	if (pipe(there) != 0 || pipe(back) != 0)
		return 2;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, echo, NULL);
	for (int i = 0; i < 20; i++) {
		if (write(there[1], &c, 1) != 1)
			return 3;
		fd.fd = back[0];
		fd.events = POLLIN;
		if (poll(&fd, 1, -1) != 1 || read(back[0], &c, 1) != 1)
			return 4;
	}
	if (poll(&fd, 1, 100000) != 0)
		return 5;
	close(there[1]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
compile pipes "$work/pipes.c"
passes "pipes" status_is 0 "$weft" explore --timeout 10m --runs 40 "$work/pipes"
pipes_again()
{
	for i in 1 2 3 4 5 6 7 8 9 10; do
		"$weft" run --seed 5 "$work/pipes" 2>&1
	done >"$work/runs"
	[ "$(grep -c interleaving "$work/runs")" = 10 ] && [ "$(different "$work/runs")" = 1 ]
}
passes "pipes by a seed" pipes_again

# A loop without a call never gives the turn away; a run that is late is ended.
cat >"$work/loop.c" <<'END'
#include <pthread.h>
static volatile int is_set;
static void *sets(void *unused) { is_set = 1; return unused; }
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, sets, NULL);
	while (!is_set)
		;
	return pthread_join(thread, NULL);
}
END
compile loop "$work/loop.c"
passes "a loop" status_is 1 "$weft" explore --runs 6 -j 1 --timeout 1s "$work/loop"
passes "and it says so" says 'did not end in time$'
passes "and why" says 'no step behind step [0-9]*, which thread [12] made: '

# It computes for 0.15 s, beside eight other programs on its CPU.
cat >"$work/slow.c" <<'END'
#include <time.h>
int main(void)
{
	while (clock() < CLOCKS_PER_SEC * 15 / 100)
		;
	return 0;
}
END
compile slow "$work/slow.c"
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
busy=
for _ in 1 2 3 4 5 6 7 8; do
	timeout 60 taskset -c "$cpu" sh -c 'while :; do :; done' &
	busy="$busy $!"
done
passes "a run that gets little CPU is not late" status_is 0 taskset -c "$cpu" "$weft" explore \
	--runs 1 --timeout 600ms "$work/slow"
# shellcheck disable=SC2086 # words
kill $busy
wait

if ${CC-cc} -fsanitize=address -pthread -o "$work/asan" "$work/loop.c" 2>/dev/null &&
    ldd "$work/asan" | grep -q libasan; then
	passes "a sanitizer" status_is 126 "$weft" explore "$work/asan"
	passes "a sanitizer by a seed" status_is 126 "$weft" run --seed 1 "$work/asan"
fi

# A signal is for one of two threads, and the first is cancelled then. If the signal was
# for it, it takes the token.
cat >"$work/cancelled.c" <<'END'
#include <pthread.h>
#include <sched.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int waiting, token;
static void unlock(void *unused)
{
	(void)unused;
	pthread_mutex_unlock(&lock);
}
static void *take(void *arg)
{
	pthread_mutex_lock(&lock);
	pthread_cleanup_push(unlock, NULL);
	waiting++;
	while (!token)
		pthread_cond_wait(&changed, &lock);
	token = 0;
	pthread_cleanup_pop(1);
	return arg;
}
static int is(const int *what, int value)
{
	int found;
	pthread_mutex_lock(&lock);
	found = *what == value;
	pthread_mutex_unlock(&lock);
	return found;
}
static void give(void)
{
	pthread_mutex_lock(&lock);
	token = 1;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, take, NULL);
	pthread_create(&b, NULL, take, NULL);
	while (!is(&waiting, 2))
		sched_yield();
	give();
	pthread_cancel(a);
	pthread_join(a, NULL);
	if (is(&token, 0))
		give();
	pthread_join(b, NULL);
	return 0;
}
END
compile cancelled "$work/cancelled.c"
passes "a cancelled thread takes no signal" \
    status_is 0 "$weft" explore --runs 200 "$work/cancelled"

# A run ends with weft, though nothing can tell weft to end it. The program would end itself
# behind a second of its CPU time. The descriptor 3 is open as long as it lives.
cat >"$work/orphan.c" <<'END'
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
static void late(int unused) { (void)unused; _exit(write(3, "left", 4) != 4); }
int main(void)
{
	const struct rlimit second = { 1, 3 };
	signal(SIGXCPU, late);
	setrlimit(RLIMIT_CPU, &second);
	kill(getppid(), SIGKILL);
	for (;;)
		;
}
END
compile orphan "$work/orphan.c"
ends_with_weft()
{
	left=$({ "$weft" explore "$@" --runs 1 "$work/orphan" 3>&1 >/dev/null 2>&1; } 2>/dev/null)
	[ -z "$left" ]
}
passes "a run ends with weft" ends_with_weft --start-each

# With a server the parent is the server, and its parent is weft. A child of the run's ends
# too: it would write to the descriptor 3.
cat >"$work/orphan.c" <<'END'
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
static void late(int unused) { (void)unused; _exit(write(3, "left", 4) != 4); }
int main(void)
{
	const struct rlimit second = { 1, 3 };
	char name[64], text[512];
	FILE *stat;
	int pid = 0;
	snprintf(name, sizeof(name), "/proc/%d/status", getppid());
	stat = fopen(name, "r");
	while (stat && fgets(text, sizeof(text), stat) && sscanf(text, "PPid: %d", &pid) != 1)
		;
	signal(SIGXCPU, late);
	setrlimit(RLIMIT_CPU, &second);
	(void)fork();
	kill(pid, SIGKILL);
	for (;;)
		;
}
END
compile orphan "$work/orphan.c"
passes "a run and its child end with weft's server" ends_with_weft

# The same for Ctrl-C.
ends_by_signal()
{
	left=$("$weft" explore --runs 1 "$work/interrupted" 3>&1 >/dev/null 2>&1)
	[ -z "$left" ]
}
sed 's/SIGKILL/SIGINT/' "$work/orphan.c" >"$work/interrupted.c"
compile interrupted "$work/interrupted.c"
passes "a run and its child end by Ctrl-C" ends_by_signal

# Ctrl-C in the replay: that run is not finished, and nothing is said of it.
cat >"$work/replay.c" <<'END'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void)
{
	if (strstr(getenv("WEFT_EXPLORE"), ",trace") == NULL) {
		usleep(1);	/* a step, which the replay does not come to */
		return 3;
	}
	kill(getppid(), SIGINT);
	for (;;)
		;
}
END
compile replay "$work/replay.c"
passes "the end in a replay" \
    status_is 1 "$weft" explore --start-each --timeout 10m --runs 1 "$work/replay"
passes "the table is there" says '^  1 .* exit status 3$'
refuses_course says 'took another course'

# A server makes a child for each run: each begins as the program does, whatever the run
# before has done to what a constructor has left.
cat >"$work/served.c" <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static FILE *log_file;
static int fd, value;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((constructor)) static void begin(void)
{
	log_file = fopen(getenv("SERVED"), "a");
	if (!log_file || fputs("begun\n", log_file) < 0)
		abort();
	fd = fileno(fopen("/proc/self/exe", "r"));
	pthread_mutex_lock(&lock);
	value++;
	pthread_mutex_unlock(&lock);
	signal(SIGCHLD, SIG_IGN);
}
static void *work(void *arg)
{
	pthread_mutex_lock(&lock);
	value++;
	pthread_mutex_unlock(&lock);
	return arg;
}
int main(void)
{
	pthread_t thread;
	char folder[512], c[4];
	if (value != 1 || !getcwd(folder, sizeof(folder)) || strcmp(folder, "/") == 0 ||
	    read(fd, c, 4) != 4 || memcmp(c, "\177ELF", 4) != 0 || chdir("/") != 0)
		return 2;
	if (signal(SIGCHLD, SIG_DFL) != SIG_IGN || waitpid(-1, NULL, WNOHANG) != -1)
		return 3;
	pthread_create(&thread, NULL, work, NULL);
	pthread_mutex_lock(&lock);
	value++;
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	fputs("ended\n", log_file);
	return value != 3;
}
END
compile served "$work/served.c"
export SERVED="$work/served.log"
served()
{
	rm -f "$SERVED"
	status_is 0 "$weft" explore --timeout 10m -j 1 --runs 20 "$@" "$work/served"
}
counts_are()
{
	[ "$(grep -c begun "$SERVED") $(grep -c ended "$SERVED")" = "$*" ] ||
		{ sort "$SERVED" | uniq -c; false; }
}
passes "20 runs of one start" served
passes "constructors have run once" counts_are 1 21	# the last run is a replay
passes "20 starts" served --start-each
passes "constructors have run each time" counts_are 21 21

# A seed means the same run with a server, and without.
same_run()
{
	"$weft" explore --timeout 10m -j 1 --seed 1 --runs 40 "$@" "$work/atomicity" |
	    grep -e '^seed ' -e '^ .*weft run' -e seeds
}
same_run >"$work/with"
same_run --start-each >"$work/without"
passes "seeds with a server, and without" cmp "$work/with" "$work/without"
passes "some have failed" grep -q seeds "$work/with"

passes "the first is enough" \
    status_is 1 "$weft" explore --timeout 10m -j 1 --first "$work/atomicity"
passes "it ends there" says '^[0-9]* runs*,.* different failures: 1$'
refuses_course says 'runs --seed list\|^1000 runs'

# Two threads take two turns each: six orders. Two of them need no preemption, two more need
# one. A search finds these and no others, with a reduction or without one.
cat >"$work/orders.c" <<'END'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int order;
static void *work(void *bit)
{
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&lock);
		order = order * 2 + (bit != 0);
		pthread_mutex_unlock(&lock);
	}
	return 0;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, work, 0);
	pthread_create(&b, 0, work, &lock);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return order;
}
END
compile orders "$work/orders.c"
# orders_are FAILURES RUNS OPTION...
orders_are()
{
	failures=$1 count=$2
	shift 2
	"$weft" explore --timeout 10m -j 1 "$@" "$work/orders" >"$work/said"
	says "^$count runs*,.* different failures: $failures\$" || { cat "$work/said"; return 1; }
	says ': all orders with up to'
}
for reduce in '' --reduce; do
	# shellcheck disable=SC2086 # no option, or one
	{
		passes "no preemption $reduce" orders_are 2 3 -s preempt --bound 0 $reduce
		passes "a preemption $reduce" orders_are 4 '3[0-9]' -s preempt --bound 1 $reduce
		passes "no delay $reduce" orders_are 1 1 -s delay --bound 0 $reduce
		passes "a delay $reduce" orders_are 3 17 -s delay --bound 1 $reduce
		passes "two delays $reduce" orders_are 5 '9[0-9]' -s delay --bound 2 $reduce
	}
done
passes "two preemptions" orders_are 6 '[12][0-9][0-9]' -s preempt --bound 2 --reduce
# More choices than a run can tell of: no search says that all orders have run.
cat >"$work/many.c" <<'END'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused)
{
	for (int i = 0; i < 40; i++) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
	return unused;
}
int main(void)
{
	pthread_t threads[100];
	for (int i = 0; i < 100; i++)
		pthread_create(&threads[i], 0, work, 0);
	for (int i = 0; i < 100; i++)
		pthread_join(threads[i], 0);
	return 0;
}
END
compile many "$work/many.c"
passes "too many choices" status_is 0 "$weft" explore --timeout 10m -s preempt --bound 0 "$work/many"
passes "are told" says '^preemptions: not all orders have run: a run was too long'
passes "a bound on steps" status_is 1 "$weft" explore --timeout 10m -s delay --bound 0 --steps 9 \
    "$work/orders"
passes "is none on orders" says '^delays: not all orders have run'

by_search()
{
	"$weft" explore --timeout 10m -s delay --runs 100 "$work/deadlock" >"$work/said"
	seed=$(sed -n 's/^Again: weft run --seed \(list:[^ ]*\) .*/\1/p' "$work/said")
	[ -n "$seed" ] && again "$seed" deadlock
}
passes "a seed of a search" by_search
for seed in weights:3 robin:3 changes:3; do
	passes "seed $seed, 20 times" one_interleaving "$seed"
done

# A constructor makes a thread: no child would have it.
cat >"$work/early.c" <<'END'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static int value;
static void *work(void *arg)
{
	pthread_mutex_lock(&lock);
	value++;
	pthread_mutex_unlock(&lock);
	return arg;
}
__attribute__((constructor)) static void begin(void)
{
	pthread_create(&thread, NULL, work, NULL);
}
int main(void)
{
	work(NULL);
	pthread_join(thread, NULL);
	return value != 2;
}
END
compile early "$work/early.c"
passes "a thread before main" status_is 0 "$weft" explore --timeout 10m --runs 10 "$work/early"
passes "it has run" says '^10 runs.* 2 threads'

# The run has one CPU, but the program sees those that it would have, also in a child, and
# the same addresses each time: also those that threads free which nobody joins.
cat >"$work/place.c" <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int left = 6;
static void tell(void)
{
	cpu_set_t set, thread;
	struct sched_param param;
	int policy = -1;
	sched_getaffinity(0, sizeof(set), &set);
	pthread_getaffinity_np(pthread_self(), sizeof(thread), &thread);
	pthread_getschedparam(pthread_self(), &policy, &param);
	printf("%d %d %d %d\n", CPU_COUNT(&set), CPU_COUNT(&thread), sched_getscheduler(0),
	       policy);
	fflush(stdout);
}
static void *work(void *unused)
{
	void *p[7];
	for (int i = 0; i < 7; i++)
		p[i] = malloc(100 + 100 * (size_t)i);
	pthread_mutex_lock(&lock);
	left--;
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 7; i++)
		free(p[i]);
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	(void)argv;
	for (int i = 0; i < 6; i++)
		if (pthread_create(&thread, NULL, work, NULL) == 0)
			pthread_detach(thread);
	for (int n = 1; n; sched_yield()) {
		pthread_mutex_lock(&lock);
		n = left;
		pthread_mutex_unlock(&lock);
	}
	if (argc > 1)
		printf("%p\n", malloc(300));
	tell();
	if (fork() == 0) {
		tell();
		_exit(0);
	}
	wait(NULL);
	return 0;
}
END
compile place "$work/place.c"
same_place()
{
	"$work/place" >"$work/place.free"
	"$weft" run --seed 3 "$work/place" >"$work/place.run" 2>/dev/null
	cmp "$work/place.free" "$work/place.run"
}
same_addresses()
{
	for i in 1 2 3 4 5 6; do
		"$weft" run --seed 3 "$work/place" x 2>/dev/null | head -n 1
	done | sort -u >"$work/place.addresses"
	[ "$(wc -l <"$work/place.addresses")" = 1 ]
}
passes "the same CPUs and policy" same_place
passes "the same addresses" same_addresses

# A program does not inherit from weft explore that a signal is ignored.
cat >"$work/pipe.c" <<'END'
#include <unistd.h>
int main(void)
{
	int ends[2];
	if (pipe(ends) != 0)
		return 2;
	close(ends[0]);
	return write(ends[1], "x", 1) == 1;
}
END
compile pipe "$work/pipe.c"
passes "a closed pipe" status_is 1 "$weft" explore --timeout 10m --runs 2 "$work/pipe"
passes "ends the run" says 'Broken pipe'

# A script that executes the program in its place, as libtool writes them.
printf '#!/bin/sh\nexec %s/deadlock\n' "$work" >"$work/wrapper"
chmod +x "$work/wrapper"
for each in '' --start-each; do
	# shellcheck disable=SC2086 # no option, or one
	passes "a wrapper $each" status_is 1 "$weft" explore --timeout 10m --runs 100 $each "$work/wrapper"
	passes "its program is explored $each" says 'deadlock: no thread can go on'
done
seed=$(sed -n 's/^Again: weft run --seed \([^ ]*\) .*/\1/p' "$work/said")
passes "a wrapper's seed" status_is 134 "$weft" run --seed "$seed" "$work/wrapper"

passes "no seed" status_is 125 "$weft" run --seed pct: "$work/five"
passes "no list" status_is 125 "$weft" run --seed 'list:1r2,3' "$work/five"
for list in 1r 1r2@ 1x2@4 1r2@4/ 1r2@4//2r1@3; do
	passes "no list: $list" status_is 125 "$weft" run --seed "list:$list" "$work/five"
done
for option in --steps --no-races --points=3; do
	passes "$option without a seed" status_is 125 "$weft" run "$option" "$work/five"
done
for option in --strategy=x --strategy=list --bound=1 --reduce; do
	passes "$option" status_is 125 "$weft" explore "$option" "$work/five"
done
passes "no number of runs" status_is 125 "$weft" explore --runs 0 "$work/five"
passes "no time" status_is 125 "$weft" explore --time 0s "$work/five"
passes "a time in minutes" status_is 0 "$weft" explore --time .5m --timeout 10m --runs 1 \
	"$work/five"
passes "no such program" status_is 127 "$weft" explore "$work/nothing"
passes "no program" status_is 125 "$weft" explore --timeout 10m --runs 1
finish
