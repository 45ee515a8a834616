/* SPDX-License-Identifier: MIT */
/* test_settings.c - base/settings: what is accepted, and what is said if not */
#include "base/settings.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "told.h"

static const char *const names[] = {
	"WEFT_VCPUS", "WEFT_SCHED", "WEFT_SEED", "WEFT_SLICE", "WEFT_SPARE_MAX",
	"WEFT_STACK", "WEFT_TLS", "WEFT_LOG", "WEFT_DEADLOCK", "WEFT_CRASH", "WEFT_DUMP",
	"WEFT_STATS", "WEFT_MALLOC", "WEFT_IO_URING", "WEFT_TRACE",
	"WEFT_TRACE_PID", "WEFT_PERF_NAMES",
	"WEFT_MPI_SPIN", "WEFT_MPI_PAUSE", "WEFT_MPI_IDLE",
	"WEFT_MPI_DEFER",
};

static void clear_all(void)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
}

static void load(struct wefti_settings *s)
{
	memset(s, 0x55, sizeof(*s));
	told_begin();
	wefti_settings_load(s);
	told_end();
}

static void is_default(const struct wefti_settings *s)
{
	CU_ASSERT_EQUAL(s->vcpus, 0);
	CU_ASSERT_EQUAL(s->sched, WEFTI_SCHED_STEAL);
	CU_ASSERT_EQUAL(s->slice_ns, 10 * 1000 * 1000);
	CU_ASSERT_EQUAL(s->spare_max, 256);
	CU_ASSERT_EQUAL(s->stack, 64 * 1024);
	CU_ASSERT_EQUAL(s->tls, WEFTI_TLS_AUTO);
	CU_ASSERT_EQUAL(s->log, WEFTI_LOG_WARNING);
	CU_ASSERT_EQUAL(s->deadlock, WEFTI_DEADLOCK_EXIT);
	CU_ASSERT_EQUAL(s->dump, 1);
	CU_ASSERT_EQUAL(s->stats, 0);
	CU_ASSERT_EQUAL(s->trace, WEFTI_TRACE_OFF);
	CU_ASSERT_EQUAL(s->malloc, WEFTI_MALLOC_KNOWN);
	CU_ASSERT_EQUAL(s->io_uring, WEFTI_IO_URING_AUTO);
	CU_ASSERT_EQUAL(s->mpi_spin_ns, 100 * 1000);
	CU_ASSERT_EQUAL(s->mpi_pause_ns, 200 * 1000);
	CU_ASSERT_EQUAL(s->mpi_idle_ns, 3000 * 1000);
	CU_ASSERT_EQUAL(s->mpi_want, 16);
}

static void settings_are_defaults_when_nothing_or_nothing_else_is_set(void)
{
	struct wefti_settings s;

	clear_all();
	load(&s);
	is_default(&s);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		setenv(names[i], "", 1);
	load(&s);
	is_default(&s);
	CU_ASSERT_STRING_EQUAL(told, "");
}

static void a_word_may_have_a_size_behind_it(void)
{
	struct wefti_settings s;

	clear_all();
	setenv("WEFT_TRACE", "flight", 1);
	load(&s);
	CU_ASSERT_EQUAL(s.trace, WEFTI_TRACE_FLIGHT);
	setenv("WEFT_TRACE", "flight:4M", 1);
	load(&s);
	CU_ASSERT_EQUAL(s.trace, 4 << 20);
	CU_ASSERT_STRING_EQUAL(told, "");
	setenv("WEFT_TRACE", "flight:1", 1);	/* too small */
	load(&s);
	CU_ASSERT_EQUAL(s.trace, WEFTI_TRACE_OFF);
	CU_ASSERT_PTR_NOT_NULL(strstr(told, "flight[:SIZE]"));
	setenv("WEFT_TRACE", "off:4M", 1);
	load(&s);
	CU_ASSERT_EQUAL(s.trace, WEFTI_TRACE_OFF);
	CU_ASSERT_STRING_NOT_EQUAL(told, "");
	clear_all();
}

static void a_log_of_errors_alone_has_nothing_of_settings(void)
{
	struct wefti_settings s;

	clear_all();
	setenv("WEFT_LOG", "error", 1);
	setenv("WEFT_VCPUS", "many", 1);
	load(&s);
	CU_ASSERT_EQUAL(s.log, WEFTI_LOG_ERROR);
	CU_ASSERT_EQUAL(s.vcpus, 0);
	CU_ASSERT_STRING_EQUAL(told, "");
	setenv("WEFT_LOG", "warning", 1);
	load(&s);
	CU_ASSERT_STRING_NOT_EQUAL(told, "");
}

struct try {
	const char *name, *text;
	size_t offset;
	int64_t value;
};

#define F(field)	offsetof(struct wefti_settings, field)

static void settings_take_every_form_of_value(void)
{
	static const struct try tries[] = {
		{ "WEFT_VCPUS", "0", F(vcpus), 0 },
		{ "WEFT_VCPUS", "1", F(vcpus), 1 },
		{ "WEFT_VCPUS", "256", F(vcpus), 256 },
		{ "WEFT_SCHED", "shared", F(sched), WEFTI_SCHED_SHARED },
		{ "WEFT_SCHED", "steal", F(sched), WEFTI_SCHED_STEAL },
		{ "WEFT_SCHED", "explore", F(sched), WEFTI_SCHED_EXPLORE },
		{ "WEFT_SEED", "7", F(seed), 7 },
		{ "WEFT_SLICE", "0", F(slice_ns), 0 },
		{ "WEFT_SLICE", "0ms", F(slice_ns), 0 },
		{ "WEFT_SLICE", "100us", F(slice_ns), 100000 },
		{ "WEFT_SLICE", "250000ns", F(slice_ns), 250000 },
		{ "WEFT_SLICE", "2ms", F(slice_ns), 2000000 },
		{ "WEFT_SLICE", "10s", F(slice_ns), 10000000000 },
		{ "WEFT_SPARE_MAX", "0", F(spare_max), 0 },
		{ "WEFT_STACK", "16K", F(stack), 16384 },
		{ "WEFT_STACK", "16384", F(stack), 16384 },
		{ "WEFT_STACK", "100k", F(stack), 102400 },
		{ "WEFT_STACK", "8M", F(stack), 8 << 20 },
		{ "WEFT_STACK", "1G", F(stack), 1 << 30 },
		{ "WEFT_TLS", "own", F(tls), WEFTI_TLS_OWN },
		{ "WEFT_TLS", "shared", F(tls), WEFTI_TLS_SHARED },
		{ "WEFT_MALLOC", "libc", F(malloc), WEFTI_MALLOC_LIBC },
		{ "WEFT_MALLOC", "known", F(malloc), WEFTI_MALLOC_KNOWN },
		{ "WEFT_IO_URING", "auto", F(io_uring), WEFTI_IO_URING_AUTO },
		{ "WEFT_IO_URING", "no", F(io_uring), WEFTI_IO_URING_NO },
		{ "WEFT_IO_URING", "yes", F(io_uring), WEFTI_IO_URING_YES },
		{ "WEFT_LOG", "error", F(log), WEFTI_LOG_ERROR },
		{ "WEFT_LOG", "debug", F(log), WEFTI_LOG_DEBUG },
		{ "WEFT_STATS", "on", F(stats), 1 },
		{ "WEFT_STATS", "yes", F(stats), 1 },
		{ "WEFT_STATS", "true", F(stats), 1 },
		{ "WEFT_DUMP", "0", F(dump), 0 },
		{ "WEFT_STATS", "1", F(stats), 1 },
		{ "WEFT_DUMP", "off", F(dump), 0 },
		{ "WEFT_DUMP", "no", F(dump), 0 },
		{ "WEFT_DUMP", "false", F(dump), 0 },
		{ "WEFT_DEADLOCK", "report", F(deadlock),
		  WEFTI_DEADLOCK_REPORT },
		{ "WEFT_DEADLOCK", "off", F(deadlock), WEFTI_DEADLOCK_OFF },
		{ "WEFT_CRASH", "dump", F(crash), WEFTI_CRASH_DUMP },
		{ "WEFT_CRASH", "tell", F(crash), WEFTI_CRASH_TELL },
		{ "WEFT_DEADLOCK", "watch", F(deadlock), WEFTI_DEADLOCK_WATCH },
	};

	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		const struct try *t = &tries[i];
		struct wefti_settings s;

		clear_all();
		setenv(t->name, t->text, 1);
		load(&s);
		CU_ASSERT_EQUAL(*(int64_t *)((char *)&s + t->offset),
				t->value);
		CU_ASSERT_STRING_EQUAL(told, "");
	}
}

static void settings_refuse_the_rest_in_one_line_and_take_the_default(void)
{
	static const char *const tries[][2] = {
		{ "WEFT_VCPUS", "257" }, { "WEFT_VCPUS", "-1" },
		{ "WEFT_VCPUS", " 2" }, { "WEFT_VCPUS", "2 " },
		{ "WEFT_VCPUS", "+2" }, { "WEFT_VCPUS", "2K" },
		{ "WEFT_VCPUS", "0x2" }, { "WEFT_VCPUS", "two" },
		{ "WEFT_VCPUS", "99999999999999999999999" },
		{ "WEFT_VCPUS", "18446744073709551618" },
		{ "WEFT_SCHED", "s" }, { "WEFT_SCHED", "stealshared" },
		{ "WEFT_SCHED", "steal|shared" }, { "WEFT_SCHED", "Shared" },
		{ "WEFT_SLICE", "10" }, { "WEFT_SLICE", "10m" },
		{ "WEFT_SLICE", "11s" }, { "WEFT_SLICE", "1us" },
		{ "WEFT_SLICE", "ms" }, { "WEFT_SLICE", "1.5ms" },
		{ "WEFT_SLICE", "9223372037s" },
		{ "WEFT_SPARE_MAX", "32769" },
		{ "WEFT_STACK", "16383" }, { "WEFT_STACK", "2G" },
		{ "WEFT_STACK", "0" }, { "WEFT_STACK", "64KB" },
		{ "WEFT_STACK", "17179869185G" },
		{ "WEFT_TLS", "both" }, { "WEFT_LOG", "2" },
		{ "WEFT_CRASH", "core" }, { "WEFT_DEADLOCK", "1" }, { "WEFT_DUMP", "maybe" },
		{ "WEFT_MALLOC", "jemalloc" }, { "WEFT_IO_URING", "1" },
	};

	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		struct wefti_settings s;
		char start[64];

		clear_all();
		setenv(tries[i][0], tries[i][1], 1);
		load(&s);
		is_default(&s);
		snprintf(start, sizeof(start), "weft: %s=%s: not accepted",
			 tries[i][0], tries[i][1]);
		CU_ASSERT_EQUAL(strncmp(told, start, strlen(start)), 0);
		CU_ASSERT_PTR_EQUAL(strchr(told, '\n'),
				    told + strlen(told) - 1);
	}
}

static void one_can_be_looked_at_before(void)
{
	clear_all();
	CU_ASSERT_EQUAL(wefti_settings_peek("WEFT_MALLOC"),
			WEFTI_MALLOC_KNOWN);
	setenv("WEFT_MALLOC", "libc", 1);
	CU_ASSERT_EQUAL(wefti_settings_peek("WEFT_MALLOC"), WEFTI_MALLOC_LIBC);
	setenv("WEFT_MALLOC", "none", 1);
	CU_ASSERT_EQUAL(wefti_settings_peek("WEFT_MALLOC"),
			WEFTI_MALLOC_KNOWN);
	setenv("WEFT_MALLOC", "", 1);
	CU_ASSERT_EQUAL(wefti_settings_peek("WEFT_MALLOC"),
			WEFTI_MALLOC_KNOWN);
	setenv("WEFT_SLICE", "2ms", 1);
	CU_ASSERT_EQUAL(wefti_settings_peek("WEFT_SLICE"), 2000000);
	CU_ASSERT_EQUAL(wefti_settings_peek("WEFT_NOTHING"), 0);
}

static void settings_say_what_is_accepted(void)
{
	struct wefti_settings s;

	clear_all();
	setenv("WEFT_VCPUS", "x", 1);
	load(&s);
	CU_ASSERT_STRING_EQUAL(told, "weft: WEFT_VCPUS=x: not accepted, "
			       "using 0; give 0 or 1 to 256\n");
	clear_all();
	setenv("WEFT_SLICE", "5", 1);
	load(&s);
	CU_ASSERT_STRING_EQUAL(told, "weft: WEFT_SLICE=5: not accepted, "
			       "using 10ms; give 0 or 100us to 10s, "
			       "with ns, us, ms or s\n");
	clear_all();
	setenv("WEFT_DEADLOCK", "\033[2J\n", 1);
	load(&s);
	CU_ASSERT_STRING_EQUAL(told, "weft: WEFT_DEADLOCK=?[2J?: not accepted, "
			       "using exit; give exit or report or off or watch\n");
}

static void settings_print_names_each_with_default_and_value(void)
{
	char text[4096];
	int fd[2];
	ssize_t n;

	clear_all();
	setenv("WEFT_STACK", "96K", 1);
	CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
	wefti_settings_print(fd[1]);
	n = read(fd[0], text, sizeof(text) - 1);
	CU_ASSERT_FATAL(n > 0);
	text[n] = 0;
	close(fd[0]);
	close(fd[1]);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CU_ASSERT_PTR_NOT_NULL(strstr(text, names[i]));

	char *line = strstr(text, "\nWEFT_STACK");

	CU_ASSERT_PTR_NOT_NULL_FATAL(line);
	CU_ASSERT_EQUAL(sscanf(line, " WEFT_STACK 96K 64K 16K to 1%c",
			       text), 1);
	CU_ASSERT_EQUAL(text[0], 'G');
}

/* Status of the copy below: what it got of WEFT_VCPUS=7. */
#define NOT_SECURE	100

static void copy_self(const char *to)
{
	char buf[65536];
	int in = open("/proc/self/exe", O_RDONLY);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	ssize_t n;

	CU_ASSERT_FATAL(in >= 0 && out >= 0);
	while ((n = read(in, buf, sizeof(buf))) > 0)
		CU_ASSERT_EQUAL_FATAL(write(out, buf, (size_t)n), n);
	close(in);
	close(out);
}

static void settings_are_defaults_in_a_privileged_program(void)
{
	char path[] = "/tmp/weft-test-settings-XXXXXX";
	int status;
	pid_t pid;

	if (geteuid() != 0) {
		puts("    not tested: needs root, to make a program setuid");
		return;
	}
	close(mkstemp(path));
	copy_self(path);
	CU_ASSERT_EQUAL(chown(path, 65534, 65534), 0);
	CU_ASSERT_EQUAL(chmod(path, 04755), 0);
	clear_all();
	setenv("WEFT_VCPUS", "7", 1);
	pid = fork();
	if (pid == 0) {
		execl(path, path, "secure", (char *)NULL);
		_exit(NOT_SECURE);	/* not ours to run, in an emulator */
	}
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	unlink(path);
	CU_ASSERT_TRUE_FATAL(WIFEXITED(status));
	if (WEXITSTATUS(status) == NOT_SECURE)
		puts("    not tested: /tmp knows no setuid programs");
	else
		CU_ASSERT_EQUAL(WEXITSTATUS(status), 0);
}

static const struct test_case cases[] = {
	TEST(settings_are_defaults_when_nothing_or_nothing_else_is_set),
	TEST(a_word_may_have_a_size_behind_it),
	TEST(a_log_of_errors_alone_has_nothing_of_settings),
	TEST(settings_take_every_form_of_value),
	TEST(settings_refuse_the_rest_in_one_line_and_take_the_default),
	TEST(one_can_be_looked_at_before),
	TEST(settings_say_what_is_accepted),
	TEST(settings_print_names_each_with_default_and_value),
	TEST(settings_are_defaults_in_a_privileged_program),
};

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "secure") == 0) {
		struct wefti_settings s;

		if (!getauxval(AT_SECURE))
			return NOT_SECURE;
		wefti_settings_load(&s);
		/* Not by exit: LeakSanitizer may not look at such a program. */
		_exit((int)s.vcpus);
	}
	return test_main("base/settings", cases,
			 sizeof(cases) / sizeof(cases[0]));
}
