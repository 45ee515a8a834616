/* SPDX-License-Identifier: MIT */
/*
 * os/tls/tls_check.c - decides whether threads may have a TLS block of their own
 *
 * Writers
 *   reason  wefti_tls_init
 */
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "cpu.h"
#include "lockfree/atomic.h"
#include "os/call/vm.h"
#include "os/kthread/kthread_kept.h"
#include "os/libc/loaded.h"
#include "os/object/go.h"
#include "os/signal/signal.h"
#include "os/tls/tls.h"
#include "os/tls/tls_image.h"
#include "os/tls/tls_layout.h"
#include "os/tls/tls_proof.h"
#include "os/tls/tls_setxid.h"

#define NOT_YET		((const char *)1)
#define CHECK_STACK	((size_t)64 << 10)

static _Atomic(const char *) reason = NOT_YET;

static _Thread_local int initialized
	__attribute__((tls_model("initial-exec"))) = 42;

/* A life on a block, in two parts. They may run on two kernel threads. */
struct trial {
	struct wefti_tls tls;
	uintptr_t top;
	void *kept;		/* what malloc() gave in the first part */
	const char *error;
};

static int is_in_block(const void *p, const struct trial *t)
{
	return (uintptr_t)p >= (uintptr_t)t->tls.low && (uintptr_t)p < t->top;
}

/* Both run on the new block. Not inlined: TLS addresses from before must not be used. */
NOINLINE static const char *live(struct trial *t)
{
	wefti_tls_thread_begin();
	if ((uintptr_t)pthread_self() != wefti_tls_pthread(t->tls.tp))
		return "pthread_self() is not the new block";
	if (!is_in_block(&errno, t) || !is_in_block(&initialized, t) ||
	    !is_in_block((void *)(wefti_self_offset() + t->tls.tp), t))
		return "a variable is outside the new block";
	if (errno != 0 || initialized != 42 || wefti_self() != NULL)
		return "a variable of the new block is not initialized";
	errno = EDOM;
	initialized = 1;
	t->kept = malloc(100);
	if (!t->kept || !isalpha('a') || uselocale((locale_t)0) != LC_GLOBAL_LOCALE ||
	    sched_getcpu() < 0)
		return "libc does not work on the new block";
	return wefti_tls_prove_cancel();
}

NOINLINE static const char *live_on(struct trial *t)
{
	if ((uintptr_t)pthread_self() != wefti_tls_pthread(t->tls.tp) ||
	    errno != EDOM || initialized != 1)
		return "a variable of the new block did not keep its value";
	free(t->kept);
	wefti_tls_thread_exit();
	return errno == EDOM ? NULL : "a variable of the new block did not keep its value";
}

NOINLINE static void on_block(struct trial *t, const char *(*part)(struct trial *t))
{
	uintptr_t here = wefti_arch_tp_get();
	uint64_t mask = wefti_os_signals_block();

	wefti_arch_tp_set(t->tls.tp);
	t->error = part(t);
	wefti_arch_tp_set(here);
	wefti_os_signals_restore(mask);
}

/* By the kernel thread that was looked at. */
static void begin_there(void *arg, char *stack, size_t bytes)
{
	(void)stack;
	(void)bytes;
	on_block(arg, live);
}

static const char *live_twice(struct trial *t)
{
	if (!wefti_os_kthread_kept_again(begin_there, t))
		on_block(t, live);
	if (!t->error)
		on_block(t, live_on);
	if (t->error)
		return t->error;
	wefti_tls_reset(t->tls.tp);
	on_block(t, live);
	if (!t->error)
		on_block(t, live_on);
	return t->error;
}

/*
 * The first life begins on the kernel thread that was looked at and ends here. The second
 * one is on the same block, made anew.
 */
const char *wefti_tls_check(void)
{
	size_t bytes = CHECK_STACK + ((wefti_tls_bytes() + 65535) &
				      ~(size_t)65535);
	char *stack = wefti_os_vm_reserve(bytes);
	struct trial t = { .top = (uintptr_t)stack + bytes, .error = "no memory" };

	if (!stack)
		return t.error;
	if (wefti_tls_build(stack, stack + bytes, &t.tls) == 0) {
		wefti_tls_image_find(t.tls.tp);
		t.error = live_twice(&t);
		wefti_tls_destroy(t.tls.tp);
	}
	wefti_os_vm_unmap(stack, bytes);
	return t.error;
}

/* An empty name is none. libweft-points.so has hooks of the first too, but not this one. */
enum wefti_tls_sanitizer wefti_tls_sanitizer(void)
{
	static const char *const names[] = {
#if defined(WEFT_TSAN)
		"", "__asan_init", "__msan_init",
#elif defined(WEFT_ASAN)
		"__tsan_java_init", "", "__msan_init",
#else
		"__tsan_java_init", "__asan_init", "__msan_init",
#endif
	};
	static const enum wefti_tls_sanitizer of[] = {
		WEFTI_SANITIZER_THREAD, WEFTI_SANITIZER_ADDRESS, WEFTI_SANITIZER_MEMORY,
	};
	const int found = wefti_os_loaded_exports(names, 3);

	return found < 0 ? WEFTI_SANITIZER_NONE : of[found];
}

/*
 * Such tools keep their own state for each TLS or stack, and would not follow a switch.
 */
static const char *check_tools(void)
{
#if defined(WEFT_TSAN) || defined(WEFT_ASAN)
	return "built for a sanitizer";
#else
	if (wefti_tls_sanitizer() != WEFTI_SANITIZER_NONE)
		return "a sanitizer is in the program";
	if (wefti_os_go_is_here())
		return "Go's runtime is in the program";
	if (wefti_arch_on_valgrind())
		return "Valgrind runs the program";
	return NULL;
#endif
}

const char *wefti_tls_refusal(void)
{
	const char *error;

	wefti_arch_init();
	error = check_tools();
	return error ? error : wefti_tls_layout_refusal();
}

int wefti_tls_init(void)
{
	const char *error = load_seq_cst(&reason);

	if (error == NOT_YET) {
		wefti_arch_init();
		wefti_tls_layout.sizes.note_bytes = 8;
		wefti_tls_ids_begin();
		error = check_tools();
		if (!error)
			error = wefti_tls_layout_find();
		if (!error)
			error = wefti_tls_check();
		if (!error)
			error = wefti_tls_setxid_make();
		if (!error)
			wefti_tls_wrap_setxid();
		else
			wefti_os_kthread_unkeep();
		store_seq_cst(&reason, error);
	}
	return error ? -ENOTSUP : 0;
}

const char *wefti_tls_reason(void)
{
	const char *error = load_seq_cst(&reason);

	return error == NOT_YET ? "wefti_tls_init() has not been called" :
	       error ? error : "";
}
