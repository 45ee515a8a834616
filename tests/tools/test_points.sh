#!/bin/sh
# SPDX-License-Identifier: MIT
# test_points.sh - programs of weft cc: accesses to memory are points, and races are told
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"

weft=${WEFT_TEST_CLI-cli/weft}
if [ ! -x "$weft" ] || [ ! -f .libs/libweft-points.so ]; then
	echo "test_points.sh: left out, there is no $weft with its libraries"
	exit 0
fi
if ! echo 'int main(void) { return 0; }' >"$work/empty.c" ||
    ! "$weft" cc -o "$work/empty" "$work/empty.c" 2>/dev/null; then
	echo "test_points.sh: left out, the compiler has no -fsanitize=thread here"
	exit 0
fi

# compile NAME FILE FLAG...
compile()
{
	name=$1
	shift
	"$weft" cc -O1 -pthread -o "$work/$name" "$@" 2>"$work/compiler" ||
		{ cat "$work/compiler"; echo "cannot compile $name"; exit 1; }
}

explore()
{
	"$weft" explore --timeout 10m "$@"
}

# Atomics of all sizes in a normal run, with each operation that the hooks have.
cat >"$work/sizes.c" <<'END'
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
__extension__ typedef unsigned __int128 wide;
static int bad;
#define CHECK(T) do { \
	static _Atomic T a; T old = 5; \
	a = 3; \
	bad |= atomic_fetch_add(&a, 4) != 3 || atomic_fetch_sub(&a, 2) != 7; \
	bad |= atomic_fetch_or(&a, 8) != 5 || atomic_fetch_and(&a, 12) != 13; \
	bad |= atomic_fetch_xor(&a, 1) != 12 || atomic_exchange(&a, 9) != 13; \
	bad |= atomic_compare_exchange_strong(&a, &old, 1) || old != 9; \
	bad |= !atomic_compare_exchange_strong(&a, &old, (T)-1) || a != (T)-1; \
	bad |= __atomic_fetch_nand((T *)&a, 1, 5) != (T)-1 || a != (T)-2; \
} while (0)
int main(void)
{
	static char from[100] = "text", to[100];
	CHECK(uint8_t); CHECK(uint16_t); CHECK(uint32_t); CHECK(uint64_t);
#if !defined(__clang__) || defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_16)
	CHECK(wide);
#endif
	atomic_thread_fence(memory_order_seq_cst);
	memcpy(to, from, sizeof(to));
	return bad || strcmp(to, "text") != 0;
}
END
# Two threads: each adds one. Without a point between read and write nothing is lost.
cat >"$work/count.c" <<'END'
#include <assert.h>
#include <pthread.h>
static int count;
static void *add(void *unused) { count++; return unused; }
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, add, NULL);
	pthread_create(&b, NULL, add, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(count == 2);
	return 0;
}
END
# The same by atomics that are no unit, so there is no race, but the bug.
cat >"$work/atomics.c" <<'END'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int count;
static void *add(void *unused) { int c = count; count = c + 1; return unused; }
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, add, NULL);
	pthread_create(&b, NULL, add, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(count == 2);
	return 0;
}
END
# Each kind of order once; `ordered` is written by one thread and read by the next.
cat >"$work/ordered.c" <<'END'
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t sem;
static int pipes[2];
static int by_mutex, by_rwlock, by_once, by_spin, by_barrier[2], by_sem, by_pipe, by_release,
	by_fence, by_sequence, by_cond;
static atomic_int released, fenced, sequence;
static __thread int own[4];
static void make(void) { by_once = 1; }
static void *first(void *unused)
{
	char c = 0, *memory = malloc(64);
	memset(memory, 1, 64);
	free(memory);
	own[1] = 1;
	pthread_mutex_lock(&mutex);
	by_mutex++;
	by_cond = 1;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&mutex);
	pthread_rwlock_wrlock(&rwlock);
	by_rwlock++;
	pthread_rwlock_unlock(&rwlock);
	pthread_once(&once, make);
	assert(by_once);
	pthread_spin_lock(&spin);
	by_spin++;
	pthread_spin_unlock(&spin);
	by_sem = 1;
	sem_post(&sem);
	by_pipe = 1;
	if (write(pipes[1], &c, 1) != 1)
		abort();
	by_release = 1;
	atomic_store_explicit(&released, 1, memory_order_release);
	by_fence = 1;
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&fenced, 1, memory_order_relaxed);
	by_sequence = 1;
	atomic_store_explicit(&sequence, 1, memory_order_release);
	by_barrier[0] = 1;
	pthread_barrier_wait(&barrier);
	assert(by_barrier[1]);
	return unused;
}
static void *second(void *unused)
{
	char c, *memory = malloc(64);
	memset(memory, 2, 64);
	free(memory);
	own[1] = 2;
	pthread_mutex_lock(&mutex);
	by_mutex++;
	while (!by_cond)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
	pthread_rwlock_rdlock(&rwlock);
	by_sem += by_rwlock > 5;
	pthread_rwlock_unlock(&rwlock);
	pthread_once(&once, make);
	assert(by_once);
	pthread_spin_lock(&spin);
	by_spin++;
	pthread_spin_unlock(&spin);
	sem_wait(&sem);
	assert(by_sem == 1);
	if (read(pipes[0], &c, 1) != 1)
		abort();
	assert(by_pipe == 1);
	while (!atomic_load_explicit(&released, memory_order_acquire))
		;
	assert(by_release == 1);
	while (!atomic_load_explicit(&fenced, memory_order_relaxed))
		;
	atomic_thread_fence(memory_order_acquire);
	assert(by_fence == 1);
	by_barrier[1] = 1;
	pthread_barrier_wait(&barrier);
	assert(by_barrier[0]);
	return unused;
}
/* A change goes on with the release sequence of the store. */
static void *third(void *unused)
{
	atomic_fetch_add_explicit(&sequence, 1, memory_order_relaxed);
	return unused;
}
static void *fourth(void *unused)
{
	if (atomic_load_explicit(&sequence, memory_order_acquire) == 2)
		assert(by_sequence == 1);
	return unused;
}
int main(void)
{
	static void *(*const all[])(void *) = { first, second, third, fourth };
	pthread_t threads[4];
	pthread_spin_init(&spin, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&sem, 0, 0);
	if (pipe(pipes) != 0)
		return 2;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, all[i], NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return by_mutex != 2 || by_spin != 2 || by_rwlock != 1;
}
END
sed -i 's/by_sem += by_rwlock > 5;/assert(by_rwlock <= 1);/' "$work/ordered.c"
# Orders that no call tells of: a mutex of a thread that has died, objects that processes may
# share, pages that are mapped anew, and what comes through a socket, or ends there.
cat >"$work/quiet.c" <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t robust, mutex;
static pthread_rwlock_t rwlock;
static int ends[2], pipes[2];
int by_robust, by_mutex, by_rwlock, by_socket, by_end;
static void map(void)
{
	char *page = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	page[0] = 1;
	munmap(page, 65536);
}
static void share(void)
{
	const struct timespec late = { 2000000000, 0 };
	if (pthread_mutex_trylock(&mutex) != 0 && pthread_mutex_timedlock(&mutex, &late) != 0)
		abort();
	by_mutex++;
	pthread_mutex_unlock(&mutex);
	pthread_rwlock_wrlock(&rwlock);
	by_rwlock++;
	pthread_rwlock_unlock(&rwlock);
}
static void *dies(void *unused)
{
	char c = 0;
	struct iovec one = { &c, 1 };
	map();
	share();
	by_socket = 1;
	if (sendto(ends[0], &c, 1, 0, NULL, 0) != 1 || writev(ends[0], &one, 1) != 1)
		abort();
	by_end = 1;
	close(pipes[1]);
	pthread_mutex_lock(&robust);
	by_robust++;
	return unused;
}
static void *lives(void *unused)
{
	char c;
	struct iovec one = { &c, 1 };
	map();
	share();
	if (recvfrom(ends[1], &c, 1, 0, NULL, NULL) != 1 || readv(ends[1], &one, 1) != 1 ||
	    !by_socket || read(pipes[0], &c, 1) != 0 || !by_end)
		abort();
	return unused;
}
static void *inherits(void *unused)
{
	if (pthread_mutex_lock(&robust) != 0)
		pthread_mutex_consistent(&robust);
	by_robust++;
	pthread_mutex_unlock(&robust);
	return unused;
}
int main(void)
{
	static void *(*const all[])(void *) = { dies, lives, inherits, inherits };
	pthread_mutexattr_t attr;
	pthread_rwlockattr_t shared;
	pthread_t threads[4];
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&mutex, &attr);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attr);
	pthread_rwlockattr_init(&shared);
	pthread_rwlockattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_rwlock_init(&rwlock, &shared);
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0 || pipe(pipes) != 0)
		return 2;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, all[i], NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
# The same with each order left out in turn: the race is found.
cat >"$work/unordered.c" <<'END'
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static atomic_int flag, fenced;
int *shared;
int value, mixed;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void nothing(void) { }
static char copied[40], argument[40];
static volatile size_t bytes = 40;
static void *first(void *arg)
{
	switch (*(char *)arg) {
	case 'r':	/* relaxed */
		value = 1;
		atomic_store_explicit(&flag, 1, memory_order_relaxed);
		break;
	case 'f':	/* a fence is missing in the other thread */
		value = 1;
		atomic_thread_fence(memory_order_release);
		atomic_store_explicit(&fenced, 1, memory_order_relaxed);
		break;
	case 'l':	/* a write under a lock for reading */
		pthread_rwlock_rdlock(&lock);
		value = 1;
		pthread_rwlock_unlock(&lock);
		break;
	case 'h':	/* memory that the other thread frees */
		*shared = 1;
		break;
	case 'b':	/* a byte of what the other thread writes whole */
		((char *)&value)[2] = 1;
		break;
	case 'c':	/* a copy by libc */
		memcpy(copied, argument, bytes);
		break;
	case 'm':	/* atomic here alone */
		__atomic_store_n(&mixed, 1, __ATOMIC_SEQ_CST);
		break;
	case 'o':	/* a flag whose function has run before orders nothing */
		value = 1;
		pthread_once(&once, nothing);
		break;
	case 'u':	/* a use that always comes behind the free */
		free(shared);
		atomic_store_explicit(&flag, 1, memory_order_relaxed);
		break;
	}
	return NULL;
}
static void *second(void *arg)
{
	switch (*(char *)arg) {
	case 'r':
		if (atomic_load_explicit(&flag, memory_order_acquire))
			value = 2;
		break;
	case 'f':
		if (atomic_load_explicit(&fenced, memory_order_relaxed))
			value = 2;
		break;
	case 'l':
		pthread_rwlock_rdlock(&lock);
		value = 2;
		pthread_rwlock_unlock(&lock);
		break;
	case 'h':
		free(shared);
		break;
	case 'b':
		value = 2;
		break;
	case 'c':
		memset(copied, 1, bytes);
		break;
	case 'm':
		mixed = 2;
		break;
	case 'o':
		pthread_once(&once, nothing);
		value = 2;
		break;
	case 'u':
		if (atomic_load_explicit(&flag, memory_order_relaxed))
			value = *shared;
		break;
	}
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t a, b;
	(void)argc;
	shared = calloc(1, sizeof(*shared));
	*shared = 1;
	pthread_once(&once, nothing);
	pthread_create(&a, NULL, first, argv[1]);
	pthread_create(&b, NULL, second, argv[1]);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
END
cat >"$work/cxx.cc" <<'END'
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
struct table { int size; std::string name; table() : size(3), name("a name that is not short") {} };
static const table &get() { static const table t; return t; }
struct base { virtual ~base() {} virtual int value() const { return 1; } };
struct derived : base { int value() const override { return 2; } };
int main()
{
	std::vector<std::thread> threads;
	std::mutex lock;
	std::atomic<int> sum{0};
	auto shared = std::make_shared<derived>();
	int plain = 0;
	for (int i = 0; i < 3; i++)
		threads.emplace_back([&, shared] {
			sum += get().size + shared->value();
			std::lock_guard<std::mutex> guard(lock);
			plain++;
		});
	shared.reset();
	for (auto &t : threads)
		t.join();
	try {
		throw std::string("thrown");
	} catch (const std::string &) {
	}
	assert(sum == 15 && plain == 3);
	return 0;
}
END
# Another process would have to set the flag. It has no points but the loop itself.
cat >"$work/other.c" <<'END'
#include <sys/mman.h>
int main(void)
{
	volatile int *flag = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	while (!*flag)
		;
	return 0;
}
END

in_each_compiler()
{
	# clang has to be told that the processor has 16 bytes at once.
	wide=
	! "$CC" -mcx16 -c -o "$work/empty.o" "$work/empty.c" 2>/dev/null || wide=-mcx16
	# shellcheck disable=SC2086 # no word, or one
	compile sizes $wide "$work/sizes.c"
	passes "$CC: atomics" "$work/sizes"
	passes "$CC: atomics, explored" status_is 0 explore --runs 2 "$work/sizes"
	compile count "$work/count.c"
	passes "$CC: a lost count" status_is 1 explore --runs 60 "$work/count"
	passes "$CC: it is told" says 'Assertion .*count == 2. failed'
	passes "$CC: its race is told" says 'data race: thread .*, at count.c:4; thread .*, at count.c:4'
	compile ordered "$work/ordered.c"
	passes "$CC: no false alarm" status_is 0 explore --runs 60 "$work/ordered"
}
for CC in gcc clang; do
	export CC
	if "$weft" cc -o "$work/empty" "$work/empty.c" 2>/dev/null; then
		in_each_compiler
	fi
done
unset CC

passes "no points, no lost count" status_is 1 explore --runs 60 --points none "$work/count"
passes "and the race" says 'different failures: 1$'
passes "neither" status_is 0 explore --runs 60 --points none --no-races "$work/count"
passes "each access" status_is 1 explore --runs 60 --points 1 --no-races "$work/count"
passes "is a point" says 'Assertion .*count == 2. failed'
passes "and is told to be one" says '^Again: weft run --seed [0-9]* --points 1 --no-races '
compile atomics "$work/atomics.c"
passes "atomics that are no unit" status_is 1 explore --runs 60 "$work/atomics"
passes "are no race" says 'different failures: 1$'

compile quiet "$work/quiet.c"
# A thread that waits for what processes share keeps the turn: no point while it is held.
passes "no false alarm by other orders" status_is 0 explore --runs 40 --points none "$work/quiet"

compile unordered "$work/unordered.c"
for kind in r f l h b c m o u; do
	passes "unordered: $kind" status_is 1 explore --runs 20 "$work/unordered" "$kind"
	passes "is told: $kind" says 'data race'
done

# The example, with its stacks.
compile race "$top/examples/buggy/race.c" -O0
passes "the example" status_is 1 explore --runs 20 "$work/race"
passes "is a data race" says 'data race: thread 2 writes, at race.c:2[0-9]; thread 3 reads'
passes "with the calls" says '    called at race.c:3'
again=$(sed -n 's/^Again: weft run --seed \([^ ]*\) .*/\1/p' "$work/said")
passes "by its seed" status_is 0 "$weft" run --seed "$again" "$work/race"
passes "too" says 'weft: data race'
compile race.right "$top/examples/buggy/race.c" -DFIXED
passes "without the race" status_is 0 explore --runs 40 "$work/race.right"

same_seed()
{
	for _ in 1 2 3 4 5; do
		"$weft" run "$@" --seed 5 "$work/ordered" 2>&1 | grep interleaving
	done >"$work/runs"
	[ "$(wc -l <"$work/runs")" = 5 ] && [ "$(sort -u "$work/runs" | wc -l)" = 1 ]
}
passes "a seed" same_seed
passes "a seed, one access in 3" same_seed --points 3

if "$weft" c++ -O1 -pthread -o "$work/cxx" "$work/cxx.cc" 2>/dev/null; then
	passes "C++" "$work/cxx"
	passes "C++, no false alarm" status_is 0 explore --runs 40 "$work/cxx"
fi

compile other "$work/other.c"
passes "another process" status_is 1 explore --runs 1 --steps 5000 "$work/other"
passes "is told" says 'reads a location again and again.*another process may'

if gcc -fsanitize=thread -pthread -o "$work/tsan" "$work/count.c" 2>/dev/null; then
	passes "ThreadSanitizer" status_is 126 explore --runs 1 "$work/tsan"
	passes "by a seed" status_is 126 "$weft" run --seed 1 "$work/tsan"
fi

passes "the command" status_is 0 "$weft" cc --print -c x.c
passes "has the option" says ' -fsanitize=thread .*-c x.c$'
if clang --version >/dev/null 2>&1; then
	passes "a compiler of two words" status_is 0 env CC="env clang" "$weft" cc --print -c x.c
	passes "is clang" refuses says nodefaultlibs
fi
passes "help" status_is 0 "$weft" c++ --help
passes "no such points" status_is 125 explore --points some "$work/race"
finish
