/* SPDX-License-Identifier: MIT */
/* cli/numbers.c - numbers and times on the command line */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

#define NS_PER_S	1e9
#define NS_MOST		(1e8 * NS_PER_S)

long weft_cli_number(struct argp_state *state, const char *text, long least, long most)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	if (*end || end == text || errno || number < least || number > most)
		argp_error(state, "%s is not a number from %ld to %ld", text, least, most);
	return number;
}

double weft_cli_seconds(struct argp_state *state, const char *text)
{
	char *end;
	const double seconds = strtod(text, &end);

	if (*end || end == text || !(seconds >= 0.01) || !(seconds <= 1e6))
		argp_error(state, "%s is not a time in seconds", text);
	return seconds;
}

int64_t weft_cli_time(struct argp_state *state, const char *text, int64_t least_ns)
{
	static const struct { const char *name; double ns; } units[] = {
		{ "", NS_PER_S }, { "us", 1e3 }, { "ms", 1e6 }, { "s", NS_PER_S },
		{ "m", 60 * NS_PER_S }, { "min", 60 * NS_PER_S }, { "h", 3600 * NS_PER_S },
	};
	char *end;
	const double time = strtod(text, &end);

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		const double ns = time * units[i].ns;

		if (end != text && strcmp(end, units[i].name) == 0 &&
		    ns >= (double)least_ns && ns < NS_MOST)
			return (int64_t)ns;
	}
	argp_error(state, "%s is not a time such as 500ms or 10s", text);
	return 0;
}
