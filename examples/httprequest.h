/* SPDX-License-Identifier: MIT */
/* httprequest.h - the head of an HTTP/1.1 request, taken apart */
#ifndef WEFT_EXAMPLES_HTTPREQUEST_H
#define WEFT_EXAMPLES_HTTPREQUEST_H

#include <stddef.h>
#include <sys/types.h>

#define HTTP_HEAD_MAX	8192	/* bytes of a request's head */
#define HTTP_PATH_MAX	1024

struct http_request {
	int status;		/* 0: good; else what to answer */
	int is_head;		/* HEAD rather than GET */
	int keep_alive;
	int has_range;
	off_t first, last;	/* of the range; -1: not given */
	char path[HTTP_PATH_MAX];	/* decoded, without its leading slash */
	char since[64];		/* If-Modified-Since, or "" */
};

/* Where the head ends that begins at buf: its length, or 0: not there yet. */
size_t http_head_length(const char *buf, size_t bytes);

/* head ends with its empty line. */
void http_request_parse(struct http_request *r, const char *head, size_t bytes);

#endif
