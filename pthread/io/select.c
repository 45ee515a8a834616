/* SPDX-License-Identifier: MIT */
/*
 * pthread/io/select.c - select() by poll(), which parks
 *
 * As in the kernel, a descriptor is readable also at its end and after an error, writable
 * also after an error, and exceptional only with urgent data.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "os/call/root.h"
#include "pthread/core/real.h"
#include "pthread/core/second_names.h"
#include "pthread/core/self.h"
#include "pthread/core/time.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/room.h"
#include "pthread/signal/signal.h"
#include "syscall.h"

#define FEW		16	/* descriptors that the stack has room for */
#define LEAST_TABLE	64	/* the kernel's table of descriptors is no smaller */
#define IN		(POLLIN | POLLRDNORM | POLLRDBAND | POLLHUP | POLLERR)
#define OUT		(POLLOUT | POLLWRNORM | POLLWRBAND | POLLERR)

struct sets {
	fd_set *in, *out, *except;
};

/* A set may be larger than fd_set, and FD_ISSET() would refuse that. */
static int is_in(int fd, const fd_set *set)
{
	return set && (set->fds_bits[fd / NFDBITS] >> fd % NFDBITS & 1);
}

static int put(int fd, fd_set *set, int is)
{
	__fd_mask bit = (__fd_mask)1 << fd % NFDBITS;

	if (!set || !(set->fds_bits[fd / NFDBITS] & bit))
		return 0;
	if (!is)
		set->fds_bits[fd / NFDBITS] &= ~bit;
	return is;
}

/* Returns how many descriptors the sets have. Writes them to fds unless it is NULL. */
static nfds_t collect(int limit, const struct sets *s, struct pollfd *fds)
{
	nfds_t n = 0;

	for (int fd = 0; fd < limit; fd++) {
		int in = is_in(fd, s->in), out = is_in(fd, s->out);
		int except = is_in(fd, s->except);

		if (!in && !out && !except)
			continue;
		if (fds)
			fds[n] = (struct pollfd){
				.fd = fd,
				.events = (short)((in ? POLLIN : 0) |
						  (out ? POLLOUT : 0) |
						  (except ? POLLPRI : 0)),
			};
		n++;
	}
	return n;
}

static int answer(const struct sets *s, const struct pollfd *fds, nfds_t n)
{
	int bits = 0;

	for (nfds_t i = 0; i < n; i++)
		if (fds[i].revents & POLLNVAL) {
			errno = EBADF;
			return -1;
		}
	for (nfds_t i = 0; i < n; i++) {
		int got = fds[i].revents, fd = fds[i].fd;

		bits += put(fd, s->in, (got & IN) != 0);
		bits += put(fd, s->out, (got & OUT) != 0);
		bits += put(fd, s->except, (got & POLLPRI) != 0);
	}
	return bits;
}

/* The highest open descriptor, except the one that is used to find it. */
static int highest(int but)
{
	char entries[1024] __attribute__((aligned(8)));
	int most = -1;
	long n;

	while ((n = getdents64(but, entries, sizeof(entries))) > 0) {
		for (long at = 0; at < n;) {
			const struct dirent64 *e = (void *)&entries[at];
			int fd = atoi(e->d_name);	/* of "..": 0 */

			if (fd != but && fd > most)
				most = fd;
			at += e->d_reclen;
		}
	}
	return most;
}

/*
 * The kernel looks at no bit past the end of the process's table of descriptors, so the
 * program's sets may end there. The runtime has made the table larger than it would be.
 * Tables grow to twice their size at a time.
 */
static int within_table(int limit)
{
	int fd = (int)wefti_os_proc_open("/proc/self/fd", O_RDONLY);
	int saved = errno, table = LEAST_TABLE, most;

	if (fd < 0)
		return limit;
	most = highest(fd);
	wefti_arch_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	errno = saved;
	while (table <= most)
		table *= 2;
	return table < limit ? table : limit;
}

static int wait_below(int limit, const struct sets *s,
		      const struct timespec *time, const sigset_t *mask)
{
	nfds_t n = collect(limit, s, NULL);
	struct pollfd few[FEW];
	struct pollfd *fds = n <= FEW ? few : wefti_room_take(n * sizeof(*fds));
	int got;

	if (!fds) {
		errno = ENOMEM;
		return -1;
	}
	collect(limit, s, fds);
	got = ppoll(fds, n, time, mask);
	if (got >= 0)
		got = answer(s, fds, n);
	if (fds != few)
		wefti_room_give(fds);
	return got;
}

/* The end of the table is looked up only for a caller for which it matters. */
static int wait_sets(int limit, const struct sets *s,
		     const struct timespec *time, const sigset_t *mask)
{
	int saved = errno, table, got;

	if (limit > FD_SETSIZE)
		limit = within_table(limit);
	got = wait_below(limit, s, time, mask);
	if (got >= 0 || errno != EBADF || limit <= LEAST_TABLE)
		return got;
	table = within_table(limit);
	if (table == limit)
		return got;
	errno = saved;
	return wait_below(table, s, time, mask);
}

EXPORT int pselect(int limit, fd_set *in, fd_set *out, fd_set *except,
		   const struct timespec *time, const sigset_t *mask)
{
	const struct sets s = { in, out, except };

	if (!wefti_pt_green() || limit < 0)
		return REAL(pselect)(limit, in, out, except, time, mask);
	return wait_sets(limit, &s, time, mask);
}

/* Writes back how much of the time is left, as Linux does. */
EXPORT int select(int limit, fd_set *in, fd_set *out, fd_set *except,
		  struct timeval *time)
{
	const struct sets s = { in, out, except };
	struct timespec given;
	int64_t end, left;
	int got;

	if (!wefti_pt_green() || limit < 0 ||
	    (time && (time->tv_sec < 0 || time->tv_usec < 0)))
		return REAL(select)(limit, in, out, except, time);
	if (!time)
		return wait_sets(limit, &s, NULL, NULL);
	given.tv_sec = time->tv_sec + time->tv_usec / 1000000;
	given.tv_nsec = time->tv_usec % 1000000 * 1000;
	end = wefti_time_after(wefti_time_ns(&given));
	got = wait_sets(limit, &s, &given, NULL);
	left = end - wefti_os_now_ns();
	if (left < 0)
		left = 0;
	time->tv_sec = left / WEFTI_NS;
	time->tv_usec = left % WEFTI_NS / 1000;
	return got;
}
SECOND_NAME(select, __select);
