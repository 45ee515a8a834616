/* SPDX-License-Identifier: MIT */
/*
 * httpd.c - files over HTTP/1.1, a thread a connection
 *
 * usage: httpd [-p PORT] [-t SECONDS] FOLDER
 *
 * GET and HEAD, connections that are kept, ranges, If-Modified-Since. A peer has
 * -t seconds (10) for the head of a request, and to take each piece of an answer.
 * SIGTERM lets answers that have begun end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <weft.h>

#include "httprequest.h"
#include "server.h"

#define PIECE	(256 * 1024)	/* of an answer; each has its own deadline */
#define DATE	"%a, %d %b %Y %H:%M:%S GMT"

static const char *root;
static int64_t patience_ns = WEFT_SECONDS(10);

/* What goes over a connection; `head` may hold the next request already. */
struct peer {
	int fd;
	size_t bytes;
	char head[HTTP_HEAD_MAX];
};

struct answer {
	int status;
	int file;		/* -1: none */
	off_t from, length;	/* of the body */
	off_t size;		/* of the file */
	const char *type;
	char modified[64];
};

static const char *reason(int status)
{
	static const struct {
		int status;
		const char *text;
	} reasons[] = {
		{ 200, "OK" }, { 206, "Partial Content" },
		{ 304, "Not Modified" }, { 400, "Bad Request" },
		{ 403, "Forbidden" }, { 404, "Not Found" },
		{ 405, "Method Not Allowed" }, { 408, "Request Timeout" },
		{ 416, "Range Not Satisfiable" },
		{ 431, "Request Header Fields Too Large" },
		{ 500, "Internal Server Error" },
		{ 505, "HTTP Version Not Supported" },
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].status == status)
			return reasons[i].text;
	return "Error";
}

static const char *type_of(const char *path)
{
	static const char *const types[][2] = {
		{ ".html", "text/html; charset=utf-8" },
		{ ".txt", "text/plain; charset=utf-8" },
		{ ".css", "text/css" }, { ".js", "text/javascript" },
		{ ".json", "application/json" }, { ".svg", "image/svg+xml" },
		{ ".png", "image/png" }, { ".jpg", "image/jpeg" },
	};
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcasecmp(dot, types[i][0]))
			return types[i][1];
	return "application/octet-stream";
}

/* 200, or what is wrong with it. */
static int open_file(struct answer *a, const char *path)
{
	char full[HTTP_PATH_MAX + 4096];
	size_t n = strlen(path);
	const char *index = n == 0 || path[n - 1] == '/' ? "index.html" : "";
	struct tm tm;
	struct stat st;

	if ((size_t)snprintf(full, sizeof(full), "%s/%s%s", root, path,
			     index) >= sizeof(full))
		return 404;
	/* A FIFO without a writer must not keep us. */
	a->file = weft_open(full, O_RDONLY | O_NONBLOCK, 0);
	if (a->file == -EACCES)
		return 403;
	if (a->file < 0)
		return a->file == -EMFILE || a->file == -ENFILE ? 500 : 404;
	if (fstat(a->file, &st) != 0 || !S_ISREG(st.st_mode))
		return 404;
	a->size = a->length = st.st_size;
	a->type = type_of(full);
	strftime(a->modified, sizeof(a->modified), DATE,
		 gmtime_r(&st.st_mtime, &tm));
	return 200;
}

static int take_range(struct answer *a, const struct http_request *r)
{
	off_t first = r->first, last = r->last;

	if (first < 0) {	/* the last so many */
		first = last < a->size ? a->size - last : 0;
		last = a->size - 1;
	}
	if (last < 0 || last >= a->size)
		last = a->size - 1;
	if (first > last)
		return 416;
	a->from = first;
	a->length = last - first + 1;
	return 206;
}

static void find_answer(struct answer *a, const struct http_request *r)
{
	*a = (struct answer){ .status = r->status, .file = -1 };
	if (!a->status)
		a->status = open_file(a, r->path);
	if (a->status == 200 && r->since[0] && !strcmp(r->since, a->modified))
		a->status = 304;
	if (a->status == 200 && r->has_range)
		a->status = take_range(a, r);
	if (a->status != 200 && a->status != 206)
		a->length = 0;
}

static int send_all(int fd, const char *buf, size_t bytes, int flags)
{
	return weft_send_until(fd, buf, bytes, flags | MSG_NOSIGNAL,
			       weft_deadline(patience_ns)) == (ssize_t)bytes ?
	       0 : -1;
}

static size_t put_fields(const struct answer *a, char *to, size_t size)
{
	size_t n = 0;

	if (a->status == 405)
		n += (size_t)snprintf(to + n, size - n,
				      "Allow: GET, HEAD\r\n");
	if (a->status == 206)
		n += (size_t)snprintf(to + n, size - n, "Content-Range: "
				      "bytes %lld-%lld/%lld\r\n",
				      (long long)a->from, (long long)
				      (a->from + a->length - 1),
				      (long long)a->size);
	if (a->status == 416)
		n += (size_t)snprintf(to + n, size - n, "Content-Range: "
				      "bytes */%lld\r\n", (long long)a->size);
	if (a->modified[0])
		n += (size_t)snprintf(to + n, size - n, "Last-Modified: %s\r\n"
				      "Accept-Ranges: bytes\r\n",
				      a->modified);
	if (a->type && a->status < 300)
		n += (size_t)snprintf(to + n, size - n,
				      "Content-Type: %s\r\n", a->type);
	if (a->status != 304)
		n += (size_t)snprintf(to + n, size - n,
				      "Content-Length: %lld\r\n",
				      (long long)a->length);
	return n;
}

static int send_head(int fd, const struct answer *a, int keep_alive, int more)
{
	char head[1024], date[64];
	time_t now = time(NULL);
	struct tm tm;
	size_t n;

	strftime(date, sizeof(date), DATE, gmtime_r(&now, &tm));
	n = (size_t)snprintf(head, sizeof(head), "HTTP/1.1 %d %s\r\n"
			     "Date: %s\r\nConnection: %s\r\n", a->status,
			     reason(a->status), date,
			     keep_alive ? "keep-alive" : "close");
	n += put_fields(a, head + n, sizeof(head) - n);
	n += (size_t)snprintf(head + n, sizeof(head) - n, "\r\n");
	return send_all(fd, head, n, more ? MSG_MORE : 0);
}

static int send_body(int fd, const struct answer *a)
{
	off_t at = a->from, end = a->from + a->length;

	while (at < end) {
		size_t bytes = end - at < PIECE ? (size_t)(end - at) : PIECE;

		if (weft_sendfile_until(fd, a->file, &at, bytes, weft_clock() +
					patience_ns) != (ssize_t)bytes)
			return -1;	/* slow, gone, or the file shrank */
	}
	return 0;
}

/* Returns 1 when the connection goes on. */
static int respond(int fd, const struct http_request *r)
{
	struct answer a;
	int has_body, error;

	find_answer(&a, r);
	has_body = a.length > 0 && !r->is_head;
	error = send_head(fd, &a, r->keep_alive, has_body);
	if (!error && has_body)
		error = send_body(fd, &a);
	if (a.file >= 0)
		weft_close(a.file);
	return !error && r->keep_alive;
}

/*
 * Returns the length of the head at the beginning of p->head, 0 when the peer has
 * ended, or minus a status. A silent peer has its time; one that has begun a
 * request has no more for the rest of it.
 */
static int receive_head(struct peer *p)
{
	int64_t deadline = weft_deadline(patience_ns);

	for (;;) {
		size_t length = http_head_length(p->head, p->bytes);
		ssize_t n;

		if (length)
			return (int)length;
		if (p->bytes == sizeof(p->head))
			return -431;
		n = weft_recv_until(p->fd, p->head + p->bytes,
				    sizeof(p->head) - p->bytes, 0, deadline);
		if (n == -ETIMEDOUT && p->bytes > 0)
			return -408;
		if (n <= 0)
			return 0;
		p->bytes += (size_t)n;
	}
}

/* What the peer still sends would make the kernel take the answer back. */
static void linger(struct peer *p)
{
	int64_t deadline = weft_deadline(WEFT_SECONDS(1));

	shutdown(p->fd, SHUT_WR);
	while (weft_recv_until(p->fd, p->head, sizeof(p->head), 0, deadline) >
	       0)
		;
}

static void serve(int fd)
{
	struct peer *p = malloc(sizeof(*p));
	struct http_request *r = malloc(sizeof(*r));
	int goes_on = p && r;

	if (goes_on) {
		p->fd = fd;
		p->bytes = 0;
	}
	while (goes_on) {
		int length = receive_head(p);

		if (length == 0)
			break;
		if (length < 0) {
			*r = (struct http_request){ .status = -length };
			goes_on = 0;
		} else {
			http_request_parse(r, p->head, (size_t)length);
			p->bytes -= (size_t)length;
			memmove(p->head, p->head + length, p->bytes);
		}
		goes_on = respond(fd, r);
		if (!goes_on)
			linger(p);
	}
	free(r);
	free(p);
}

static int usage(void)
{
	fprintf(stderr, "usage: httpd [-p PORT] [-t SECONDS] FOLDER\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct server_options options = {
		.port = 8080, .grace_ns = WEFT_SECONDS(5), .serve = serve,
	};
	int option;

	while ((option = getopt(argc, argv, "p:t:")) != -1) {
		if (option == 'p')
			options.port = (uint16_t)atoi(optarg);
		else if (option == 't' && atof(optarg) > 0)
			patience_ns = (int64_t)(atof(optarg) * 1e9);
		else
			return usage();
	}
	if (optind != argc - 1)
		return usage();
	root = argv[optind];
	return server_run(&options);
}
