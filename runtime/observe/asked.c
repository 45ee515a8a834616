/* SPDX-License-Identifier: MIT */
/*
 * observe/asked.c - another process asks for something, and gets it in its pipe
 *
 * Structure
 *   asking[] has a slot for each request. A handler puts a request in, and the observer
 *   answers it.
 *
 * States of a slot
 *   FREE   0
 *   ASKED  a request
 *
 *   FREE --a handler's CAS--> ASKED --the observer has answered, or a start--> FREE
 *
 * Writers
 *   asking  put, wefti_asked_answer, wefti_asked_forget
 *
 * Invariants
 *   I1  Only the observer makes an ASKED slot FREE, and a start does, before there is an
 *       observer. So the observer's plain store loses no request.
 *   I2  A request stays ASKED while it is answered. The asking process repeats it until
 *       the answer comes, and the repetition finds it.
 *
 * Linearization
 *   A request: at the handler's CAS. Its end: at the observer's store.
 *
 * Progress
 *   The handler is wait-free: it makes one CAS for each slot at most. A request that finds
 *   no slot is dropped; the asking process asks again.
 *
 * ABA and reclamation
 *   A slot has a value and no pointer. A process that asks for the same once more, with the
 *   same descriptors, before I2's slot is FREE, is taken for one that repeats itself. It
 *   asks again, too.
 *
 * Pairs
 *   All seq_cst.
 *
 * Source
 *   Ours.
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

		/* I2 */
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
