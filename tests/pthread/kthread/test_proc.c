/* SPDX-License-Identifier: MIT */
/* test_proc.c - what a thread has in /proc, by what gettid() says of it */
#include "compare.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

static _Atomic int other, done;

static const char *path_of(const char *file)
{
	static _Thread_local char path[100];

	snprintf(path, sizeof(path), "/proc/self/task/%d%s", gettid(), file);
	return path;
}

static void show_text(const char *what, const char *path)
{
	char text[64] = "";
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	show_errno(what, n);
	printf("%s", n > 0 ? text : "\n");
	if (fd >= 0)
		close(fd);
}

/* The line of a file that begins so, without numbers that differ. */
static void show_line(const char *path, const char *begins)
{
	FILE *f = fopen(path, "re");
	char line[256];
	int found = 0;

	show_errno("fopen", f ? 0 : -1);
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, begins, strlen(begins)) != 0)
			continue;
		found = 1;
		if (strcmp(begins, "Pid:") == 0)
			printf("Pid: %d\n", atoi(line + 4) == gettid());
		else
			printf("%s", line);
	}
	printf("found %d\n", found);
	if (f)
		fclose(f);
}

/* --- reading --------------------------------------------------------- */

static void *read_own(void *name)
{
	char text[1024] = "", comm[64], state;
	int id, ppid;
	FILE *f;

	pthread_setname_np(pthread_self(), name);
	show_text("comm", path_of("/comm"));
	show_line(path_of("/status"), "Name:");
	show_line(path_of("/status"), "Pid:");
	show_line(path_of("/status"), "State:");
	f = fopen(path_of("/stat"), "r");
	if (!f || !fgets(text, sizeof(text), f))
		abort();
	fclose(f);
	printf("fields %d\n", sscanf(text, "%d (%63[^)]) %c %d", &id, comm, &state,
				     &ppid));
	printf("%d %s %c %d\n", id == gettid(), comm, state, ppid == getppid());
	printf("line ends %d\n", text[strlen(text) - 1] == '\n');
	return NULL;
}

static void a_thread_reads_its_own(void)
{
	finish(start(read_own, (void *)"a thread"));
	read_own((void *)"the first");
	finish(start(read_own, (void *)"(odd) name"));
}

static void *show_mask(void *unused)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
	show_line(path_of("/status"), "SigBlk:");
	return unused;
}

static void the_mask_is_the_threads(void)
{
	finish(start(show_mask, NULL));
	show_mask(NULL);
}

/* The first thread's state is its own, and not that of a kernel thread. */
static void *wait_until_it_sleeps(void *unused)
{
	char path[64], text[1024];

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid());
	do {
		FILE *f = fopen(path, "re");

		if (!f || !fgets(text, sizeof(text), f))
			abort();
		fclose(f);
	} while (strncmp(strrchr(text, ')'), ") S", 3) != 0);
	printf("sleeps\n");
	return unused;
}

static void a_first_thread_that_waits_sleeps(void)
{
	finish(start(wait_until_it_sleeps, NULL));
}

/* --- what blocks in the kernel, for which a thread of weft has a region ------------- */

static int lock_fd[2];	/* of one file: a lock of one blocks the other's */

static void *wait_for_lock(void *unused)
{
	other = gettid();
	show_errno("lock", flock(lock_fd[1], LOCK_EX));
	return unused;
}

/*
 * Waits until the thread sleeps at a hundred looks in a row: a VCPU is lost meanwhile. At
 * first the call may begin anew, on another kernel thread.
 */
static void see_it_sleep(pid_t id)
{
	char path[64], text[1024];

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", id);
	for (int times = 0; times < 100;) {
		FILE *f = fopen(path, "re");

		if (!f || !fgets(text, sizeof(text), f))
			abort();
		fclose(f);
		times = strncmp(strrchr(text, ')'), ") S", 3) == 0 ? times + 1 : 0;
		if (times)
			usleep(1000);
		else
			sched_yield();
	}
	snprintf(path, sizeof(path), "/proc/self/task/%d/status", id);
	show_line(path, "State:");
}

static void *see_lock_and_give_it(void *unused)
{
	while (!other)
		sched_yield();
	see_it_sleep(other);
	flock(lock_fd[0], LOCK_UN);
	return unused;
}

static void open_locks(void)
{
	char name[] = "/tmp/weft-test-XXXXXX";

	lock_fd[0] = mkstemp(name);
	lock_fd[1] = open(name, O_RDWR | O_CLOEXEC);
	unlink(name);
	if (lock_fd[1] < 0 || flock(lock_fd[0], LOCK_EX) != 0)
		abort();
}

static void a_thread_that_blocks_in_the_kernel_sleeps(void)
{
	pthread_t t;

	open_locks();
	t = start(wait_for_lock, NULL);
	see_lock_and_give_it(NULL);
	finish(t);
}

static void a_first_thread_that_blocks_in_the_kernel_sleeps(void)
{
	pthread_t t;

	open_locks();
	t = start(see_lock_and_give_it, NULL);
	wait_for_lock(NULL);
	finish(t);
}

static void *compute(void *unused)
{
	other = gettid();
	while (!done)
		;
	return unused;
}

static void a_thread_that_computes_runs(void)
{
	pthread_t t = start(compute, NULL);
	char path[64];

	while (!other)
		sched_yield();
	snprintf(path, sizeof(path), "/proc/self/task/%d/status", other);
	for (int i = 0; i < 5; i++) {
		show_line(path, "State:");
		usleep(5000);
	}
	done = 1;
	finish(t);
}

static void *use_cpu(void *unused)
{
	struct timespec used = { 0, 0 };
	unsigned long ticks = 0, kernels = 0;
	char text[1024];
	FILE *f;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	} while (used.tv_sec == 0 && used.tv_nsec < 60000000);
	f = fopen(path_of("/stat"), "r");
	if (!f || !fgets(text, sizeof(text), f))
		abort();
	fclose(f);
	sscanf(strrchr(text, ')'), ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
	       &ticks, &kernels);
	ticks += kernels;
	printf("some ticks %d\n", ticks > 0 && ticks < 1000);
	return unused;
}

static void the_cpu_time_is_the_threads(void)
{
	finish(start(use_cpu, NULL));
}

static void *be_looked_at(void *unused)
{
	pthread_setname_np(pthread_self(), "looked at");
	other = gettid();
	while (!done)
		usleep(1000);
	return unused;
}

static void another_thread_is_read(void)
{
	char path[100];
	pthread_t t = start(be_looked_at, NULL);

	while (!other)
		usleep(1000);
	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", other);
	show_text("comm", path);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", getpid(), other);
	show_text("by id", path);
	snprintf(path, sizeof(path), "/proc/%d/comm", other);
	show_text("as a process", path);
	snprintf(path, sizeof(path), "/proc//self/task//%d/comm", other);
	show_text("with more strokes", path);
	done = 1;
	finish(t);
	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", other);
	/* A thread may be joined a little before the kernel has no files of it. */
	while (access(path, F_OK) == 0)
		usleep(1000);
	show_text("ended", path);
	show_errno("ended", access(path, R_OK));
	snprintf(path, sizeof(path), "/proc/self/task/%d", other);
	show_errno("ended", opendir(path) ? 0 : -1);
}

/* --- writing --------------------------------------------------------- */

static void *write_name(void *unused)
{
	char name[16];
	FILE *f;
	int fd = open(path_of("/comm"), O_WRONLY);

	show_errno("write", write(fd, "by comm", 7));
	show_errno("read", read(fd, name, 1));
	close(fd);
	pthread_getname_np(pthread_self(), name, sizeof(name));
	puts(name);
	show_text("comm", path_of("/comm"));
	f = fopen(path_of("/comm"), "w");
	show_errno("fopen", f ? 0 : -1);
	fprintf(f, "%s\n", "by stdio, too long a name");
	fclose(f);
	prctl(PR_GET_NAME, name);
	puts(name);
	pthread_setname_np(pthread_self(), "by call");
	show_text("comm", path_of("/comm"));
	show_errno("status", open(path_of("/status"), O_WRONLY));
	return unused;
}

static void a_name_is_written(void)
{
	finish(start(write_name, NULL));
}

static void the_name_of_the_first_is_written(void)
{
	char name[16], told[16];
	int fd;

	finish(start(write_name, NULL));
	fd = open("/proc/self/comm", O_WRONLY);
	show_errno("write", write(fd, "of the process", 14));
	close(fd);
	pthread_getname_np(pthread_self(), name, sizeof(name));
	prctl(PR_GET_NAME, told);
	printf("%s, %s\n", name, told);
}

/* --- the folder, and other ways -------------------------------------- */

static void *look_around(void *unused)
{
	struct stat s;
	struct statx x;
	char text[100] = "", expected[100];
	struct open_how how = { .flags = O_RDONLY };
	int fds[2], n = 0;
	DIR *d = opendir(path_of(""));

	show_errno("opendir", d ? 0 : -1);
	while (d && readdir(d))
		n++;
	printf("some files %d\n", n > 10);
	if (d)
		closedir(d);
	show_errno("stat", stat(path_of(""), &s));
	printf("folder %d\n", S_ISDIR(s.st_mode));
	show_errno("lstat", lstat(path_of("/comm"), &s));
	printf("file %d\n", S_ISREG(s.st_mode));
	show_errno("fstatat", fstatat(AT_FDCWD, path_of("/fd"), &s, 0));
	show_errno("statx", statx(AT_FDCWD, path_of("/fd"), 0, STATX_ALL, &x));
	show_errno("access", access(path_of("/comm"), R_OK | W_OK));
	show_errno("faccessat", faccessat(AT_FDCWD, path_of("/stat"), R_OK, 0));
	show_errno("nothing", access(path_of("/nothing"), R_OK));
	printf("link %d\n", readlink(path_of("/exe"), text, sizeof(text) - 1) > 0);
	show_errno("no link", readlink(path_of("/comm"), text, sizeof(text)));
	for (int i = 0; i < 2; i++) {
		static const char *const files[] = { "/cgroup", "/maps" };

		fds[i] = openat(AT_FDCWD, path_of(files[i]), O_RDONLY | O_CLOEXEC);
		show_errno(files[i], fds[i]);
		printf("flags %d\n", fcntl(fds[i], F_GETFD));
		close(fds[i]);
	}
	memset(text, 0, sizeof(text));
	show_errno("thread-self", readlink("/proc/thread-self", text, sizeof(text) - 1));
	snprintf(expected, sizeof(expected), "%d/task/%d", getpid(), gettid());
	printf("%d\n", strcmp(text, expected) == 0);
	pthread_setname_np(pthread_self(), "itself");
	show_text("its comm", "/proc/thread-self/comm");
	show_errno("its files", access("/proc/thread-self/fd", R_OK));
	show_errno("by syscall", syscall(SYS_openat, AT_FDCWD, path_of("/comm"),
					 O_RDONLY) > 0 ? 0 : -1);
	show_errno("by syscall", syscall(SYS_faccessat, AT_FDCWD, path_of("/stat"),
					 R_OK));
	show_errno("by openat2", syscall(SYS_openat2, AT_FDCWD, path_of("/comm"), &how,
					 sizeof(how)) > 0 ? 0 : -1);
	show_errno("by nothing", syscall(SYS_openat2, AT_FDCWD, path_of("/comm"), NULL,
					 sizeof(how)));
	return unused;
}

static void a_thread_looks_around(void)
{
	finish(start(look_around, NULL));
	look_around(NULL);
}

static void *keep_flags(void *unused)
{
	int fd = open(path_of("/comm"), O_RDONLY | O_CLOEXEC);

	printf("%d %d\n", fcntl(fd, F_GETFD) == FD_CLOEXEC,
	       (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY);
	show_errno("write", write(fd, "x", 1));
	close(fd);
	fd = open(path_of("/stat"), O_RDONLY);
	printf("%d\n", fcntl(fd, F_GETFD));
	close(fd);
	return unused;
}

static void flags_are_kept(void)
{
	finish(start(keep_flags, NULL));
}

static void *be_nothing(void *arg)
{
	return arg;
}

static void paths_beside_it_are_the_kernels(void)
{
	struct stat s;

	finish(start(be_nothing, NULL));
	show_errno("proc", stat("/proc", &s));
	show_errno("self", stat("/proc/self", &s));
	show_errno("stat", stat("/proc/stat", &s));
	show_errno("one", stat("/proc/1/stat", &s));
	show_errno("none", stat("/proc/self/task/0/stat", &s));
	show_errno("odd", stat("/proc/self/task/x1/stat", &s));
	show_errno("more", stat("/proc/self/tasks", &s));
	show_errno("listing", access("/proc/self/task", R_OK));
}

/*
 * An address of nothing, hidden from a compiler that knows what these functions
 * want.
 */
static const char *volatile nowhere;

static void *ask_nowhere(void *unused)
{
	struct stat s;
	char text[8];
	FILE *file;

	show_errno("stat", stat(nowhere, &s));
	show_errno("lstat", lstat(nowhere, &s));
	show_errno("fstatat", fstatat(AT_FDCWD, nowhere, &s, 0));
	show_errno("statx", statx(0, nowhere, 0, STATX_ALL, (void *)nowhere));
	show_errno("access", access(nowhere, R_OK));
	show_errno("faccessat", faccessat(AT_FDCWD, nowhere, R_OK, 0));
	show_errno("readlink", readlink(nowhere, text, sizeof(text)));
	show_errno("readlinkat", readlinkat(AT_FDCWD, nowhere, text, sizeof(text)));
	show_errno("open", open(nowhere, O_RDONLY));
	show_errno("openat", openat(AT_FDCWD, nowhere, O_RDONLY));
	show_errno("syscall", syscall(SYS_statx, 0, nowhere, 0, STATX_ALL, nowhere));
	file = fopen(nowhere, "r");
	show_errno("fopen", file ? 0 : -1);
	return unused;
}

/* The standard library of Rust asks so whether there is a statx(). */
static void a_path_of_nowhere_is_the_kernels_to_refuse(void)
{
	ask_nowhere(NULL);
	finish(start(ask_nowhere, NULL));
	printf("no fault\n");
}

static const struct compare_case cases[] = {
	COMPARE(a_thread_reads_its_own),
	COMPARE(the_mask_is_the_threads),
	COMPARE(a_first_thread_that_waits_sleeps),
	COMPARE(a_thread_that_blocks_in_the_kernel_sleeps),
	COMPARE(a_first_thread_that_blocks_in_the_kernel_sleeps),
	COMPARE(a_thread_that_computes_runs),
	COMPARE(the_cpu_time_is_the_threads),
	COMPARE(another_thread_is_read),
	COMPARE(a_name_is_written),
	COMPARE(the_name_of_the_first_is_written),
	COMPARE(a_thread_looks_around),
	COMPARE(flags_are_kept),
	COMPARE(paths_beside_it_are_the_kernels),
	COMPARE(a_path_of_nowhere_is_the_kernels_to_refuse),
};

COMPARE_MAIN(cases)
