/* SPDX-License-Identifier: MIT */
/*
 * os/tls/tls_layout.h - what os/tls/tls*.c know about glibc's private structures
 *
 * All of it is found at run time: from the descriptors that glibc exports for
 * libthread_db, or by looking at a thread that glibc has made. Offsets are in
 * bytes; pthread_* from the start of struct pthread, tls_* from the thread
 * pointer.
 */
#ifndef WEFT_OS_TLS_TLS_LAYOUT_H
#define WEFT_OS_TLS_TLS_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "tcb.h"

#define MALLOC_WORDS_MAX	5	/* getrandom()'s is one */
#define KEYS_IN_BLOCK		32	/* PTHREAD_KEY_2NDLEVEL_SIZE */
#define KEY_BLOCKS		32	/* PTHREAD_KEY_1STLEVEL_SIZE */
#define ROBUST_FUTEX_OFFSET	(-32)	/* from a mutex's list node */
#define RSEQ_CPU_ID		4	/* offset in struct rseq */

/* Bits of cancelhandling, in struct pthread. */
#define WEFTI_TLS_CANCELED	0x08u
#define WEFTI_TLS_EXITING	0x10u
#define WEFTI_TLS_SETXID	0x40u	/* libc waits for a handler on this block */

/* In getrandom()'s word, while a call uses the state. */
#define WEFTI_TLS_RANDOM_TAKEN	1u

/* Since glibc 2.42, in bytes from specific_used, which follows the blocks of keys. */
#define STACK_MODE		4
#define STACK_MODE_USER		2	/* the memory is the caller's */
#define JOINSTATE		24	/* since 2.43 */
#define JOINSTATE_JOINABLE	2

/* glibc's list_t. */
struct wefti_glibc_list {
	struct wefti_glibc_list *next, *prev;
};

/* glibc's struct pthread_key_data and struct pthread_key_struct. */
struct wefti_glibc_key_data {
	uintptr_t seq;
	void *data;
};

struct wefti_glibc_key {
	uintptr_t seq;
	void (*destructor)(void *data);
};

/* The lists of thread stacks, and behind them what guards them. */
struct wefti_glibc_stacks {
	struct wefti_glibc_list user;	/* blocks in memory of the caller */
	struct wefti_glibc_list cache;
	size_t cache_bytes;
	uintptr_t in_flight;		/* what fork() repairs in the child */
	_Atomic int lock;		/* 0, 1, 2: free, taken, waited for */
};

struct wefti_tls_layout {
	struct wefti_arch_tls_sizes sizes;

	/* Functions and data of glibc. */
	void *(*allocate)(void *tp);
	void *(*allocate_init)(void *tp, int main_map);
	void (*deallocate)(void *tp, int free_block);
	void (*ctype_init)(void);
	void (*call_tls_dtors)(void);
	void (*resolver_close)(void *state);
	struct wefti_glibc_key *keys;
	struct wefti_glibc_list *stacks_used;
	struct wefti_glibc_stacks *stacks;

	/* Given by libthread_db's descriptors. */
	size_t pthread_tid, pthread_list, pthread_specific;
	size_t pthread_cancelhandling, pthread_report_events;

	/* Found in a thread. */
	size_t pthread_robust;		/* struct robust_list_head */
	size_t pthread_res;		/* struct __res_state */
	size_t pthread_stackblock;	/* address, size, guard, guard told */
	size_t pthread_joinstate;	/* since 2.43; else 0 */
	size_t pthread_cancel_bytes;	/* state and type; 0: bits of cancelhandling */
	ptrdiff_t tls_resp;		/* __resp, a pointer to the former */
	ptrdiff_t tls_rseq;
	ptrdiff_t tls_malloc[MALLOC_WORDS_MAX];	/* its caches' roots */
	uintptr_t malloc_none[MALLOC_WORDS_MAX];	/* before the first malloc */
	unsigned malloc_words;		/* none of malloc's for another malloc */
	ptrdiff_t tls_random;		/* getrandom()'s word, one of these; 0: none */
	int malloc_is_libcs;
	int has_rseq;		/* the kernel knows of it */
	int has_rseq_area;	/* libc has room for it at tls_rseq */
	int has_stack_mode;	/* since 2.42, in place of user_stack */
};

extern struct wefti_tls_layout wefti_tls_layout
	__attribute__((visibility("hidden")));

/*
 * Returns NULL, or why the layout cannot be known. refusal() makes no kernel thread: it
 * knows only what needs none.
 */
const char *wefti_tls_layout_refusal(void);
const char *wefti_tls_layout_find(void);

/* The part of wefti_tls_after_fork() that is about blocks. */
void wefti_tls_forget_blocks(uintptr_t tp, int list_is_new);

/* Before the first block is made: where the ids of this process begin. */
void wefti_tls_ids_begin(void);

/*
 * Gives the malloc cache of a waiting thread to the next block that is built. The thread
 * is then as before its first malloc.
 */
void wefti_tls_leave_malloc(uintptr_t tp);

/* libc's lock for its lists of blocks. */
void wefti_tls_lock_stacks(void);
void wefti_tls_unlock_stacks(void);

/* Links a block that was built before the fork into the lists of this process. */
void wefti_tls_relink(uintptr_t tp);

/* Builds a block and runs on it for a moment. Returns NULL, or what went wrong. */
const char *wefti_tls_check(void);

static inline uintptr_t wefti_tls_pthread(uintptr_t tp)
{
	return wefti_arch_tp_to_pthread(tp, &wefti_tls_layout.sizes);
}

/* A field of struct pthread, by its offset. */
static inline void *wefti_tls_field(uintptr_t tp, size_t offset)
{
	return (void *)(wefti_tls_pthread(tp) + offset);
}

/* The stack is the caller's, and the thread may be joined. */
static inline void wefti_tls_fill_flags(uintptr_t tp)
{
	const struct wefti_tls_layout *l = &wefti_tls_layout;
	char *flags = wefti_tls_field(tp, l->pthread_specific +
					  KEY_BLOCKS * sizeof(void *));

	if (l->has_stack_mode)
		*(int *)(flags + STACK_MODE) = STACK_MODE_USER;
	else
		flags[2] = 1;		/* user_stack */
	if (l->pthread_joinstate)
		*(int *)wefti_tls_field(tp, l->pthread_joinstate) = JOINSTATE_JOINABLE;
}

#endif
