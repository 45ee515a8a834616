/* SPDX-License-Identifier: MIT */
/* compare.c - one source, run against libc's threads and against weft's */
#include "compare.h"
#include "../support/left_out.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/wait.h>

#define OUTPUT_MOST	65536

struct outcome {
	char text[OUTPUT_MOST];
	size_t bytes;
	int status;		/* as waitpid() tells */
	int timed_out;
};

/* The folder of this program, or one above it. */
static char *folder(int above, char path[PATH_MAX + 64])
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);

	if (n <= 0)
		abort();
	path[n] = 0;
	for (int i = 0; i <= above; i++) {
		char *slash = strrchr(path, '/');

		if (slash)
			*slash = 0;
	}
	return path;
}

#ifdef WEFT_TEST_LIGHT
/*
 * Weft's threads are linked with this program (tests/pthread/light/light.c). The same
 * with libc's threads, and without the sanitizer, lies in the folder libc.
 */
static const char *library(void)
{
	return "";
}

static const char *program(const char *preload)
{
	static char path[PATH_MAX + 64], self[PATH_MAX + 64];
	const char *name;

	if (preload)
		return "/proc/self/exe";
	name = strrchr(folder(-1, self), '/');
	strcat(strcat(folder(0, path), "/libc"), name);
	return path;
}
#else
/* The build tree's, from where this program is in it: in tests/pthread, or in a room. */
static const char *library(void)
{
	static char path[PATH_MAX + 64];
	const char *given = getenv("WEFT_TEST_PRELOAD");
	int above = 2;

	if (strcmp(strrchr(folder(0, path), '/'), "/pthread") != 0)
		above = 3;
	return given ? given : strcat(folder(above, path), "/.libs/libweft-pthread.so");
}

static const char *program(const char *preload)
{
	(void)preload;
	return "/proc/self/exe";
}
#endif

/*
 * QEMU does not go in front of what its program executes, so it is named again.
 * The library is for the program only: another loader loads QEMU.
 */
static void be_emulated(const char *qemu, const char *name, const char *preload)
{
	static char self[PATH_MAX], variable[2 * PATH_MAX + 16];

	if (readlink("/proc/self/exe", self, PATH_MAX - 1) <= 0)
		_exit(99);
	snprintf(variable, sizeof(variable), "LD_PRELOAD=%s",
		 preload ? preload : "");
	execlp(qemu, qemu, "-E", variable, self, name, (char *)NULL);
	_exit(99);
}

static const char *both(const char *one, const char *other)
{
	static char names[2 * PATH_MAX];

	if (!one || !other)
		return one ? one : other;
	snprintf(names, sizeof(names), "%s:%s", one, other);
	return names;
}

static void be_case(const struct compare_case *c, const char *preload, int out)
{
	const char *qemu = getenv("WEFT_TEST_QEMU");
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(out, STDOUT_FILENO);
	preload = both(preload, c->beside);
	/* The line that says so would go to a file, and cases limit the size of files. */
	if (threads_are_libcs())
		setenv("WEFT_LOG", "error", 0);
	if (qemu)
		be_emulated(qemu, c->name, preload);
	if (preload && *preload)
		setenv("LD_PRELOAD", preload, 1);
	execl(program(preload), "compare", c->name, (char *)NULL);
	_exit(99);
}

static int seconds(void)
{
	const char *given = getenv("WEFT_TEST_WATCHDOG");

	return given ? atoi(given) : 60;
}

/* Waits for the end; at the time limit asks for weft's dump and kills. */
static void wait_for(pid_t child, struct outcome *o)
{
	sigset_t set;
	struct timespec limit = { seconds(), 0 };

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	while (waitpid(child, &o->status, WNOHANG) == 0) {
		if (sigtimedwait(&set, NULL, limit.tv_sec ? &limit : NULL) > 0)
			continue;
		if (errno != EAGAIN)
			continue;
		o->timed_out = 1;
		kill(child, SIGQUIT);
		sleep(2);
		kill(child, SIGKILL);
		waitpid(child, &o->status, 0);
		return;
	}
}

static void run(const struct compare_case *c, const char *preload,
		struct outcome *o)
{
	FILE *file = tmpfile();
	pid_t child;

	memset(o, 0, sizeof(*o));
	if (!file)
		abort();
	fflush(stdout);
	child = fork();
	if (child == 0)
		be_case(c, preload, fileno(file));
	wait_for(child, o);
	rewind(file);
	o->bytes = fread(o->text, 1, sizeof(o->text) - 1, file);
	fclose(file);
}

/* A case that says that it is not for this machine declares nothing. */
static int ends_as_declared(const struct compare_case *c, const struct outcome *o)
{
	const int is_here = strncmp(o->text, "not here", 8) != 0;

	return (o->status & ~WCOREFLAG) == (is_here ? c->ends : 0);
}

static void tell(const char *side, const struct outcome *o)
{
	printf("--- %s%s: %s %d\n%s", side,
	       o->timed_out ? ", over its time" : "",
	       WIFSIGNALED(o->status) ? "signal" : "status",
	       WIFSIGNALED(o->status) ? WTERMSIG(o->status) :
					WEXITSTATUS(o->status), o->text);
}

#ifdef WEFT_TEST_LIGHT
/*
 * Light threads share a kernel thread's errno, and the sanitizer holds signals back, so
 * what a case prints may differ at times. A report, a crash and a hang count.
 */
static int counts(const struct outcome *weft)
{
	static const char report[] = "ThreadSanitizer";

	return weft->timed_out || WIFSIGNALED(weft->status) ||
	       WEXITSTATUS(weft->status) == 66 ||
	       memmem(weft->text, weft->bytes, report, sizeof(report) - 1);
}
#else
static int counts(const struct outcome *weft)
{
	(void)weft;
	return 1;
}
#endif

/* Returns 1 when both did the same, or weft what was expected, and ended as declared. */
static int compare(const struct compare_case *c)
{
	static struct outcome stock, weft;
	const char *name = c->name;
	int same;

	if (c->expected) {
		memset(&stock, 0, sizeof(stock));
		strcpy(stock.text, c->expected);
		stock.bytes = strlen(c->expected);
		stock.status = c->ends;
	} else {
		run(c, NULL, &stock);
	}
	run(c, library(), &weft);
	same = !stock.timed_out && !weft.timed_out &&
	       stock.status == weft.status && stock.bytes == weft.bytes &&
	       memcmp(stock.text, weft.text, stock.bytes) == 0 &&
	       (stock.bytes > 0 || c->ends != 0);
	if (same && !ends_as_declared(c, &weft)) {
		printf("not as declared: %s\n", name);
		same = 0;
	} else {
		printf("%s %s\n", same ? "same  " : "DIFFER", name);
	}
	if (!same) {
		tell(c->expected ? "expected" : "libc", &stock);
		tell("weft", &weft);
	}
	return same || !counts(&weft);
}

static void *give_back(void *arg)
{
	return arg;
}

/* The case of every program that has the library say whether threads stay libc's. */
static void make_a_thread(void)
{
	pthread_t t;

	dup2(STDOUT_FILENO, STDERR_FILENO);
	if (pthread_create(&t, NULL, give_back, NULL) != 0 || pthread_join(t, NULL) != 0)
		abort();
}

static const struct compare_case thread_case = COMPARE(make_a_thread);

/*
 * A reason that lies in libc holds for all cases. Those that a case makes itself (an
 * allocator, a sanitizer) are its own to compare.
 */
static void note_whose_threads(void)
{
	static const char line[] = "weft: threads stay kernel threads: ";
	static struct outcome weft;
	const char *why;

	if (threads_are_libcs())
		return;
	run(&thread_case, library(), &weft);
	why = strstr(weft.text, line);
	if (!why)
		return;
	why += sizeof(line) - 1;
	printf("threads are libc's here: %.*s\n", (int)strcspn(why, "\n"), why);
	setenv(THREADS_STAY, "1", 1);
}

int compare_main(int argc, char **argv, const struct compare_case *cases,
		 size_t count)
{
	sigset_t set;
	int failed = 0, ran = 0, passed_over = 0;

	if (argc > 1 && strcmp(argv[1], thread_case.name) == 0) {
		thread_case.run();
		return 0;
	}
	if (argc > 1) {
		for (size_t i = 0; i < count; i++)
			if (strcmp(argv[1], cases[i].name) == 0) {
				cases[i].run();
				return 0;
			}
		return 98;
	}
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	note_whose_threads();
	for (size_t i = 0; i < count; i++) {
		if (!is_wanted(cases[i].name))
			continue;
		if (is_left_out(cases[i].name)) {
			printf("left out here: %s\n", cases[i].name);
			continue;
		}
		if (cases[i].expected && threads_are_libcs()) {
			printf("green threads only: %s\n", cases[i].name);
			passed_over++;
			continue;
		}
		failed += !compare(&cases[i]);
		ran++;
	}
	printf("%d cases, %d differ\n", ran, failed);
	return failed != 0 || ran + passed_over == 0;
}
