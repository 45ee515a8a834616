/* SPDX-License-Identifier: MIT */
/*
 * test_calls_refused.c - a program under weft run without each of the system calls of
 * os/call/calls.h: under a filter that answers ENOSYS, EPERM or EACCES
 *
 *	test_calls_refused go	runs the program, as it is
 *
 * At a scale below 2 each call has one of the three answers.
 */
#include "compare.h"
#include "own_filter.h"
#include "turns.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#define AT_ONCE	8

/* --- the program --------------------------------------------------- */

/* `error` is looked at after `good`. */
#define say(what, good, error)						\
	do {								\
		int good_ = (good);					\
									\
		printf("%s: %s\n", what, good_ ? "good" :		\
		       error_name(error));				\
		fflush(stdout);						\
	} while (0)

static pthread_t begin(void *(*fn)(void *arg), void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, fn, arg) != 0)
		_exit(97);
	return t;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static long at_rest;

static void locks(void)
{
	long taken = take_all_turns();

	if (taken < 0)
		_exit(97);
	say("turns", taken == 2 * TURNS, EIO);
}

/* Reads from the one, writes to the other. */
static void *echo(void *fds)
{
	const int *fd = fds;
	char text[16];
	ssize_t n;

	while ((n = read(fd[0], text, sizeof(text))) > 0)
		if (write(fd[1], text, (size_t)n) != n)
			break;
	return fds;
}

static int talk(int to, int from)
{
	char text[16];

	for (int i = 0; i < 50; i++)
		if (write(to, "hello", 5) != 5 || read(from, text, 5) != 5)
			return errno ? errno : EIO;
	return 0;
}

static void descriptors(void)
{
	int pair[2], there[2], back[2], error;
	pthread_t t;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0) {
		t = begin(echo, (int[]){ pair[1], pair[1] });
		error = talk(pair[0], pair[0]);
		say("sockets", !error, error);
		shutdown(pair[0], SHUT_RDWR);
		pthread_join(t, NULL);
	} else {
		say("sockets", 0, errno);
	}
	if (pipe(there) == 0 && pipe(back) == 0) {
		t = begin(echo, (int[]){ there[0], back[1] });
		error = talk(there[1], back[0]);
		say("pipes", !error, error);
		close(there[1]);
		pthread_join(t, NULL);
	} else {
		say("pipes", 0, errno);
	}
}

static void files(void)
{
	char one[4], two[4];
	struct iovec iov[2] = { { (char *)"abc", 3 }, { (char *)"def", 3 } };
	struct iovec in[2] = { { one, 3 }, { two, 3 } };
	FILE *file = tmpfile();
	int fd = file ? fileno(file) : -1;

	say("file", fd >= 0, errno);
	say("writev", fd >= 0 && writev(fd, iov, 2) > 0, errno);
	say("write", fd >= 0 && write(fd, "x", 1) == 1, errno);
	say("pread", fd >= 0 && pread(fd, one, 3, 0) == 3 && one[0] == 'a', errno);
	say("preadv", fd >= 0 && preadv(fd, in, 2, 0) > 0 && one[0] == 'a', errno);
	say("lseek", fd >= 0 && lseek(fd, 0, SEEK_SET) == 0, errno);
	say("read", fd >= 0 && read(fd, two, 3) == 3 && two[2] == 'c', errno);
}

static void times(void)
{
	struct timespec t = { 0, 2000000 }, then;
	sem_t sem;
	int error;

	say("nanosleep", nanosleep(&t, NULL) == 0, errno);
	clock_gettime(CLOCK_REALTIME, &then);
	pthread_mutex_lock(&mutex);
	error = pthread_cond_timedwait(&cond, &mutex, &then);
	pthread_mutex_unlock(&mutex);
	say("timedwait", error == ETIMEDOUT, error);
	sem_init(&sem, 0, 0);
	say("sem", sem_timedwait(&sem, &then) != 0 && errno == ETIMEDOUT, errno);
	say("poll", poll(NULL, 0, 2) == 0, errno);
	say("yield", sched_yield() == 0, errno);
}

static volatile sig_atomic_t handled;

static void note(int signal)
{
	handled = signal;
}

/* Spins until another has run: on one VCPU after a slice. */
static void *spin_for(void *flag)
{
	while (!*(_Atomic int *)flag)
		;
	return flag;
}

static void signals(void)
{
	static _Atomic int flag;
	pthread_t t;

	signal(SIGUSR1, note);
	say("kill", kill(getpid(), SIGUSR1) == 0 && handled == SIGUSR1, errno);
	handled = 0;
	say("raise", pthread_kill(pthread_self(), SIGUSR1) == 0 &&
	    handled == SIGUSR1, EIO);
	t = begin(spin_for, &flag);
	sched_yield();
	flag = 1;
	pthread_join(t, NULL);
	say("spun", 1, 0);
}

static void children(void)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0)
		_exit(4);
	say("wait", waitpid(child, &status, 0) == child && status == 4 << 8, errno);
	say("system", system("exit 3") == 3 << 8, errno);
}

struct shared {
	sem_t sem;
	int rest[2];
};

static void *wait_shared(void *shared)
{
	while (sem_wait(&((struct shared *)shared)->sem) != 0)
		if (errno != EINTR)
			return NULL;
	return shared;
}

static void *wait_cond(void *arg)
{
	pthread_mutex_lock(&mutex);
	while (!at_rest)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	return arg;
}

static void *wait_read(void *shared)
{
	char c;

	return read(((struct shared *)shared)->rest[0], &c, 1) == 1 ? shared : NULL;
}

/* As much as a busy one would use of a machine that has nothing else to do. */
static void *be_busy(void *arg)
{
	while (clock() < 2 * REFUSED_BUSY_US)
		;
	return arg;
}

/* All wait, each for another thing. A control: one is busy. */
static void rest(int is_busy)
{
	struct timespec t = { 0, REFUSED_REST_US * 1000L };
	struct shared *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	void *good[3] = { NULL, NULL, NULL };
	pthread_t all[4];
	pid_t child;

	sem_init(&shared->sem, 1, 0);
	if (pipe(shared->rest) != 0)
		return;
	all[0] = begin(wait_shared, shared);
	all[1] = begin(wait_cond, shared);
	all[2] = begin(wait_read, shared);
	if (is_busy)
		all[3] = begin(be_busy, NULL);
	nanosleep(&t, NULL);
	child = fork();
	if (child == 0)
		_exit(sem_post(&shared->sem));
	waitpid(child, NULL, 0);
	pthread_mutex_lock(&mutex);
	at_rest = 1;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&mutex);
	say("rest", write(shared->rest[1], "", 1) == 1, errno);
	for (int i = 0; i < 3; i++)
		pthread_join(all[i], &good[i]);
	if (is_busy)
		pthread_join(all[3], NULL);
	say("woken", good[0] && good[1] && good[2], EIO);
}

/* What libc calls for this program, beside what it calls for weft. */
static const long own[] = {
	SYS_brk, SYS_clock_nanosleep, SYS_shutdown, SYS_dup3, SYS_execve, SYS_getppid,
	SYS_getrandom, SYS_kill, SYS_pwritev, SYS_restart_syscall, SYS_rseq,
	SYS_sched_yield, SYS_set_robust_list, SYS_unlinkat, SYS_wait4,
	SYS_preadv, SYS_prlimit64, SYS_faccessat, SYS_getuid,
	SYS_geteuid, SYS_getgid, SYS_getegid, SYS_readlinkat, SYS_faccessat2,
#ifdef SYS_unlink	/* not on all CPUs */
	SYS_unlink, SYS_vfork, SYS_poll, SYS_access, SYS_pipe, SYS_readlink,
	SYS_open,
#endif
};

static void shut_in(const char *kind)
{
	if (own_filter_set((enum own_filter_kind)atoi(kind), own,
			   sizeof(own) / sizeof(*own)) != 0)
		say("filter", 0, errno);
}

static int go(int argc, char **argv)
{
	const char *when = argc > 2 ? argv[1] : "never";
	const int traps = argc > 2 && atoi(argv[2]) == OWN_LISTED_TRAP;

	if (strcmp(when, "early") == 0)
		shut_in(argv[2]);
	locks();
	if (strcmp(when, "late") == 0)
		shut_in(argv[2]);
	descriptors();
	if (strcmp(when, "last") == 0)
		shut_in(argv[2]);
	descriptors();
	files();
	times();
	signals();
	children();
	rest(strcmp(argv[1], "busy") == 0);
	if (traps && !own_filter_traps())
		say("trap", 0, EIO);
	return 0;
}

/* --- with and without ---------------------------------------------- */

static char self[PATH_MAX], library[PATH_MAX + 32];
static const char *mode = "go", *filter;

static int find_library(void)
{
	const char *given = getenv("WEFT_TEST_PRELOAD");
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return 0;
	self[n] = 0;
	strcpy(library, given ? given : self);
	for (int i = 0; i < 3 && !given; i++)
		*strrchr(library, '/') = 0;
	if (!given)
		strcat(library, "/.libs/libweft-pthread.so");
	return access(library, R_OK) == 0;
}

static void run(int plain)
{
	if (plain)
		unsetenv("LD_PRELOAD");
	else
		setenv("LD_PRELOAD", library, 1);
	execl(self, self, mode, filter, (char *)NULL);
}

static struct refused_run base, got, plain;

static void look(int is_plain, struct refused_run *out)
{
	refused_end(refused_begin(run, is_plain, -1, 0), out);
}

/* Returns how many were wrong. */
static int some(size_t from, unsigned error)
{
	struct refused_child c[2][AT_ONCE];
	size_t n = 0;
	int bad = 0;

	for (; n < AT_ONCE && from + n < REFUSED_CALLS; n++)
		for (int i = 0; i < 2; i++) {
			const struct refused_call *call = &refused_calls[from + n];

			if (call->need != REFUSED_LIBC && call->number >= 0)
				c[i][n] = refused_begin(run, i, call->number,
							error);
		}
	for (size_t i = 0; i < n; i++) {
		const struct refused_call *call = &refused_calls[from + i];

		if (call->need == REFUSED_LIBC || call->number < 0)
			continue;
		refused_end(c[0][i], &got);
		refused_end(c[1][i], &plain);
		/* Where libc's threads cannot go on nothing is asked. */
		if (plain.status == 0)
			bad += !refused_judge(call, error, &got, &base, &plain);
	}
	return bad;
}

/* Several at once: an old kernel, or a container's profile of its time. */
static int versions(unsigned error)
{
	int bad = 0;

	for (size_t i = 0; i < REFUSED_VERSIONS; i++) {
		const struct refused_call all = { "an old kernel's", 0,
						  REFUSED_ELSE, REFUSED_ALL,
						  refused_versions[i] };

		refused_end(refused_begin(run, 0, -all.since, error), &got);
		bad += !refused_judge(&all, error, &got, &base, NULL);
	}
	return bad;
}

/* Filters that the program sets on itself, before its threads and among them. */
static int sandboxes(void)
{
	static const char *const when[] = { "early", "late", "last" };
	int bad = 0;

	for (int i = 0; i < 3 * OWN_FILTERS; i++) {
		const struct refused_call all = { own_filter_names[i / 3], 0,
						  REFUSED_ELSE, REFUSED_ALL, 0 };
		char number[12];

		snprintf(number, sizeof(number), "%d", i / 3);
		filter = number;
		mode = when[i % 3];
		look(1, &plain);
		look(0, &got);
		bad += !refused_judge(&all, 0, &plain, &base, NULL);
		bad += !refused_judge(&all, 0, &got, &base, NULL);
	}
	filter = NULL;
	mode = "go";
	return bad;
}

/* By the command, which finds the library beside itself. */
static void run_without_proc(int with_command)
{
	char command[PATH_MAX + 32];

	if (unshare(CLONE_NEWNS) != 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", "/proc", "tmpfs", 0, NULL) != 0)
		_exit(77);
	if (!with_command)
		run(0);
	strcpy(command, library);
	for (int i = 0; i < 2; i++)
		*strrchr(command, '/') = 0;
	strcat(command, "/cli/weft");
	unsetenv("LD_PRELOAD");
	execl(command, command, "run", self, mode, (char *)NULL);
}

/* Root only. */
static int without_proc(void)
{
	static const struct refused_call all = { "no /proc", 0, REFUSED_ELSE,
						 REFUSED_ALL, 0 };
	int bad = 0;

	for (int i = 0; i < 2; i++) {
		refused_end(refused_begin(run_without_proc, i, -1, 0), &got);
		if (got.status == 77 << 8)
			printf("not without /proc: needs root\n");
		else
			bad += !refused_judge(&all, 0, &got, &base, NULL);
	}
	return bad;
}

/* What has to be seen: a busy thread, a line too few, another call's name. */
static int controls(void)
{
	static const struct refused_call call = { "membarrier", 0, REFUSED_ENDS,
						  REFUSED_ALL, 0 };
	struct refused_run other = base;
	int bad = 0;

	mode = "busy";
	look(0, &got);
	mode = "go";
	printf("controls, each with its fault:\n");
	bad += refused_judge(&call, 0, &got, &base, NULL);
	*strstr(other.text, "turns") = 'T';
	bad += refused_judge(&call, 0, &other, &base, NULL);
	strcpy(other.text, "");
	bad += refused_judge(&call, 0, &other, &base, NULL);
	strcpy(other.text, "weft: the kernel or a filter refuses futex, which weft "
	       "needs: see weft-calls(7)\n");
	other.status = REFUSED_STATUS << 8;
	bad += refused_judge(&call, 0, &other, &base, NULL);
	printf("%d controls passed that should not\n", bad);
	return bad;
}

int main(int argc, char **argv)
{
	static const unsigned errors[] = { EPERM, ENOSYS, EACCES };
	const char *scale = getenv("WEFT_TEST_SCALE");
	size_t answers = scale && strtod(scale, NULL) >= 2 ? 3 : 1;
	int bad = 0;

	if (argc > 1)
		return go(argc, argv);
	if (threads_are_libcs() || getenv("WEFT_TEST_QEMU") || !find_library() ||
	    sandbox_is_missing()) {
		printf("not here: no filters, or no green threads\n");
		return threads_are_libcs() ? 0 : 77;
	}
	look(1, &plain);
	look(0, &base);
	if (plain.status != 0 || strcmp(plain.text, base.text) != 0) {
		printf("without a filter, status %x:\n%s\nlibc's:\n%s",
		       (unsigned)base.status, base.text, plain.text);
		/* Not with a libc without green threads. */
		return !strstr(base.text, "weft: threads stay kernel threads: ");
	}
	for (size_t from = 0, n = 0; from < REFUSED_CALLS; from += AT_ONCE, n++)
		for (size_t i = 0; i < answers; i++)
			bad += some(from, errors[(n + i) % 3]);
	bad += versions(ENOSYS) + versions(EPERM) + sandboxes() +
	       without_proc();
	printf("%zu calls, %d wrong\n", REFUSED_CALLS, bad);
	return bad + controls() != 0;
}
