/* SPDX-License-Identifier: MIT */
/* base/format.c - text from numbers, in signal handlers too */
#include "base/format.h"

#include <stdbool.h>
#include <stdint.h>

struct out {
	char *at, *end;		/* end: the last place for the NUL */
};

struct spec {
	bool left, zero;
	int width;
	int precision;		/* -1: none */
	char length;		/* 0, 'l' (long, as wide as long long) or 'z' */
};

_Static_assert(sizeof(long) == sizeof(long long) &&
	       sizeof(long) == sizeof(size_t), "l, ll and z are one length");

static void put(struct out *o, char c)
{
	if (o->at < o->end)
		*o->at++ = c;
}

static void pad(struct out *o, char c, int count)
{
	while (count-- > 0 && o->at < o->end)
		*o->at++ = c;
}

static void put_field(struct out *o, const struct spec *s, const char *sign,
		      const char *text, int length)
{
	int sign_length = 0;

	while (sign[sign_length])
		sign_length++;

	int fill = s->width - length - sign_length;

	if (!s->left && !s->zero)
		pad(o, ' ', fill);
	for (int i = 0; i < sign_length; i++)
		put(o, sign[i]);
	if (!s->left && s->zero)
		pad(o, '0', fill);
	for (int i = 0; i < length; i++)
		put(o, text[i]);
	if (s->left)
		pad(o, ' ', fill);
}

static void put_number(struct out *o, const struct spec *s, const char *sign,
		       uint64_t value, unsigned base)
{
	char digits[20];	/* 2^64 has as many */
	int first = sizeof(digits);

	do {
		digits[--first] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value != 0);
	put_field(o, s, sign, digits + first, (int)sizeof(digits) - first);
}

static void put_signed(struct out *o, const struct spec *s, int64_t value)
{
	if (value < 0)
		put_number(o, s, "-", 0 - (uint64_t)value, 10);
	else
		put_number(o, s, "", (uint64_t)value, 10);
}

static void put_string(struct out *o, struct spec *s, const char *text)
{
	int length = 0;

	if (!text)
		text = "(null)";
	while ((s->precision < 0 || length < s->precision) && text[length])
		length++;
	s->zero = false;
	put_field(o, s, "", text, length);
}

static const char *parse_int(const char *f, int *value, va_list *args)
{
	if (*f == '*') {
		*value = va_arg(*args, int);
		return f + 1;
	}
	for (; *f >= '0' && *f <= '9'; f++)
		if (*value < WEFTI_PRINT_MOST)	/* larger makes no difference */
			*value = *value * 10 + (*f - '0');
	return f;
}

/* f is behind the %. Returns the position of the conversion's letter. */
static const char *parse_spec(const char *f, struct spec *s, va_list *args)
{
	*s = (struct spec){ .precision = -1 };
	for (; *f == '-' || *f == '0'; f++) {
		s->left |= *f == '-';
		s->zero |= *f == '0';
	}
	f = parse_int(f, &s->width, args);
	if (s->width < 0) {		/* only from *; as in printf */
		s->left = true;
		s->width = s->width < -WEFTI_PRINT_MOST ? WEFTI_PRINT_MOST :
							  -s->width;
	}
	if (*f == '.') {
		s->precision = 0;
		f = parse_int(f + 1, &s->precision, args);
	}
	if (*f == 'z')
		s->length = *f++;
	while (*f == 'l')
		s->length = *f++;
	return f;
}

/* Returns false at an unknown conversion; its argument is not consumed. */
static bool convert(struct out *o, struct spec *s, char letter, va_list *args)
{
	switch (letter) {
	case 'd':
	case 'i':
		put_signed(o, s, s->length ? va_arg(*args, int64_t) :
					     va_arg(*args, int));
		return true;
	case 'u':
	case 'x':
		put_number(o, s, "",
			   s->length ? va_arg(*args, uint64_t) :
				       va_arg(*args, unsigned),
			   letter == 'x' ? 16 : 10);
		return true;
	case 'p':
		put_number(o, s, "0x", (uintptr_t)va_arg(*args, void *), 16);
		return true;
	case 's':
		put_string(o, s, va_arg(*args, const char *));
		return true;
	case 'c':
		s->zero = false;
		put_field(o, s, "", &(char){ (char)va_arg(*args, int) }, 1);
		return true;
	case '%':
		put(o, '%');
		return true;
	default:
		return false;
	}
}

size_t wefti_vformat(char *buf, size_t size, const char *format, va_list args)
{
	struct out o = { buf, buf };
	const char *f = format;
	struct spec s;
	va_list rest;

	if (size == 0)
		return 0;
	o.end = buf + (size - 1);
	va_copy(rest, args);
	while (*f) {
		if (*f != '%') {
			put(&o, *f++);
			continue;
		}

		const char *letter = parse_spec(f + 1, &s, &rest);

		if (!convert(&o, &s, *letter, &rest))
			break;
		f = letter + 1;
	}
	while (*f)
		put(&o, *f++);
	va_end(rest);
	*o.at = 0;
	return (size_t)(o.at - buf);
}

size_t wefti_format(char *buf, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);

	size_t length = wefti_vformat(buf, size, format, args);

	va_end(args);
	return length;
}
