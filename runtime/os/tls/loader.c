/* SPDX-License-Identifier: MIT */
/*
 * os/tls/loader.c - does a thread hold a lock of the dynamic loader?
 *
 * libc's pthread_create() and the functions that make a thread's block take such a lock.
 * So the runtime and its monitor may wait for it in the kernel, where they cannot help
 * its owner. So a thread that holds such a lock must not have to wait for a VCPU.
 *
 * The locks are recursive mutexes in _rtld_global, which is ld.so's own. The id in a
 * thread's block tells their owner. All of _rtld_global is searched: the places differ
 * between versions, and it does not matter which lock it is.
 *
 * The lock of libc's lists of threads is another such lock. setuid() and similar calls
 * hold it while they wait for all kernel threads. It does not name its owner. So while it
 * is taken, which is not for long, every thread counts as its owner.
 */
#include "os/tls/loader.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include "base/compiler.h"
#include "lockfree/atomic.h"
#include "os/libc/real.h"
#include "os/tls/tls_layout.h"

/* The beginning of libc's pthread_mutex_t. It has not changed for many versions. */
struct mutex {
	int lock;
	unsigned count;
	int owner;
	unsigned users;
	int kind;
};

static const char *global;
static size_t global_bytes;

void wefti_os_loader_init(void)
{
	void *at = wefti_os_real("_rtld_global");
	const ElfW(Sym) *symbol;
	Dl_info info;

	if (!at || global ||
	    !dladdr1(at, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol ||
	    symbol->st_size < sizeof(struct mutex))
		return;
	global_bytes = symbol->st_size;
	global = at;
}

/* Other threads write here meanwhile, but not the words that answer for this thread. */
__attribute__((no_sanitize("thread", "address")))
int wefti_os_loader_is_held(uintptr_t tp)
{
	const struct wefti_tls_layout *l = &wefti_tls_layout;
	const int self = tp ? *(int *)wefti_tls_field(tp, l->pthread_tid) : 0;

	if (self && load_relaxed(&l->stacks->lock) != 0)
		return 1;
	for (size_t i = 0; self && i + sizeof(struct mutex) <= global_bytes;
	     i += sizeof(void *)) {
		const struct mutex *m = (const struct mutex *)(global + i);

		if (m->owner == self && m->lock != 0 && m->count > 0 &&
		    m->kind == PTHREAD_MUTEX_RECURSIVE_NP)
			return 1;
	}
	return 0;
}
