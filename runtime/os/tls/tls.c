/* SPDX-License-Identifier: MIT */
/*
 * os/tls/tls.c - libc's thread control block and static TLS, for a green thread
 *
 * A block is what pthread_create() makes, without the kernel thread. ld.so's own
 * allocator fills in static TLS and the table of dynamic TLS. We fill in the fields of
 * struct pthread that libc reads in a running thread.
 *
 * The block is linked into libc's list of user stacks. Without that, dlopen() of a
 * library with initial-exec TLS would leave its variables uninitialized here, fork()
 * would crash the child, and dlclose() could unmap code that we run.
 *
 * The block's thread id is made up. libc identifies the owners of recursive locks by it
 * (its own locks included), so it stays with the thread when kernel threads change.
 * EXITING keeps setuid() and cancellation away from the block: they would send a signal
 * to a kernel thread with that id.
 *
 * Writers
 *   glibc_stacks.lock  wefti_tls_lock_stacks, wefti_tls_unlock_stacks
 *   last_tid  make_tid, wefti_tls_ids_begin
 */
#include "os/tls/tls.h"

#include <errno.h>
#include <linux/futex.h>
#include <resolv.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/compiler.h"
#include "cpu.h"
#include "lockfree/atomic.h"
#include "os/tls/tls_image.h"
#include "os/tls/tls_layout.h"
#include "os/tls/tls_malloc.h"
#include "syscall.h"

#define KEY_ROUNDS		4		/* PTHREAD_DESTRUCTOR_ITERATIONS */
#define RESOLVER_OPTIONS	8		/* nonzero when it has been used */

/* Our own data, at the end of a block. */
struct note {
	int32_t tid;
	uint32_t fork_count;	/* the list that it is linked into */
};

/* glibc's dtv_t. */
struct dtv {
	uintptr_t value;	/* counter, in the first two */
	void *to_free;
};

static _Atomic uint32_t last_tid;
static int32_t forkers_tid;	/* of the thread that went on in a fork's child */
static uint32_t fork_count;	/* of forks that have emptied libc's list */

static struct note *note_of(uintptr_t tp)
{
	return wefti_arch_tp_note(tp, &wefti_tls_layout.sizes);
}

/* This is glibc's own lock, taken in glibc's way, because glibc takes it too. */
void wefti_tls_lock_stacks(void)
{
	_Atomic int *lock = &wefti_tls_layout.stacks->lock;
	int seen = 0;

	if (cas_seq_cst(lock, &seen, 1))
		return;
	while (xchg_seq_cst(lock, 2) != 0)
		wefti_arch_syscall(SYS_futex, (long)lock, FUTEX_WAIT_PRIVATE,
				   2, 0, 0, 0);
}

void wefti_tls_unlock_stacks(void)
{
	_Atomic int *lock = &wefti_tls_layout.stacks->lock;

	if (xchg_seq_cst(lock, 0) > 1)
		wefti_arch_syscall(SYS_futex, (long)lock, FUTEX_WAKE_PRIVATE,
				   1, 0, 0, 0);
}

/*
 * Another kernel thread may fork() in the middle. By the order of the stores and by
 * in_flight glibc repairs the list in the child.
 */
static void link_block(uintptr_t tp)
{
	struct wefti_glibc_stacks *s = wefti_tls_layout.stacks;
	struct wefti_glibc_list *e =
		wefti_tls_field(tp, wefti_tls_layout.pthread_list);

	note_of(tp)->fork_count = fork_count;
	s->in_flight = (uintptr_t)e | 1;
	compiler_barrier();
	e->next = s->user.next;
	e->prev = &s->user;
	s->user.next->prev = e;
	compiler_barrier();
	s->user.next = e;
	compiler_barrier();
	s->in_flight = 0;
}

static void unlink_block(uintptr_t tp)
{
	struct wefti_glibc_stacks *s = wefti_tls_layout.stacks;
	struct wefti_glibc_list *e =
		wefti_tls_field(tp, wefti_tls_layout.pthread_list);

	s->in_flight = (uintptr_t)e;
	compiler_barrier();
	e->next->prev = e->prev;
	e->prev->next = e->next;
	compiler_barrier();
	s->in_flight = 0;
}

void wefti_tls_relink(uintptr_t tp)
{
	wefti_tls_lock_stacks();
	link_block(tp);
	wefti_tls_unlock_stacks();
}

size_t wefti_tls_bytes(void)
{
	return wefti_arch_tls_bytes(&wefti_tls_layout.sizes);
}

/* Sets what a new thread expects and allocate_init() does not set. */
static void begin_life(uintptr_t tp)
{
	const struct wefti_tls_layout *l = &wefti_tls_layout;
	uintptr_t *robust = wefti_tls_field(tp, l->pthread_robust);
	unsigned char *cancel = wefti_tls_field(tp, l->pthread_cancelhandling);

	robust[-1] = (uintptr_t)robust;		/* robust_prev */
	robust[0] = (uintptr_t)robust;
	robust[1] = (uintptr_t)(intptr_t)ROBUST_FUTEX_OFFSET;
	robust[2] = 0;				/* list_op_pending */
	*(int *)cancel = WEFTI_TLS_EXITING;
	if (l->pthread_cancel_bytes)	/* enabled, deferred */
		memset(wefti_tls_field(tp, l->pthread_cancel_bytes), 0, 2);
	((void **)cancel)[-1] = NULL;		/* cleanup handlers */
	((void **)cancel)[-2] = NULL;
	*(void **)(tp + (uintptr_t)l->tls_resp) =
		wefti_tls_field(tp, l->pthread_res);
	/*
	 * 0 would mean CPU 0, and a kernel thread made on this block would insist on
	 * rseq where the kernel has none.
	 */
	if (l->has_rseq_area)
		*(int32_t *)(tp + (uintptr_t)l->tls_rseq + RSEQ_CPU_ID) = -1;
}

void wefti_tls_ids_begin(void)
{
	long pid = wefti_arch_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);

	store_relaxed(&last_tid, wefti_tls_first_of((int)pid));
}

static int32_t make_tid(void)
{
	int32_t tid;

	do {
		tid = (int32_t)(WEFTI_TLS_FIRST_TID +
				fetch_add_relaxed(&last_tid, 1) % WEFTI_TLS_TIDS);
	} while (tid == forkers_tid);
	return tid;
}

static void fill_pthread(uintptr_t tp, void *stack_low, void *top)
{
	const struct wefti_tls_layout *l = &wefti_tls_layout;
	char *specific = wefti_tls_field(tp, l->pthread_specific);
	uintptr_t *stack = wefti_tls_field(tp, l->pthread_stackblock);

	wefti_arch_tcb_head(tp, wefti_arch_tp_get(), &l->sizes);
	note_of(tp)->tid = make_tid();
	*(int *)wefti_tls_field(tp, l->pthread_tid) = note_of(tp)->tid;
	*(void **)specific = specific -
		KEYS_IN_BLOCK * sizeof(struct wefti_glibc_key_data);
	wefti_tls_fill_flags(tp);
	stack[0] = (uintptr_t)stack_low;
	stack[1] = (uintptr_t)top - (uintptr_t)stack_low;
}

/*
 * The loader leaves room in the table for 14 libraries that may be loaded later: 224
 * bytes in each thread. It lengthens a table that is too short for a library's number.
 * So the table may end behind the last library that is there. Entries of loaded
 * libraries are not 0, whether their TLS has been made or not.
 */
void wefti_tls_trim(uintptr_t tp)
{
	struct dtv *table = (struct dtv *)wefti_arch_tp_dtv(tp) - 1;
	size_t used = table[0].value;

	while (used > 0 && table[1 + used].value == 0)
		used--;
	table = realloc(table, (used + 2) * sizeof(*table));
	if (!table)
		return;
	table[0].value = used;
	wefti_arch_tp_set_dtv(tp, table + 1);
}

int wefti_tls_build(void *stack_low, void *top, struct wefti_tls *out)
{
	const struct wefti_tls_layout *l = &wefti_tls_layout;
	struct wefti_tls_malloc *adopted;
	uintptr_t low;
	uintptr_t tp = wefti_arch_tls_place((uintptr_t)top, &l->sizes, &low);

	memset((void *)low, 0, (uintptr_t)top - low);
	if (!l->allocate((void *)tp))
		return -ENOMEM;
	fill_pthread(tp, stack_low, top);
	begin_life(tp);
	wefti_tls_lock_stacks();
	link_block(tp);
	adopted = wefti_tls_malloc_kept();
	wefti_tls_unlock_stacks();
	wefti_tls_malloc_adopt(tp, adopted);
	out->tp = tp;
	out->low = (void *)low;
	return 0;
}

/*
 * libc allocates the tables of keys beyond the first 32 with malloc. The values are left
 * by a thread that did not run its destructors, or has run them.
 */
static ALWAYS_INLINE void forget_keys(uintptr_t tp)
{
	char *specific = wefti_tls_field(tp, wefti_tls_layout.pthread_specific);
	struct wefti_glibc_key_data **table = (void *)specific;
	char *used = specific + KEY_BLOCKS * sizeof(void *);

	if (!*used)
		return;
	memset(table[0], 0, KEYS_IN_BLOCK * sizeof(*table[0]));
	for (size_t i = 1; i < KEY_BLOCKS; i++) {
		free(table[i]);
		table[i] = NULL;
	}
	*used = 0;
}

COLD static void free_dynamic_tls(struct dtv *dtv, size_t length)
{
	for (size_t i = 1; i <= length; i++) {
		if (!dtv[i].to_free)
			continue;
		free(dtv[i].to_free);
		dtv[i] = (struct dtv){ 0, NULL };
	}
}

/*
 * Variables of libraries loaded by dlopen() are made at their first use. A thread seldom
 * has any. This is on the path of a spawn, so it looks without a branch for each entry.
 * Returns 1 if there were some: then the loader has to set the table right.
 */
static int forget_dynamic_tls(uintptr_t tp)
{
	struct dtv *dtv = wefti_arch_tp_dtv(tp);
	size_t length = dtv[-1].value, i = 1;
	uintptr_t any = 0;

	for (; i + 3 <= length; i += 4)
		any |= (uintptr_t)dtv[i].to_free |
		       (uintptr_t)dtv[i + 1].to_free |
		       (uintptr_t)dtv[i + 2].to_free |
		       (uintptr_t)dtv[i + 3].to_free;
	for (; i <= length; i++)
		any |= (uintptr_t)dtv[i].to_free;
	if (unlikely(any))
		free_dynamic_tls(dtv, length);
	return any != 0;
}

void wefti_tls_reset(uintptr_t tp)
{
	const struct wefti_tls_layout *l = &wefti_tls_layout;
	uintptr_t words[MALLOC_WORDS_MAX];
	int had_dynamic;

	forget_keys(tp);
	wefti_tls_release_random(tp);
	had_dynamic = forget_dynamic_tls(tp);
	for (unsigned i = 0; i < l->malloc_words; i++)
		words[i] = *wefti_tls_malloc_word(tp, i);
	if (unlikely(had_dynamic) || unlikely(!wefti_tls_image_apply(tp)))
		wefti_tls_image_make(tp);
	for (unsigned i = 0; i < l->malloc_words; i++)
		*wefti_tls_malloc_word(tp, i) = words[i];
	begin_life(tp);
}

void wefti_tls_leave_malloc(uintptr_t tp)
{
	struct wefti_tls_malloc *left = wefti_tls_malloc_of(tp);

	if (!left)
		return;
	wefti_tls_lock_stacks();
	wefti_tls_malloc_keep(left);
	wefti_tls_unlock_stacks();
	wefti_tls_malloc_none(tp);
}

void wefti_tls_destroy(uintptr_t tp)
{
	struct wefti_tls_malloc *left;

	wefti_tls_release_random(tp);
	left = wefti_tls_malloc_of(tp);
	forget_keys(tp);
	wefti_tls_lock_stacks();
	if (note_of(tp)->fork_count == fork_count)
		unlink_block(tp);
	wefti_tls_malloc_keep(left);
	wefti_tls_unlock_stacks();
	wefti_tls_layout.deallocate((void *)tp, 0);
}

void wefti_tls_thread_begin(void)
{
	wefti_tls_layout.ctype_init();
}

/* The destructors of the keys that a thread used, as pthread_exit() does. */
COLD static void run_key_destructors(uintptr_t tp)
{
	struct wefti_glibc_key_data **table =
		wefti_tls_field(tp, wefti_tls_layout.pthread_specific);
	char *used = (char *)table + KEY_BLOCKS * sizeof(void *);

	for (int round = 0; round < KEY_ROUNDS && *used; round++) {
		*used = 0;	/* pthread_setspecific() sets it again */
		for (size_t i = 0; i < KEY_BLOCKS * KEYS_IN_BLOCK; i++) {
			struct wefti_glibc_key_data *d = table[i / KEYS_IN_BLOCK];
			struct wefti_glibc_key *key = &wefti_tls_layout.keys[i];
			void *data;

			if (!d || !d[i % KEYS_IN_BLOCK].data)
				continue;
			d += i % KEYS_IN_BLOCK;
			data = d->data;
			d->data = NULL;
			if (d->seq == key->seq && key->destructor)
				key->destructor(data);
		}
	}
	*used = 1;
	forget_keys(tp);
}

void wefti_tls_thread_exit(void)
{
	const struct wefti_tls_layout *l = &wefti_tls_layout;
	uintptr_t tp = wefti_arch_tp_get();
	char *specific = wefti_tls_field(tp, l->pthread_specific);
	char *res = wefti_tls_field(tp, l->pthread_res);

	l->call_tls_dtors();
	if (specific[KEY_BLOCKS * sizeof(void *)])
		run_key_destructors(tp);
	if (*(unsigned long *)(res + RESOLVER_OPTIONS)) {
		l->resolver_close(res);
		memset(res, 0, sizeof(struct __res_state));
	}
}

int wefti_tls_tid(uintptr_t tp)
{
	return note_of(tp)->tid;
}

/*
 * The child has only this thread, so nothing here needs a lock. libc has put the kernel's
 * id into the thread's block, and its functions that take a pthread_t give it to the
 * kernel.
 */
void wefti_tls_forget_blocks(uintptr_t tp, int list_is_new)
{
	fork_count += list_is_new != 0;
	wefti_tls_ids_begin();
	if (!tp)
		return;
	forkers_tid = note_of(tp)->tid;
	note_of(tp)->fork_count = fork_count;
}
