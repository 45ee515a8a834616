/* SPDX-License-Identifier: MIT */
/* life.c - how a program ends: -e exit(1), -d a proc goes on, -f sysfatal, -r rfork, -x _exits */
#include <u.h>
#include <libc.h>
#include <thread.h>
#include <stdio.h>

static Channel *go;

static void rests(void *v)
{
	USED(v);
	recvp(chancreate(sizeof(void *), 0));
}

static void goes_on(void *v)
{
	USED(v);
	recvul(go);
	sleep(10);
	print("still running\n");
}

static void too_much(void)
{
	print("atexit\n");
}

void threadmain(int argc, char *argv[])
{
	ARGBEGIN{
	case 'e':
		proccreate(rests, nil, 32768);
		exit(1);
	case 'd':
		go = chancreate(sizeof(ulong), 1);
		proccreate(goes_on, nil, 32768);
		sendul(go, 1);
		return;
	case 'f':
		werrstr("a reason");
		sysfatal("no way: %r");
	case 'r':
		if (rfork(RFPROC) >= 0)
			threadexitsall("rfork");
		print("%r\n");
		break;
	case 'x':
		atexit(too_much);
		printf("buffer\n");
		_exits(ARGF());
	}ARGEND
	print("hello, world\n");
}
