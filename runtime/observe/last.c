/* SPDX-License-Identifier: MIT */
/*
 * observe/last.c - what a process writes before it ends: a dump, and what was recorded
 *
 * The handler of a crash has a small stack, which may be the program's own, and has
 * interrupted anything. So the observer writes, and the handler waits for it. Other threads
 * may run meanwhile. A dump shows the crashed thread where the fault was, and not in the
 * handler: its registers are those that the kernel gave to the handler.
 *
 * The file of the recorder is new, and only its owner can read it. If there is one of its
 * name, of an earlier report or another program's, nothing is written.
 *
 * Writers
 *   state  wefti_last_answer, wefti_last_forget, wefti_last_words
 */
#include "observe/last.h"

#include <errno.h>

#include "base/format.h"
#include "lockfree/atomic.h"
#include "observe/crash.h"
#include "observe/dump.h"
#include "observe/look.h"
#include "observe/observer.h"
#include "observe/trace.h"
#include "os/call/clock.h"
#include "os/call/descriptor.h"
#include "os/call/futex.h"
#include "os/call/tid.h"
#include "sched/vcpu.h"
#include "weft/base.h"

#define STDERR		2
#define PATIENCE_NS	INT64_C(10000000000)

#define NONE	0u
#define ASKED	1u	/* by the first kernel thread that crashes */
#define DONE	2u

static _Atomic uint32_t state;	/* a futex */

static int dumps(void)
{
	return wefti_rt.settings.crash == WEFTI_CRASH_DUMP;
}

static int records(void)
{
	return wefti_rt.settings.trace != WEFTI_TRACE_OFF;
}

int wefti_last_is_wanted(void)
{
	return dumps() || records();
}

void wefti_last_words(const siginfo_t *info, const void *context)
{
	const int64_t until = wefti_os_now_ns() + PATIENCE_NS;
	uint32_t now = NONE;

	if (!wefti_crash_is_by_thread(info) || !wefti_last_is_wanted() ||
	    !wefti_observer_may_answer())
		return;
	if (cas_seq_cst(&state, &now, ASKED)) {
		wefti_look_crashed(wefti_self(), context);
		wefti_observer_ask_last();
	}
	while (load_seq_cst(&state) == ASKED && wefti_os_now_ns() < until)
		wefti_os_futex_wait(&state, ASKED, until);
}

void wefti_last_answer(void)
{
	if (load_seq_cst(&state) != ASKED)
		return;
	if (dumps())
		(void)wefti_dump(STDERR, "crash");
	wefti_last_record();
	store_seq_cst(&state, DONE);
	wefti_os_futex_wake(&state, 1 << 20);
}

void wefti_last_forget(void)
{
	store_seq_cst(&state, NONE);
	wefti_look_crashed(NULL, NULL);
}

void wefti_last_record(void)
{
	char name[32];
	int fd, error;

	if (!records())
		return;
	wefti_format(name, sizeof(name), "weft.%d.weft", wefti_os_pid());
	fd = wefti_os_fd_open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
			      0600);
	error = fd < 0 ? fd : wefti_recorder_save(fd);
	if (fd >= 0)
		(void)wefti_os_fd_close(fd);
	if (error)
		wefti_print(STDERR, "weft: WEFT_TRACE: %s is not written: %s\n", name,
			    weft_strerror(error));
	else
		wefti_print(STDERR, "weft: the last events are in %s, which weft trace "
			    "reads\n", name);
}
