/* SPDX-License-Identifier: MIT */
/*
 * observe/requests.c - what another process can ask for
 *
 * A new request is a row of the table. The function behind it runs in the observer, so
 * it waits for nothing without a time-out, and does not allocate. Its answer must not
 * begin with WEFTI_ASKED_UNKNOWN.
 */
#include "observe/requests.h"

#include <string.h>

#include "observe/asked.h"
#include "observe/dump.h"
#include "observe/figures.h"
#include "observe/graph.h"

struct request {
	const char *word;
	void (*answer)(int fd, const char *arguments);
};

static void dump(int fd, const char *unused)
{
	(void)unused;
	(void)wefti_dump_strangers(fd, "asked by another process");
}

static void stat(int fd, const char *unused)
{
	(void)unused;
	wefti_figures(fd);
}

static void top(int fd, const char *unused)
{
	(void)unused;
	wefti_figures_all(fd);
}

static void graph(int fd, const char *form)
{
	wefti_graph(fd, form);
}

static const struct request requests[] = {
	{ "dump", dump },
	{ "graph", graph },
	{ "stat", stat },
	{ "top", top },
};

static void refuse(int fd)
{
	struct wefti_out out = { .fd = fd, .is_strangers = 1 };

	wefti_out(&out, WEFTI_ASKED_UNKNOWN "\n");
	wefti_out_flush(&out);
}

void wefti_request_answer(const char *request, int fd)
{
	const size_t length = strcspn(request, " ");
	const char *arguments = request + length;

	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		const struct request *r = &requests[i];

		if (strlen(r->word) == length && strncmp(r->word, request, length) == 0) {
			r->answer(fd, arguments + (*arguments == ' '));
			return;
		}
	}
	refuse(fd);
}
