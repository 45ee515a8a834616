/* SPDX-License-Identifier: MIT */
/*
 * io/lookup.c - looks up hosts and services, in a thread that may block
 *
 * The resolver keeps its state in thread-local variables and uses much stack. A light
 * thread shares the former with others and has little of the latter. So each look-up has
 * a thread with a stack of its own, which stays on one kernel thread during the call: the
 * call is a region. The caller waits for that thread, and may give up waiting.
 *
 * States of a look-up
 *   BEGUN  the thread looks up, the caller waits for its end
 *   DONE   the result is there; the caller joins the thread and frees the look-up
 *   LEFT   the caller has given up and detaches the thread, which frees the look-up
 *
 * Writers
 *   lookup.state  run, weft_getaddrinfo_until
 */
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "lockfree/atomic.h"
#include "weft/net.h"
#include "weft/runtime.h"
#include "weft/thread.h"

#define STACK_BYTES	((size_t)256 << 10)

enum { BEGUN, DONE, LEFT };

struct lookup {
	_Atomic uint32_t state;
	int result;
	struct addrinfo hints, *list;
	const char *node, *service;	/* NULL, or behind the struct */
	int has_hints;
};

static int look_up(struct lookup *l)
{
	int result, error;

	weft_block_begin();
	result = getaddrinfo(l->node, l->service, l->has_hints ? &l->hints : NULL,
			     &l->list);
	error = errno;
	weft_block_end();
	switch (result) {
	case EAI_SYSTEM:
		return error > 0 ? -error : -EMFILE;	/* libc may leave errno alone then */
	case EAI_MEMORY:
		return -ENOMEM;
	default:
		return -result;
	}
}

static void *run(void *arg)
{
	struct lookup *l = arg;

	l->result = look_up(l);
	if (xchg_seq_cst(&l->state, DONE) == LEFT) {
		if (l->result == 0)
			freeaddrinfo(l->list);
		free(l);
	}
	return NULL;
}

static struct lookup *make(const char *node, const char *service,
			   const struct addrinfo *hints)
{
	size_t nodes = node ? strlen(node) + 1 : 0;
	size_t services = service ? strlen(service) + 1 : 0;
	struct lookup *l = calloc(1, sizeof(*l) + nodes + services);
	char *text;

	if (!l)
		return NULL;
	text = (char *)(l + 1);
	if (node)
		l->node = memcpy(text, node, nodes);
	if (service)
		l->service = memcpy(text + nodes, service, services);
	if (hints) {
		l->hints = *hints;
		l->has_hints = 1;
	}
	return l;
}

int weft_getaddrinfo_until(const char *node, const char *service,
			   const struct addrinfo *hints, struct addrinfo **list,
			   int64_t deadline)
{
	static const struct weft_attr attr = {
		.stack_bytes = STACK_BYTES, .name = "getaddrinfo",
	};
	struct lookup *l;
	uint64_t id;
	int error;

	if (deadline == WEFT_NO_WAIT)
		return -EAGAIN;
	l = make(node, service, hints);
	if (!l)
		return -ENOMEM;
	error = weft_spawn(&id, &attr, run, l);
	if (error) {
		free(l);
		return error;
	}
	error = weft_join_until(id, NULL, deadline);
	if (error && xchg_seq_cst(&l->state, LEFT) == BEGUN) {
		(void)weft_detach(id);
		return error;
	}
	if (error) {			/* the thread is about to end */
		weft_cancel_hold();
		error = weft_join(id, NULL);
		WEFT_ASSERT(error == 0);
		weft_cancel_release();
	}
	error = l->result;
	if (error == 0)
		*list = l->list;
	free(l);
	return error;
}

int weft_getaddrinfo(const char *node, const char *service,
		     const struct addrinfo *hints, struct addrinfo **list)
{
	return weft_getaddrinfo_until(node, service, hints, list, WEFT_FOREVER);
}
