/* SPDX-License-Identifier: MIT */
/*
 * cli/tools.c - the commands that weft-tools does
 *
 * They need libraries for the terminal, for debugging information and for protobuf. To load
 * these took half of the time of weft run. The program weft-tools is linked with them, and
 * weft becomes it by exec. Its argv[0] is the path of weft, since all other files of weft are
 * found from there (cli/place.c).
 *
 * Rejected: dlopen(). All calls of the libraries would go by pointers.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME	"weft-tools"

/* In a build tree it lies beside weft. */
static void find_tools(char found[PATH_MAX + sizeof("/" NAME)])
{
	static const char *const from_here[] = { "", WEFT_TOOLSDIR_FROM_BINDIR };

	for (size_t i = 0; i < sizeof(from_here) / sizeof(*from_here); i++)
		if (weft_cli_folder(found, from_here[i], NAME)) {
			strcat(found, "/" NAME);
			return;
		}
	strcpy(found, WEFT_TOOLSDIR "/" NAME);
}

int weft_cli_tools(int argc, char **argv)
{
	char tools[PATH_MAX + sizeof("/" NAME)], self[PATH_MAX];
	char **more = calloc((size_t)argc + 2, sizeof(*more));

	if (!more)
		return weft_cli_complain(STATUS_OWN, NAME, strerror(errno));
	find_tools(tools);
	more[0] = weft_cli_self(self) ? self : argv[0];
	more[1] = argv[0] + strlen("weft ");	/* argv[0] names the command */
	memcpy(more + 2, argv + 1, (size_t)(argc - 1) * sizeof(*more));
	execv(tools, more);

	const int error = errno;

	free(more);
	return weft_cli_complain(STATUS_OWN, tools, strerror(error));
}
