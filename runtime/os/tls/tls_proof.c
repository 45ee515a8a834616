/* SPDX-License-Identifier: MIT */
/*
 * os/tls/tls_proof.c - what was found of libc's layout, proved by what libc and Linux do
 *
 * os/tls/tls_layout.c finds most fields by what lies there. A libc that is newer than
 * weft may have something alike in another place. So each field is proved before anything
 * is written there: a function of libc's changes it, or the kernel or libc tells the
 * address by another way.
 */
#include "os/tls/tls_proof.h"

#include <errno.h>
#include <pthread.h>
#include <resolv.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "cpu.h"
#include "os/call/copy.h"
#include "os/call/newer.h"
#include "os/call/tid.h"
#include "os/libc/real.h"
#include "os/tls/tls_layout.h"
#include "os/tls/tls_malloc.h"
#include "syscall.h"

#define RSEQ_BYTES		32	/* see os/tls/tls_kthread.c */
#define RSEQ_FLAG_UNREGISTER	1

/* The kernel has the list of robust mutexes by its address, unless a filter refused it. */
static const char *prove_robust(uintptr_t tp)
{
	uintptr_t head = 0;
	size_t bytes = 0;
	long error = wefti_arch_syscall(SYS_get_robust_list, 0, (long)&head,
					(long)&bytes, 0, 0, 0);

	return error || !head || head == (uintptr_t)wefti_tls_field(
			tp, wefti_tls_layout.pthread_robust) ?
		       NULL : "the robust list is not the kernel's";
}

/*
 * The kernel refuses a second area, and the same area twice with another error. If it has
 * none, it takes this one.
 */
static long ask_for_rseq(uintptr_t tp, unsigned long bytes)
{
	const long area = (long)(tp + (uintptr_t)wefti_tls_layout.tls_rseq);
	long error = wefti_arch_syscall(SYS_rseq, area, (long)bytes, 0,
					WEFTI_ARCH_RSEQ_SIG, 0, 0);

	if (!error)
		(void)wefti_arch_syscall(SYS_rseq, area, (long)bytes,
					 RSEQ_FLAG_UNREGISTER, WEFTI_ARCH_RSEQ_SIG, 0,
					 0);
	return error;
}

static const char *prove_rseq(uintptr_t tp)
{
	unsigned long bytes;

	if (!wefti_tls_layout.has_rseq || ask_for_rseq(tp, RSEQ_BYTES) != -EINVAL)
		return NULL;
	bytes = (getauxval(AT_RSEQ_FEATURE_SIZE) + RSEQ_BYTES - 1) & ~(RSEQ_BYTES - 1ul);
	return bytes > RSEQ_BYTES && ask_for_rseq(tp, bytes) != -EINVAL ?
		       NULL : "rseq's area is not the kernel's";
}

static const char *prove_resolver(uintptr_t tp)
{
	struct __res_state *(*state)(void) =
		(struct __res_state *(*)(void))wefti_os_real("__res_state");
	const void *found = wefti_tls_field(tp, wefti_tls_layout.pthread_res);

	return (!state || state() == found) &&
	       *(void **)(tp + (uintptr_t)wefti_tls_layout.tls_resp) == found ?
		       NULL : "the resolver's state is not libc's";
}

static const char *prove_stack(uintptr_t tp, const char *stack, size_t bytes)
{
	const uintptr_t *block = wefti_tls_field(tp, wefti_tls_layout.pthread_stackblock);

	return block[0] == (uintptr_t)stack && block[1] == bytes ?
		       NULL : "the stack's bounds are not libc's";
}

static const char *prove_flags(uintptr_t tp)
{
	const struct wefti_tls_layout *l = &wefti_tls_layout;
	const char *flags = wefti_tls_field(tp, l->pthread_specific +
					    KEY_BLOCKS * sizeof(void *));
	const size_t keys = KEYS_IN_BLOCK * sizeof(struct wefti_glibc_key_data);

	/* The first keys lie before `specific`, and are as empty as the word is. */
	if (l->pthread_cancelhandling + keys >= l->pthread_specific &&
	    l->pthread_cancelhandling < l->pthread_specific)
		return "the cancellation state is among the first keys";
	if (flags + 1 != wefti_tls_field(tp, l->pthread_report_events))
		return "the first keys are not libc's";
	if (l->has_stack_mode ? *(const int *)(flags + STACK_MODE) != STACK_MODE_USER :
				flags[2] != 1)
		return "user_stack is not libc's";
	return !l->pthread_joinstate ||
	       *(int *)wefti_tls_field(tp, l->pthread_joinstate) == JOINSTATE_JOINABLE ?
		       NULL : "joinstate is not libc's";
}

/*
 * Read so that a list which is none cannot fault. Where a filter refuses the calls for
 * that, the lists are read as they are.
 */
static int get(struct wefti_glibc_list *to, const struct wefti_glibc_list *from)
{
	static const struct wefti_glibc_list none;

	if (wefti_os_copy(to, from, sizeof(*to)) == sizeof(*to))
		return 1;
	if (wefti_os_copy(to, &none, sizeof(*to)) == sizeof(*to))
		return 0;
	*to = *from;
	return 1;
}

/* Does the next node point back? */
static const struct wefti_glibc_list *next_of(const struct wefti_glibc_list *e)
{
	struct wefti_glibc_list this, next;

	return get(&this, e) && get(&next, this.next) && next.prev == e ?
		       this.next : NULL;
}

static int is_on_list(const struct wefti_glibc_list *head, uintptr_t node)
{
	const struct wefti_glibc_list *e = head;

	do {
		e = next_of(e);
		if ((uintptr_t)e == node)
			return e != NULL;
	} while (e && e != head);
	return 0;
}

static const char *prove_lists(uintptr_t tp)
{
	const struct wefti_tls_layout *l = &wefti_tls_layout;
	const struct wefti_glibc_stacks *s = l->stacks;

	if (!is_on_list(&s->user, (uintptr_t)wefti_tls_field(tp, l->pthread_list)))
		return "a thread is not on glibc's list";
	if (!next_of(l->stacks_used) || !next_of(&s->cache) || s->in_flight != 0 ||
	    s->cache_bytes > SIZE_MAX / 2)
		return "glibc's lists of stacks are not as expected";
	return NULL;
}

/* Was the word none in the new thread? That of getrandom() lies in struct pthread. */
static int was_none(uintptr_t tp, unsigned i, const uintptr_t *at_start)
{
	const struct wefti_tls_layout *l = &wefti_tls_layout;
	uintptr_t from, to, at;

	if (l->tls_malloc[i] == l->tls_random)
		return 1;
	wefti_arch_static_tls(tp, &l->sizes, &from, &to);
	at = (uintptr_t)wefti_tls_malloc_word(tp, i) - from;
	return at < to - from && at_start[at / sizeof(*at_start)] == l->malloc_none[i];
}

/*
 * The thread has called malloc(), free() and getrandom(), and each has changed a word. A
 * word beside these may have something, too, but had it from the start.
 */
static const char *prove_malloc(uintptr_t tp, const uintptr_t *at_start)
{
	const struct wefti_tls_layout *l = &wefti_tls_layout;

	for (unsigned i = 0; i < l->malloc_words; i++)
		if (*wefti_tls_malloc_word(tp, i) == l->malloc_none[i] ||
		    !was_none(tp, i, at_start) ||
		    (i && l->tls_malloc[i] == l->tls_malloc[i - 1]))
			return "malloc's words are not libc's";
	return !l->tls_random || l->tls_random == l->tls_malloc[l->malloc_words - 1] ?
		       NULL : "getrandom()'s word is not libc's";
}

const char *wefti_tls_prove(const char *stack, size_t bytes, const uintptr_t *at_start)
{
	const uintptr_t tp = wefti_arch_tp_get();
	const char *error;

	if ((uintptr_t)pthread_self() != wefti_tls_pthread(tp) ||
	    *(int *)wefti_tls_field(tp, wefti_tls_layout.pthread_tid) != wefti_os_gettid())
		return "struct pthread is not libc's";
	error = prove_robust(tp);
	if (!error)
		error = prove_rseq(tp);
	if (!error)
		error = prove_resolver(tp);
	if (!error)
		error = prove_stack(tp, stack, bytes);
	if (!error)
		error = prove_flags(tp);
	if (!error)
		error = prove_lists(tp);
	if (!error)
		error = prove_malloc(tp, at_start);
	return error ? error : wefti_tls_prove_cancel();
}

/* Has libc put the state and the type where they were found? */
static int has_state(uintptr_t tp, int state, int type)
{
	const struct wefti_tls_layout *l = &wefti_tls_layout;
	const volatile unsigned char *b = wefti_tls_field(tp, l->pthread_cancel_bytes);
	const volatile uint32_t *bits = wefti_tls_field(tp, l->pthread_cancelhandling);

	return l->pthread_cancel_bytes ? b[0] == state && b[1] == type :
					 (int)(*bits & 3) == (state | type << 1);
}

const char *wefti_tls_prove_cancel(void)
{
	const uintptr_t tp = wefti_arch_tp_get();
	volatile uint32_t *word = wefti_tls_field(tp,
						  wefti_tls_layout.pthread_cancelhandling);
	void (*testcancel)(void) = (void (*)(void))wefti_os_real("pthread_testcancel");
	const uint32_t before = *word;
	int old, is_there, was_there = has_state(tp, 0, 0);

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	is_there = has_state(tp, PTHREAD_CANCEL_DISABLE, PTHREAD_CANCEL_ASYNCHRONOUS);
	if (was_there && is_there && testcancel) {
		*word = (*word | WEFTI_TLS_CANCELED) & ~WEFTI_TLS_EXITING;
		testcancel();
		*word = (*word & ~WEFTI_TLS_CANCELED) | (before & WEFTI_TLS_EXITING);
	}
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &old);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
	return was_there && is_there && has_state(tp, 0, 0) && *word == before ?
		       NULL : "the cancellation state is not libc's";
}
