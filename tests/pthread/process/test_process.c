/* SPDX-License-Identifier: MIT */
/* test_process.c - fork, exec and their like, and descriptors */
#include "compare.h"

#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../../support/newer.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *add(void *arg)
{
	pthread_mutex_lock(&lock);
	++*(int *)arg;
	pthread_mutex_unlock(&lock);
	return arg;
}

static int make_threads(int n)
{
	pthread_t t[16];
	int sum = 0;

	for (int i = 0; i < n; i++)
		t[i] = start(add, &sum);
	for (int i = 0; i < n; i++)
		finish(t[i]);
	return sum;
}

static void *fork_and_wait(void *arg)
{
	int status;
	pid_t child = fork();

	(void)arg;
	if (child == 0)
		_exit(make_threads(8));
	waitpid(child, &status, 0);
	return (void *)(long)WEXITSTATUS(status);
}

static void a_forked_child_can_make_threads(void)
{
	pthread_t t[6];

	printf("%d\n", make_threads(4));
	for (int i = 0; i < 6; i++)
		t[i] = start(fork_and_wait, NULL);
	for (int i = 0; i < 6; i++)
		printf("%ld\n", (long)finish(t[i]));
	printf("%d\n", make_threads(4));
}

static _Atomic int no_more;

static void *be_busy(void *arg)
{
	while (!no_more)
		sched_yield();
	return arg;
}

/*
 * The child works in its parent's memory until it becomes a program: for long
 * enough that the parent's VCPU would be taken.
 */
static void *vfork_and_wait(void *arg)
{
	int *told = arg, status;
	sigset_t set, old;
	pid_t child = vfork();

	if (child == 0) {
		*told = 1;
		sigfillset(&set);
		sigprocmask(SIG_SETMASK, &set, &old);
		poll(NULL, 0, 20);
		sched_yield();
		sigprocmask(SIG_SETMASK, &old, NULL);
		execl("/bin/sh", "sh", "-c", "exit 6", (char *)NULL);
		_exit(99);
	}
	waitpid(child, &status, 0);
	return (void *)(long)WEXITSTATUS(status);
}

static void a_vforked_child_runs_nothing_but_itself(void)
{
	pthread_t t[4], busy[2];
	int told[4] = { 0 };

	for (int i = 0; i < 2; i++)
		busy[i] = start(be_busy, NULL);
	for (int i = 0; i < 4; i++)
		t[i] = start(vfork_and_wait, &told[i]);
	for (int i = 0; i < 4; i++) {
		printf("%ld ", (long)finish(t[i]));
		printf("%d\n", told[i]);
	}
	no_more = 1;
	for (int i = 0; i < 2; i++)
		finish(busy[i]);
}

static void before(void)
{
	pthread_mutex_lock(&lock);
	printf("before\n");
	fflush(stdout);
}

static void parent(void)
{
	pthread_mutex_unlock(&lock);
}

static void child(void)
{
	show("child unlocks", pthread_mutex_unlock(&lock));
	fflush(stdout);
}

static void handlers_of_a_fork_may_hold_locks(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	make_threads(2);
	pthread_mutex_init(&lock, NULL);
	pthread_atfork(before, parent, child);
	printf("%ld\n", (long)finish(start(fork_and_wait, NULL)));
}

static void *run_programs(void *arg)
{
	char text[64] = "";
	FILE *pipe = popen("echo from a child; exit 3", "r");
	int status;

	(void)arg;
	if (!fgets(text, sizeof(text), pipe))
		text[0] = 0;
	status = pclose(pipe);
	printf("%s%d\n", text, WEXITSTATUS(status));
	printf("%d\n", WEXITSTATUS(system("exit 5")));
	/* What it inherits is the thread's mask, not its carrier's. */
	printf("%d\n", WEXITSTATUS(system(
		"test $(sed -n 's/SigBlk:.//p' /proc/self/status) = "
		"0000000000000000")));
	return NULL;
}

static void programs_can_be_run(void)
{
	finish(start(run_programs, NULL));
}

static void *exec_it(void *arg)
{
	(void)arg;
	fflush(stdout);
	execlp("sh", "sh", "-c", "sed -n 's/SigBlk:.//p' /proc/self/status;"
	       "exit 9", (char *)NULL);
	return NULL;
}

static void a_thread_may_become_a_program(void)
{
	printf("now\n");
	finish(start(exec_it, NULL));
}

/* --- descriptors ---------------------------------------------------------- */

static int pairs[8][2];

static void *echo(void *arg)
{
	int fd = pairs[(long)arg][1];
	char c;

	while (read(fd, &c, 1) == 1)
		if (write(fd, &c, 1) != 1)
			break;
	return NULL;
}

static void *talk(void *arg)
{
	int fd = pairs[(long)arg][0];
	long good = 0;

	for (int i = 0; i < 200; i++) {
		char c = (char)i, back = 0;

		if (write(fd, &c, 1) == 1 && read(fd, &back, 1) == 1)
			good += c == back;
	}
	shutdown(fd, SHUT_WR);
	return (void *)good;
}

static void sockets_carry_ping_and_pong(void)
{
	pthread_t t[16];
	long good = 0;

	for (long i = 0; i < 8; i++) {
		socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]);
		t[2 * i] = start(echo, (void *)i);
		t[2 * i + 1] = start(talk, (void *)i);
	}
	for (int i = 0; i < 16; i++)
		good += (long)finish(t[i]);
	printf("%ld, flags kept %d\n", good,
	       !(fcntl(pairs[0][0], F_GETFL) & O_NONBLOCK));
}

static void *write_all(void *arg)
{
	static char big[1 << 20];

	return (void *)write(*(int *)arg, big, sizeof(big));
}

static void a_blocking_write_takes_all(void)
{
	char buf[4096];
	long sum = 0;
	ssize_t n;
	int ends[2];
	pthread_t t;

	if (pipe(ends) != 0)
		abort();
	t = start(write_all, &ends[1]);
	while (sum < 1 << 20 && (n = read(ends[0], buf, sizeof(buf))) > 0)
		sum += n;
	printf("%ld %ld\n", sum, (long)finish(t));
}

static void *wait_for_events(void *arg)
{
	struct epoll_event event;
	int n = epoll_wait(*(int *)arg, &event, 1, -1);

	return (void *)(long)(n == 1 ? event.data.fd : -1);
}

static void several_descriptors_are_waited_for(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct pollfd p[2];
	int a[2], b[2], ep = epoll_create1(0);
	pthread_t t;

	if (pipe(a) != 0 || pipe(b) != 0)
		abort();
	event.data.fd = 42;
	epoll_ctl(ep, EPOLL_CTL_ADD, a[0], &event);
	t = start(wait_for_events, &ep);
	usleep(10000);
	(void)!write(a[1], "x", 1);
	printf("%ld\n", (long)finish(t));
	p[0] = (struct pollfd){ .fd = b[0], .events = POLLIN };
	p[1] = (struct pollfd){ .fd = a[0], .events = POLLIN };
	printf("%d %d\n", poll(p, 2, -1), p[1].revents);
	printf("%d\n", poll(p, 1, 20));
	close(b[1]);
	printf("%d %d\n", poll(p, 1, -1), p[0].revents);
}

static void *write_to_nobody(void *arg)
{
	int fd = *(int *)arg;

	signal(SIGPIPE, SIG_IGN);
	show_errno("ignored", write(fd, "x", 1));
	signal(SIGPIPE, SIG_DFL);
	fflush(stdout);
	(void)!write(fd, "x", 1);
	printf("not reached\n");
	return NULL;
}

static void a_broken_pipe_ends_the_process(void)
{
	int ends[2];

	if (pipe(ends) != 0)
		abort();
	close(ends[0]);
	finish(start(write_to_nobody, &ends[1]));
}

/* --- who makes no threads sees no effect --------------------------- */

struct range {
	uintptr_t low, high;
};

static int find_libc(struct dl_phdr_info *info, size_t size, void *range)
{
	struct range *r = range;

	(void)size;
	if (!strstr(info->dlpi_name, "/libc.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_flags & PF_X) {
			r->low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			r->high = r->low + info->dlpi_phdr[i].p_memsz;
		}
	return 1;
}

#ifndef PR_SYS_DISPATCH_ON
#define PR_SYS_DISPATCH_ON		1
#define SYSCALL_DISPATCH_FILTER_ALLOW	0
#define SYSCALL_DISPATCH_FILTER_BLOCK	1
#endif

/* All but libc's system calls are the program's to answer, by SIGSYS. */
static void a_dispatcher_lets_libc_pass(void)
{
	static volatile char selector;
	struct range libc = { 0, 0 };
	long dispatched;

	dl_iterate_phdr(find_libc, &libc);
	dispatched = prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON,
			   libc.low, libc.high - libc.low, &selector);
	selector = SYSCALL_DISPATCH_FILTER_BLOCK;
	pid_t by_number = (pid_t)syscall(SYS_getpid);
	int errno_of_close = syscall(SYS_close, -1L) < 0 ? errno : 0;

	selector = SYSCALL_DISPATCH_FILTER_ALLOW;
	show_errno("dispatch", dispatched);
	printf("%d\n", by_number == getpid());
	show("close", errno_of_close);
}

/* --- a signal for who is in system() ------------------------------- */

static volatile sig_atomic_t is_over, handled, handled_blocked;
static _Thread_local volatile sig_atomic_t blocks;

static void handler_of_one(int signal)
{
	(void)signal;
	handled++;
}

static void handler_of_blocked(int signal)
{
	(void)signal;
	handled_blocked += blocks;
}

static void block(int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	blocks = 1;
}

static void *send_to_main(void *arg)
{
	usleep(200000);
	pthread_kill(*(pthread_t *)arg, SIGUSR1);
	return arg;
}

static void *compute_blocked(void *arg)
{
	block(SIGUSR2);
	while (!is_over)
		;
	return arg;
}

/* From another process, so that the kernel chooses the receiver. */
static void send_from_outside(int signal, int count)
{
	pid_t parent = getpid(), child = fork();

	if (child == 0) {
		for (int i = 0; i < count; i++) {
			kill(parent, signal);
			usleep(20000);
		}
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void a_signal_during_system_unblocks_nothing(void)
{
	pthread_t main_thread = pthread_self(), t[4];

	signal(SIGUSR1, handler_of_one);
	signal(SIGUSR2, handler_of_blocked);
	t[0] = start(send_to_main, &main_thread);
	printf("%d\n", system("sleep 0.5"));
	finish(t[0]);
	printf("%d\n", handled);
	block(SIGUSR2);
	for (int i = 0; i < 4; i++)
		t[i] = start(compute_blocked, NULL);
	send_from_outside(SIGUSR2, 10);
	is_over = 1;
	for (int i = 0; i < 4; i++)
		finish(t[i]);
	printf("%d\n", handled_blocked);
}

static const struct compare_case cases[] = {
	COMPARE(a_forked_child_can_make_threads),
	COMPARE(a_vforked_child_runs_nothing_but_itself),
	COMPARE(handlers_of_a_fork_may_hold_locks),
	COMPARE(programs_can_be_run),
	ENDS_WITH(9, a_thread_may_become_a_program),
	COMPARE(sockets_carry_ping_and_pong),
	COMPARE(a_blocking_write_takes_all),
	COMPARE(several_descriptors_are_waited_for),
	ENDS_BY(SIGPIPE, a_broken_pipe_ends_the_process),
	COMPARE(a_dispatcher_lets_libc_pass),
	COMPARE(a_signal_during_system_unblocks_nothing),
};

COMPARE_MAIN(cases)
