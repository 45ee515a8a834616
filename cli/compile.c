/* SPDX-License-Identifier: MIT */
/*
 * cli/compile.c - weft 9c: compiles a program that was written for Plan 9's threads
 *
 * The compiler gets the caller's arguments, with the folders of weft's headers in front
 * of them and its libraries behind. In the build tree these are the tree's.
 */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY	"libweft-plan9.so"
#define HEADER	"weft/plan9/u.h"

struct places {
	char include[PATH_MAX];
	char lib[PATH_MAX];
};

/* The build's Makefile says where the sources are. */
static int find_in_build(struct places *p)
{
	static const char name[] = "abs_top_srcdir = ";
	char top[PATH_MAX], path[PATH_MAX + 16], line[PATH_MAX + 32];
	FILE *file = NULL;
	int found = 0;

	if (weft_cli_folder(p->lib, "../.libs", LIBRARY) &&
	    weft_cli_folder(top, "..", "Makefile")) {
		snprintf(path, sizeof(path), "%s/Makefile", top);
		file = fopen(path, "r");
	}
	while (file && !found && fgets(line, sizeof(line), file)) {
		if (strncmp(line, name, strlen(name)) != 0)
			continue;
		line[strcspn(line, "\n")] = 0;
		snprintf(p->include, sizeof(p->include), "%.*s/include",
			 PATH_MAX - 10, line + strlen(name));
		found = weft_cli_has(p->include, HEADER);
	}
	if (file)
		fclose(file);
	return found;
}

static void find(struct places *p)
{
	if (find_in_build(p) ||
	    (weft_cli_folder(p->include, WEFT_INCLUDEDIR_FROM_BINDIR, HEADER) &&
	     weft_cli_folder(p->lib, WEFT_LIBDIR_FROM_BINDIR, LIBRARY)))
		return;
	snprintf(p->include, sizeof(p->include), "%s", WEFT_INCLUDEDIR);
	snprintf(p->lib, sizeof(p->lib), "%s", WEFT_LIBDIR);
}

/* Does the compiler link? */
static int links(char **argv)
{
	for (; *argv; argv++)
		if (!strcmp(*argv, "-c") || !strcmp(*argv, "-S") ||
		    !strcmp(*argv, "-E") || !strcmp(*argv, "-fsyntax-only"))
			return 0;
	return 1;
}

static char *joined(const char *before, const char *path, const char *after)
{
	char *text;

	return asprintf(&text, "%s%s%s", before, path, after) < 0 ? NULL : text;
}

static int is_help(const char *arg)
{
	return !arg || !strcmp(arg, "--help") || !strcmp(arg, "-h");
}

int weft_cli_compile(int argc, char **argv)
{
	static char std[] = "-std=gnu11", plan9[] = "-lweft-plan9", weft[] = "-lweft";
	const char *cc = getenv("CC");
	static struct places p;
	char *words, *rest, *word, **all, **to;

	if (is_help(argv[1])) {
		puts("Usage: weft 9c [OPTION OF THE COMPILER...] FILE...\n"
		     "Compiles and links a program that was written for thread(3) of "
		     "Plan 9 from User\nSpace, with the compiler in CC, else cc. "
		     "weft-plan9(7) says what there is.");
		return argv[1] ? 0 : STATUS_OWN;
	}
	find(&p);
	if (!weft_cli_has(p.include, HEADER))
		return weft_cli_complain(STATUS_OWN, p.include, "weft/plan9/u.h is not there");
	words = rest = strdup(cc && *cc ? cc : "cc");
	all = words ? calloc((size_t)argc + strlen(words) + 12, sizeof(*all)) : NULL;
	if (!all)
		return weft_cli_complain(STATUS_OWN, "9c", strerror(ENOMEM));
	for (to = all; (word = strsep(&rest, " ")) != NULL; )
		if (*word)
			*to++ = word;
	if (to == all)
		*to++ = (char *)"cc";
	*to++ = std;
	*to++ = joined("-I", p.include, "/weft/plan9");
	*to++ = joined("-I", p.include, "");
	for (int i = 1; i < argc; i++)
		*to++ = argv[i];
	if (links(argv)) {
		*to++ = joined("-L", p.lib, "");
		*to++ = joined("-Wl,-rpath,", p.lib, "");
		*to++ = plan9;
		*to++ = weft;
	}
	execvp(all[0], all);
	return weft_cli_complain(errno == ENOENT ? STATUS_NOT_FOUND :
				 STATUS_CANNOT_RUN, all[0], strerror(errno));
}
