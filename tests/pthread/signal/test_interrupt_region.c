/* SPDX-License-Identifier: MIT */
/*
 * test_interrupt_region.c - what only the kernel can wait for ends by a handler and by a
 * cancellation: calls in regions, and those that libc makes for itself
 */
#include "compare.h"

#include <aio.h>
#include <fcntl.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>

static sem_t begun;
static _Atomic int handled, over, cleaned;
static char full[1 << 20];
static char fifo_dir[] = "/tmp/weft-fifo-XXXXXX", fifo[64];

/* What they wait with: nothing comes, and there is no room. */
static int from[2], pair[2], to[2], stopped[2], terminal[2], locked[2];
static int listener, waiting_too;
static struct sockaddr_un address;
static socklen_t address_bytes;
static FILE *in, *out, *typed;
static struct aiocb *request;

/* --- the waits ----------------------------------------------------- */

static long by_fgets(void)
{
	char line[8];

	return fgets(line, sizeof(line), in) ? 0 : -1;
}

static void bring_line(void)
{
	(void)!write(from[1], "x\n", 2);
}

static long by_getc(void)
{
	return getc(typed) == 'x' ? 0 : -1;
}

static long by_fputs(void)
{
	return fputs("x", out);
}

static void make_room(void)
{
	(void)!read(to[0], full, sizeof(full));
}

static long by_terminal(void)
{
	return read(terminal[1], full, 1);
}

static void type_line(void)
{
	(void)!write(terminal[0], "x\n", 2);
}

static long by_stopped_terminal(void)
{
	return write(stopped[1], "x", 1);
}

static void let_it_go_on(void)
{
	tcflow(stopped[1], TCOON);
}

static long by_syscall(void)
{
	return syscall(SYS_read, from[0], full, 1);
}

static long by_syscall_for_all(void)
{
	return syscall(SYS_recvfrom, pair[0], full, 1, 0, NULL, NULL);
}

static long by_open(void)
{
	int fd = open(fifo, O_RDONLY);

	return fd < 0 ? -1 : close(fd);
}

static long by_fopen(void)
{
	FILE *f = fopen(fifo, "r");

	return f ? fclose(f) : -1;
}

static void open_other_end(void)
{
	int fd = open(fifo, O_WRONLY);

	usleep(20000);
	close(fd);
}

static long by_recv_of_all(void)
{
	char both[2];

	return recv(pair[0], both, sizeof(both), MSG_WAITALL);
}

static void send_both(void)
{
	(void)!write(pair[1], "xy", 2);
}

static long by_connect(void)
{
	int s = socket(AF_UNIX, SOCK_STREAM, 0), saved;
	long r = connect(s, (const void *)&address, address_bytes);

	saved = errno;
	close(s);
	errno = saved;
	return r;
}

static void accept_one(void)
{
	close(accept(listener, NULL, NULL));
}

static long by_splice(void)
{
	return splice(from[0], NULL, pair[0], NULL, 1, 0);
}

static long by_flock(void)
{
	return flock(locked[1], LOCK_EX);
}

static void unlock(void)
{
	flock(locked[0], LOCK_UN);
}

static long by_ofd_lock(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(locked[1], F_OFD_SETLKW, &lock);
}

static void unlock_ofd(void)
{
	struct flock lock = { .l_type = F_UNLCK, .l_whence = SEEK_SET };

	fcntl(locked[0], F_OFD_SETLK, &lock);
}

static long by_aio_suspend(void)
{
	const struct aiocb *const list[] = { request };

	if (aio_read(request) != 0)
		abort();
	return aio_suspend(list, 1, NULL);
}

static const struct wait_case {
	const char *name;
	long (*wait)(void);
	void (*bring)(void);
	int is_point;
} waits[] = {
	{ "fgets", by_fgets, bring_line, 1 },
	{ "getc", by_getc, type_line, 1 },
	{ "fputs", by_fputs, make_room, 1 },
	{ "terminal", by_terminal, type_line, 1 },
	{ "stopped", by_stopped_terminal, let_it_go_on, 1 },
	{ "syscall", by_syscall, bring_line, 0 },
	{ "received by syscall", by_syscall_for_all, send_both, 0 },
	{ "open", by_open, open_other_end, 1 },
	{ "fopen", by_fopen, open_other_end, 1 },
	{ "recv", by_recv_of_all, send_both, 1 },
	{ "connect", by_connect, accept_one, 1 },
	{ "splice", by_splice, bring_line, 1 },
	{ "flock", by_flock, unlock, 0 },
	{ "lock", by_ofd_lock, unlock_ofd, 1 },
	{ "aio", by_aio_suspend, bring_line, 1 },
};

#define WAITS	((int)(sizeof(waits) / sizeof(*waits)))

/* --- what they wait with ------------------------------------------- */

static void make_terminal(int *ends)
{
	ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
	if (ends[0] < 0 || grantpt(ends[0]) != 0 || unlockpt(ends[0]) != 0)
		abort();
	ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY);
	if (ends[1] < 0)
		abort();
}

static void fill_listener(void)
{
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	waiting_too = socket(AF_UNIX, SOCK_STREAM, 0);
	address.sun_family = AF_UNIX;
	address_bytes = sizeof(sa_family_t);	/* the kernel finds a name */
	if (bind(listener, (const void *)&address, address_bytes) != 0)
		abort();
	address_bytes = sizeof(address);
	if (getsockname(listener, (void *)&address, &address_bytes) != 0 ||
	    listen(listener, 0) != 0 ||
	    connect(waiting_too, (const void *)&address, address_bytes) != 0)
		abort();
}

static void lock_file(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char path[80];

	snprintf(path, sizeof(path), "%s/file", fifo_dir);
	locked[0] = open(path, O_RDWR | O_CREAT, 0600);
	locked[1] = open(path, O_RDWR);
	if (flock(locked[0], LOCK_EX) != 0 ||
	    fcntl(locked[0], F_OFD_SETLK, &lock) != 0)
		abort();
	unlink(path);
}

static void make_folder(void)
{
	if (!mkdtemp(fifo_dir))
		abort();
	snprintf(fifo, sizeof(fifo), "%s/fifo", fifo_dir);
	if (mkfifo(fifo, 0600) != 0)
		abort();
}

static void remove_folder(void)
{
	unlink(fifo);
	rmdir(fifo_dir);
}

static void prepare(void)
{
	sem_init(&begun, 0, 0);
	handled = over = 0;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || pipe(from) != 0 ||
	    pipe2(to, O_NONBLOCK) != 0)
		abort();
	while (write(to[1], full, sizeof(full)) > 0)
		;
	fcntl(to[1], F_SETFL, 0);
	make_terminal(terminal);
	make_terminal(stopped);
	tcflow(stopped[1], TCOOFF);
	fill_listener();
	lock_file();
	in = fdopen(dup(from[0]), "r");
	out = fdopen(dup(to[1]), "w");
	typed = fdopen(dup(terminal[1]), "r");
	setvbuf(out, NULL, _IONBF, 0);
	request = calloc(1, sizeof(*request));
	if (!request)
		abort();
	request->aio_fildes = from[0];
	request->aio_buf = full;
	request->aio_nbytes = 1;
}

static void let_go(void)
{
	fclose(in);
	fclose(out);
	fclose(typed);
	for (int i = 0; i < 2; i++) {
		close(from[i]);
		close(pair[i]);
		close(to[i]);
		close(terminal[i]);
		close(stopped[i]);
		close(locked[i]);
	}
	close(listener);
	close(waiting_too);
	/* Its kernel thread may be late, and would read from the next round's pipe. */
	while (aio_error(request) == EINPROGRESS)
		usleep(100);
	free(request);
}

/* --- handlers ------------------------------------------------------ */

static void count(int signal)
{
	(void)signal;
	handled++;
}

static void *wait_so(void *arg)
{
	const struct wait_case *w = arg;

	sem_post(&begun);
	printf("%s: ", w->name);
	show_errno("it", w->wait());
	over = 1;
	return NULL;
}

/* Until it is over, or enough handlers have run for one to run in the wait. */
static void interrupt(const struct wait_case *w, int flags)
{
	struct sigaction action = { .sa_handler = count, .sa_flags = flags };
	pthread_t t;

	prepare();
	sigaction(SIGUSR1, &action, NULL);
	t = start(wait_so, (void *)(uintptr_t)w);
	while (sem_wait(&begun) != 0)
		;
	while (!over && (!(flags & SA_RESTART) || handled < 5)) {
		usleep(3000);
		if (!over)
			pthread_kill(t, SIGUSR1);
	}
	if (flags & SA_RESTART) {
		printf("over %d\n", over);
		w->bring();
	}
	finish(t);
	let_go();
}

static void a_handler_ends_the_call(void)
{
	make_folder();
	for (int i = 0; i < WAITS; i++)
		interrupt(&waits[i], 0);
	remove_folder();
}

static void a_call_goes_on_if_so_asked(void)
{
	make_folder();
	for (int i = 0; i < WAITS; i++)
		interrupt(&waits[i], SA_RESTART);
	remove_folder();
}

/* --- cancellations ------------------------------------------------- */

static void clean(void *unused)
{
	(void)unused;
	cleaned++;
}

static void *wait_to_the_end(void *arg)
{
	const struct wait_case *w = arg;

	pthread_cleanup_push(clean, NULL);
	over = -1;
	w->wait();
	over = 1;
	pthread_testcancel();
	pthread_cleanup_pop(0);
	return NULL;
}

static int is_free(FILE *file)
{
	int r = ftrylockfile(file);

	if (r == 0)
		funlockfile(file);
	return r == 0;
}

static pthread_t start_wait(const struct wait_case *w)
{
	pthread_t t;

	prepare();
	t = start(wait_to_the_end, (void *)(uintptr_t)w);
	while (!over)
		sched_yield();
	return t;
}

static void a_cancellation_ends_the_call(void)
{
	make_folder();
	for (int i = 0; i < WAITS; i++) {
		pthread_t t = start_wait(&waits[i]);

		usleep(20000);
		pthread_cancel(t);
		if (!waits[i].is_point) {
			usleep(20000);
			printf("%s waits: %d\n", waits[i].name, over);
			waits[i].bring();
		}
		printf("%s: %d\n", waits[i].name, finish(t) == PTHREAD_CANCELED);
		printf("%d, %d%d%d\n", cleaned, is_free(in), is_free(out),
		       is_free(typed));
		let_go();
	}
	remove_folder();
}

/*
 * Just when it begins to wait, too. libc's own threads are not asked: there the thread
 * waited for ever in one run.
 */
static void no_moment_loses_a_cancellation(void)
{
	const long count = scaled(2000);
	volatile int turns;
	long others = 0;

	make_folder();
	for (long i = 0; i < count; i++) {
		const struct wait_case *w = &waits[i % WAITS];
		pthread_t t = start_wait(w);

		for (turns = 0; turns < i % 1000 * 5; turns++)
			;
		pthread_cancel(t);
		if (!w->is_point)
			w->bring();
		others += finish(t) != PTHREAD_CANCELED;
		let_go();
	}
	printf("%ld, %d\n", others, cleaned == count);
	remove_folder();
}

static void *wait_for_command(void *unused)
{
	(void)unused;
	over = -1;
	(void)!system("exec sleep 1000");
	over = 1;
	return NULL;
}

/* The command is killed; what system() has changed is as it was. */
static void a_cancellation_ends_a_command(void)
{
	struct sigaction action;

	for (int i = 0; i < 10; i++) {
		pthread_t t;

		over = 0;
		t = start(wait_for_command, NULL);
		while (!over)
			sched_yield();
		usleep((useconds_t)(i * 2000));
		pthread_cancel(t);
		printf("%d, ", finish(t) == PTHREAD_CANCELED);
		printf("%d: %d, ", over, waitpid(-1, NULL, WNOHANG));
		show("children", errno);
		sigaction(SIGINT, NULL, &action);
		printf("%d\n", action.sa_handler == SIG_DFL);
	}
	printf("%d\n", system("exit 3"));
}

static const struct compare_case cases[] = {
	COMPARE(a_handler_ends_the_call),
	COMPARE(a_call_goes_on_if_so_asked),
	COMPARE(a_cancellation_ends_the_call),
	WEFT_ONLY(no_moment_loses_a_cancellation, "0, 1\n"),
	COMPARE(a_cancellation_ends_a_command),
};

COMPARE_MAIN(cases)
