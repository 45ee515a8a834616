/* SPDX-License-Identifier: MIT */
/* pthread/signal/sigold.c - the signal calls of System V and BSD, by today's calls */
#include <errno.h>
#include <string.h>

#include "pthread/core/real.h"
#include "pthread/signal/signal.h"

/* Returns 1 if the signal was blocked before, 0 if not, -1 on error. */
static int change(int how, int signal)
{
	sigset_t set, old;

	sigemptyset(&set);
	if (sigaddset(&set, signal) != 0 || sigprocmask(how, &set, &old) != 0)
		return -1;
	return sigismember(&old, signal);
}

EXPORT int sighold(int signal)
{
	return change(SIG_BLOCK, signal) < 0 ? -1 : 0;
}

EXPORT int sigrelse(int signal)
{
	return change(SIG_UNBLOCK, signal) < 0 ? -1 : 0;
}

EXPORT sighandler_t sigset(int signal, sighandler_t handler)
{
	struct sigaction action, old;
	int blocked;

	if (handler == SIG_HOLD) {
		blocked = change(SIG_BLOCK, signal);
		if (blocked < 0 || sigaction(signal, NULL, &old) != 0)
			return SIG_ERR;
		return blocked ? SIG_HOLD : old.sa_handler;
	}
	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	if (sigaction(signal, &action, &old) != 0)
		return SIG_ERR;
	blocked = change(SIG_UNBLOCK, signal);
	return blocked < 0 ? SIG_ERR : blocked ? SIG_HOLD : old.sa_handler;
}

static sigset_t set_of(int mask)
{
	uint64_t bits = (unsigned)mask;
	sigset_t set;

	sigemptyset(&set);
	memcpy(&set, &bits, sizeof(bits));
	return set;
}

static int set_mask(int how, int mask)
{
	sigset_t set = set_of(mask), old;

	if (sigprocmask(how, &set, &old) != 0)
		return -1;
	return (int)wefti_signal_mask(&old);
}

EXPORT int sigblock(int mask)
{
	return set_mask(SIG_BLOCK, mask);
}

EXPORT int sigsetmask(int mask)
{
	return set_mask(SIG_SETMASK, mask);
}
