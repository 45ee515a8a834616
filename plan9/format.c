/* SPDX-License-Identifier: MIT */
/* plan9/format.c - a format is read: flags, width, precision and sizes of each verb */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

#include "verbs.h"

#define VERBS	128

typedef int verb_fn(Fmt *f);

static verb_fn *_Atomic verbs[VERBS];		/* of fmtinstall() */

static const char *read_flags(Fmt *f, const char *at)
{
	static const char names[] = "-+# 0,'";
	static const ulong flags[] = { FmtLeft, FmtSign, FmtSharp, FmtSpace,
				       FmtZero, FmtComma, FmtComma };
	const char *found;

	for (; *at && (found = strchr(names, *at)); at++)
		f->flags |= flags[found - names];
	return at;
}

static const char *read_count(Fmt *f, const char *at, int *to)
{
	*to = 0;
	if (*at == '*') {
		*to = va_arg(f->args, int);
		return at + 1;
	}
	for (; *at >= '0' && *at <= '9'; at++)
		*to = *to < 1000000 ? *to * 10 + *at - '0' : *to;
	return at;
}

static const char *read_sizes(Fmt *f, const char *at)
{
	for (;; at++) {
		if (*at == 'l')
			f->flags |= f->flags & FmtLong ? FmtVLong : FmtLong;
		else if (*at == 'h')
			f->flags |= f->flags & FmtShort ? FmtByte : FmtShort;
		else if (*at == 'z')
			f->flags |= FmtLong;
		else if (*at == 'u' && at[1] && strchr("dxXobhlu", at[1]))
			f->flags |= FmtUnsigned;
		else
			return at;
	}
}

/* One verb, from behind its '%'. Returns what is behind it. */
static const char *do_verb(Fmt *f, const char *at, int saved)
{
	verb_fn *own;
	Rune r;

	f->flags = 0;
	at = read_flags(f, at);
	if (*at == '*' || (*at >= '1' && *at <= '9')) {
		f->flags |= FmtWidth;
		at = read_count(f, at, &f->width);
		if (f->width < 0) {
			f->flags |= FmtLeft;
			f->width = f->width == INT_MIN ? INT_MAX : -f->width;
		}
	}
	if (*at == '.') {
		f->flags |= FmtPrec;
		at = read_count(f, at + 1, &f->prec);
		if (f->prec < 0)
			f->flags &= ~(ulong)FmtPrec;
	}
	at = read_sizes(f, at);
	if (!*at)
		return at;
	at += weft_plan9_chartorune(&r, at);
	f->r = (int)r;
	own = r < VERBS ? atomic_load(&verbs[r]) : NULL;
	if (own)
		(void)own(f);
	else
		plan9_put_verb(f, saved);
	return at;
}

void plan9_format(Fmt *f, const char *format)
{
	const int saved = errno;

	while (*format) {
		size_t n = strcspn(format, "%");

		plan9_put(f, format, n);
		format += n;
		if (*format)
			format = do_verb(f, format + 1, saved);
	}
	errno = saved;
}

int weft_plan9_fmtinstall(int verb, int (*fn)(Fmt *f))
{
	if (verb < 0 || verb >= VERBS)
		return -1;
	atomic_store(&verbs[verb], fn);
	return 0;
}

int weft_plan9_fmtvprint(Fmt *f, const char *format, va_list args)
{
	Fmt inner = *f;

	va_copy(inner.args, args);
	plan9_format(&inner, format);
	va_end(inner.args);
	f->start = inner.start;
	f->to = inner.to;
	f->stop = inner.stop;
	f->farg = inner.farg;
	f->is_cut = inner.is_cut;
	return f->is_cut ? -1 : 0;
}
