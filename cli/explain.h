/* SPDX-License-Identifier: MIT */
/* cli/explain.h - adds to the lines of a dump what can be found out from outside */
#ifndef WEFT_CLI_EXPLAIN_H
#define WEFT_CLI_EXPLAIN_H

#include <stdio.h>

struct weft_explain;

/* NULL: no memory. all_frames: weft's own calls too. */
struct weft_explain *weft_cli_explain_begin(FILE *to, long pid, int all_frames);

/* A line, without its end. */
void weft_cli_explain_line(struct weft_explain *x, const char *line);

/* Prints what is left. */
void weft_cli_explain_end(struct weft_explain *x);

#endif
