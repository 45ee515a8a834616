/* SPDX-License-Identifier: MIT */
/* httprequest.c - the head of an HTTP/1.1 request, taken apart */
#define _GNU_SOURCE 1
#include "httprequest.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A part of the head; not ended by 0. */
struct text {
	const char *at;
	size_t bytes;
};

static int is(struct text t, const char *word)
{
	return t.bytes == strlen(word) && !memcmp(t.at, word, t.bytes);
}

static int is_word(struct text t, const char *word)
{
	return t.bytes == strlen(word) && !strncasecmp(t.at, word, t.bytes);
}

/* Up to `end`, which is skipped; everything if it does not come. */
static struct text cut(struct text *from, const char *end)
{
	const char *found = memmem(from->at, from->bytes, end, strlen(end));
	struct text t = *from;
	size_t skip;

	t.bytes = found ? (size_t)(found - from->at) : from->bytes;
	skip = found ? t.bytes + strlen(end) : t.bytes;
	from->at += skip;
	from->bytes -= skip;
	return t;
}

static struct text trim(struct text t)
{
	while (t.bytes && (*t.at == ' ' || *t.at == '\t'))
		t.at++, t.bytes--;
	while (t.bytes && (t.at[t.bytes - 1] == ' ' ||
			   t.at[t.bytes - 1] == '\t'))
		t.bytes--;
	return t;
}

size_t http_head_length(const char *buf, size_t bytes)
{
	const char *end = memmem(buf, bytes, "\r\n\r\n", 4);

	return end ? (size_t)(end - buf) + 4 : 0;
}

static int hex(char c)
{
	if (!isxdigit((unsigned char)c))
		return -1;
	return isdigit((unsigned char)c) ? c - '0' :
					   tolower((unsigned char)c) - 'a' + 10;
}

/* %41 is A. Returns -1 if it is not well formed, too long, or has a 0. */
static int decode(struct text t, char *to, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < t.bytes; i++) {
		int c = (unsigned char)t.at[i];

		if (c == '%') {
			int high = i + 2 < t.bytes ? hex(t.at[i + 1]) : -1;
			int low = high < 0 ? -1 : hex(t.at[i + 2]);

			if (low < 0)
				return -1;
			c = high * 16 + low;
			i += 2;
		}
		if (c == 0 || n + 1 >= size)
			return -1;
		to[n++] = (char)c;
	}
	to[n] = 0;
	return 0;
}

/* "..", wherever a folder's name can stand, leads out of the root. */
static int leads_out(const char *path)
{
	for (const char *at = path; ; at++) {
		size_t n = strcspn(at, "/");

		if (n == 2 && at[0] == '.' && at[1] == '.')
			return 1;
		at += n;
		if (!*at)
			return 0;
	}
}

static int parse_target(struct http_request *r, struct text target)
{
	if (target.bytes >= 7 && !strncasecmp(target.at, "http://", 7)) {
		target.at += 7;
		target.bytes -= 7;
		while (target.bytes && *target.at != '/')
			target.at++, target.bytes--;
	}
	target = cut(&target, "?");
	if (target.bytes == 0 || *target.at != '/')
		return 400;
	while (target.bytes && *target.at == '/')
		target.at++, target.bytes--;
	if (decode(target, r->path, sizeof(r->path)) != 0 ||
	    r->path[0] == '/' || leads_out(r->path))
		return 400;
	return 0;
}

static int parse_request_line(struct http_request *r, struct text line)
{
	struct text method = cut(&line, " "), target = cut(&line, " ");
	int status;

	if (is(line, "HTTP/1.1"))
		r->keep_alive = 1;
	else if (!is(line, "HTTP/1.0"))
		return line.bytes > 5 && !memcmp(line.at, "HTTP/", 5) ? 505 :
									 400;
	status = parse_target(r, target);
	if (status)
		return status;
	r->is_head = is(method, "HEAD");
	return r->is_head || is(method, "GET") ? 0 : 405;
}

/* -1: none. */
static off_t number(struct text t)
{
	off_t n = 0;

	if (t.bytes == 0 || t.bytes > 18)
		return -1;
	for (size_t i = 0; i < t.bytes; i++) {
		if (!isdigit((unsigned char)t.at[i]))
			return -1;
		n = n * 10 + (t.at[i] - '0');
	}
	return n;
}

/* One range; what is more, or not understood, is left out, as one may. */
static void parse_range(struct http_request *r, struct text value)
{
	struct text unit = cut(&value, "="), first;

	if (!is_word(unit, "bytes") || memchr(value.at, ',', value.bytes) ||
	    !memchr(value.at, '-', value.bytes))
		return;
	first = cut(&value, "-");
	r->first = number(first);
	r->last = number(value);
	r->has_range = (r->first >= 0 || first.bytes == 0) &&
		       (r->last >= 0 || value.bytes == 0) &&
		       (r->first >= 0 || r->last >= 0) &&
		       (r->first < 0 || r->last < 0 || r->first <= r->last);
}

/* Returns 1 if it is the Host field, which there must be; -1: not a field. */
static int parse_field(struct http_request *r, struct text line)
{
	struct text name = cut(&line, ":"), value = trim(line);

	if (name.bytes == 0 || line.at == name.at + name.bytes ||
	    memchr(name.at, ' ', name.bytes) ||
	    memchr(name.at, '\t', name.bytes))
		return -1;
	if (is_word(name, "Connection")) {
		if (is_word(value, "close"))
			r->keep_alive = 0;
		else if (is_word(value, "keep-alive"))
			r->keep_alive = 1;
	} else if (is_word(name, "Range")) {
		parse_range(r, value);
	} else if (is_word(name, "If-Modified-Since")) {
		if (value.bytes < sizeof(r->since))
			memcpy(r->since, value.at, value.bytes);
	} else if ((is_word(name, "Content-Length") && number(value) != 0) ||
		   is_word(name, "Transfer-Encoding")) {
		/* A body that nobody reads would be taken for a request. */
		r->keep_alive = 0;
	}
	return is_word(name, "Host");
}

void http_request_parse(struct http_request *r, const char *head, size_t bytes)
{
	struct text rest = { head, bytes };
	int hosts = 0, is_new;

	memset(r, 0, sizeof(*r));
	r->first = r->last = -1;
	r->status = parse_request_line(r, cut(&rest, "\r\n"));
	is_new = r->keep_alive;
	for (;;) {
		struct text line = cut(&rest, "\r\n");
		int host;

		if (line.bytes == 0)
			break;
		host = parse_field(r, line);
		if (host < 0)
			r->status = 400;
		hosts += host > 0;
	}
	if (!r->status && (hosts > 1 || (is_new && hosts == 0)))
		r->status = 400;
	if (r->status && r->status != 405)
		r->keep_alive = 0;
}
