/* SPDX-License-Identifier: MIT */
/*
 * cli/libraries.c - the libraries of a program, as its own loader lists them
 *
 * The loader finds them as in a run, and runs nothing. Libraries that the program loads by
 * dlopen() are not seen.
 */
#include "cli.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/*
 * Starts the loader, which writes its list into the pipe that *out reads. Returns 0 or
 * an error. The loader gets the real path of the file, not that of a link: in a run,
 * $ORIGIN is the directory of the file itself.
 */
static int start_loader(const struct weft_cli_program *p, pid_t *pid, int *out)
{
	char real[PATH_MAX];
	char *argv[] = { (char *)p->loader, real, NULL };
	posix_spawn_file_actions_t actions;
	int ends[2], error;

	if (!weft_cli_real(real, p->path))
		return errno;
	/* Not --list, which stops at the first missing library. */
	if (pipe(ends) != 0 || setenv("LD_TRACE_LOADED_OBJECTS", "1", 1) != 0)
		return errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	if (ends[1] != STDOUT_FILENO)
		posix_spawn_file_actions_addclose(&actions, ends[1]);
	/* We report a failure ourselves. */
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
					 O_WRONLY, 0);
	error = posix_spawn(pid, p->loader, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	*out = ends[0];
	if (error)
		close(ends[0]);
	return error;
}

const char *weft_cli_libraries(const struct weft_cli_program *p,
			       weft_cli_line_fn *each)
{
	const char *why = NULL;
	char *line = NULL;
	size_t size = 0;
	int out = -1, status = 0, error;
	FILE *stream;
	pid_t pid;

	error = start_loader(p, &pid, &out);
	if (error)
		return strerror(error);
	stream = fdopen(out, "r");
	while (!why && stream && getline(&line, &size, stream) > 0)
		why = each(line);
	free(line);
	if (stream)
		fclose(stream);
	unsetenv("LD_TRACE_LOADED_OBJECTS");
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!why && status != 0)
		why = "its loader cannot list its libraries";
	return why;
}

static const struct mpi {
	const char *soname, *vendor, *library;
} mpis[] = {
	{ "libmpi.so.40", "Open MPI", "libweft-mpi-openmpi.so" },
	{ "libmpich.so.12", "MPICH", "libweft-mpi-mpich.so" },
	{ "libmpi.so", NULL, NULL },		/* of another vendor, or version */
	{ "libmpich.so", NULL, NULL },
};

static const struct mpi *mpi;	/* of the program; NULL: none */

static const char *note_mpi(char *line)
{
	const char *name = line + strspn(line, " \t");

	for (size_t i = 0; !mpi && i < sizeof(mpis) / sizeof(*mpis); i++) {
		size_t length = strlen(mpis[i].soname);

		if (strncmp(name, mpis[i].soname, length) == 0 &&
		    strchr(mpis[i].vendor ? " " : " .", name[length]))
			mpi = &mpis[i];
	}
	return NULL;
}

const char *weft_cli_mpi(const struct weft_cli_program *p, const char **library,
			 const char **vendor)
{
	const char *why = *p->loader ? weft_cli_libraries(p, note_mpi) : "it cannot be read";

	if (why)
		return why;
	if (!mpi)
		return "is not linked with MPI";
	*library = mpi->library;
	*vendor = mpi->vendor ? mpi->vendor : "another";
	return mpi->library ? NULL : "its MPI is neither libmpi.so.40 (Open MPI) nor libmpich.so.12 (MPICH)";
}
