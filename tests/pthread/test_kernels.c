/* SPDX-License-Identifier: MIT */
/*
 * test_kernels.c - programs under weft run on older kernels, in sandboxes, and without
 * each flag and part of os/call/calls.h
 *
 * The programs are the cases of tests/matrix/smoke.c and smoke_shared.c, and one of
 * OpenMP. Each has to do what it does without the filter, or else what it does under the
 * filter with libc's threads. One is started by the command `weft run`, which is under
 * the filter, too.
 */
#include "compare.h"

#include <limits.h>

#include "kernels.h"

#define MOST	40

static char preload[PATH_MAX + 32], smoke[PATH_MAX], shared[PATH_MAX],
	openmp[PATH_MAX], cli[PATH_MAX];

static struct program {
	const char *path;
	char name[60];
	struct kernels_run base;
} programs[MOST];

static size_t count;

static int find(void)
{
	const char *given = getenv("WEFT_TEST_PRELOAD");
	char folder[PATH_MAX - 100];
	ssize_t n = readlink("/proc/self/exe", folder, sizeof(folder) - 1);

	if (n <= 0)
		return 0;
	folder[n] = 0;
	for (int i = 0; i < 3; i++)
		*strrchr(folder, '/') = 0;
	snprintf(preload, sizeof(preload), "%s", given ? given : folder);
	if (!given)
		strcat(preload, "/.libs/libweft-pthread.so");
	snprintf(smoke, sizeof(smoke), "%s/tests/matrix/smoke", folder);
	snprintf(shared, sizeof(shared), "%s/tests/matrix/smoke_shared", folder);
	snprintf(openmp, sizeof(openmp), "%s/tests/pthread/test_openmp", folder);
	snprintf(cli, sizeof(cli), "%s/cli/weft", folder);
	return access(preload, R_OK) == 0 && access(smoke, X_OK) == 0;
}

static void add(const char *path, const char *name)
{
	if (count == MOST)
		abort();
	programs[count].path = path;
	snprintf(programs[count++].name, sizeof(programs[0].name), "%s", name);
}

static void add_cases(const char *path)
{
	char command[PATH_MAX + 10], name[60];
	FILE *names;

	snprintf(command, sizeof(command), "'%s'", path);
	names = popen(command, "r");
	while (names && fscanf(names, "%59s", name) == 1)
		add(path, name);
	if (names)
		pclose(names);
}

static void add_all(void)
{
	add_cases(smoke);
	add_cases(shared);
	add(openmp, "teams_that_sleep_add_up");
}

static void run_with_libc(const void *p)
{
	const struct program *program = p;

	execl(program->path, program->path, program->name, (char *)NULL);
}

static void run_with_weft(const void *p)
{
	setenv("LD_PRELOAD", preload, 1);
	run_with_libc(p);
}

static void run_by_command(const void *p)
{
	const struct program *program = p;

	execl(cli, cli, "run", "--", program->path, program->name,
	      (char *)NULL);
}

/* Returns 1 if the command, which is beside the library, does not start the program. */
static int look_at_command(const struct kernels_kind_of *k, const struct program *p)
{
	struct kernels_run got;

	if (access(cli, X_OK) != 0)
		return 0;
	kernels_end(kernels_begin(k, run_by_command, p), &got);
	if (kernels_is_missing(&got) || kernels_are_same(&got, &p->base))
		return 0;
	printf("%s, by weft run: status %x\n%s", k->name, (unsigned)got.status,
	       got.text);
	return 1;
}

/* Returns how many were wrong. */
static int look(const struct kernels_kind_of *k)
{
	struct kernels_child c[MOST];
	struct kernels_run got, plain;
	int bad = 0;

	for (size_t i = 0; i < count; i++)
		c[i] = kernels_begin(k, run_with_weft, &programs[i]);
	for (size_t i = 0; i < count; i++) {
		kernels_end(c[i], &got);
		if (kernels_is_missing(&got)) {
			if (i == 0)
				printf("%s: cannot be had here\n", k->name);
			continue;
		}
		if (kernels_are_same(&got, &programs[i].base))
			continue;
		kernels_end(kernels_begin(k, run_with_libc, &programs[i]), &plain);
		if (kernels_are_same(&got, &plain))
			continue;
		bad++;
		printf("%s, %s: status %x\n%s--- and not\n%s", k->name,
		       programs[i].name, (unsigned)got.status, got.text,
		       programs[i].base.text);
	}
	return bad;
}

int main(void)
{
	struct kernels_kind_of k = kernels_kind(KERNELS_ALL);
	int bad = 0;

	if (threads_are_libcs() || getenv("WEFT_TEST_QEMU") || !find() ||
	    sandbox_is_missing()) {
		printf("not here: no filters, or no green threads\n");
		return threads_are_libcs() ? 0 : 77;
	}
	add_all();
	for (size_t i = 0; i < count; i++)
		kernels_end(kernels_begin(&k, run_with_weft, &programs[i]),
			    &programs[i].base);
	for (size_t i = 0; i < count; i++)
		if (programs[i].base.status != 0) {
			printf("%s, as it is: status %x\n%s", programs[i].name,
			       (unsigned)programs[i].base.status,
			       programs[i].base.text);
			return 1;
		}
	for (size_t i = 0; i < KERNELS_ALL; i++) {
		k = kernels_kind(i);
		bad += look(&k) + look_at_command(&k, &programs[0]);
	}
	printf("%zu programs on %zu kinds of kernels, %d wrong\n", count,
	       (size_t)KERNELS_ALL, bad);
	return bad != 0 || count < 15;
}
