/* SPDX-License-Identifier: MIT */
/*
 * preload/servers.c - what do servers of others let through?
 *
 * memcached and redis are driven as bench-echo's servers are: 50 connections,
 * each of which sets and gets a value of 32 bytes, waits for both answers, and
 * begins again. MariaDB has sysbench's transactions of 18 statements, from 16
 * connections, on a database that is made for each sample.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "echo/echo.h"
#include "preload/preload.h"

#define VALUE	"0123456789abcdefghijklmnopqrstuv"

/* One that nobody listens at: the kernel's choice, given back. */
static struct sockaddr_in free_port(char text[16])
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t bytes = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, bytes) ||
	    getsockname(fd, (struct sockaddr *)&address, &bytes))
		bench_fail("a port: %s", strerror(errno));
	close(fd);
	snprintf(text, 16, "%u", ntohs(address.sin_port));
	return address;
}

static int try_connect(const struct sockaddr_in *address)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		bench_fail("socket: %s", strerror(errno));
	if (connect(fd, (const struct sockaddr *)address,
		    sizeof(*address)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* A connection to a server that has just been started. */
static int wait_for_server(struct preload_run *run,
			   const struct sockaddr_in *address)
{
	int64_t end = bench_wall_now() + INT64_C(30000000000);
	int fd;

	while ((fd = try_connect(address)) < 0) {
		if (bench_wall_now() > end) {
			fputs(preload_said(run), stderr);
			bench_fail("%s does not answer", run->name);
		}
		usleep(10000);
	}
	return fd;
}

static void drive(struct bench_ctx *ctx, const char *const *argv,
		  const struct sockaddr_in *address,
		  const struct echo_talk *talk)
{
	struct preload_run run;

	preload_start(&run, argv, 1, -1);
	close(wait_for_server(&run, address));
	echo_load(ctx, talk, address, run.pid);
	preload_kill(&run);
}

#define STRING(text)	(text), sizeof(text) - 1

void preload_memcached_body(struct bench_ctx *ctx)
{
	static const struct echo_talk talk = {
		STRING("set key 0 0 32\r\n" VALUE "\r\nget key\r\n"),
		sizeof("STORED\r\nVALUE key 0 32\r\n" VALUE "\r\nEND\r\n") - 1,
	};
	char port[16];
	struct sockaddr_in address = free_port(port);
	const char *argv[] = { "memcached", "-u", "root", "-t", "4",
			       "-l", "127.0.0.1", "-p", port, NULL };

	preload_need(ctx, argv[0]);
	drive(ctx, argv, &address, &talk);
}

void preload_redis_body(struct bench_ctx *ctx)
{
	static const struct echo_talk talk = {
		STRING("SET key " VALUE "\r\nGET key\r\n"),
		sizeof("+OK\r\n$32\r\n" VALUE "\r\n") - 1,
	};
	char port[16];
	struct sockaddr_in address = free_port(port);
	const char *argv[] = { "redis-server", "--port", port, "--bind",
			       "127.0.0.1", "--save", "", "--io-threads", "2",
			       "--io-threads-do-reads", "yes", NULL };

	preload_need(ctx, argv[0]);
	drive(ctx, argv, &address, &talk);
}

static char *format(const char *before, const char *after)
{
	char *text;

	if (asprintf(&text, "%s%s", before, after) < 0)
		bench_fail("out of memory");
	return text;
}

static void remove_tree(const char *directory)
{
	const char *argv[] = { "rm", "-rf", directory, NULL };
	struct preload_run run;

	preload_do(&run, argv, 0, -1);
}

static char *make_database(void)
{
	const char *tmp = getenv("TMPDIR");
	char *directory = format(tmp ? tmp : "/tmp", "/weft-bench-XXXXXX");
	struct preload_run run;

	if (!mkdtemp(directory))
		bench_fail("%s: %s", directory, strerror(errno));

	const char *argv[] = {
		"mariadb-install-db", "--no-defaults", "--user=root",
		format("--datadir=", directory), "--skip-test-db",
		"--auth-root-authentication-method=normal",
		"--innodb-log-file-size=8M", NULL };

	preload_do(&run, argv, 0, -1);
	return directory;
}

static void start_mariadb(struct preload_run *run, const char *directory,
			  const char *port)
{
	const char *argv[] = {
		"mariadbd", "--no-defaults", "--user=root",
		format("--datadir=", directory), format("--port=", port),
		"--bind-address=127.0.0.1",
		format("--socket=", format(directory, "/socket")),
		format("--pid-file=", format(directory, "/pid")),
		"--innodb-buffer-pool-size=64M", "--innodb-log-file-size=8M",
		"--innodb-flush-log-at-trx-commit=2", "--skip-log-bin",
		"--skip-name-resolve", NULL };

	preload_start(run, argv, 1, -1);
}

/* Returns what it said; to be freed. */
static char *transact(const char *port, const char *threads, const char *time,
		      const char *what)
{
	const char *argv[] = {
		"sysbench", "oltp_read_write", "--mysql-host=127.0.0.1",
		format("--mysql-port=", port), "--mysql-user=root",
		"--tables=4", "--table-size=2000", "--rand-seed=5",
		"--mysql-ignore-errors=1213,1205,1020",
		format("--threads=", threads), format("--time=", time), what,
		NULL };
	struct preload_run run;

	preload_do(&run, argv, 0, -1);
	return preload_said(&run);
}

void preload_mariadb_body(struct bench_ctx *ctx)
{
	struct preload_run run, create;
	char port[16], threads[16], time[16], *directory, *said, *at;
	struct sockaddr_in address = free_port(port);
	const char *argv[] = {
		"mariadb", "--no-defaults", "-h127.0.0.1", "-uroot",
		format("-P", port), "-e", "create database sbtest", NULL };
	double transactions;

	preload_need(ctx, "mariadbd");
	preload_need(ctx, "mariadb-install-db");
	preload_need(ctx, "sysbench");
	snprintf(threads, sizeof(threads), "%u", ctx->threads);
	snprintf(time, sizeof(time), "%d", preload_is_quick(ctx) ? 1 :
		 (int)(ctx->target_ns / 1000000000));
	directory = make_database();
	start_mariadb(&run, directory, port);
	close(wait_for_server(&run, &address));
	preload_do(&create, argv, 0, -1);
	free(transact(port, "4", "0", "prepare"));
	said = transact(port, threads, time, "run");
	at = strstr(said, "transactions:");
	at = at ? strchr(at, '(') : NULL;
	transactions = at ? atof(at + 1) : 0;
	if (transactions <= 0)
		bench_fail("sysbench said `%s'", said);
	preload_kill(&run);
	remove_tree(directory);
	bench_emit(ctx, "", "k/s", transactions / 1000);
}
