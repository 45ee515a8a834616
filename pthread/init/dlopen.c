/* SPDX-License-Identifier: MIT */
/*
 * pthread/init/dlopen.c - what is done around dlopen(), which is in arch/
 *
 * dlopen() searches for a name in the folders of the library that calls it (DT_RUNPATH).
 * libc finds that library by the return address. So if it would make a difference that
 * dlopen() returns to us, we jump to it, and do not see its end. Then stacks are made
 * executable (pthread/thread/code_on_stack.c) when the next thread is made or dlopen() is
 * called again.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "base/compiler.h"
#include "mem/stack_code.h"
#include "pthread/core/go.h"
#include "pthread/core/real.h"
#include "pthread/core/started.h"
#include "pthread/init/deepbind.h"
#include "pthread/thread/code_on_stack.h"

/* Returned in two registers: what to jump to, or else the result. */
struct wefti_dlopen {
	wefti_dlopen_fn *jump;
	void *result;
};

struct wefti_dlopen wefti_dlopen(const char *file, int mode, void *caller);

/* The folders in which the library at that address searches. NULL: unknown. */
#define PATHS_OF(address) ({						\
	struct link_map *map_;						\
	Dl_serinfo size_, *paths_ = NULL;				\
	Dl_info info_;							\
									\
	if (dladdr1(address, &info_, (void **)&map_, RTLD_DL_LINKMAP) &&\
	    dlinfo(map_, RTLD_DI_SERINFOSIZE, &size_) == 0) {		\
		paths_ = alloca(size_.dls_size);			\
		*paths_ = size_;					\
		if (dlinfo(map_, RTLD_DI_SERINFO, paths_) != 0)		\
			paths_ = NULL;					\
	}								\
	paths_;								\
})

static int are_same(const Dl_serinfo *a, const Dl_serinfo *b)
{
	if (!a || !b || a->dls_cnt != b->dls_cnt)
		return 0;
	for (unsigned i = 0; i < a->dls_cnt; i++)
		if (strcmp(a->dls_serpath[i].dls_name,
			   b->dls_serpath[i].dls_name) != 0)
			return 0;
	return 1;
}

/* Would dlopen() find another file if we called it, and not that caller? */
static NOINLINE int is_callers(const char *file, void *caller)
{
	if (!file || (strchr(file, '/') && !strchr(file, '$')))
		return 0;
	return strchr(file, '$') ||
	       !are_same(PATHS_OF(caller), PATHS_OF((void *)&wefti_dlopen));
}

struct wefti_dlopen wefti_dlopen(const char *file, int mode, void *caller)
{
	struct wefti_dlopen how = { .jump = REAL(dlopen) };
	const int is_deep = mode & RTLD_DEEPBIND;
	const int is_started = wefti_pt_is_started();
	const int looks = is_started && !wefti_stack_allows_code();

	if (is_started)
		wefti_go_may_come();
	if (!is_deep && !looks)
		return how;
	if (looks)
		wefti_code_on_stack();
	if (!is_callers(file, caller)) {
		how.result = is_deep ? wefti_deepbind(how.jump, file, mode) :
				       how.jump(file, mode);
		how.jump = NULL;
	}
	if (looks)
		wefti_code_on_stack_again();
	if (looks && !how.jump)
		wefti_code_on_stack();
	return how;
}
