/* SPDX-License-Identifier: MIT */
/*
 * observe/asked.c - another process asks for a dump, and gets it in its pipe
 *
 * Writers
 *   who  put, wefti_asked_answer
 */
#include "observe/asked.h"

#include "lockfree/atomic.h"
#include "observe/dump.h"
#include "os/call/descriptor.h"

#define MOST	8	/* requests at one time; others ask again */

/* Each: the asking process above, its descriptor + 1 below; 0: none asks. */
static _Atomic uint64_t who[MOST];

static void put(uint64_t asks)
{
	for (int i = 0; i < MOST; i++) {
		uint64_t is = 0;

		if (cas_seq_cst(&who[i], &is, asks) || is == asks)
			return;
	}
}

int wefti_asked_note(const siginfo_t *info)
{
	const uint64_t value = (uint64_t)(uintptr_t)info->si_value.sival_ptr;

	if (info->si_code != SI_QUEUE || value >> 32 != WEFTI_ASKED_MARK ||
	    info->si_pid <= 0)
		return 0;
	put((uint64_t)info->si_pid << 32 | ((uint32_t)value + 1));
	return 1;
}

static void answer(uint64_t asks)
{
	int fd = wefti_os_fd_open_pipe_of((int)(asks >> 32), (int)(uint32_t)asks - 1);
	if (fd < 0)
		return;
	(void)wefti_dump_strangers(fd, "asked by another process");
	(void)wefti_os_fd_close(fd);
}

void wefti_asked_answer(void)
{
	for (int i = 0; i < MOST; i++) {
		uint64_t asks = load_seq_cst(&who[i]);

		/* Stays meanwhile: a repeated request is not answered twice. */
		if (asks) {
			answer(asks);
			store_seq_cst(&who[i], (uint64_t)0);
		}
	}
}
