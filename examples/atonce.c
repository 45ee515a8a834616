/* SPDX-License-Identifier: MIT */
/* atonce - run shell commands, some at a time; a program for Plan 9's threads */
#include <u.h>
#include <libc.h>
#include <thread.h>

static void usage(void)
{
	fprint(2, "usage: %s [-n N] command...\n", argv0);
	threadexitsall("usage");
}

static int start(char *command)
{
	char *args[] = { "sh", "-c", command, nil };
	int fd[3] = { dup(0, -1), dup(1, -1), dup(2, -1) };

	return threadspawn(fd, args[0], args);
}

void threadmain(int argc, char **argv)
{
	int most = 2, running = 0, failed = 0;
	Channel *ends = threadwaitchan();

	ARGBEGIN{
	case 'n':
		most = atoi(EARGF(usage()));
		break;
	default:
		usage();
	}ARGEND
	if (argc == 0 || most < 1)
		usage();
	while (argc > 0 || running > 0) {
		Waitmsg *w;

		if (argc > 0 && running < most) {
			if (start(*argv) < 0)
				sysfatal("%s: %r", *argv);
			argc--;
			argv++;
			running++;
			continue;
		}
		w = recvp(ends);
		if (*w->msg) {
			fprint(2, "%s: %d ended: %s\n", argv0, w->pid, w->msg);
			failed++;
		}
		free(w);
		running--;
	}
	threadexitsall(failed ? "failed" : nil);
}
