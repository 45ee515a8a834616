/* SPDX-License-Identifier: MIT */
/* names_module.c - a library that has functions of libc's, each by syscall() */
#include <sched.h>
#include <stddef.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

pid_t gettid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

int sched_yield(void)
{
	return (int)syscall(SYS_sched_yield);
}

int prctl(int option, ...)
{
	return option == PR_GET_DUMPABLE ? (int)syscall(SYS_prctl, option) : -1;
}

int personality(unsigned long what)
{
	return (int)syscall(SYS_personality, what);
}

int sched_getscheduler(pid_t id)
{
	return (int)syscall(SYS_sched_getscheduler, id);
}

int sched_setaffinity(pid_t id, size_t bytes, const cpu_set_t *set)
{
	return (int)syscall(SYS_sched_setaffinity, id, bytes, set);
}

/* Counts its calls. */
int names_module_calls;

int socketpair(int family, int type, int protocol, int fd[2])
{
	names_module_calls++;
	return (int)syscall(SYS_socketpair, family, type, protocol, fd);
}
