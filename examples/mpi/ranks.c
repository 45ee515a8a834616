/* SPDX-License-Identifier: MIT */
/* ranks.c - start, stop and errors of a program of several ranks */
#include "ranks.h"

#include <stdarg.h>

struct ranks ranks;

void ranks_die(const char *what, ...)
{
	va_list list;

	fprintf(stderr, "%s: rank %d: ", ranks.program, ranks.rank);
	va_start(list, what);
	vfprintf(stderr, what, list);
	va_end(list);
	fputc('\n', stderr);
	MPI_Abort(MPI_COMM_WORLD, 1);
	exit(1);
}

void ranks_must(int error, const char *what)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int length;

	if (error == MPI_SUCCESS)
		return;
	MPI_Error_string(error, text, &length);
	ranks_die("%s: %s", what, text);
}

void ranks_check(int error, const char *what)
{
	if (error)
		ranks_die("%s: %s", what, strerror(error < 0 ? -error : error));
}

void *ranks_memory(size_t count, size_t bytes)
{
	void *memory = calloc(count ? count : 1, bytes ? bytes : 1);

	if (!memory)
		ranks_die("no memory for %zu times %zu bytes", count, bytes);
	return memory;
}

int ranks_number(const char *text, int least, int most)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (end != text && !*end && n >= least && n <= most)
		return (int)n;
	/* All ranks have the same command line. */
	if (ranks.rank == 0)
		fprintf(stderr, "%s: `%s' is no number from %d to %d\n",
			ranks.program, text, least, most);
	ranks_stop();
	exit(2);
}

void ranks_start(const char *program, int *argc, char ***argv)
{
	int provided = MPI_THREAD_SINGLE;

	ranks.program = program;
	either_must(either_start(0), "start");
	if (MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided)) {
		fprintf(stderr, "%s: MPI_Init_thread failed\n", program);
		exit(1);
	}
	ranks_must(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN),
		   "error handler");
	ranks_must(MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank), "rank");
	ranks_must(MPI_Comm_size(MPI_COMM_WORLD, &ranks.count), "size");
	if (provided < MPI_THREAD_MULTIPLE)
		ranks_die("this MPI has no MPI_THREAD_MULTIPLE");
}

void ranks_stop(void)
{
	ranks_must(MPI_Finalize(), "MPI_Finalize");
	either_must(either_stop(), "stop");
}
