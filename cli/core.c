/* SPDX-License-Identifier: MIT */
/*
 * cli/core.c - weft core: a core file that has the stacks of all threads
 *
 * The guards of stacks are pages that cannot be read within a mapping that can. Where
 * gdb's gcore meets such a page, it leaves the rest of the mapping out, and with it
 * most stacks. So while gdb still holds the process, a second weft reads what the core
 * file should contain page by page, and writes it into the file. The file has another
 * name until it is complete.
 *
 * Rejected: guards that are mappings of their own. They cost two mappings for each
 * stack, which a fork has to copy, and allow about 32,000 stacks.
 */
#include "cli.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCK		((size_t)1 << 18)

extern char **environ;

struct core {
	long pid;
	const char *what;	/* a process's number, or a core file */
	const char *to;		/* the file that gets the threads; NULL: none */
	int fill;		/* this is the second weft */
};

enum { KEY_FILL = 256 };

static const struct argp_option options[] = {
	{ "output", 'o', "OUT", 0, "copy the core file CORE to OUT, with the parked "
	  "threads as threads of it", 0 },
	{ "fill", KEY_FILL, NULL, OPTION_HIDDEN, "", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct core *core = state->input;

	switch (key) {
	case KEY_FILL:
		core->fill = 1;
		return 0;
	case 'o':
		core->to = arg;
		return 0;
	case ARGP_KEY_INIT:
		return 0;
	case ARGP_KEY_END:
		if (state->arg_num != 1)
			argp_usage(state);
		if (!core->to)
			core->pid = weft_cli_pid(state, core->what);
		return 0;
	case ARGP_KEY_ARG:
		core->what = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* --- the second weft ------------------------------------------------- */

static int is_zero(const char *bytes, size_t n)
{
	return *bytes == 0 && memcmp(bytes, bytes + 1, n - 1) == 0;
}

/* A page that cannot be read stays zeros in the file; so does a page of zeros. */
static int copy_page(int memory, int file, uint64_t from, uint64_t to, char *page,
		     size_t bytes)
{
	if (pread(memory, page, bytes, (off_t)from) != (ssize_t)bytes ||
	    is_zero(page, bytes))
		return 0;
	return pwrite(file, page, bytes, (off_t)to) == (ssize_t)bytes ? 0 : -1;
}

static int copy_segment(int memory, int file, const ElfW(Phdr) *s, char *block)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (uint64_t at = 0; at < s->p_filesz; at += BLOCK) {
		size_t left = s->p_filesz - at, bytes = left < BLOCK ? left : BLOCK;
		/* Without a guard in it, the block can be read at once. */
		size_t step = pread(memory, block, bytes, (off_t)(s->p_vaddr + at)) ==
			      (ssize_t)bytes ? bytes : page;

		for (size_t i = 0; i < bytes; i += step)
			if (copy_page(memory, file, s->p_vaddr + at + i,
				      s->p_offset + at + i, block,
				      bytes - i < step ? bytes - i : step) != 0)
				return -1;
	}
	return 0;
}

static int copy_segments(int memory, int file)
{
	char *block = malloc(BLOCK);
	ElfW(Ehdr) head;
	int error = !block || pread(file, &head, sizeof(head), 0) !=
				      (ssize_t)sizeof(head);

	for (size_t i = 0; !error && i < head.e_phnum; i++) {
		off_t at = (off_t)(head.e_phoff + i * sizeof(ElfW(Phdr)));
		ElfW(Phdr) s;

		error = pread(file, &s, sizeof(s), at) != (ssize_t)sizeof(s);
		if (!error && s.p_type == PT_LOAD)
			error = copy_segment(memory, file, &s, block) != 0;
	}
	free(block);
	return error;
}

/* A new file under the name tells the first weft that it is complete. */
static int fill(long pid, const char *name, const char *part)
{
	char path[64];
	int memory, file = open(part, O_RDWR | O_CLOEXEC);

	if (file < 0)
		return 1;	/* gdb has told why */
	snprintf(path, sizeof(path), "/proc/%ld/mem", pid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	if (memory < 0) {
		perror(path);
		return 1;
	}
	if (copy_segments(memory, file) != 0 || close(file) != 0 ||
	    rename(part, name) != 0) {
		perror(name);
		return 1;
	}
	return 0;
}

/* --- the first ------------------------------------------------------- */

/* gdb's own words are shown only if there is no core file. */
static int run_gdb(const char *pid, char *gcore, int said)
{
	char *argv[] = {
		(char *)"gdb", (char *)"-nx", (char *)"-batch", (char *)"-p",
		(char *)pid, (char *)"-ex", gcore, (char *)"-ex",
		(char *)"shell exec \"$WEFT_CORE_BY\" core --fill \"$WEFT_CORE_OF\"",
		NULL,
	};
	posix_spawn_file_actions_t actions;
	int error, status = 0;
	pid_t child;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
					 O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, said, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, said, STDERR_FILENO);
	error = posix_spawnp(&child, "gdb", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	while (!error && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return error;
}

static void show(FILE *said)
{
	char line[1024];

	rewind(said);
	while (fgets(line, sizeof(line), said))
		(void)weft_cli_show(stderr, line, strlen(line), 1);
}

/* Returns 0 if there is no such file. */
static ino_t file_number(const char *name)
{
	struct stat st;

	return stat(name, &st) == 0 ? st.st_ino : 0;
}

/*
 * The second weft gets its arguments by variables, so no shell takes them apart. gdb runs
 * it by the shell in SHELL, which may be one that only refuses.
 */
static int write_core(const char *pid, const char *name, const char *part)
{
	const ino_t before = file_number(name);
	char self[PATH_MAX], gcore[64];
	FILE *said = tmpfile();
	ino_t now;
	int error;

	if (!said || !weft_cli_self(self) ||
	    setenv("WEFT_CORE_BY", self, 1) != 0 ||
	    setenv("WEFT_CORE_OF", pid, 1) != 0 || setenv("SHELL", "/bin/sh", 1) != 0 ||
	    (unlink(part) != 0 && errno != ENOENT))
		return weft_cli_complain(1, name, strerror(errno));
	snprintf(gcore, sizeof(gcore), "gcore %s", part);
	umask(S_IRWXG | S_IRWXO);	/* the file has all that the process knows */
	error = run_gdb(pid, gcore, fileno(said));
	if (error == ENOENT)
		return weft_cli_complain(1, pid, "gdb has to be installed, and is not");
	if (error)
		return weft_cli_complain(1, "gdb", strerror(error));
	now = file_number(name);
	if (now == 0 || now == before) {
		unlink(part);
		show(said);
		return weft_cli_complain(1, pid, "there is no whole core file");
	}
	printf("%s is written\n", name);
	return 0;
}

/* A process's number, which the user may have taken for a core file? */
static int is_process(const char *what)
{
	return *what && what[strspn(what, "0123456789")] == 0 && access(what, F_OK) != 0;
}

int weft_cli_core(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .args_doc = "PID\nCORE -o OUT",
		.children = weft_cli_help,
		.doc = "Writes a core file, core.PID, of a process that goes on. "
		       "gdb's gcore leaves the stacks of weft's threads out of "
		       "it; this command runs gcore and adds them. With -o it "
		       "copies a core file, and the threads that were parked "
		       "become threads of the copy.",
	};
	struct core core = { 0 };
	char pid[32], name[40], part[48];

	argp_parse(&argp, argc, argv, 0, NULL, &core);
	snprintf(pid, sizeof(pid), "%ld", core.pid);
	snprintf(name, sizeof(name), "core.%ld", core.pid);
	snprintf(part, sizeof(part), "%s.part", name);
	if (core.to && is_process(core.what))
		return weft_cli_complain(1, core.what, "-o needs a core file; without -o, "
			"weft core PID writes core.PID here, with all threads");
	if (core.to)
		return weft_cli_core_threads(core.what, core.to);
	if (core.fill)
		return fill(core.pid, name, part);
	if (kill((pid_t)core.pid, 0) != 0 && errno == ESRCH)
		return weft_cli_complain(1, pid, "there is no such process");
	return write_core(pid, name, part);
}
