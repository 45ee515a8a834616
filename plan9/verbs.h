/* SPDX-License-Identifier: MIT */
/* plan9/verbs.h - the text of each verb of a format */
#ifndef WEFT_PLAN9_VERBS_H
#define WEFT_PLAN9_VERBS_H

#include <stddef.h>

#define WEFT_PLAN9_NO_NAMES
#include <weft/plan9/libc.h>

#define PLAN9_ROOM	512	/* bytes of a text that need no heap */

/* Adds n bytes to the text, or as many as there is room for. */
void plan9_put(Fmt *f, const char *text, size_t n);

/* Adds the text of the verb f->r, with f's flags. `saved` is the errno of "%r". */
void plan9_put_verb(Fmt *f, int saved);

/* Adds all that the format says, from the arguments f->args. errno stays. */
void plan9_format(Fmt *f, const char *format);

#endif
