/* SPDX-License-Identifier: MIT */
/* plan9.c - a proc and a timer thread send; threadmain takes what comes first */
#include <u.h>
#include <libc.h>
#include <thread.h>

static Channel *squares, *ticks;

static void square(void *v)	/* a proc: it may compute while others run */
{
	int i, n;

	USED(v);
	for (i = 1; i <= 4; i++) {
		n = i < 4 ? i * i : 0;	/* 0: there is no more */
		if (send(squares, &n) != 1)
			sysfatal("send: closed");
	}
}

static void tick(void *v)	/* a thread of threadmain's proc */
{
	Ioproc *io = ioproc();
	int n = 0;

	USED(v);
	while (iosleep(io, 10) == 0 && send(ticks, &n) == 1)
		n++;
}

void threadmain(int argc, char **argv)
{
	int n, t = 0, sum = 0, more = 1;
	Alt alts[] = { { nil, &n, CHANRCV }, { nil, &t, CHANRCV }, { nil, nil, CHANEND } };

	USED(argc);
	USED(argv);
	alts[0].c = squares = chancreate(sizeof(int), 0);
	alts[1].c = ticks = chancreate(sizeof(int), 1);
	if (!squares || !ticks || proccreate(square, nil, 65536) < 0 ||
	    threadcreate(tick, nil, 65536) < 0)
		sysfatal("%r");
	while (more || t < 3)
		switch (alt(alts)) {
		case 0:
			sum += n;
			if (n == 0) {
				more = 0;
				alts[0].op = CHANNOP;	/* waits for ticks only */
			}
			break;
		case 1:
			print("tick %d\n", t);
			break;
		default:
			sysfatal("alt: a channel is closed");
		}
	print("the sum is %d\n", sum);
	threadexitsall(sum == 14 ? nil : "wrong");	/* the timer thread never ends */
}
