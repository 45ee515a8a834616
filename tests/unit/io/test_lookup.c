/* SPDX-License-Identifier: MIT */
/* test_lookup.c - io/lookup: look-ups, their errors, and look-ups that are given up */
#include <errno.h>
#include <netdb.h>

#include "loop.h"

/* The resolver waits for a byte before it answers, if there is a gate. */
static int gate[2] = { -1, -1 };
static _Atomic int at_gate;

int __real_getaddrinfo(const char *node, const char *service,
		       const struct addrinfo *hints, struct addrinfo **list);
int __wrap_getaddrinfo(const char *node, const char *service,
		       const struct addrinfo *hints, struct addrinfo **list);

int __wrap_getaddrinfo(const char *node, const char *service,
		       const struct addrinfo *hints, struct addrinfo **list)
{
	char byte;

	if (gate[0] >= 0) {
		atomic_store(&at_gate, 1);
		must(read(gate[0], &byte, 1) == 1);
	}
	return __real_getaddrinfo(node, service, hints, list);
}

static struct addrinfo numeric(void)
{
	struct addrinfo hints = {
		.ai_family = AF_INET, .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
	};

	return hints;
}

static void *look_up(void *arg)
{
	struct addrinfo hints = numeric(), *list = NULL;
	struct sockaddr_in *a;

	if (weft_getaddrinfo("127.0.0.1", arg, &hints, &list) != 0)
		return "failed";
	a = (struct sockaddr_in *)(void *)list->ai_addr;
	CU_ASSERT_EQUAL(a->sin_port, htons(80));
	CU_ASSERT_EQUAL(a->sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	freeaddrinfo(list);
	return NULL;
}

static void many_look_up_at_once(void)
{
	uint64_t id[20];

	runtime_begin();
	for (int i = 0; i < 20; i++)
		id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, look_up, "80");
	for (int i = 0; i < 20; i++)
		CU_ASSERT_PTR_NULL(join(id[i]));
	must(weft_wait_all(WEFT_FOREVER) == 0);
	runtime_end();
}

static void errors_are_told(void)
{
	struct addrinfo hints = numeric(), *list = &hints;

	runtime_begin();
	CU_ASSERT_EQUAL(weft_getaddrinfo("no number", "80", &hints, &list),
			-EAI_NONAME);
	CU_ASSERT_EQUAL(weft_getaddrinfo(NULL, NULL, &hints, &list), -EAI_NONAME);
	hints.ai_flags = -1;
	CU_ASSERT_EQUAL(weft_getaddrinfo("127.0.0.1", NULL, &hints, &list),
			-EAI_BADFLAGS);
	hints = numeric();
	CU_ASSERT_EQUAL(weft_getaddrinfo_until("127.0.0.1", NULL, &hints, &list,
					       WEFT_NO_WAIT), -EAGAIN);
	CU_ASSERT_PTR_EQUAL(list, &hints);
	CU_ASSERT_EQUAL(weft_getaddrinfo(NULL, "80", NULL, &list), 0);
	freeaddrinfo(list);
	must(weft_wait_all(WEFT_FOREVER) == 0);
	runtime_end();
	CU_ASSERT_EQUAL(weft_getaddrinfo("127.0.0.1", NULL, &hints, &list), -ESRCH);
}

static struct addrinfo *got;

static void *look_up_cancelled(void *arg)
{
	struct addrinfo hints = numeric();

	return (void *)(intptr_t)weft_getaddrinfo(arg, NULL, &hints, &got);
}

/* A sanitizer says if a result that nobody takes is lost. */
static void a_look_up_may_be_given_up(void)
{
	struct addrinfo hints = numeric();
	uint64_t id;

	runtime_begin();
	must(pipe(gate) == 0);
	CU_ASSERT_EQUAL(weft_getaddrinfo_until("127.0.0.1", NULL, &hints, &got,
					       weft_deadline(WEFT_MS(2))),
			-ETIMEDOUT);
	must(write(gate[1], "x", 1) == 1);
	must(weft_wait_all(WEFT_FOREVER) == 0);
	atomic_store(&at_gate, 0);
	id = spawn(look_up_cancelled, "127.0.0.1");
	while (!atomic_load(&at_gate))
		rest();
	CU_ASSERT_EQUAL(weft_cancel(id), 0);
	CU_ASSERT_EQUAL((int)(intptr_t)join(id), -ECANCELED);
	CU_ASSERT_EQUAL(weft_stop(), -EBUSY);
	must(write(gate[1], "x", 1) == 1);
	must(weft_wait_all(WEFT_FOREVER) == 0);
	CU_ASSERT_PTR_NULL(got);
	close(gate[0]);
	close(gate[1]);
	gate[0] = -1;
	runtime_end();
}

/* The deadline comes at about the same time as the result. */
static void deadline_and_result_may_meet(void)
{
	struct addrinfo hints = numeric(), *list = &hints;

	runtime_begin();
	for (size_t i = 0; i < test_scaled(200); i++) {
		int error = weft_getaddrinfo_until("127.0.0.1", NULL, &hints, &list,
						   weft_clock() + (int64_t)i * 500);

		CU_ASSERT_TRUE(error == 0 || error == -ETIMEDOUT);
		CU_ASSERT_TRUE((error == 0) == (list != &hints));
		if (error == 0)
			freeaddrinfo(list);
		list = &hints;
	}
	must(weft_wait_all(WEFT_FOREVER) == 0);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(many_look_up_at_once),
	TEST(errors_are_told),
	TEST(a_look_up_may_be_given_up),
	TEST(deadline_and_result_may_meet),
};

TEST_MAIN("io/lookup", cases)
