/* SPDX-License-Identifier: MIT */
/* test_guide_chat.c - the guide's chat server tells all to all, and stops gracefully */
#include "server.h"
#include "threads.h"

#define CROWD	90	/* so an outbox has room for all that is said */

static struct server server;

struct peer {
	int fd;
	struct weft_reader in;
	char buffer[300];
};

static void say(struct peer *p, const char *text)
{
	size_t bytes = strlen(text);

	must(weft_send(p->fd, text, bytes, MSG_NOSIGNAL) == (ssize_t)bytes);
}

/* Reads up to that line. Returns 0 at the end. */
static int hear(struct peer *p, const char *wanted)
{
	char *line;
	ssize_t n;

	while ((n = weft_reader_line(&p->in, &line, WEFT_FOREVER)) >= 0)
		if (strcmp(line, wanted) == 0)
			return 1;
	must(n == -ENODATA);
	return 0;
}

static void come(struct peer *p)
{
	p->fd = weft_socket(AF_INET, SOCK_STREAM, 0);
	must(p->fd >= 0);
	must(weft_connect(p->fd, (struct sockaddr *)&server.address,
			  sizeof(server.address)) == 0);
	weft_reader_init(&p->in, p->fd, p->buffer, sizeof(p->buffer));
	must(hear(p, "your name?"));
}

static int begin(void)
{
	char *const argv[] = { "examples/guide/12_chat", "0", NULL };

	if (server_start(&server, argv) != 0)
		return -1;
	runtime_begin();
	return 0;
}

static void what_one_says_all_hear(void)
{
	struct peer ann, bob;

	if (begin() != 0)
		return;
	come(&ann);
	say(&ann, "ann\n");
	must(hear(&ann, "ann: has come"));
	come(&bob);
	say(&bob, "bob\r\nhello, ann\n");
	must(hear(&bob, "bob: hello, ann"));
	must(hear(&ann, "bob: has come"));
	must(hear(&ann, "bob: hello, ann"));
	must(weft_close(bob.fd) == 0);
	must(hear(&ann, "bob: has gone"));
	CU_ASSERT_EQUAL(server_stop(&server), 0);
	must(weft_close(ann.fd) == 0);
	runtime_end();
}

/* A name that nobody has told keeps a reader waiting, in the middle of its line. */
static void a_stop_tells_all_what_was_said_and_lets_them_go(void)
{
	static struct peer crowd[CROWD], silent;

	if (begin() != 0)
		return;
	come(&silent);
	say(&silent, "no new line");
	for (int i = 0; i < CROWD; i++) {
		come(&crowd[i]);
		say(&crowd[i], "n\n");
		must(hear(&crowd[i], "n: has come"));
	}
	say(&crowd[0], "last words\n");
	must(hear(&crowd[0], "n: last words"));
	CU_ASSERT_EQUAL(server_stop(&server), 0);
	for (int i = 0; i < CROWD; i++) {
		if (i)
			CU_ASSERT(hear(&crowd[i], "n: last words"));
		CU_ASSERT(hear(&crowd[i], "chat: the server stops"));
		CU_ASSERT(!hear(&crowd[i], ""));
		must(weft_close(crowd[i].fd) == 0);
	}
	CU_ASSERT(!hear(&silent, ""));
	must(weft_close(silent.fd) == 0);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(what_one_says_all_hear),
	TEST(a_stop_tells_all_what_was_said_and_lets_them_go),
};

TEST_MAIN("examples/guide_chat", cases)
