/* SPDX-License-Identifier: MIT */
/*
 * cli/compile.c - weft 9c, weft cc and weft c++: a compiler, with weft's options
 *
 * The compiler gets the caller's arguments, with weft's options in front of them and its
 * libraries behind. In the build tree these are the tree's.
 *
 * weft cc and weft c++ have each access to memory call a hook (explore/hooks.h), by
 * -fsanitize=thread. The compilers would link their own library of hooks. clang can be told
 * not to. gcc cannot: it gets -nodefaultlibs, and the libraries that it would have linked.
 */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY	"libweft-plan9.so"
#define HEADER	"weft/plan9/u.h"
#define POINTS	"libweft-points.so"
#define WORDS	32u	/* of weft's, at most */

struct places {
	char include[PATH_MAX];
	char lib[PATH_MAX];
};

/* The build's Makefile says where the sources are. */
static int find_in_build(struct places *p, const char *library)
{
	static const char name[] = "abs_top_srcdir = ";
	char top[PATH_MAX], path[PATH_MAX + 16], line[PATH_MAX + 32];
	FILE *file = NULL;
	int found = 0;

	if (weft_cli_folder(p->lib, "../.libs", library) &&
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

static void find(struct places *p, const char *library)
{
	if (find_in_build(p, library) ||
	    (weft_cli_folder(p->include, WEFT_INCLUDEDIR_FROM_BINDIR, HEADER) &&
	     weft_cli_folder(p->lib, WEFT_LIBDIR_FROM_BINDIR, library)))
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

/* The words of the command, at first those of CC or its like. NULL: there is no memory. */
static char **begin_words(int argc, const char *variable, const char *otherwise,
			  char ***end)
{
	const char *given = getenv(variable);
	char *rest = strdup(given && *given ? given : otherwise), *word, **all;

	all = rest ? calloc((size_t)argc + strlen(rest) + WORDS, sizeof(*all)) : NULL;
	if (!all)
		return NULL;
	*end = all;
	while ((word = strsep(&rest, " ")) != NULL)
		if (*word)
			*(*end)++ = word;
	if (*end == all)
		*(*end)++ = (char *)otherwise;
	return all;
}

static char **add_library_folder(char **to, const char *folder)
{
	*to++ = joined("-L", folder, "");
	*to++ = joined("-Wl,-rpath,", folder, "");
	return to;
}

static int become(char **all)
{
	execvp(all[0], all);
	return weft_cli_complain(errno == ENOENT ? STATUS_NOT_FOUND :
				 STATUS_CANNOT_RUN, all[0], strerror(errno));
}

int weft_cli_compile(int argc, char **argv)
{
	static char std[] = "-std=gnu11", plan9[] = "-lweft-plan9", weft[] = "-lweft";
	static struct places p;
	char **all, **to;

	if (is_help(argv[1])) {
		puts("Usage: weft 9c [OPTION OF THE COMPILER...] FILE...\n"
		     "Compiles and links a program that was written for thread(3) of "
		     "Plan 9 from User\nSpace, with the compiler in CC, else cc. "
		     "weft-plan9(7) says what there is.");
		return argv[1] ? 0 : STATUS_OWN;
	}
	find(&p, LIBRARY);
	if (!weft_cli_has(p.include, HEADER))
		return weft_cli_complain(STATUS_OWN, p.include, "weft/plan9/u.h is not there");
	all = begin_words(argc, "CC", "cc", &to);
	if (!all)
		return weft_cli_complain(STATUS_OWN, "9c", strerror(ENOMEM));
	*to++ = std;
	*to++ = joined("-I", p.include, "/weft/plan9");
	*to++ = joined("-I", p.include, "");
	for (int i = 1; i < argc; i++)
		*to++ = argv[i];
	if (links(argv)) {
		to = add_library_folder(to, p.lib);
		*to++ = plan9;
		*to++ = weft;
	}
	return become(all);
}

/* By the first words that it prints of itself. words: of the command, such as "ccache clang" */
static int is_clang(char **words)
{
	char *command = NULL, line[256] = "";
	size_t bytes;
	FILE *to = open_memstream(&command, &bytes), *from = NULL;

	for (; to && *words; words++)
		fprintf(to, "'%s' ", *words);
	if (to)
		fputs("--version 2>/dev/null", to);
	if (to && fclose(to) == 0)
		from = popen(command, "r");
	if (from) {
		if (!fgets(line, sizeof(line), from))
			line[0] = 0;
		(void)pclose(from);
	}
	free(command);
	return strstr(line, "clang") != NULL;
}

/* As a shell reads it. */
static void print_word(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";

	if (*word && !word[strspn(word, plain)]) {
		fputs(word, stdout);
		return;
	}
	putchar('\'');
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*word);
	putchar('\'');
}

static int print_words(char **all)
{
	for (; *all; all++)
		print_word(*all), putchar(all[1] ? ' ' : '\n');
	return 0;
}

static char **add_all(char **to, const char *const *words)
{
	while (*words)
		*to++ = (char *)*words++;
	return to;
}

int weft_cli_compile_points(int argc, char **argv)
{
	static const char *const hooks[] = { "-g", "-fsanitize=thread", NULL };
	static const char *const of_gcc[] = { "-Wno-tsan", "-nodefaultlibs", NULL };
	static const char *const of_clang[] = { "-fno-sanitize-link-runtime", NULL };
	static const char *const points[] = { "-lweft-points", NULL };
	static const char *const cxx[] = { "-lstdc++", "-lm", NULL };
	static const char *const rest[] = { "-lc", "-lgcc", "-Wl,--as-needed", "-lgcc_s",
					    NULL };
	const int is_cxx = strstr(argv[0], "c++") != NULL;
	const char *name = is_cxx ? "c++" : "cc";
	int prints = argc > 1 && strcmp(argv[1], "--print") == 0, clang;
	static struct places p;
	char **all, **to;

	if (is_help(argv[1 + prints])) {
		printf("Usage: weft %s [--print] [OPTION OF THE COMPILER...] FILE...\n"
		       "Compiles and links a program so that weft explore sees its accesses "
		       "to memory, with\nthe compiler in %s, else %s. It adds -g and "
		       "-fsanitize=thread, and links weft's library\nlibweft-points in the "
		       "place of the compiler's. --print prints the command.\n",
		       name, is_cxx ? "CXX" : "CC", name);
		return argv[1 + prints] ? 0 : STATUS_OWN;
	}
	find(&p, POINTS);
	if (!weft_cli_has(p.lib, POINTS))
		return weft_cli_complain(STATUS_OWN, p.lib, POINTS " is not there");
	all = begin_words(argc, is_cxx ? "CXX" : "CC", name, &to);
	if (!all)
		return weft_cli_complain(STATUS_OWN, name, strerror(ENOMEM));
	clang = is_clang(all);
	to = add_all(to, hooks);
	if (!clang)
		to = add_all(to, of_gcc);
	else if (links(argv))
		to = add_all(to, of_clang);
	for (int i = 1 + prints; i < argc; i++)
		*to++ = argv[i];
	if (links(argv)) {
		to = add_library_folder(to, p.lib);
		to = add_all(to, points);
		if (is_cxx && !clang)
			to = add_all(to, cxx);
		if (!clang)
			to = add_all(to, rest);
	}
	return prints ? print_words(all) : become(all);
}
