/* SPDX-License-Identifier: MIT */
/* spawn.c - children: a command twice, or with -l some echos; -x, -e: none */
#define _GNU_SOURCE
#include <weft.h>
#include <u.h>
#include <libc.h>
#include <thread.h>

static void standard(int fd[3])
{
	int i;

	for (i = 0; i < 3; i++)
		fd[i] = dup(i, -1);
}

static void echo(void *v)
{
	int fd[3];
	char text[16], *args[3] = { "echo", text, nil };

	sprint(text, "%d", (int)(uintptr)v);
	standard(fd);
	threadexec(nil, fd, args[0], args);
	sysfatal("threadexec: %r");
}

static void takes(void *v)
{
	if ((int)recvul(v) != -1)
		sysfatal("it has an id");
}

/* Stands in front of weft's: a send may change errno. */
int weft_chan_send(struct weft_chan *c, const void *v, int64_t deadline)
{
	struct weft_alt a = { .op = WEFT_ALT_SEND, .chan = c, .elem = (void *)(uintptr)v };
	int at = weft_alt(&a, 1, deadline);

	errno = EXDEV;
	return at < 0 ? at : a.error;
}

static void execl_fails(void)
{
	Channel *c = chancreate(sizeof(ulong), 0);
	int fd[3], i;

	standard(fd);
	threadcreate(takes, c, 16384);
	threadexecl(c, fd, "/nowhere/none", "none", nil);
	print("%r\n");
	for (i = 0; i < 3; i++)
		close(fd[i]);
}

static void tell(Channel *c)
{
	Waitmsg *w = recvp(c);

	if (w == nil || w->pid <= 0)
		sysfatal("no message: %r");
	print("ended '%s'\n", w->msg);
	free(w);
}

void threadmain(int argc, char *argv[])
{
	Channel *c = threadwaitchan();
	int fd[3], i, before;

	ARGBEGIN{
	case 'l':
		for (i = 0; i < 20; i++) {
			proccreate(echo, (void *)(uintptr)i, 16384);
			tell(c);
		}
		threadexitsall(nil);
	case 'x':
		standard(fd);
		if (threadspawnl(fd, "/nowhere/none", "none", nil) != -1)
			sysfatal("it runs");
		print("%r\n");
		for (i = 0; i < 3; i++)
			close(fd[i]);
		threadexitsall(nil);
	case 'e':
		execl_fails();
		threadexitsall(nil);
	}ARGEND
	before = dup(0, -1);
	close(before);
	for (i = 0; i < 2; i++) {
		standard(fd);
		if (threadspawn(fd, argv[0], argv) < 0)
			sysfatal("threadspawn: %r");
	}
	for (i = 0; i < 2; i++)
		tell(c);
	if (dup(0, -1) < before)
		sysfatal("a descriptor is lost");
}
