/* SPDX-License-Identifier: MIT */
/*
 * observe/asked.c - another process asks for something, and gets it in its pipe
 *
 * Writers
 *   asking  put, wefti_asked_answer, wefti_asked_forget
 */
#include "observe/asked.h"

#include "lockfree/atomic.h"
#include "observe/requests.h"
#include "os/call/descriptor.h"

#define MOST	8	/* requests at one time; others ask again */

/* Each: the asking process above, the lower value + 1 below; 0: none asks. */
static _Atomic uint64_t asking[MOST];

static void put(uint64_t asks)
{
	for (int i = 0; i < MOST; i++) {
		uint64_t is = 0;

		if (cas_seq_cst(&asking[i], &is, asks) || is == asks)
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

/* Returns 0, or -1: the request cannot be read. */
static int read_request(int pid, int fd, char text[WEFTI_ASKED_MOST])
{
	ssize_t n;
	int own = wefti_os_fd_open_file_of(pid, fd);

	if (own < 0)
		return -1;
	n = wefti_os_fd_pread(own, text, WEFTI_ASKED_MOST - 1, 0);
	(void)wefti_os_fd_close(own);
	if (n <= 0)
		return -1;
	text[n] = 0;
	return 0;
}

static void answer(uint64_t asks)
{
	const int pid = (int)(asks >> 32);
	const uint32_t value = (uint32_t)asks - 1;
	char request[WEFTI_ASKED_MOST] = "dump";
	int fd;

	if (value >> 16 && read_request(pid, (int)(value >> 16), request) != 0)
		return;
	fd = wefti_os_fd_open_pipe_of(pid, (int)(value & 0xffff));
	if (fd < 0)
		return;
	wefti_request_answer(request, fd);
	(void)wefti_os_fd_close(fd);
}

void wefti_asked_answer(void)
{
	for (int i = 0; i < MOST; i++) {
		uint64_t asks = load_seq_cst(&asking[i]);

		/* Stays meanwhile: a repeated request is not answered twice. */
		if (asks) {
			answer(asks);
			store_seq_cst(&asking[i], (uint64_t)0);
		}
	}
}

void wefti_asked_forget(void)
{
	for (int i = 0; i < MOST; i++)
		store_seq_cst(&asking[i], (uint64_t)0);
}
