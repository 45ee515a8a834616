#!/bin/sh
# SPDX-License-Identifier: MIT
# test_explore_outside.sh - weft explore: waits for children, locks of files, connections and
# long writes give the turn away
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"

weft=${WEFT_TEST_CLI-cli/weft}
if [ ! -x "$weft" ] || [ ! -f .libs/libweft-explore.so ] ||
    ! command -v "${CC-cc}" >/dev/null; then
	echo "test_explore_outside.sh: left out, there is no $weft with its library, or no compiler"
	exit 0
fi

# compile NAME
compile()
{
	# shellcheck disable=SC2086 # CC may have options
	${CC-cc} -g -O1 -pthread -o "$work/$1" "$work/$1.c" ||
		{ echo "cannot compile $1"; exit 1; }
}

explore()
{
	"$weft" explore --timeout 2m "$@"
}

# The child goes on when the other thread writes, behind the waits of the first one.
cat >"$work/child.c" <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static int pipes[2], how;
static sem_t ended;
static void *writes(void *unused)
{
	for (int i = 0; i < 3; i++)
		sched_yield();
	if (write(pipes[1], "x", 1) != 1)
		_exit(9);
	return unused;
}
static void *watches(void *unused)
{
	struct timespec late;
	clock_gettime(CLOCK_REALTIME, &late);
	late.tv_sec += 3600;
	if (sem_timedwait(&ended, &late) != 0)
		_exit(8);
	return unused;
}
static pid_t await(pid_t pid, int *status)
{
	struct rusage usage;
	siginfo_t info;
	switch (how) {
	case 0: return waitpid(pid, status, 0);
	case 1: return wait(status);
	case 2: return wait3(status, 0, &usage);
	case 3: return wait4(pid, status, 0, &usage);
	default:
		if (waitid(P_PID, (id_t)pid, &info, WEXITED) != 0)
			return -1;
		*status = info.si_status << 8;
		return info.si_pid;
	}
}
int main(int argc, char **argv)
{
	pthread_t writer, watcher;
	int status;
	(void)argv;
	for (how = 0; how < 5; how++) {
		char c;
		pid_t pid;
		if (pipe(pipes) != 0)
			return 2;
		sem_init(&ended, 0, 0);
		pid = fork();
		if (pid == 0)
			_exit(read(pipes[0], &c, 1) == 1 ? 3 : 4);
		pthread_create(&writer, NULL, writes, NULL);
		if (argc > 1)
			pthread_create(&watcher, NULL, watches, NULL);
		if (await(pid, &status) != pid || WEXITSTATUS(status) != 3)
			return 5;
		sem_post(&ended);
		pthread_join(writer, NULL);
		if (argc > 1)
			pthread_join(watcher, NULL);
		close(pipes[0]);
		close(pipes[1]);
	}
	return waitpid(-1, &status, 0) != -1 || errno != ECHILD ? 6 : 0;
}
END
# A handler ends a wait for a child, or not, as its flags say.
cat >"$work/restart.c" <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int to_child[2], to_thread[2];
static volatile int is_waiting;
static void handler(int unused) { (void)unused; }
static void *waits(void *unused)
{
	int status;
	char c;
	if (waitpid(-1, &status, 0) != -1 || errno != EINTR)
		_exit(3);
	is_waiting++;
	if (read(to_thread[0], &c, 1) != -1 || errno != EINTR)
		_exit(4);
	is_waiting++;
	return unused;
}
static void *reads(void *unused)
{
	char c;
	if (read(to_thread[0], &c, 1) != 1)
		_exit(5);
	return unused;
}
int main(void)
{
	struct sigaction action;
	pthread_t thread;
	int status;
	char c;
	pid_t pid;
	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	sigaction(SIGUSR1, &action, NULL);
	if (pipe(to_child) != 0 || pipe(to_thread) != 0)
		return 2;
	pid = fork();
	if (pid == 0)
		_exit(read(to_child[0], &c, 1) != 1);
	pthread_create(&thread, NULL, waits, NULL);
	for (; is_waiting < 2; usleep(1000))
		pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	action.sa_flags = SA_RESTART;
	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&thread, NULL, reads, NULL);
	usleep(1000);
	pthread_kill(thread, SIGUSR1);
	usleep(1000);
	if (write(to_thread[1], "x", 1) != 1 || write(to_child[1], "x", 1) != 1)
		return 6;
	pthread_join(thread, NULL);
	return waitpid(pid, &status, 0) != pid || status != 0 ? 7 : 0;
}
END
# Two threads with one file, opened twice: without the lock another order loses a number.
cat >"$work/lock.c" <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>
static int how, count;
static const char *name;
static void lock(int fd, int is_on)
{
	struct flock all = { .l_type = is_on ? F_WRLCK : F_UNLCK, .l_whence = SEEK_SET };
	int error = 0;
	if (how == 0)
		error = flock(fd, is_on ? LOCK_EX : LOCK_UN);
	else if (how == 1)
		error = fcntl(fd, F_OFD_SETLKW, &all);
	else if (how == 2)	/* the process's: it excludes no thread */
		error = is_on ? lockf(fd, F_LOCK, 0) : lockf(fd, F_ULOCK, 0);
	if (error)
		_exit(3);
}
static void *adds(void *unused)
{
	const int fd = open(name, O_RDWR | O_CREAT, 0600);
	for (int i = 0; i < 3; i++) {
		int n;
		lock(fd, 1);
		n = count;
		sched_yield();
		count = n + 1;
		lock(fd, 0);
	}
	close(fd);
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t threads[2];
	if (argc < 3)
		return 2;
	how = atoi(argv[1]);
	name = argv[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, adds, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return count != 6;
}
END
# A queue of connections that is full; and a write of more than a pipe or a socket takes.
cat >"$work/connect.c" <<'END'
#define _GNU_SOURCE
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#define LONG 3000000
#define TIMES 4
static int listens, pipes[2];
static struct sockaddr_un name;
static struct sockaddr_in port;
static const struct sockaddr *address;
static socklen_t bytes;
static char text[LONG];
static void *calls(void *unused)
{
	for (int i = 0; i < TIMES; i++) {
		int fd = socket(address->sa_family, SOCK_STREAM, 0);
		if (connect(fd, address, bytes) != 0)
			_exit(3);
		if (write(fd, "x", 1) != 1)
			_exit(4);
		close(fd);
	}
	if (write(pipes[1], text, LONG) != LONG)
		_exit(5);
	return unused;
}
static void serve(void)
{
	static char got[LONG];
	pthread_t thread;
	size_t n = 0;
	char c;
	pthread_create(&thread, NULL, calls, NULL);
	for (int i = 0; i < TIMES; i++) {
		int fd = accept(listens, NULL, NULL);
		if (fd < 0 || read(fd, &c, 1) != 1)
			_exit(6);
		close(fd);
	}
	while (n < LONG) {
		ssize_t more = read(pipes[0], got + n, LONG - n);
		if (more <= 0)
			_exit(7);
		n += (size_t)more;
	}
	if (memcmp(got, text, LONG) != 0)
		_exit(8);
	pthread_join(thread, NULL);
	close(listens);
}
int main(void)
{
	if (pipe(pipes) != 0)
		return 2;
	for (int i = 0; i < LONG; i++)
		text[i] = (char)(i % 251);
	name.sun_family = AF_UNIX;	/* no file: the kernel gives a name */
	bytes = sizeof(sa_family_t);
	listens = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(listens, (struct sockaddr *)&name, bytes) != 0)
		return 2;
	bytes = sizeof(name);
	getsockname(listens, (struct sockaddr *)&name, &bytes);
	listen(listens, 0);
	address = (struct sockaddr *)&name;
	serve();
	port.sin_family = AF_INET;
	port.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	bytes = sizeof(port);
	listens = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listens, (struct sockaddr *)&port, bytes) != 0 ||
	    getsockname(listens, (struct sockaddr *)&port, &bytes) != 0)
		return 2;
	listen(listens, TIMES);
	address = (struct sockaddr *)&port;
	serve();
	listens = socket(AF_INET, SOCK_STREAM, 0);
	return connect(listens, address, bytes) == -1 ? 0 : 9;	/* none listens there */
}
END
# Both names of sigpause().
cat >"$work/sigpause.c" <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
extern int pause_by_mask(int mask) __asm__("sigpause");
extern int pause_without(int number) __asm__("__xpg_sigpause");
static volatile int got;
static void handler(int unused) { (void)unused; got++; }
static void *waits(void *unused)
{
	while (got < 1)
		pause_without(SIGUSR1);
	while (got < 2)
		pause_by_mask(0);
	return unused;
}
int main(void)
{
	pthread_t thread;
	sigset_t set;
	signal(SIGUSR1, handler);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_create(&thread, NULL, waits, NULL);
	while (got < 1) {
		pthread_kill(thread, SIGUSR1);
		sched_yield();
	}
	while (got < 2) {
		pthread_kill(thread, SIGUSR1);
		sched_yield();
	}
	pthread_join(thread, NULL);
	return 0;
}
END

# A program in C loads a library in C++, for itself alone, when its threads run.
cat >"$work/loads.c" <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
static int (*once)(void);
static void *calls(void *unused)
{
	return once() == 1 ? unused : &once;
}
int main(int argc, char **argv)
{
	pthread_t threads[2];
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL, *wrong;
	int faults = 0;
	once = library ? (int (*)(void))dlsym(library, "once") : NULL;
	if (!once)
		return 2;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, calls, NULL);
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], &wrong);
		faults += wrong != NULL;
	}
	return faults;
}
END
cat >"$work/once.cc" <<'END'
static int made;
struct first { int number; first() { number = ++made; } };
extern "C" int once(void)
{
	static first one;
	return one.number;
}
END
# shellcheck disable=SC2086 # CXX may have options
if ${CXX-c++} -shared -fPIC -o "$work/once.so" "$work/once.cc" 2>/dev/null; then
	compile loads
	passes "a library of C++ that comes late" \
		status_is 0 explore --runs 40 "$work/loads" "$work/once.so"
fi

# Locks that are taken before there is a thread do not count for --steps; other steps do.
cat >"$work/alone.c" <<'END'
#include <pthread.h>
#include <stddef.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *locks(void *unused)
{
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	(void)argv;
	for (int i = 0; i < 10; i++)
		locks(NULL);
	if (argc > 1)
		locks(NULL);
	if (pthread_create(&thread, NULL, locks, NULL) != 0)
		return 2;
	if (argc > 1)
		locks(NULL);
	return pthread_join(thread, NULL);
}
END
compile alone
passes "locks of the first thread" status_is 0 explore --runs 3 --steps 300 "$work/alone"
passes "locks of two threads" status_is 1 explore --runs 3 --steps 300 "$work/alone" x
passes "are too many" says 'no end after 300 steps'

compile child
passes "children" status_is 0 explore --runs 20 "$work/child"
passes "no deadline comes before a child" status_is 0 "$weft" run --seed list: "$work/child" x
compile restart
passes "a handler ends such a wait" status_is 0 explore --runs 20 "$work/restart"
compile lock
passes "flock" status_is 0 explore --runs 40 "$work/lock" 0 "$work/file"
passes "locks of open files" status_is 0 explore --runs 40 "$work/lock" 1 "$work/file"
passes "a lock of the process" status_is 1 explore --runs 40 --first "$work/lock" 2 "$work/file"
passes "and no lock" status_is 1 explore --runs 40 --first "$work/lock" 3 "$work/file"
compile connect
passes "connections, and long writes" status_is 0 explore --runs 20 "$work/connect"
compile sigpause
passes "sigpause" status_is 0 explore --runs 40 "$work/sigpause"

finish
