/* SPDX-License-Identifier: MIT */
/* test_chat.c - examples/chat tells all to all, and waits for nobody */
#include "lockfree/atomic.h"
#include "server.h"
#include "threads.h"

#define CROWD		20
#define LINES		20	/* that each of them says */

static struct server server;

/* A client, and what it has read ahead. */
struct peer {
	int fd;
	size_t at, bytes;
	char data[2000], line[500];
};

static void say(struct peer *p, const char *text)
{
	size_t bytes = strlen(text);

	must(weft_send(p->fd, text, bytes, MSG_NOSIGNAL) == (ssize_t)bytes);
}

/* Reads p->line, without its newline. Returns 0 at the end. */
static int hear(struct peer *p)
{
	for (size_t n = 0;; n++) {
		if (p->at == p->bytes) {
			ssize_t got = weft_read(p->fd, p->data, sizeof(p->data));

			must(got >= 0 || got == -ECONNRESET);
			if (got <= 0)
				return 0;
			p->at = 0;
			p->bytes = (size_t)got;
		}
		must(n < sizeof(p->line));
		p->line[n] = p->data[p->at++];
		if (p->line[n] == '\n') {
			p->line[n] = '\0';
			return 1;
		}
	}
}

/* Reads up to a line that begins so. */
static void hear_until(struct peer *p, const char *begin)
{
	do
		must(hear(p));
	while (strncmp(p->line, begin, strlen(begin)) != 0);
}

static void come(struct peer *p, const char *name)
{
	p->fd = weft_socket(AF_INET, SOCK_STREAM, 0);
	p->at = p->bytes = 0;
	must(p->fd >= 0);
	must(weft_connect(p->fd, (struct sockaddr *)&server.address,
			  sizeof(server.address)) == 0);
	hear_until(p, "* your name?");
	say(p, name);
	say(p, "\n");
	hear_until(p, "* welcome");
}

static void go(struct peer *p)
{
	must(weft_close(p->fd) == 0);
}

static int begin(char *queue, char *patience)
{
	char *const argv[] = { "examples/chat", "--queue", queue, "--patience",
			       patience, "0", NULL };

	return server_start(&server, argv);
}

/* Until the server has let go of all clients. */
static void await_nobody(size_t before)
{
	while (server_sockets(&server) > before)
		rest();
}

static void names_are_taken_once_and_messages_reach_their_receivers(void)
{
	struct peer a, b;

	if (begin("100", "10000") != 0)
		return;
	runtime_begin();
	come(&a, "ann");
	hear_until(&a, "* ann has come");
	b.fd = weft_socket(AF_INET, SOCK_STREAM, 0);
	b.at = b.bytes = 0;
	must(weft_connect(b.fd, (struct sockaddr *)&server.address,
			  sizeof(server.address)) == 0);
	say(&b, "ann\nno name\nbob\r\n/who\n/to ann a secret\n/to eve x\nall\n");
	hear_until(&b, "* there is a ann already");
	hear_until(&b, "* a name has 1 to 20 letters");
	hear_until(&b, "* welcome, bob");
	hear_until(&b, "* here: bob ann");
	hear_until(&b, "* there is no eve");
	must(hear(&b) && strcmp(b.line, "bob: all") == 0);
	hear_until(&a, "* bob has come");
	must(hear(&a) && strcmp(a.line, "bob (to you): a secret") == 0);
	must(hear(&a) && strcmp(a.line, "bob: all") == 0);
	say(&b, "/quit\n");
	must(!hear(&b));
	go(&b);
	must(hear(&a) && strcmp(a.line, "* bob has gone") == 0);
	/* Half-closed: what was said before is answered. */
	say(&a, "last\n");
	must(shutdown(a.fd, SHUT_WR) == 0);
	must(hear(&a) && strcmp(a.line, "ann: last") == 0);
	must(!hear(&a));
	go(&a);
	CU_ASSERT_EQUAL(server_stop(&server), 0);
	runtime_end();
}

static struct weft_barrier all_there;

/* Returns a hash of all that was said, in the order in which it was heard. */
static void *talk(void *arg)
{
	int me = (int)(intptr_t)arg, next[CROWD] = { 0 }, who, n;
	struct peer p;
	char text[50];
	uint64_t hash = 1;

	snprintf(text, sizeof(text), "n%d", me);
	come(&p, text);
	weft_barrier_wait(&all_there);
	for (int i = 0; i < LINES; i++) {
		snprintf(text, sizeof(text), "%d\n", i);
		say(&p, text);
	}
	for (int i = 0; i < CROWD * LINES; ) {
		must(hear(&p));
		if (p.line[0] == '*')
			continue;
		must(sscanf(p.line, "n%d: %d", &who, &n) == 2);
		must(who >= 0 && who < CROWD && next[who]++ == n);
		hash = hash * 31 + (uint64_t)(who * LINES + n);
		i++;
	}
	weft_barrier_wait(&all_there);
	go(&p);
	return (void *)(uintptr_t)hash;
}

static void all_hear_all_in_the_same_order(void)
{
	uint64_t id[CROWD];
	void *hash = NULL;
	size_t before;

	if (begin("1000", "10000") != 0)
		return;
	runtime_begin();
	before = server_sockets(&server);
	must(weft_barrier_init(&all_there, CROWD) == 0);
	for (int i = 0; i < CROWD; i++)
		id[i] = spawn(talk, (void *)(intptr_t)i);
	for (int i = 0; i < CROWD; i++) {
		void *h = join(id[i]);

		CU_ASSERT_TRUE(i == 0 || h == hash);
		hash = h;
	}
	must(weft_barrier_destroy(&all_there) == 0);
	await_nobody(before);
	CU_ASSERT_EQUAL(server_stop(&server), 0);
	runtime_end();
}

/* The one talks on and hears itself, while the other one's queue fills. */
static void a_client_that_does_not_read_is_shut_out(void)
{
	struct peer talker, deaf;
	char text[320];
	int heard = 0;

	if (begin("8", "100") != 0)
		return;
	runtime_begin();
	come(&deaf, "deaf");
	come(&talker, "talker");
	memset(text, 'x', sizeof(text));
	memcpy(text + sizeof(text) - 2, "\n", 2);
	while (!heard) {
		say(&talker, text);
		do {
			must(hear(&talker));
			heard |= strncmp(talker.line, "* deaf was", 10) == 0;
		} while (strncmp(talker.line, "talker: x", 9) != 0);
	}
	while (hear(&deaf))
		;
	go(&deaf);
	go(&talker);
	CU_ASSERT_EQUAL(server_stop(&server), 0);
	runtime_end();
}

static void *come_and_vanish(void *arg)
{
	uint64_t random = test_seed((uint64_t)(uintptr_t)arg);
	struct linger now = { .l_onoff = 1 };
	struct peer p;
	char text[50];

	for (int i = 0; i < 5; i++) {
		snprintf(text, sizeof(text), "n%d-%d", (int)(intptr_t)arg, i);
		come(&p, text);
		for (uint64_t n = test_random_below(&random, 5); n > 0; n--)
			say(&p, "and\nso\non\n");
		if (test_random_below(&random, 2))
			must(setsockopt(p.fd, SOL_SOCKET, SO_LINGER, &now,
					sizeof(now)) == 0);
		go(&p);
	}
	return NULL;
}

static void clients_that_vanish_leave_nothing(void)
{
	uint64_t id[CROWD];
	size_t before;

	if (begin("1000", "10000") != 0)
		return;
	runtime_begin();
	before = server_sockets(&server);
	for (int i = 0; i < CROWD; i++)
		id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, come_and_vanish,
				   (void *)(intptr_t)i);
	for (int i = 0; i < CROWD; i++)
		join(id[i]);
	await_nobody(before);
	CU_ASSERT_EQUAL(server_stop(&server), 0);
	runtime_end();
}

static void a_stop_tells_all_and_lets_them_go(void)
{
	struct peer p[CROWD];
	char name[16];

	if (begin("1000", "10000") != 0)
		return;
	runtime_begin();
	for (int i = 0; i < CROWD; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		come(&p[i], name);
		say(&p[i], "here\n");
	}
	hear_until(&p[0], "n19: here");
	CU_ASSERT_EQUAL(server_stop(&server), 0);
	for (int i = 0; i < CROWD; i++) {
		if (i)
			hear_until(&p[i], "n19: here");
		hear_until(&p[i], "* the server stops");
		must(!hear(&p[i]));
		go(&p[i]);
	}
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(names_are_taken_once_and_messages_reach_their_receivers),
	TEST(all_hear_all_in_the_same_order),
	TEST(a_client_that_does_not_read_is_shut_out),
	TEST(clients_that_vanish_leave_nothing),
	TEST(a_stop_tells_all_and_lets_them_go),
};

TEST_MAIN("examples/chat", cases)
