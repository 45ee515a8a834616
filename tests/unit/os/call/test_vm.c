/* SPDX-License-Identifier: MIT */
/* test_vm.c - os/vm: what is forbidden faults, what is freed is zero */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/call/vm.h"
#include "support.h"

static sigjmp_buf fault;

static void on_fault(int signal)
{
	(void)signal;
	siglongjmp(fault, 1);
}

static int faults(volatile char *p)
{
	struct sigaction action = { .sa_handler = on_fault }, segv, bus;
	volatile int faulted = 0;

	sigaction(SIGSEGV, &action, &segv);
	sigaction(SIGBUS, &action, &bus);
	if (sigsetjmp(fault, 1) == 0)
		*p = 1;
	else
		faulted = 1;
	sigaction(SIGSEGV, &segv, NULL);
	sigaction(SIGBUS, &bus, NULL);
	return faulted;
}

static void reserved_space_is_zero_and_writable(void)
{
	size_t page = wefti_os_page_size();
	char *p = wefti_os_vm_reserve(4 * page);

	CU_ASSERT_PTR_NOT_NULL_FATAL(p);
	CU_ASSERT_EQUAL((uintptr_t)p % page, 0);
	for (size_t i = 0; i < 4 * page; i += 64)
		CU_ASSERT_EQUAL(p[i], 0);
	CU_ASSERT(!faults(p + 4 * page - 1));
	wefti_os_vm_unmap(p, 4 * page);
	CU_ASSERT(faults(p));
}

static void too_much_space_is_null(void)
{
	CU_ASSERT_PTR_NULL(wefti_os_vm_reserve((size_t)1 << 60));
}

static void inaccessible_space_opens_and_closes(void)
{
	size_t page = wefti_os_page_size();
	char *p = wefti_os_vm_reserve_inaccessible(2 * page);

	CU_ASSERT_PTR_NOT_NULL_FATAL(p);
	CU_ASSERT(faults(p));
	CU_ASSERT_EQUAL(wefti_os_vm_allow(p, page), 0);
	CU_ASSERT(!faults(p));
	CU_ASSERT(faults(p + page));
	CU_ASSERT_EQUAL(wefti_os_vm_forbid(p, page), 0);
	CU_ASSERT(faults(p));
	wefti_os_vm_unmap(p, 2 * page);
}

static void guard_faults_and_outlives_dontneed(void)
{
	size_t page = wefti_os_page_size();
	char *p = wefti_os_vm_reserve(4 * page);
	int ret = wefti_os_vm_guard(p, page);

	CU_ASSERT(ret == 0 || ret == -ENOTSUP);
	if (ret == 0) {
		CU_ASSERT(faults(p));
		CU_ASSERT(!faults(p + page));
		wefti_os_vm_dontneed(p, 4 * page);
		CU_ASSERT(faults(p));
		CU_ASSERT_EQUAL(wefti_os_vm_unguard(p, page), 0);
	}
	CU_ASSERT(!faults(p));
	wefti_os_vm_unmap(p, 4 * page);
}

static void children_share_what_is_shared(void)
{
	size_t page = wefti_os_page_size();
	char *p = wefti_os_vm_share(page), *own = wefti_os_vm_reserve(page);
	int status;

	CU_ASSERT_PTR_NOT_NULL_FATAL(p);
	CU_ASSERT_EQUAL(p[page - 1], 0);
	if (fork() == 0) {
		p[page - 1] = 5;
		own[0] = 5;
		_exit(0);
	}
	wait(&status);
	CU_ASSERT_EQUAL(p[page - 1], 5);
	CU_ASSERT_EQUAL(own[0], 0);
	wefti_os_vm_unmap(p, page);
	wefti_os_vm_unmap(own, page);
}

static void dontneed_gives_zeros(void)
{
	size_t page = wefti_os_page_size();
	char *p = wefti_os_vm_reserve(4 * page);

	wefti_os_vm_nohugepage(p, 4 * page);
	memset(p, 1, 4 * page);
	wefti_os_vm_dontneed(p + page, 2 * page);
	CU_ASSERT_EQUAL(p[page - 1], 1);
	CU_ASSERT_EQUAL(p[page], 0);
	CU_ASSERT_EQUAL(p[3 * page - 1], 0);
	CU_ASSERT_EQUAL(p[3 * page], 1);
	wefti_os_vm_unmap(p, 4 * page);
}

static const struct test_case cases[] = {
	TEST(reserved_space_is_zero_and_writable),
	TEST(too_much_space_is_null),
	TEST(inaccessible_space_opens_and_closes),
	TEST(guard_faults_and_outlives_dontneed),
	TEST(children_share_what_is_shared),
	TEST(dontneed_gives_zeros),
};

TEST_MAIN("os/vm", cases)
