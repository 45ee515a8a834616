/* SPDX-License-Identifier: MIT */
/* cli/maps.c - which files a process has mapped, as /proc tells it */
#include "cli.h"

#include <stdlib.h>

char *weft_cli_maps(long pid, size_t *bytes)
{
	char path[64], part[4096], *text = NULL;
	size_t n;
	FILE *from, *to;

	*bytes = 0;
	snprintf(path, sizeof(path), "/proc/%ld/maps", pid);
	from = fopen(path, "re");
	if (!from)
		return NULL;
	to = open_memstream(&text, bytes);
	while (to && (n = fread(part, 1, sizeof(part), from)) > 0)
		fwrite(part, 1, n, to);
	fclose(from);
	if (to && fclose(to) == 0 && *bytes > 0)
		return text;
	free(text);
	return NULL;
}
