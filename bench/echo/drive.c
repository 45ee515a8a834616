/* SPDX-License-Identifier: MIT */
/*
 * echo/drive.c - clients that load a server in another process
 *
 * One kernel thread and one epoll loop drive all connections; each sends a
 * request when the answer to the last one is there. They share the CPUs with the
 * server, as all servers' clients do here: on 1 VCPU the server has the first
 * CPU and they the second, if there is one; with more nobody is pinned.
 *
 * Latency is from before the write of a request to after the read of its answer.
 * The server's CPU time is what the kernel counted for its process.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "echo/echo.h"

#define EVENTS	64
#define WARM	8	/* the warm-up is that part of the time measured */

/* Latencies up to 2^31 ns in steps of 1/32: 32 buckets for each power of two. */
#define STEPS	32
#define POWERS	32

struct driver {
	const struct echo_talk *talk;
	int ep;
	unsigned count;
	int *fd;
	size_t *got;		/* of the answer that is awaited */
	int64_t *sent;		/* when; by connection */
	uint64_t requests;
	uint64_t histogram[POWERS][STEPS];
};

void echo_enter(struct bench_ctx *ctx, void (*run)(struct bench_ctx *ctx))
{
	run(ctx);
}

static void check(int ok, const char *what)
{
	if (!ok)
		bench_fail("%s: %s", what, strerror(errno));
}

static void need_descriptors(struct bench_ctx *ctx, unsigned count)
{
	struct rlimit limit;

	check(getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
	limit.rlim_cur = limit.rlim_max;
	check(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
	if (limit.rlim_max < count + 64)
		bench_skip(ctx, "only %lu descriptors are allowed",
			   (unsigned long)limit.rlim_max);
}

/* To the n-th of the CPUs that the process may use, counted around. */
static void pin_to(unsigned n)
{
	cpu_set_t all, one;

	CPU_ZERO(&one);
	check(sched_getaffinity(0, sizeof(all), &all) == 0, "affinity");
	n %= (unsigned)CPU_COUNT(&all);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all) && n-- == 0) {
			CPU_SET(cpu, &one);
			break;
		}
	check(sched_setaffinity(0, sizeof(one), &one) == 0, "affinity");
}

static int listen_on_loopback(struct sockaddr_in *address)
{
	socklen_t bytes = sizeof(*address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	*address = (struct sockaddr_in){ .sin_family = AF_INET };
	address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	check(fd >= 0, "socket");
	check(bind(fd, (struct sockaddr *)address, bytes) == 0, "bind");
	check(listen(fd, 4096) == 0, "listen");
	check(getsockname(fd, (struct sockaddr *)address, &bytes) == 0,
	      "getsockname");
	return fd;
}

static pid_t start_server(struct bench_ctx *ctx, echo_serve_fn *serve, int fd)
{
	pid_t pid = fork();

	check(pid >= 0, "fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (ctx->vcpus == 1)
			pin_to(0);
		serve(ctx, fd);
		_exit(1);
	}
	if (ctx->vcpus == 1)
		pin_to(1);
	return pid;
}

static void send_request(struct driver *d, unsigned i)
{
	size_t bytes = d->talk->request_bytes;

	d->got[i] = 0;
	d->sent[i] = bench_wall_now();
	if (write(d->fd[i], d->talk->request, bytes) != (ssize_t)bytes)
		bench_fail("write: %s", strerror(errno));
}

static void connect_all(struct driver *d, const struct sockaddr_in *address)
{
	for (unsigned i = 0; i < d->count; i++) {
		struct epoll_event e = { .events = EPOLLIN, .data.u32 = i };
		int one = 1;

		d->fd[i] = socket(AF_INET, SOCK_STREAM, 0);
		check(d->fd[i] >= 0, "socket");
		check(connect(d->fd[i], (const struct sockaddr *)address,
			      sizeof(*address)) == 0, "connect");
		setsockopt(d->fd[i], IPPROTO_TCP, TCP_NODELAY, &one,
			   sizeof(one));
		check(epoll_ctl(d->ep, EPOLL_CTL_ADD, d->fd[i], &e) == 0,
		      "epoll_ctl");
	}
}

static void count(struct driver *d, int64_t ns)
{
	int power = ns < STEPS ? 0 : 63 - __builtin_clzll((uint64_t)ns) - 4;

	d->requests++;
	if (power >= POWERS)
		power = POWERS - 1;
	d->histogram[power][(power ? ns >> (power - 1) : ns) % STEPS]++;
}

/* The latency that `share` of all requests were not above. */
static double quantile(const struct driver *d, double share)
{
	double left = share * (double)d->requests;

	for (int power = 0; power < POWERS; power++)
		for (int step = 0; step < STEPS; step++) {
			uint64_t high = power ? (uint64_t)(STEPS + step + 1)
					<< (power - 1) : (uint64_t)step + 1;

			left -= (double)d->histogram[power][step];
			if (left <= 0)
				return (double)high;
		}
	return 0;
}

static void answer(struct driver *d, unsigned i)
{
	char buf[ECHO_BUFFER];
	ssize_t n = read(d->fd[i], buf, sizeof(buf));

	if (n <= 0)
		bench_fail("no answer: %s",
			   n < 0 ? strerror(errno) : "the server has gone");
	d->got[i] += (size_t)n;
	if (d->got[i] < d->talk->answer_bytes)
		return;
	if (d->got[i] > d->talk->answer_bytes)
		bench_fail("an answer of %zu bytes: %.*s", d->got[i], (int)n,
			   buf);
	count(d, bench_wall_now() - d->sent[i]);
	send_request(d, i);
}

/* Returns how long it really was. */
static int64_t run_for(struct driver *d, int64_t ns)
{
	struct epoll_event e[EVENTS];
	int64_t begin = bench_wall_now(), now = begin;

	d->requests = 0;
	memset(d->histogram, 0, sizeof(d->histogram));
	while (now - begin < ns) {
		int n = epoll_wait(d->ep, e, EVENTS, 10000);

		if (n == 0)
			bench_fail("no answer in 10 seconds");
		for (int k = 0; k < n; k++)
			answer(d, e[k].data.u32);
		now = bench_wall_now();
	}
	return now - begin;
}

/* User and system time of the process, which lives. */
static double cpu_seconds(pid_t pid)
{
	char path[64], text[1024], *at;
	unsigned long user = 0, kernel = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	check(f && fgets(text, sizeof(text), f), path);
	fclose(f);
	at = strrchr(text, ')');
	check(at && sscanf(at + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u "
			   "%*u %lu %lu", &user, &kernel) == 2, path);
	return (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
}

void echo_load(struct bench_ctx *ctx, const struct echo_talk *talk,
	       const struct sockaddr_in *address, pid_t pid)
{
	struct driver d = {
		.talk = talk, .count = ctx->threads, .ep = epoll_create1(0),
	};
	double cpu, requests;
	int64_t ns;

	need_descriptors(ctx, d.count);
	d.fd = calloc(d.count, sizeof(*d.fd));
	d.got = calloc(d.count, sizeof(*d.got));
	d.sent = calloc(d.count, sizeof(*d.sent));
	check(d.ep >= 0 && d.fd && d.got && d.sent, "set-up");
	connect_all(&d, address);
	for (unsigned i = 0; i < d.count; i++)
		send_request(&d, i);
	run_for(&d, ctx->target_ns / WARM);
	cpu = cpu_seconds(pid);
	ns = run_for(&d, ctx->target_ns);
	cpu = cpu_seconds(pid) - cpu;
	requests = (double)d.requests;
	bench_emit(ctx, "", "k/s", requests * 1e6 / (double)ns);
	bench_emit(ctx, "-p50", "us", quantile(&d, 0.5) / 1000);
	bench_emit(ctx, "-p99", "us", quantile(&d, 0.99) / 1000);
	bench_emit(ctx, "-p99.9", "us", quantile(&d, 0.999) / 1000);
	bench_emit(ctx, "-cpu", "us", cpu * 1e6 / requests);
}

void echo_drive(struct bench_ctx *ctx, echo_serve_fn *serve)
{
	static const char request[ECHO_BYTES];
	static const struct echo_talk talk = {
		.request = request, .request_bytes = sizeof(request),
		.answer_bytes = sizeof(request),
	};
	struct sockaddr_in address;
	int fd = listen_on_loopback(&address);
	pid_t pid;

	need_descriptors(ctx, ctx->threads);	/* the server too */
	pid = start_server(ctx, serve, fd);
	echo_load(ctx, &talk, &address, pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
