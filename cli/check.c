/* SPDX-License-Identifier: MIT */
/*
 * cli/check.c - weft run --check: what a program will meet under weft
 *
 * The functions that the program and its libraries import are looked up in the table
 * from which the preload library and weft-pthread(7) are made.
 */
#include "cli.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "base/shown.h"
#include "os/call/lacks.h"
#include "os/libc/allocator.h"
#include "os/tls/tls.h"
#include "pthread/core/table.h"

enum kind { OURS, LIBC, PLANNED, UNKNOWN };

#define WEFTI_OURS(name, note)		{ #name, note, OURS, NULL },
#define WEFTI_LIBC(name, note)		{ #name, note, LIBC, NULL },
#define WEFTI_PLANNED(name, note)	{ #name, note, PLANNED, NULL },
static struct row {
	const char *name, *note;
	enum kind kind;
	char *users;		/* the files that import it; NULL: none */
} rows[] = {
	WEFTI_TABLE(WEFTI_OURS, WEFTI_LIBC, WEFTI_PLANNED)
};

#define ROWS	(sizeof(rows) / sizeof(*rows))

/* Functions of the table's families that are not in the table. */
static struct row *unknown;
static size_t unknown_count;

static const char *file;	/* the file that is being looked at */
static char *sanitized;		/* files that contain a sanitizer */
static char *of_go;		/* files that contain Go's runtime */
static char *allocator;		/* the first file that has a malloc() */
static char *unseen;		/* files that could not be read */
static size_t files;

/* Appends a text to a list, after a comma. */
static void add(char **list, const char *text)
{
	char *longer, shown[512];

	if (asprintf(&longer, "%s%s%s", *list ? *list : "", *list ? ", " : "",
		     wefti_format_shown(shown, sizeof(shown), text)) < 0)
		return;
	free(*list);
	*list = longer;
}

static struct row *find(struct row *in, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(in[i].name, name) == 0)
			return &in[i];
	return NULL;
}

static int is_of_a_family(const char *name)
{
	static const char *const families[] = {
		"pthread_", "sem_", "thrd_", "mtx_", "cnd_", "tss_",
	};

	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
		if (strncmp(name, families[i], strlen(families[i])) == 0)
			return 1;
	return 0;
}

/* A function of a family that libc has and the table has not: libc is newer. */
static struct row *unknown_row(const char *name)
{
	struct row *r = find(unknown, unknown_count, name);

	if (r || !is_of_a_family(name) || !dlsym(RTLD_DEFAULT, name))
		return r;
	r = realloc(unknown, (unknown_count + 1) * sizeof(*r));
	if (!r)
		return NULL;
	unknown = r;
	r += unknown_count++;
	*r = (struct row){ strdup(name), "", UNKNOWN, NULL };
	return r;
}

static void note_symbol(const char *name, int is_import, void *unused)
{
	struct row *r;

	(void)unused;
	if (strcmp(name, "__asan_init") == 0 ||
	    strcmp(name, "__tsan_java_init") == 0 ||	/* libweft-points.so has not */
	    strcmp(name, "__msan_init") == 0)
		add(&sanitized, file);
	if (!is_import) {
		if (!allocator && strcmp(name, "malloc") == 0)
			add(&allocator, file);
		return;
	}
	r = find(rows, ROWS, name);
	if (!r)
		r = unknown_row(name);
	if (r)
		add(&r->users, file);
}

static void check_file(const char *path)
{
	const char *slash = strrchr(path, '/'), *why;

	file = slash ? slash + 1 : path;
	why = weft_cli_symbols(path, note_symbol, NULL);
	if (!why) {
		files++;
		if (weft_cli_is_go(path))
			add(&of_go, file);
		return;
	}
	add(&unseen, path);
	(void)weft_cli_complain(0, path, why);
}

/* --- libraries ----------------------------------------------------- */

/* The libraries that define the table's functions. */
static int is_libc(const char *name)
{
	return strncmp(name, "libc.so.", 8) == 0 ||
	       strncmp(name, "libpthread.so.", 14) == 0;
}

/* A line is "	NAME => PATH (0x...)", or "=> not found". Returns NULL or the error. */
static const char *check_line(char *line)
{
	static char missing[PATH_MAX + 32];
	char *name = line + strspn(line, " \t");
	char *arrow = strstr(name, " => "), *path, *end;

	if (!arrow)
		return NULL;	/* the kernel's own, or the loader */
	*arrow = 0;
	path = arrow + strlen(" => ");
	if (strncmp(path, "not found", 9) == 0) {
		snprintf(missing, sizeof(missing), "needs %s, which is not "
			 "found", name);
		return missing;
	}
	end = strstr(path, " (0x");
	if (!end || is_libc(name))
		return NULL;
	*end = 0;
	check_file(path);
	return NULL;
}

/* --- what it says -------------------------------------------------- */

static void print_row(const struct row *r)
{
	printf("  %s() in %s%s%s\n", r->name, r->users, *r->note ? ": " : "", r->note);
}

/*
 * Prints the rows of one kind, and returns how many. A row without a note only if its
 * function is unknown.
 */
static size_t print_rows(const struct row *in, size_t count, enum kind kind,
		       const char *title)
{
	size_t printed = 0;

	for (size_t i = 0; i < count; i++) {
		if (in[i].kind != kind || !in[i].users ||
		    (!*in[i].note && kind != UNKNOWN) ||
		    strncmp(in[i].name, "__", 2) == 0)
			continue;
		if (!printed++)
			printf("\n%s\n", title);
		print_row(&in[i]);
	}
	return printed;
}

static size_t count_plain(void)
{
	size_t n = 0;

	for (size_t i = 0; i < ROWS; i++)
		n += rows[i].users && rows[i].kind != PLANNED && !*rows[i].note;
	return n;
}

/*
 * Says what the library would find out when the program makes its first thread. The libc
 * that is looked at last is the command's too. Returns 1 if it said something.
 */
static int print_kernel_threads(const struct weft_cli_program *p)
{
	static const char line[] = "Its threads stay kernel threads: ";

	if (p->asan)
		printf("%s%s.\n", line, weft_cli_asan);
	else if (sanitized)
		printf("%sa sanitizer is in %s.\n", line, sanitized);
	else if (of_go)
		printf("%sGo's runtime is in %s.\n", line, of_go);
	else if (allocator &&
		 (!wefti_os_allocator_is_known(allocator) ||
		  wefti_settings_peek("WEFT_MALLOC") != WEFTI_MALLOC_KNOWN))
		printf("%smalloc is not libc's, but that of %s.\n", line,
		       allocator);
	else if (wefti_settings_peek("WEFT_TLS") == WEFTI_TLS_SHARED)
		printf("%sWEFT_TLS=shared.\n", line);
	else if (wefti_tls_init() != 0)
		printf("%s%s (glibc %s).\n", line, wefti_tls_reason(),
		       gnu_get_libc_version());
	else
		return 0;
	return 1;
}

static void print_lack(const struct wefti_os_lack *lack, void *titled)
{
	if (!(*(int *)titled)++)
		printf("\nWhat this kernel lacks, or a filter refuses:\n");
	printf("  %s: without it, %s\n", lack->name, lack->without);
}

static void print_kernel(void)
{
	int titled = 0;

	wefti_os_lacks(print_lack, &titled);
}

/* One line that a reader in a hurry, or grep, needs. */
static void print_verdict(int makes_threads, int kernel_threads, size_t differences,
			  int is_script)
{
	printf("\nVerdict: ");
	if (!makes_threads && is_script)
		printf("its interpreter makes no threads that can be seen; check the "
		       "programs that the script starts.\n");
	else if (!makes_threads)
		printf("it makes no threads that can be seen, so weft changes nothing.\n");
	else if (kernel_threads)
		printf("it runs, and its threads stay kernel threads.\n");
	else if (differences)
		printf("it runs on green threads, with the differences above.\n");
	else
		printf("it runs on green threads.\n");
}

static void print_all(const char *name, const struct weft_cli_program *p)
{
	const struct row *make = find(rows, ROWS, "pthread_create");
	const struct row *make11 = find(rows, ROWS, "thrd_create");
	const int makes_threads = make->users || make11->users;
	size_t differences;
	int kernel_threads;

	weft_cli_say(stdout, "%s: weft can run it; %zu file%s checked\n", name, files,
		     files == 1 ? "" : "s");
	if (p->is_script)
		weft_cli_say(stdout, "It is a script. This is about %s, which runs it, "
			     "and not about what the script loads or starts.\n", p->path);
	if (!makes_threads)
		printf("It makes no threads, unless a library that it loads "
		       "later does. It is left as it is.\n");
	kernel_threads = print_kernel_threads(p);
	if (unseen)
		printf("Could not be read: %s.\n", unseen);
	printf("Functions that it uses and that are the same under weft: %zu.\n",
	       count_plain());
	differences = print_rows(rows, ROWS, OURS,
				 "Weft's own, with these differences (weft-pthread(7) explains them):");
	differences += print_rows(rows, ROWS, LIBC, "Libc's own, with these notes:");
	differences += print_rows(rows, ROWS, PLANNED, "Wrong for threads of weft:");
	differences += print_rows(unknown, unknown_count, UNKNOWN, "Not known to weft:");
	print_kernel();
	print_verdict(makes_threads, kernel_threads, differences, p->is_script);
}

static void print_mpi(const struct weft_cli_program *p)
{
	const char *library = NULL, *vendor = NULL;
	const char *why = weft_cli_mpi(p, &library, &vendor);

	if (library)
		printf("\nMPI\n  %s: with weft run --mpi its calls park threads\n", vendor);
	else if (vendor)
		printf("\nMPI\n  weft run --mpi cannot take it: %s\n", why);
}

int weft_cli_check(const char *name, const struct weft_cli_program *p)
{
	const char *why = "it cannot be read";

	if (*p->loader) {
		check_file(p->path);
		why = weft_cli_libraries(p, check_line);
	}
	if (why) {
		printf("Verdict: weft cannot run it.\n");
		return weft_cli_complain(STATUS_CANNOT_RUN, p->path, why);
	}
	print_all(name, p);
	print_mpi(p);
	return fflush(stdout) == 0 ? 0 :
	       weft_cli_complain(STATUS_OWN, "standard output",
				 strerror(errno));
}
