/* SPDX-License-Identifier: MIT */
/*
 * test_newer.c - functions that newer versions of libc have
 *
 * They are looked up by name, as the libc here may not have them. If it has, they are
 * compared with libc's. What needs no function of libc's is there with any libc.
 */
#include "compare.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

typedef pid_t gettid_of(pthread_t thread);
typedef int open_how_at(int dir, const char *path, const struct open_how *how,
			size_t bytes);
typedef int spawn_fd(int *fd, const char *path,
		     const posix_spawn_file_actions_t *actions,
		     const posix_spawnattr_t *attr, char *const argv[],
		     char *const envp[]);

static int libc_has(const char *name)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY);

	const int has = libc && dlsym(libc, name);

	printf("libc has %s: %d\n", name, has);
	return has;
}

static void *look_up(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	if (!found)
		printf("there is no %s\n", name);
	return found;
}

/* --- pthread_gettid_np() ----------------------------------------------- */

static gettid_of *id_of;
static pthread_t first;
static _Atomic pid_t its_id;
static _Atomic int may_end;

static void *tell(void *unused)
{
	printf("own %d\n", id_of(pthread_self()) == gettid());
	printf("first's %d\n", id_of(first) == getpid());
	its_id = gettid();
	while (!may_end)
		usleep(1000);
	return unused;
}

static void ids_of_threads_are_told(void)
{
	pthread_t t;

	id_of = (gettid_of *)look_up("pthread_gettid_np");
	if (!id_of)
		return;
	first = pthread_self();
	t = start(tell, NULL);
	while (!its_id)
		usleep(1000);
	printf("another's %d\n", id_of(t) == its_id);
	printf("main's own %d\n", id_of(first) == getpid());
	may_end = 1;
	while (id_of(t) != -1)	/* until it has ended */
		usleep(1000);
	finish(t);
	printf("ended\n");
}

static void ids_of_threads_are_told_as_by_libc(void)
{
	if (libc_has("pthread_gettid_np"))
		ids_of_threads_are_told();
}

/* --- files ------------------------------------------------------------- */

static open_how_at *open_how;
static char fifo[64], dir[] = "/tmp/weft-newer-XXXXXX";
static _Atomic int begins;
static int mount;
static union {
	struct file_handle handle;
	char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
} its;

static void make_fifo(void)
{
	if (!mkdtemp(dir))
		abort();
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	if (mkfifo(fifo, 0600) != 0)
		abort();
}

static void remove_fifo(void)
{
	unlink(fifo);
	rmdir(dir);
}

static void *read_it(void *unused)
{
	const struct open_how how = { .flags = O_RDONLY };
	int fd = open_how(AT_FDCWD, fifo, &how, sizeof(how));
	char text[8] = "";
	ssize_t n = read(fd, text, 2);

	printf("%zd %s\n", n, text);
	close(fd);
	return unused;
}

static void *open_for_ever(void *unused)
{
	const struct open_how how = { .flags = O_RDONLY };

	begins = 1;
	open_how(AT_FDCWD, fifo, &how, sizeof(how));
	return unused;
}

static void *open_handle_for_ever(void *unused)
{
	begins = 1;
	if (open_by_handle_at(mount, &its.handle, O_RDONLY) < 0)
		printf("%s\n", strerror(errno));
	return unused;
}

static void cancel_at_any_moment(void *(*fn)(void *unused))
{
	long cancelled = 0, count = scaled(300);

	for (long i = 0; i < count; i++) {
		pthread_t t;

		begins = 0;
		t = start(fn, NULL);
		while (!begins)
			sched_yield();
		for (long turns = 0; turns < i % 30; turns++)
			sched_yield();
		pthread_cancel(t);
		cancelled += finish(t) == PTHREAD_CANCELED;
	}
	printf("cancelled %d\n", cancelled == count);
}

static void a_fifo_is_opened_by_openat2(void)
{
	struct open_how how = { .flags = O_WRONLY };
	pthread_t t;
	int fd;

	open_how = (open_how_at *)look_up("openat2");
	if (!open_how)
		return;
	make_fifo();
	t = start(read_it, NULL);
	fd = open_how(AT_FDCWD, fifo, &how, sizeof(how));
	if (write(fd, "hi", 2) != 2)
		abort();
	finish(t);
	close(fd);
	cancel_at_any_moment(open_for_ever);
	show_errno("nothing", open_how(AT_FDCWD, fifo, NULL, sizeof(how)));
	show_errno("too little", open_how(AT_FDCWD, fifo, &how, 8));
	how.flags |= O_NONBLOCK;
	show_errno("nobody reads", open_how(AT_FDCWD, fifo, &how, sizeof(how)));
	how.mode = 0600;
	show_errno("mode", open_how(AT_FDCWD, fifo, &how, sizeof(how)));
	remove_fifo();
	how.mode = 0;
	show_errno("gone", open_how(AT_FDCWD, fifo, &how, sizeof(how)));
}

static void a_fifo_is_opened_by_libcs_openat2(void)
{
	if (libc_has("openat2"))
		a_fifo_is_opened_by_openat2();
}

/* For root, and where the file system has handles. */
static void a_fifo_is_opened_by_its_handle(void)
{
	int id, fd;

	make_fifo();
	its.handle.handle_bytes = MAX_HANDLE_SZ;
	mount = open(dir, O_RDONLY | O_DIRECTORY);
	if (name_to_handle_at(AT_FDCWD, fifo, &its.handle, &id, 0) != 0) {
		printf("no handle: %s\n", strerror(errno));
	} else {
		fd = open_by_handle_at(mount, &its.handle, O_RDWR);
		show_errno("both ends", fd);
		if (fd >= 0) {
			close(fd);
			cancel_at_any_moment(open_handle_for_ever);
		}
	}
	remove_fifo();
}

/* --- pidfd_spawn() ------------------------------------------------------ */

static void *spawn_by(void *name)
{
	char *argv[] = { "sh", "-c", "exit 3", NULL };
	spawn_fd *spawn = (spawn_fd *)look_up(name);
	siginfo_t info = { .si_status = -1 };
	int fd = -1;

	if (!spawn)
		return NULL;
	show(name, spawn(&fd, "/bin/sh", NULL, NULL, argv, environ));
	show_errno("wait", waitid(P_PIDFD, (id_t)fd, &info, WEXITED));
	printf("status %d\n", info.si_status);
	close(fd);
	show("gone", spawn(&fd, "/nowhere/at/all", NULL, NULL, argv, environ));
	return NULL;
}

static void children_have_descriptors(void)
{
	if (!libc_has("pidfd_spawn"))
		return;
	finish(start(spawn_by, "pidfd_spawn"));
	spawn_by("pidfd_spawnp");
}

static const struct compare_case cases[] = {
	WEFT_ONLY(ids_of_threads_are_told,
		  "own 1\nfirst's 1\nanother's 1\nmain's own 1\nended\n"),
	COMPARE(ids_of_threads_are_told_as_by_libc),
	WEFT_ONLY(a_fifo_is_opened_by_openat2,
		  "2 hi\ncancelled 1\nnothing: EFAULT\ntoo little: EINVAL\n"
		  "nobody reads: ENXIO\nmode: EINVAL\ngone: ENOENT\n"),
	COMPARE(a_fifo_is_opened_by_libcs_openat2),
	COMPARE(a_fifo_is_opened_by_its_handle),
	COMPARE(children_have_descriptors),
};

COMPARE_MAIN(cases)
