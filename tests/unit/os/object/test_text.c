/* SPDX-License-Identifier: MIT */
/* test_text.c - os/text: which libraries' text may hold locks of all threads */
#include "os/object/text.h"

#include <link.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "../module.h"
#include "interrupted.h"

#define MANY	40		/* more ranges than are kept */

static char folder[64];
static const char *name_wanted;
static int was_found;

static void nothing_is_locked_before_there_is_a_list(void)
{
	void *libc_function = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");

	CU_ASSERT_FALSE(wefti_os_text_is_locked((uintptr_t)libc_function));
	CU_ASSERT_FALSE(wefti_os_text_is_locked(UINTPTR_MAX));
}

static void text_of_libc_is_locked_and_ours_is_not(void)
{
	/* One that no sanitizer replaces. */
	void *libc_function = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");

	wefti_os_text_init();
	wefti_os_text_init();
	CU_ASSERT(wefti_os_text_is_locked((uintptr_t)libc_function));
	CU_ASSERT(!wefti_os_text_is_locked((uintptr_t)wefti_os_text_init));
	CU_ASSERT(!wefti_os_text_is_locked((uintptr_t)CU_add_test));
	CU_ASSERT(!wefti_os_text_is_locked((uintptr_t)&was_found));
	CU_ASSERT(!wefti_os_text_is_locked(0));
	CU_ASSERT(!wefti_os_text_is_locked(UINTPTR_MAX));
}

static void malloc_is_a_part_of_libc(void)
{
#ifndef TEST_IS_SANITIZED
	static const char *const mallocs[] = {
		"__libc_malloc", "__libc_free", "__libc_calloc", "malloc_trim",
		"malloc_usable_size", "malloc_info",
	};
#endif
	static const char *const others[] = {
		"gnu_get_libc_version", "pthread_create", "strerror_r",
	};

	CU_ASSERT_FALSE(wefti_os_text_is_mallocs(0));
	wefti_os_text_init();
#ifndef TEST_IS_SANITIZED	/* else malloc is the sanitizer's */
	for (size_t i = 0; i < sizeof(mallocs) / sizeof(*mallocs); i++)
		CU_ASSERT(wefti_os_text_is_mallocs(
			(uintptr_t)dlsym(RTLD_DEFAULT, mallocs[i])));
#endif
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		CU_ASSERT_FALSE(wefti_os_text_is_mallocs(
			(uintptr_t)dlsym(RTLD_DEFAULT, others[i])));
	CU_ASSERT_FALSE(wefti_os_text_is_mallocs((uintptr_t)wefti_os_text_init));
	CU_ASSERT_FALSE(wefti_os_text_is_mallocs(UINTPTR_MAX));
}

static int has_name(const char *path, const char *beginning)
{
	const char *slash = strrchr(path, '/');

	return strncmp(slash ? slash + 1 : path, beginning,
		       strlen(beginning)) == 0;
}

/* From its first byte to its last; data is none. */
static int check_segments(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	if (!has_name(info->dlpi_name, name_wanted))
		return 0;
	was_found = 1;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + p->p_vaddr;
		int is_text = (p->p_flags & PF_X) != 0;

		if (p->p_type != PT_LOAD)
			continue;
		CU_ASSERT_EQUAL(wefti_os_text_is_locked(from), is_text);
		CU_ASSERT_EQUAL(wefti_os_text_is_locked(from + p->p_memsz - 1),
				is_text);
		if (is_text) {
			CU_ASSERT_FALSE(wefti_os_text_is_locked(from - 1));
			CU_ASSERT_FALSE(wefti_os_text_is_locked(from +
								p->p_memsz));
		}
	}
	return 0;
}

static void all_of_a_librarys_text_is_locked_and_no_more(void)
{
	static const char *const names[] = {
		"libc.so", "ld-linux", "linux-vdso",
	};

	wefti_os_text_init();
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		name_wanted = names[i];
		was_found = 0;
		dl_iterate_phdr(check_segments, NULL);
		if (!was_found)
			printf("    there is no %s here\n", names[i]);
		CU_ASSERT_TRUE(was_found || i > 0);
	}
}

static void *load_copy(const char *name)
{
	char from[PATH_MAX], to[PATH_MAX];
	void *loaded;

	CU_ASSERT_EQUAL_FATAL(module_path("plain_module.so", from,
					  sizeof(from)), 0);
	snprintf(to, sizeof(to), "%s/%s", folder, name);
	module_copy(from, to, SIZE_MAX);
	loaded = dlopen(to, RTLD_NOW | RTLD_LOCAL);
	if (!loaded)
		printf("    %s\n", dlerror());
	CU_ASSERT_PTR_NOT_NULL_FATAL(loaded);
	return loaded;
}

static void a_library_is_known_by_its_name(void)
{
	static const struct {
		const char *name;
		int is_locked;
	} copies[] = {
		{ "libc.so.7", 1 }, { "libc-2.99.so", 1 },
		{ "libpthread-2.31.so", 1 }, { "ld-2.31.so", 1 },
		{ "libstdc++.so.6.99", 1 }, { "libc++abi.so.1", 1 },
		{ "libgcc_s.so.1", 1 }, { "libunwind-x.so.8", 1 },
		{ "libweft-test.so", 1 }, { "libjemalloc.so.2", 1 },
		{ "libcrypt.so.1", 0 }, { "libcunit.so.1", 0 },
		{ "libm.so.6", 0 }, { "xlibc.so.6", 0 }, { "libc", 0 },
		{ "libc++x.so", 0 }, { "weft.so", 0 },
	};

	module_folder(folder, sizeof(folder));
	for (size_t i = 0; i < sizeof(copies) / sizeof(*copies); i++) {
		void *loaded = load_copy(copies[i].name);
		uintptr_t pc = (uintptr_t)dlsym(loaded, "weft_test_plain");
		int is_locked;

		CU_ASSERT_FALSE(wefti_os_text_is_locked(pc));	/* not yet */
		wefti_os_text_init();
		is_locked = wefti_os_text_is_locked(pc);
		if (is_locked != copies[i].is_locked)
			printf("    %s is %d\n", copies[i].name, is_locked);
		CU_ASSERT_EQUAL(is_locked, copies[i].is_locked);
		dlclose(loaded);
		wefti_os_text_init();
		CU_ASSERT_FALSE(wefti_os_text_is_locked(pc));
	}
	module_folder_end(folder);
}

/* What came first stays known: libc does. */
static void more_libraries_than_there_is_room_for_are_left_out(void)
{
	void *libc_function = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
	void *loaded[MANY];
	int known = 0;

	module_folder(folder, sizeof(folder));
	for (int i = 0; i < MANY; i++) {
		char name[32];

		snprintf(name, sizeof(name), "libweft-%d.so", i);
		loaded[i] = load_copy(name);
	}
	wefti_os_text_init();
	for (int i = 0; i < MANY; i++)
		known += wefti_os_text_is_locked(
			(uintptr_t)dlsym(loaded[i], "weft_test_plain"));
	CU_ASSERT_TRUE(known > 0 && known < MANY);
	CU_ASSERT_TRUE(wefti_os_text_is_locked((uintptr_t)libc_function));
	for (int i = 0; i < MANY; i++)
		dlclose(loaded[i]);
	module_folder_end(folder);
	wefti_os_text_init();
	CU_ASSERT_TRUE(wefti_os_text_is_locked((uintptr_t)libc_function));
}

/* --- where a signal meets a call ----------------------------------- */

#ifndef TEST_IS_SANITIZED	/* there a signal may wait until a call is over */

static int ends[2];
static _Atomic uint32_t word;
static volatile int comes, waits, is_libcs;

static void look(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	waits = wefti_os_text_waits(context);
	is_libcs = wefti_os_text_is_libcs(wefti_arch_ucontext_pc(context));
	comes = 1;
	word = 1;
	if (write(ends[1], "x", 1) != 1)
		abort();
}

static void read_byte(void)
{
	char c;

	if (read(ends[0], &c, 1) != 1)
		abort();
}

static void poll_nothing(void)
{
	(void)!poll(NULL, 0, 100000);
	read_byte();
}

static void wait_for_word(void)
{
	(void)!syscall(SYS_futex, &word, 0, 0, NULL, NULL, 0);
	while (!comes)
		;
	read_byte();
}

static void compute(void)
{
	while (!comes)
		;
	read_byte();
}

/* Until one has come in it, or very often before or behind it. */
static int is_seen(void (*call)(void), int wanted)
{
	int seen = 0;

	for (int i = 0; i < 50 && !seen; i++) {
		const struct itimerval soon = { { 0, 0 }, { 0, 20000 } };

		comes = 0;
		word = 0;
		setitimer(ITIMER_REAL, &soon, NULL);
		call();
		seen = waits == wanted;
	}
	return seen;
}

static void a_wait_for_others_is_seen(void)
{
	struct sigaction action = {
		.sa_sigaction = look, .sa_flags = SA_SIGINFO | SA_RESTART,
	};

	wefti_os_text_init();
	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	sigaction(SIGALRM, &action, NULL);
	CU_ASSERT_TRUE(is_seen(read_byte, 1));
	CU_ASSERT_TRUE(is_libcs);
	CU_ASSERT_TRUE(is_seen(poll_nothing, 1));
	CU_ASSERT_TRUE(is_seen(wait_for_word, 0));
	CU_ASSERT_TRUE(is_seen(compute, 0));
	CU_ASSERT_FALSE(is_libcs);
	close(ends[0]);
	close(ends[1]);
}
#endif

static const struct test_case cases[] = {
	TEST(nothing_is_locked_before_there_is_a_list),
	TEST(text_of_libc_is_locked_and_ours_is_not),
	TEST(malloc_is_a_part_of_libc),
	TEST(all_of_a_librarys_text_is_locked_and_no_more),
	TEST(a_library_is_known_by_its_name),
#ifndef TEST_IS_SANITIZED
	TEST(a_wait_for_others_is_seen),
#endif
	TEST(more_libraries_than_there_is_room_for_are_left_out),
};

TEST_MAIN("os/text", cases)
