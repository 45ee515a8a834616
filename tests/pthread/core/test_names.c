/* SPDX-License-Identifier: MIT */
/*
 * test_names.c - a program that defines what libc has, too
 *
 * The program has a function of its own for each name in the library's table and for
 * what else the library calls. Each goes on to the next one of that name, as programs
 * do that look at calls, and notes it when weft is the caller: weft's own work is not
 * the program's to answer. glibc never calls itself by these names, so none is noted
 * with libc's threads.
 */
#include "compare.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "pthread/core/table.h"

/* What weft calls, or has called, and the table has not got. */
#define OTHERS(X) \
	X(__ctype_b_loc) X(__cxa_thread_atexit_impl) X(__errno_location) \
	X(__libc_current_sigrtmin) X(__pthread_register_cancel) \
	X(__pthread_unregister_cancel) X(__pthread_unwind_next) \
	X(__sched_cpucount) X(_exit) X(dl_iterate_phdr) \
	X(dladdr) X(dladdr1) X(dlclose) X(dlinfo) X(dlvsym) X(exit) X(fstat) \
	X(fstatfs) X(ftruncate) X(getauxval) X(getcontext) \
	X(getdents64) X(getenv) X(getpid) X(getppid) X(getrlimit) \
	X(getsockopt) X(getuid) X(isatty) X(makecontext) X(mmap) X(mprotect) \
	X(munmap) X(sched_get_priority_max) X(sched_get_priority_min) \
	X(secure_getenv) X(sigaddset) X(sigdelset) \
	X(sigemptyset) X(sigismember) X(strerror) X(strnlen) X(swapcontext) \
	X(sysconf) X(uselocale) X(lseek) X(lseek64) \
	X(readdir) X(closedir) X(sigfillset) X(getpagesize) \
	X(epoll_create1) X(epoll_ctl) X(eventfd) X(madvise) X(timerfd_create) \
	X(gettimeofday) X(getsockname) X(pipe) X(pipe2) X(dup) X(atexit) \
	X(alarm) X(setitimer) X(membarrier)

/*
 * Not trapped: what finds the next definition, and what is called before anything can
 * be found. Before glibc 2.36 the next definition is the oldest version. The timers of
 * that one are no timers of the other functions.
 */
#define SKIP_dlsym		, "skipped_dlsym"
#define SKIP___libc_start_main	, "skipped___libc_start_main"
#define SKIP_timer_create	, "skipped_timer_create"
#define SKIP_timer_delete	, "skipped_timer_delete"
#define SKIP_timer_getoverrun	, "skipped_timer_getoverrun"

#define SECOND_OF(a, b, ...)	b
#define SECOND(...)		SECOND_OF(__VA_ARGS__)
#define LABEL(name)		SECOND(SKIP_##name, #name, 0)

#define NUMBER(name)		NUMBER_##name,
#define ROW_NUMBER(name, note)	NUMBER_##name,
enum {
	WEFTI_TABLE(ROW_NUMBER, ROW_NUMBER, ROW_NUMBER)
	OTHERS(NUMBER)
	NAMES
};

#define TEXT(name)		#name,
#define ROW_TEXT(name, note)	#name,
static const char *const names[NAMES] = {
	WEFTI_TABLE(ROW_TEXT, ROW_TEXT, ROW_TEXT)
	OTHERS(TEXT)
};

typedef long any_fn(long a, long b, long c, long d, long e, long f, long g);

static any_fn *next[NAMES];
static volatile char was_called[NAMES];	/* by weft */

/*
 * The bounds of the libraries with weft's calls: weft's own, and what it has of
 * liburcu.
 */
static uintptr_t low[4], high[4];
static size_t ranges;

static int add_range(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	if ((!strstr(info->dlpi_name, "libweft") &&
	     !strstr(info->dlpi_name, "liburcu")) || ranges == 4)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && (p->p_flags & PF_X)) {
			low[ranges] = info->dlpi_addr + p->p_vaddr;
			high[ranges] = low[ranges] + p->p_memsz;
		}
	}
	ranges++;
	return 0;
}

/* Before this, which is after weft's own constructors, the loader is asked. */
__attribute__((constructor)) static void find_ranges(void)
{
	dl_iterate_phdr(add_range, NULL);
}

static int is_weft(void *caller)
{
	Dl_info info;

	for (size_t i = 0; i < ranges; i++)
		if ((uintptr_t)caller >= low[i] && (uintptr_t)caller < high[i])
			return 1;
	return ranges == 0 && getenv("LD_PRELOAD") && dladdr(caller, &info) &&
	       strstr(info.dli_fname, "libweft");
}

/* These return twice, so nobody can go on to them; and the program calls none. */
static long nothing(long a, long b, long c, long d, long e, long f, long g)
{
	(void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g;
	return 0;
}

static any_fn *go_on(int i, void *caller)
{
	static volatile int is_looking;
	int outer = is_looking;

	if (i == NUMBER___sigsetjmp || i == NUMBER_setjmp ||
	    i == NUMBER_getcontext || i == NUMBER_vfork) {
		was_called[i] = 1;
		return nothing;
	}
	if (!next[i])
		next[i] = (any_fn *)dlsym(RTLD_NEXT, names[i]);
	if (!outer && ranges == 0) {
		is_looking = 1;		/* the look calls some of these */
		was_called[i] |= (char)is_weft(caller);
		is_looking = 0;
	} else if (!outer) {
		was_called[i] |= (char)is_weft(caller);
	}
	return next[i] ? next[i] : nothing;
}

#define TRAP(name)							\
	any_fn trap_##name __asm__(LABEL(name));			\
	__attribute__((visibility("default"), used))			\
	long trap_##name(long a, long b, long c, long d, long e, long f,\
			 long g)					\
	{								\
		return go_on(NUMBER_##name, __builtin_return_address(0))\
			(a, b, c, d, e, f, g);				\
	}
#define ROW_TRAP(name, note)	TRAP(name)

WEFTI_TABLE(ROW_TRAP, ROW_TRAP, ROW_TRAP)
OTHERS(TRAP)

static void tell(void)
{
	int n = 0;

	for (int i = 0; i < NAMES; i++)
		if (was_called[i]) {
			printf("weft calls %s()\n", names[i]);
			n++;
		}
	printf("%d of its functions are called for others\n", n);
}

/* --- what it does ------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_barrier_t barrier;
static pthread_key_t key;
static sem_t sem;
static volatile sig_atomic_t handled;
static int count;

static void handle(int signal)
{
	(void)signal;
	handled = 1;
}

static void do_once(void)
{
	if (pthread_key_create(&key, free) != 0)	/* no tail call: who calls? */
		abort();
}

/* Long enough for the end of a slice, on one VCPU. */
static void compute(void)
{
	struct timespec now, end = soon(CLOCK_MONOTONIC, 30);

	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (now.tv_sec < end.tv_sec ||
	       (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

static void *body(void *unused)
{
	struct timespec t = soon(CLOCK_REALTIME, 5);

	pthread_once(&once, do_once);
	pthread_setspecific(key, malloc(1));
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 200; i++) {
		pthread_mutex_lock(&mutex);
		count++;
		if (i % 10 == 0)
			sched_yield();
		pthread_mutex_unlock(&mutex);
		pthread_rwlock_rdlock(&rwlock);
		pthread_rwlock_unlock(&rwlock);
	}
	pthread_mutex_lock(&mutex);
	(void)!pthread_cond_timedwait(&cond, &mutex, &t);
	pthread_mutex_unlock(&mutex);
	sem_timedwait(&sem, &t);
	compute();
	return unused;
}

static void *wait_for_ever(void *fd)
{
	char byte;

	(void)!read(*(int *)fd, &byte, 1);
	for (;;)
		pause();
	return NULL;
}

static void use_threads(void)
{
	pthread_t t[4];

	pthread_barrier_init(&barrier, NULL, 4);
	sem_init(&sem, 0, 1);
	for (int i = 0; i < 4; i++)
		t[i] = start(body, NULL);
	for (int i = 0; i < 4; i++)
		finish(t[i]);
	printf("counted %d\n", count);
}

static void use_files(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int ends[2], sockets[2], ep = epoll_create1(0);
	struct pollfd p;
	pthread_t t;
	char text[8];
	void *result;

	if (pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
		abort();
	t = start(wait_for_ever, &ends[0]);
	(void)!write(ends[1], "x", 1);
	usleep(2000);
	pthread_cancel(t);
	pthread_join(t, &result);
	printf("cancelled: %d\n", result == PTHREAD_CANCELED);
	p = (struct pollfd){ .fd = sockets[0], .events = POLLIN };
	poll(&p, 1, 2);
	epoll_ctl(ep, EPOLL_CTL_ADD, sockets[0], &event);
	epoll_wait(ep, &event, 1, 2);
	send(sockets[1], "abc", 3, 0);
	printf("received %zd\n", recv(sockets[0], text, sizeof(text), 0));
	close(sockets[0]);
	close(sockets[1]);
	close(ends[0]);
	close(ends[1]);
	close(ep);
	ep = open("/dev/null", O_RDWR);
	(void)!write(ep, "x", 1);
	(void)!pread(ep, text, 1, 0);
	fsync(ep);
	close(ep);
}

static void use_signals(void)
{
	struct sigaction action = { .sa_handler = handle };
	sigset_t set;

	sigaction(SIGUSR1, &action, NULL);
	pthread_kill(pthread_self(), SIGUSR1);
	printf("handled: %d\n", handled);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGUSR2);
	printf("waited for: %d\n", sigwaitinfo(&set, NULL) == SIGUSR2);
}

static void *use_processes(void *unused)
{
	char *argv[] = { (char *)"true", NULL };
	char *envp[] = { NULL };
	int status = -1;
	pid_t child = fork();

	if (child == 0)
		_exit(3);
	waitpid(child, &status, 0);
	printf("child: %d\n", WEXITSTATUS(status));
	if (posix_spawnp(&child, "true", NULL, NULL, argv, envp) == 0)
		waitpid(child, &status, 0);
	printf("program: %d\n", WEXITSTATUS(status));
	printf("shell: %d\n", WEXITSTATUS(system("exit 5")));
	return unused;
}

static void use_the_rest(void)
{
	char name[16];

	prctl(PR_SET_NAME, "names");
	pthread_getname_np(pthread_self(), name, sizeof(name));
	printf("%s, %d\n", name, gettid() == syscall(SYS_gettid));
	syscall(SYS_sched_yield);
	sigpending(&(sigset_t){ 0 });
	printf("%d\n", sched_getscheduler(0));
	dlclose(dlopen("libm.so.6", RTLD_NOW));
}

static void all_that_weft_calls_is_libcs(void)
{
	use_threads();
	use_files();
	use_signals();
	finish(start(use_processes, NULL));
	use_processes(NULL);
	use_the_rest();
	tell();
}

/* rt-tests have this, and others that had to live with libcs that had none. */
static void *tell_id(void *unused)
{
	printf("%d\n", gettid() > 0 && gettid() == syscall(SYS_gettid));
	return unused;
}

static long by_syscall(long a, long b, long c, long d, long e, long f, long g)
{
	(void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g;
	return syscall(SYS_gettid);
}

static void a_gettid_by_syscall_ends(void)
{
	next[NUMBER_gettid] = by_syscall;
	finish(start(tell_id, NULL));
}

/* Those of names_module.so come behind this program's and weft's. */
static void call_them(const char *who)
{
	cpu_set_t all;

	sched_getaffinity(0, sizeof(all), &all);
	printf("%s: %d %d %d %d %d\n", who, gettid() > 0, sched_yield(),
	       prctl(PR_GET_DUMPABLE), personality(0xffffffff),
	       sched_getscheduler(0));
	show_errno("cpus", sched_setaffinity(0, sizeof(all), &all));
}

static void *call_them_there(void *unused)
{
	call_them("thread");
	return unused;
}

static void tick(union sigval sem_of)
{
	call_them("timer's");
	sem_post(sem_of.sival_ptr);
}

static void a_library_has_them_by_syscall(void)
{
	const struct itimerspec once_soon = { .it_value = { 0, 1000000 } };
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD, .sigev_notify_function = tick,
		.sigev_value.sival_ptr = &sem,
	};
	timer_t timer;

	sem_init(&sem, 0, 0);
	call_them("before");
	finish(start(call_them_there, NULL));
	call_them("main");
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
		abort();
	timer_settime(timer, 0, &once_soon, NULL);
	sem_wait(&sem);
}

/* weft's function goes on to the library's, and that one to the kernel. */
static void a_librarys_wrapper_is_called(void)
{
	int (*pair)(int, int, int, int *) = (int (*)(int, int, int, int *))
		dlsym(RTLD_NEXT, "socketpair");
	const int *calls = dlsym(RTLD_DEFAULT, "names_module_calls");
	int sockets[2];

	if (!pair || pair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
		abort();
	printf("the library was called %d times\n", calls ? *calls : -1);
}

static const struct compare_case cases[] = {
	COMPARE(all_that_weft_calls_is_libcs),
	COMPARE(a_gettid_by_syscall_ends),
	{ "a_library_has_them_by_syscall", a_library_has_them_by_syscall, NULL,
	  "tests/pthread/core/names_module.so", 0 },
	{ "a_librarys_wrapper_is_called", a_librarys_wrapper_is_called, NULL,
	  "tests/pthread/core/names_module.so", 0 },
};

COMPARE_MAIN(cases)
