/* SPDX-License-Identifier: MIT */
/* test_httpd.c - examples/httpd: the answers to good, bad and slow clients */
#include <fcntl.h>
#include <sys/stat.h>

#include "server.h"

#define BIG	(2 * 1000 * 1000)

static struct server server;
static char folder[64];
static char *big;

static void put(const char *name, const char *text, size_t bytes)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT, 0644);
	server_check(fd >= 0);
	server_check(write(fd, text, bytes) == (ssize_t)bytes);
	close(fd);
}

static void make_folder(void)
{
	char path[128];

	strcpy(folder, "/tmp/weft-test-httpd-XXXXXX");
	server_check(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/root", folder);
	server_check(mkdir(path, 0755) == 0);
	put("secret.txt", "secret", 6);
	put("root/index.html", "<p>index", 8);
	put("root/a b.txt", "hello", 5);
	put("root/empty", "", 0);
	big = malloc(BIG);
	server_check(big != NULL);
	for (int i = 0; i < BIG; i++)
		big[i] = (char)(i * 13 % 251);
	put("root/big.bin", big, BIG);
}

static void remove_folder(void)
{
	static const char *const names[] = {
		"secret.txt", "root/index.html", "root/a b.txt", "root/empty",
		"root/big.bin", "root",
	};
	char path[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		server_check(remove(path) == 0);
	}
	server_check(remove(folder) == 0);
	free(big);
}

static int begin(const char *seconds)
{
	char root[128];
	char *const argv[] = {
		"examples/httpd", "-p", "0", "-t", (char *)(uintptr_t)seconds,
		root, NULL,
	};

	make_folder();
	snprintf(root, sizeof(root), "%s/root", folder);
	if (server_start(&server, argv) == 0)
		return 0;
	remove_folder();
	return -1;
}

static void end(void)
{
	CU_ASSERT_EQUAL(server_stop(&server), 0);
	remove_folder();
}

static int dial(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	server_check(fd >= 0);
	server_check(connect(fd, (struct sockaddr *)&server.address,
			     sizeof(server.address)) == 0);
	return fd;
}

static void say(int fd, const char *text)
{
	size_t n = strlen(text);

	server_check(send(fd, text, n, MSG_NOSIGNAL) == (ssize_t)n);
}

struct reply {
	int status;
	long length;		/* Content-Length; -1: none */
	char head[2048];
	char *body;		/* BIG bytes of room */
};

static char body_room[BIG + 1];

/* One answer; of a HEAD there is no body. Status 0: the end. */
static void hear(int fd, struct reply *r, int is_head)
{
	size_t n = 0;
	const char *field;

	*r = (struct reply){ .length = -1, .body = body_room };
	while (n < sizeof(r->head) - 1 && recv(fd, r->head + n, 1, 0) == 1) {
		r->head[++n] = 0;
		if (n >= 4 && !strcmp(r->head + n - 4, "\r\n\r\n"))
			break;
	}
	if (sscanf(r->head, "HTTP/1.1 %d", &r->status) != 1)
		return;
	field = strstr(r->head, "Content-Length: ");
	if (field)
		r->length = atol(field + 16);
	if (r->length > 0 && !is_head)
		server_check(r->length <= BIG &&
			     recv(fd, r->body, (size_t)r->length,
				  MSG_WAITALL) == r->length);
	r->body[is_head || r->length < 0 ? 0 : r->length] = 0;
}

/* A request on a connection of its own. */
static struct reply ask(const char *request)
{
	struct reply r;
	int fd = dial();

	say(fd, request);
	hear(fd, &r, !strncmp(request, "HEAD", 4));
	close(fd);
	return r;
}

#define HOST	"Host: x\r\n"

static void files_are_found_and_nothing_else(void)
{
	static const struct {
		const char *request;
		int status;
		const char *body;	/* NULL: any */
	} asked[] = {
		{ "GET / HTTP/1.1\r\n" HOST "\r\n", 200, "<p>index" },
		{ "GET /index.html?q=1 HTTP/1.1\r\n" HOST "\r\n", 200,
		  "<p>index" },
		{ "GET http://x/a%20b.txt HTTP/1.1\r\n" HOST "\r\n", 200,
		  "hello" },
		{ "GET /empty HTTP/1.0\r\n\r\n", 200, "" },
		{ "HEAD /a%20b.txt HTTP/1.1\r\n" HOST "\r\n", 200, "" },
		{ "GET /nothing HTTP/1.1\r\n" HOST "\r\n", 404, "" },
		{ "GET /../secret.txt HTTP/1.1\r\n" HOST "\r\n", 400, "" },
		{ "GET /%2e%2e/secret.txt HTTP/1.1\r\n" HOST "\r\n", 400, "" },
		{ "GET /x/..%2f../secret.txt HTTP/1.1\r\n" HOST "\r\n", 400,
		  "" },
		{ "GET /%2ftmp HTTP/1.1\r\n" HOST "\r\n", 400, "" },
		{ "GET /a%00b HTTP/1.1\r\n" HOST "\r\n", 400, "" },
		{ "GET /%zz HTTP/1.1\r\n" HOST "\r\n", 400, "" },
		{ "GET x HTTP/1.1\r\n" HOST "\r\n", 400, "" },
		{ "GET / HTTP/1.1\r\n\r\n", 400, "" },
		{ "GET / HTTP/1.1\r\n" HOST HOST "\r\n", 400, "" },
		{ "GET / HTTP/1.1\r\n" HOST "no colon\r\n\r\n", 400, "" },
		{ "GET / HTTP/2.0\r\n" HOST "\r\n", 505, "" },
		{ "nonsense\r\n\r\n", 400, "" },
		{ "POST / HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n", 405,
		  "" },
		{ "DELETE / HTTP/1.1\r\n" HOST "\r\n", 405, "" },
	};

	if (begin("10") != 0)
		return;
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		struct reply r = ask(asked[i].request);

		if (r.status != asked[i].status)
			printf("    %s", asked[i].request);
		CU_ASSERT_EQUAL(r.status, asked[i].status);
		CU_ASSERT_STRING_EQUAL(r.body, asked[i].body);
	}
	end();
}

static void ranges_and_dates_are_kept_to(void)
{
	struct reply r;
	char request[256], *modified;

	if (begin("10") != 0)
		return;
	r = ask("GET /big.bin HTTP/1.1\r\n" HOST "\r\n");
	CU_ASSERT_EQUAL(r.length, BIG);
	CU_ASSERT_EQUAL(memcmp(r.body, big, BIG), 0);
	r = ask("GET /big.bin HTTP/1.1\r\n" HOST "Range: bytes=5-9\r\n\r\n");
	CU_ASSERT_EQUAL(r.status, 206);
	CU_ASSERT_EQUAL(r.length, 5);
	CU_ASSERT_EQUAL(memcmp(r.body, big + 5, 5), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(r.head,
				      "Content-Range: bytes 5-9/2000000"));
	r = ask("GET /big.bin HTTP/1.1\r\n" HOST "Range: bytes=-7\r\n\r\n");
	CU_ASSERT_EQUAL(r.length, 7);
	CU_ASSERT_EQUAL(memcmp(r.body, big + BIG - 7, 7), 0);
	r = ask("GET /big.bin HTTP/1.1\r\n" HOST
		"Range: bytes=1999990-\r\n\r\n");
	CU_ASSERT_EQUAL(r.length, 10);
	r = ask("GET /big.bin HTTP/1.1\r\n" HOST
		"Range: bytes=2000000-\r\n\r\n");
	CU_ASSERT_EQUAL(r.status, 416);
	r = ask("GET /big.bin HTTP/1.1\r\n" HOST "Range: bytes=9-5\r\n\r\n");
	CU_ASSERT_EQUAL(r.status, 200);
	r = ask("HEAD /big.bin HTTP/1.1\r\n" HOST "\r\n");
	CU_ASSERT_EQUAL(r.length, BIG);
	modified = strstr(r.head, "Last-Modified: ");
	CU_ASSERT_PTR_NOT_NULL_FATAL(modified);
	snprintf(request, sizeof(request), "GET /big.bin HTTP/1.1\r\n" HOST
		 "If-Modified-Since: %.29s\r\n\r\n", modified + 15);
	r = ask(request);
	CU_ASSERT_EQUAL(r.status, 304);
	CU_ASSERT_EQUAL(r.length, -1);
	end();
}

static void a_connection_is_kept_until_somebody_says_so(void)
{
	struct reply r;
	int fd;

	if (begin("10") != 0)
		return;
	fd = dial();
	for (int i = 0; i < 3; i++) {
		say(fd, "GET / HTTP/1.1\r\n" HOST "\r\n");
		hear(fd, &r, 0);
		CU_ASSERT_EQUAL(r.status, 200);
	}
	/* Two at once, and one in pieces. */
	say(fd, "GET / HTTP/1.1\r\n" HOST "\r\nHEAD / HTTP/1.1\r\n" HOST
	    "\r\nGET /a%20b.txt HT");
	hear(fd, &r, 0);
	CU_ASSERT_STRING_EQUAL(r.body, "<p>index");
	hear(fd, &r, 1);
	CU_ASSERT_EQUAL(r.length, 8);
	say(fd, "TP/1.1\r\n" HOST "Connection: close\r\n\r\n");
	hear(fd, &r, 0);
	CU_ASSERT_STRING_EQUAL(r.body, "hello");
	hear(fd, &r, 0);
	CU_ASSERT_EQUAL(r.status, 0);
	close(fd);
	end();
}

/* In a row, each with the server's patience of a tenth of a second. */
static void slow_peers_are_left(void)
{
	static char long_head[10000];
	struct reply r;
	int fd;

	if (begin("0.1") != 0)
		return;
	fd = dial();			/* says nothing */
	hear(fd, &r, 0);
	CU_ASSERT_EQUAL(r.status, 0);
	close(fd);
	fd = dial();			/* begins, and does not go on */
	say(fd, "GET / HT");
	hear(fd, &r, 0);
	CU_ASSERT_EQUAL(r.status, 408);
	hear(fd, &r, 0);
	CU_ASSERT_EQUAL(r.status, 0);
	close(fd);
	fd = dial();			/* does not come to an end */
	memset(long_head, 'x', sizeof(long_head) - 1);
	say(fd, long_head);
	hear(fd, &r, 0);
	CU_ASSERT_EQUAL(r.status, 431);
	close(fd);
	end();
}

static void a_stop_waits_for_an_answer_that_has_begun(void)
{
	size_t rest = BIG - 1000;
	struct reply r;
	int busy, idle;
	char *field;

	if (begin("10") != 0)
		return;
	idle = dial();
	say(idle, "GET / HTTP/1.1\r\n" HOST "\r\n");
	hear(idle, &r, 0);
	busy = dial();
	say(busy, "GET /big.bin HTTP/1.1\r\n" HOST "\r\n");
	for (size_t n = 0; n < sizeof(r.head) - 1; n++) {
		server_check(recv(busy, r.head + n, 1, 0) == 1);
		r.head[n + 1] = 0;
		if (n > 3 && !strcmp(r.head + n - 3, "\r\n\r\n"))
			break;
	}
	field = strstr(r.head, "Content-Length: 2000000");
	CU_ASSERT_PTR_NOT_NULL(field);
	server_check(recv(busy, body_room, 1000, MSG_WAITALL) == 1000);
	server_check(kill(server.pid, SIGTERM) == 0);
	hear(idle, &r, 0);		/* is let go at once */
	CU_ASSERT_EQUAL(r.status, 0);
	server_check(recv(busy, body_room + 1000, rest, MSG_WAITALL) ==
		     (ssize_t)rest);
	CU_ASSERT_EQUAL(memcmp(body_room, big, BIG), 0);
	close(busy);
	close(idle);
	end();
}

static const struct test_case cases[] = {
	TEST(files_are_found_and_nothing_else),
	TEST(ranges_and_dates_are_kept_to),
	TEST(a_connection_is_kept_until_somebody_says_so),
	TEST(slow_peers_are_left),
	TEST(a_stop_waits_for_an_answer_that_has_begun),
};

TEST_MAIN("examples/httpd", cases)
