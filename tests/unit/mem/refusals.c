/* SPDX-License-Identifier: MIT */
/* refusals.c - a kernel that refuses, for the tests of mem/stack */
#include "refusals.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "os/call/vm.h"
#include "probe.h"

size_t fail_at, fail_count = 1, largest = SIZE_MAX, reserved;
int no_guards, hit;
void (*in_reserve)(void);
char said[4096];

static int fails(void)
{
	if (fail_at == 0 || --fail_at > 0)
		return 0;
	hit = 1;
	if (fail_count > 1) {
		fail_count--;
		fail_at = 1;
	}
	return 1;
}

void *__real_wefti_os_vm_reserve(size_t bytes);
void __real_wefti_os_vm_unmap(void *start, size_t bytes);
int __real_wefti_os_vm_guard(void *start, size_t bytes);
int __real_wefti_os_vm_unguard(void *start, size_t bytes);
int __real_wefti_os_vm_forbid(void *start, size_t bytes);
int __real_wefti_os_vm_allow(void *start, size_t bytes);
void *__wrap_wefti_os_vm_reserve(size_t bytes);
void __wrap_wefti_os_vm_unmap(void *start, size_t bytes);
int __wrap_wefti_os_vm_guard(void *start, size_t bytes);
int __wrap_wefti_os_vm_unguard(void *start, size_t bytes);
int __wrap_wefti_os_vm_forbid(void *start, size_t bytes);
int __wrap_wefti_os_vm_allow(void *start, size_t bytes);

void *__wrap_wefti_os_vm_reserve(size_t bytes)
{
	void (*other)(void) = in_reserve;
	void *p = bytes > largest || fails() ? NULL :
		  __real_wefti_os_vm_reserve(bytes);

	in_reserve = NULL;
	if (other)
		other();
	reserved += p ? bytes : 0;
	return p;
}

void __wrap_wefti_os_vm_unmap(void *start, size_t bytes)
{
	reserved -= bytes;
	__real_wefti_os_vm_unmap(start, bytes);
}

int __wrap_wefti_os_vm_guard(void *start, size_t bytes)
{
	if (no_guards)
		return -ENOTSUP;
	return fails() ? -ENOMEM : __real_wefti_os_vm_guard(start, bytes);
}

int __wrap_wefti_os_vm_unguard(void *start, size_t bytes)
{
	return fails() ? -ENOMEM : __real_wefti_os_vm_unguard(start, bytes);
}

int __wrap_wefti_os_vm_forbid(void *start, size_t bytes)
{
	return fails() ? -ENOMEM : __real_wefti_os_vm_forbid(start, bytes);
}

int __wrap_wefti_os_vm_allow(void *start, size_t bytes)
{
	return fails() ? -ENOMEM : __real_wefti_os_vm_allow(start, bytes);
}

int in_child(int (*fn)(size_t n), size_t n)
{
	size_t length = 0;
	ssize_t got;
	int fd[2], status;
	pid_t pid;

	CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
	fflush(stdout);
	pid = fork();
	CU_ASSERT_FATAL(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fd[1], STDERR_FILENO);
		_exit(2 + fn(n));
	}
	close(fd[1]);
	while ((got = read(fd[0], said + length,
			   sizeof(said) - 1 - length)) > 0)
		length += (size_t)got;
	said[length] = 0;
	close(fd[0]);
	CU_ASSERT_EQUAL_FATAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_TRUE_FATAL(WIFEXITED(status) && WEXITSTATUS(status) >= 2);
	return WEXITSTATUS(status) - 2;
}

size_t stacks_in_use(void)
{
	struct wefti_stack_stat stat;

	wefti_stack_stat(&stat);
	return stat.in_use;
}

void nothing_leaked(void)
{
	size_t page = wefti_os_page_size();
	struct wefti_stack_stat stat;

	wefti_stack_stat(&stat);
	must(reserved - stat.mapped_bytes <= 4096 * 32 + page);
}

void is_whole(struct wefti_stack *s, size_t guard)
{
	char *low = s->low;

	must(can_read(low));
	if (guard) {
		must(!can_read(low - 1));
		must(!can_read(low - guard));
	}
	memset(low, 1, 64);
	memset((char *)s->top - 64, 1, 64);
}
