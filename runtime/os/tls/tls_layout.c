/* SPDX-License-Identifier: MIT */
/*
 * os/tls/tls_layout.c - learns glibc's private structures, and refuses to guess
 *
 * Descriptors give some of the layout. The rest is looked for in a thread that glibc has
 * made on a stack that we know. It must be found where the source of glibc 2.34 to 2.43
 * has it. Else the answer is "unknown". The version number decides nothing: a field
 * that a newer glibc keeps in its place is used, and a field that it moves is noticed.
 */
#include "os/tls/tls_layout.h"

#include <link.h>
#include <pthread.h>
#include <resolv.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/compiler.h"
#include "cpu.h"
#include "os/call/tid.h"
#include "os/kthread/kthread_kept.h"
#include "os/libc/allocator.h"
#include "os/libc/real.h"
#include "os/tls/tls_proof.h"

#define PROBE_STACK	((size_t)256 << 10)
#define CANCEL_SEARCHED	256	/* bytes behind the resolver's state */
#define PTHREAD_WORDS	512	/* a larger struct pthread is not searched */
#define RSEQ_BYTES	32

/* An element of libthread_db's descriptors: bits, count, offset. */
#define DESCRIPTOR_OFFSET	2

struct wefti_tls_layout wefti_tls_layout;

struct probe {
	char *stack;
	size_t stack_bytes;
	uintptr_t tp;
	uintptr_t *before;	/* static TLS before the first malloc */
	const char *error;
};

/*
 * Another malloc may keep more than a few words in TLS, and link them to those of other
 * threads. Then a block cannot be recycled, unless that malloc is known to clean up when
 * the thread ends, and can do so.
 */
static const char *check_libc_and_malloc(struct wefti_tls_layout *l)
{
	enum wefti_os_allocator whose;
	uintptr_t base;

	if (!wefti_os_real("gnu_get_libc_version"))
		return "libc is not glibc";
	whose = wefti_os_allocator_find(&base);
	l->malloc_is_libcs = whose == WEFTI_ALLOCATOR_LIBC;
	if (l->malloc_is_libcs || (whose == WEFTI_ALLOCATOR_KNOWN &&
				   wefti_os_allocator_is_served))
		return NULL;
	return "malloc is not libc's";
}

static int descriptor(const char *name, size_t *offset)
{
	const uint32_t *d = wefti_os_real(name);

	if (!d)
		return 0;
	*offset = d[DESCRIPTOR_OFFSET];
	return 1;
}

static const char *find_descriptors(struct wefti_tls_layout *l)
{
	char *rtld = wefti_os_real("_rtld_global");
	size_t used, user;

	if (!rtld ||
	    !descriptor("_thread_db_pthread_tid", &l->pthread_tid) ||
	    !descriptor("_thread_db_pthread_list", &l->pthread_list) ||
	    !descriptor("_thread_db_pthread_specific", &l->pthread_specific) ||
	    !descriptor("_thread_db_pthread_cancelhandling",
			&l->pthread_cancelhandling) ||
	    !descriptor("_thread_db_pthread_report_events",
			&l->pthread_report_events) ||
	    !descriptor("_thread_db_rtld_global__dl_stack_used", &used) ||
	    !descriptor("_thread_db_rtld_global__dl_stack_user", &user))
		return "a descriptor of glibc's structures is missing";
	l->stacks_used = (struct wefti_glibc_list *)(rtld + used);
	l->stacks = (struct wefti_glibc_stacks *)(rtld + user);
	return NULL;
}

/*
 * Called by the caller's thread, not by the probe thread: for a missing symbol dlsym()
 * allocates its message, and the probe has to see a thread's first malloc.
 */
static const char *find_symbols(struct wefti_tls_layout *l)
{
	const ptrdiff_t *rseq_offset = wefti_os_real("__rseq_offset");
	const unsigned *rseq_size = wefti_os_real("__rseq_size");
	const char *resp = wefti_os_real("__resp");
	void (*static_info)(size_t *bytes, size_t *align);
	const uint32_t *pthread_bytes;

	pthread_bytes = wefti_os_real("_thread_db_sizeof_pthread");
	static_info = (void (*)(size_t *, size_t *))
		wefti_os_real("_dl_get_tls_static_info");
	l->allocate = (void *(*)(void *))
		wefti_os_real("_dl_allocate_tls");
	l->allocate_init = (void *(*)(void *, int))
		wefti_os_real("_dl_allocate_tls_init");
	l->deallocate = (void (*)(void *, int))
		wefti_os_real("_dl_deallocate_tls");
	l->ctype_init = (void (*)(void))wefti_os_real("__ctype_init");
	l->call_tls_dtors = (void (*)(void))
		wefti_os_real("__call_tls_dtors");
	l->resolver_close = (void (*)(void *))
		wefti_os_real("__res_nclose");
	l->keys = wefti_os_real("__pthread_keys");
	if (!pthread_bytes || !static_info || !resp || !l->allocate ||
	    !l->allocate_init || !l->deallocate || !l->ctype_init ||
	    !l->call_tls_dtors || !l->resolver_close || !l->keys)
		return "a private symbol of glibc is missing";
	l->sizes.pthread_bytes = *pthread_bytes;
	static_info(&l->sizes.static_bytes, &l->sizes.align);
	l->tls_resp = resp - (const char *)wefti_arch_tp_get();
	l->has_rseq = rseq_offset && rseq_size && *rseq_size != 0;
	l->has_rseq_area = rseq_offset != NULL;
	l->tls_rseq = rseq_offset ? *rseq_offset : 0;
	return find_descriptors(l);
}

/*
 * The words of static TLS that a thread's first malloc fills. Since glibc 2.43 the cache
 * is made by the first free, and the word points to an empty one before that.
 */
static const char *find_malloc_words(struct wefti_tls_layout *l,
				     uintptr_t tp, uintptr_t *before)
{
	uintptr_t from, to;
	void *volatile p;
	size_t bytes;

	wefti_arch_static_tls(tp, &l->sizes, &from, &to);
	bytes = (to - from) & ~(uintptr_t)7;
	memcpy(before, (void *)from, bytes);
	p = malloc(24);
	free(p);
	for (size_t i = 0; i < bytes / 8; i++) {
		if (((uintptr_t *)from)[i] == before[i])
			continue;
		if (l->malloc_words == MALLOC_WORDS_MAX)
			return "malloc's words in TLS are not as expected";
		l->malloc_none[l->malloc_words] = before[i];
		l->tls_malloc[l->malloc_words++] =
			(ptrdiff_t)(from + i * 8 - tp);
	}
	return l->malloc_words ? NULL : "malloc has no words in TLS";
}

/*
 * Since glibc 2.41 a thread's first getrandom() gets a state of the vDSO's, which has
 * pages of its own. libc takes the state back when a kernel thread ends. The word that
 * points to it is the only one in struct pthread that this call fills. The kernel may
 * write into the rseq area meanwhile.
 */
static void find_random_word(struct wefti_tls_layout *l, uintptr_t tp, uintptr_t self)
{
	const volatile uintptr_t *word = (uintptr_t *)self;
	const uintptr_t rseq = tp + (uintptr_t)l->tls_rseq;
	const size_t words = l->sizes.pthread_bytes / sizeof(*word);
	uintptr_t before[PTHREAD_WORDS];
	size_t found = 0;
	char byte;

	l->tls_random = 0;
	if (words > PTHREAD_WORDS || l->malloc_words == MALLOC_WORDS_MAX)
		return;
	for (size_t i = 0; i < words; i++)
		before[i] = word[i];
	(void)!getrandom(&byte, sizeof(byte), GRND_NONBLOCK);
	for (size_t i = 1; i < words; i++) {
		if (word[i] == before[i] || (uintptr_t)&word[i] - rseq < RSEQ_BYTES)
			continue;
		if (found || before[i] != 0 || (word[i] & WEFTI_TLS_RANDOM_TAKEN))
			return;
		found = i;
	}
	if (!found)
		return;
	l->tls_random = (ptrdiff_t)((uintptr_t)&word[found] - tp);
	l->malloc_none[l->malloc_words] = 0;
	l->tls_malloc[l->malloc_words++] = l->tls_random;
}

/* { stack address, its size, guard size } in that order. */
static const char *find_stackblock(struct wefti_tls_layout *l, uintptr_t self,
				   const struct probe *probe)
{
	for (size_t at = 0; at + 32 <= l->sizes.pthread_bytes; at += 8) {
		const uintptr_t *word = (const uintptr_t *)(self + at);

		if (word[0] == (uintptr_t)probe->stack &&
		    word[1] == probe->stack_bytes) {
			l->pthread_stackblock = at;
			return NULL;
		}
	}
	return "the stack's bounds are not in struct pthread";
}

/* Two bytes that were 0 and have the state and the type now. Returns the offset, or 0. */
static size_t find_cancel_bytes(uintptr_t self, size_t from, size_t to,
				const unsigned char *before)
{
	for (size_t at = from; at + 1 < to; at++) {
		const volatile unsigned char *b = (unsigned char *)(self + at);

		if (before[at - from] == 0 && before[at - from + 1] == 0 &&
		    b[0] == PTHREAD_CANCEL_DISABLE &&
		    b[1] == PTHREAD_CANCEL_ASYNCHRONOUS)
			return at;
	}
	return 0;
}

/*
 * The cancellation state is two bits of cancelhandling, or two bytes: in glibc 2.34 and
 * 2.35 behind the resolver's state, later after cancelhandling.
 */
static const char *find_cancel_state(struct wefti_tls_layout *l,
				     uintptr_t self)
{
	const size_t late = l->pthread_res + sizeof(struct __res_state);
	const size_t early = l->pthread_cancelhandling + sizeof(int);
	const size_t end = l->sizes.pthread_bytes < late + CANCEL_SEARCHED ?
			   l->sizes.pthread_bytes : late + CANCEL_SEARCHED;
	volatile int *cancel = (int *)(self + l->pthread_cancelhandling);
	unsigned char before[CANCEL_SEARCHED], none[2] = { 0, 0 };
	int by_bits, by_bytes, old;

	memcpy(before, (void *)(self + late), end - late);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	by_bits = (*cancel & 3) == 3;
	l->pthread_cancel_bytes = find_cancel_bytes(self, early, early + 2, none);
	if (!l->pthread_cancel_bytes)
		l->pthread_cancel_bytes = find_cancel_bytes(self, late, end, before);
	by_bytes = l->pthread_cancel_bytes != 0;
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &old);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
	if (by_bits == by_bytes || *cancel != 0 ||
	    (by_bytes && memcmp((void *)(self + l->pthread_cancel_bytes), none, 2)))
		return "the cancellation state is not where expected";
	return NULL;
}

/* Finds an empty list with the offset of robust mutexes: there is only one such place. */
static const char *find_robust(struct wefti_tls_layout *l, uintptr_t self)
{
	for (size_t at = 8; at + 24 <= l->sizes.pthread_bytes; at += 8) {
		const intptr_t *word = (const intptr_t *)(self + at);

		if (word[-1] == (intptr_t)word && word[0] == (intptr_t)word &&
		    word[1] == ROBUST_FUTEX_OFFSET && word[2] == 0) {
			l->pthread_robust = at;
			return NULL;
		}
	}
	return "the robust list is not in struct pthread";
}

/* Checks the fields beside those that a descriptor names. */
static const char *check_neighbours(struct wefti_tls_layout *l, uintptr_t self)
{
	const unsigned char *flags =
		(unsigned char *)(self + l->pthread_specific) +
		KEY_BLOCKS * sizeof(void *);

	/*
	 * specific_used, report_events, user_stack: three bytes in a row. Since 2.42 the
	 * third is the word stack_mode. 2.43 has joinstate behind that, which the kernel
	 * clears at the thread's end in place of tid. Before, joinstate's place has a
	 * pointer.
	 */
	l->has_stack_mode = flags[2] == 0 &&
			    *(const int *)(flags + STACK_MODE) == STACK_MODE_USER;
	if ((uintptr_t)(flags + 1) != self + l->pthread_report_events ||
	    (flags[2] != 1 && !l->has_stack_mode))
		return "user_stack is not where expected";
	l->pthread_joinstate = 0;
	if (l->has_stack_mode &&
	    *(const int *)(flags + JOINSTATE) == JOINSTATE_JOINABLE)
		l->pthread_joinstate = (uintptr_t)(flags + JOINSTATE) - self;
	if (*(void **)(self + l->pthread_specific) != NULL &&
	    *(uintptr_t *)(self + l->pthread_specific) !=
	    self + l->pthread_specific - KEYS_IN_BLOCK *
	    sizeof(struct wefti_glibc_key_data))
		return "the first keys are not where expected";
	return NULL;
}

/* Runs in the probe thread, before anything in it calls malloc. */
static const char *fill(struct wefti_tls_layout *l, const struct probe *probe)
{
	uintptr_t tp = wefti_arch_tp_get(), self = (uintptr_t)pthread_self();
	const char *error;

	l->malloc_words = 0;
	error = l->malloc_is_libcs ?
		find_malloc_words(l, tp, probe->before) : NULL;
	if (error)
		return error;
	if (self != wefti_arch_tp_to_pthread(tp, &l->sizes) ||
	    *(int *)(self + l->pthread_tid) != wefti_os_gettid())
		return "struct pthread is not where expected";
	l->pthread_res = *(uintptr_t *)(tp + (uintptr_t)l->tls_resp) - self;
	if (l->pthread_res >= l->sizes.pthread_bytes ||
	    l->sizes.pthread_bytes - l->pthread_res <
	    sizeof(struct __res_state))
		return "the resolver's state is not in struct pthread";
	find_random_word(l, tp, self);
	error = find_robust(l, self);
	if (!error)
		error = find_cancel_state(l, self);
	if (!error)
		error = find_stackblock(l, self, probe);
	if (!error)
		error = check_neighbours(l, self);
	return error;
}

static void probe_main(void *arg, char *stack, size_t bytes)
{
	struct probe *probe = arg;

	probe->stack = stack;
	probe->stack_bytes = bytes;
	probe->tp = wefti_arch_tp_get();
	probe->error = fill(&wefti_tls_layout, probe);
	if (!probe->error)
		probe->error = wefti_tls_prove(stack, bytes, probe->before);
}

const char *wefti_tls_layout_refusal(void)
{
	const char *error = check_libc_and_malloc(&wefti_tls_layout);

	return error ? error : find_symbols(&wefti_tls_layout);
}

/* The probe thread does not end: see kthread_kept.h. */
const char *wefti_tls_layout_find(void)
{
	struct wefti_tls_layout *l = &wefti_tls_layout;
	struct probe probe = { .error = "no memory" };
	const char *error = wefti_tls_layout_refusal();
	size_t bytes;

	if (error)
		return error;
	bytes = PROBE_STACK +
		((l->sizes.static_bytes + 65535) & ~(size_t)65535);
	probe.before = malloc(l->sizes.static_bytes);
	if (probe.before &&
	    wefti_os_kthread_keep(bytes, probe_main, &probe) != 0)
		probe.error = "no kernel thread could be made";
	free(probe.before);
	if (!probe.error)
		wefti_tls_leave_malloc(probe.tp);
	return probe.error;
}
