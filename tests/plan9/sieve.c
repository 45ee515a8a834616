/* SPDX-License-Identifier: MIT */
/* sieve.c - primes, by a row of threads, or of procs with -p; notes do no harm */
#include <u.h>
#include <libc.h>
#include <thread.h>
#include <signal.h>

enum { Stack = 8192 };

static int (*make)(void (*fn)(void *), void *arg, uint stack) = threadcreate;
static ulong most = 30;

static void count(void *v)
{
	ulong i;

	for (i = 2;; i++)
		sendul(v, i);
}

static void filter(void *v)
{
	Channel *in = v, *out;
	ulong prime = recvul(in), i;

	if (prime > most)
		threadexitsall(nil);
	print("%lud\n", prime);
	out = chancreate(sizeof(ulong), 0);
	make(filter, out, Stack);
	for (;;)
		if ((i = recvul(in)) % prime)
			sendul(out, i);
}

static void note(void *unused, char *text)
{
	USED(unused);
	print("note: %s\n", text);
	noted(NCONT);
}

static void usage(void)
{
	fprint(2, "usage: %s [-p] [-b buffer] [most]\n", argv0);
	threadexitsall("usage");
}

void threadmain(int argc, char *argv[])
{
	Channel *c;
	int buffer = 0;

	notify(note);
	ARGBEGIN{
	case 'p':
		make = proccreate;
		break;
	case 'b':
		buffer = atoi(EARGF(usage()));
		break;
	case 'n':
		kill(getpid(), SIGHUP);
		break;
	default:
		usage();
	}ARGEND
	if (argc > 0)
		most = strtoul(argv[0], nil, 10);
	c = chancreate(sizeof(ulong), buffer);
	make(count, c, Stack);
	make(filter, c, Stack);
	recvp(chancreate(sizeof(void *), 0));
}
