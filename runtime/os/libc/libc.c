/* SPDX-License-Identifier: MIT */
/*
 * os/libc/libc.c - libc's own functions, whatever a program defines
 *
 * A program may have functions of its own with names of libc's, but for those of ISO C:
 * gettid(), close(), poll(). libc never calls them, as it calls itself by other names.
 * So weft must not call them either, and a plain call would: the loader binds it to the
 * first definition, which is the program's.
 *
 * What is searched are libc's tables of symbols. The list of objects that the loader
 * keeps for debuggers leads there: the objects in it that are looked at came before us,
 * and stay. The search takes none of the loader's locks and allocates nothing, since the
 * first call may come from a program's malloc() or before any constructor. The
 * definition is the one for new programs (the default version).
 *
 * Here, and in os/libc/exports.c, no libc function may be called, but for the few that are
 * never renamed: the call would lead here. strcmp() and its like may not be called either.
 * A sanitizer's libdl calls pthread_once() while the sanitizer puts its own strcmp() in
 * place (glibc 2.31).
 *
 * Rejected: dlsym(). A program may define that too; it looks in front of libc first
 * (RTLD_NEXT); before 2.36 it finds the oldest version; and it allocates a message for
 * what is not there. Rejected too: system calls in place of libc's functions. They do
 * for many, and not for pthread_create(), getenv() or the vDSO's clock.
 */
#include "os/libc/libc.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/compiler.h"
#include "os/libc/exports.h"
#include "os/libc/libc_names.h"
#include "reloc.h"
#include "syscall.h"

#define HIDDEN		__attribute__((visibility("hidden")))
#define STDERR		2
#define FAMILY_MOST	8
#define NOT_FOUND	127	/* as the loader exits where a symbol is missing */
#define SYMBOL_TYPE(info)	((info) & 0xf)

/* libc's libraries, and the loader. */
struct family {
	struct wefti_exports of[FAMILY_MOST];
	size_t count;
};

/* In arch/: what wefti_libc_NAME jumps to, in the order of the names. */
extern void *volatile wefti_libc_table[] HIDDEN;

/* The object that this is linked into has one; a static program has none. */
extern ElfW(Dyn) _DYNAMIC[] __attribute__((weak, visibility("hidden")));

/* The loader's, which a debugger would read. */
extern struct r_debug _r_debug __attribute__((weak));

void *wefti_os_libc_resolve(void *volatile *word) HIDDEN;

/*
 * By our constructor, while the loader lets nobody change its list. What is called
 * before searches for itself.
 */
static struct family family;
static int is_loaded;

#define WEFTI_NAME(name)	#name,
static const char *const names[] = {
	WEFTI_LIBC_ONLY(WEFTI_NAME)
	WEFTI_LIBC_INTERPOSED(WEFTI_NAME)
};

#define NAMES	(sizeof(names) / sizeof(*names))

static int begins_with(const char *text, const char *begin)
{
	for (; *begin; begin++)
		if (*text++ != *begin)
			return 0;
	return 1;
}

/* --- which objects --------------------------------------------------- */

static int is_libcs(const char *soname)
{
	static const char *const sonames[] = {
		"libc.so.", "libpthread.so.", "libdl.so.", "librt.so.",
		"libanl.so.", "ld-linux",
	};

	for (size_t i = 0; i < sizeof(sonames) / sizeof(*sonames); i++)
		if (begins_with(soname, sonames[i]))
			return 1;
	return 0;
}

static int is_ours(const struct link_map *map)
{
	for (; map; map = map->l_next)
		if (map->l_ld == _DYNAMIC)
			return 1;
	return 0;
}

/*
 * The objects of our namespace. Before 2.35 the others' lists are not to be found, and
 * it is the program's.
 */
static const struct link_map *first_map(void)
{
	struct more {
		struct r_debug base;
		const struct more *next;
	};

	if (!&_r_debug)
		return NULL;
	for (const struct more *m = (const struct more *)&_r_debug; m;
	     m = m->base.r_version > 1 ? m->next : NULL)
		if (is_ours(m->base.r_map))
			return m->base.r_map;
	return _r_debug.r_map;
}

/* Before 2.34 libc has some of the threads' functions too, in a lesser form. */
static void collect(struct family *f)
{
	f->count = 0;
	for (int threads = 1; threads >= 0; threads--) {
		const struct link_map *map = first_map();

		for (; map && f->count < FAMILY_MOST; map = map->l_next) {
			const struct wefti_exports t =
				wefti_exports_read(map->l_addr, map->l_ld);

			if (is_libcs(t.soname) &&
			    threads == begins_with(t.soname, "libpthread"))
				f->of[f->count++] = t;
		}
	}
}

static void *find(const struct family *f, const char *name)
{
	const ElfW(Sym) *s = NULL;
	uintptr_t at;
	size_t i;

	for (i = 0; i < f->count && !s; i++)
		s = wefti_exports_find(&f->of[i], name);
	if (!s || SYMBOL_TYPE(s->st_info) == STT_TLS)
		return NULL;
	at = f->of[i - 1].base + s->st_value;
	if (SYMBOL_TYPE(s->st_info) != STT_GNU_IFUNC)
		return (void *)at;
	return wefti_arch_indirect(at, (wefti_arch_auxval_fn *)find(f,
				   "getauxval"));
}

void *wefti_os_libc(const char *name)
{
	struct family f;

	if (!*name)
		return NULL;
	if (is_loaded)
		return find(&family, name);
	collect(&f);
	return find(&f, name);
}

const char *wefti_os_libc_path(void)
{
	const struct link_map *map = first_map();

	for (; map; map = map->l_next)
		if (begins_with(wefti_exports_read(map->l_addr, map->l_ld).soname,
				"libc.so."))
			return map->l_name;
	return "";
}

/* --- the table ------------------------------------------------------- */

static void tell(const char *text)
{
	(void)wefti_arch_syscall(SYS_write, STDERR, (long)text,
				 (long)strlen(text), 0, 0, 0);
}

/* Each word is written with the same value, however many kernel threads are here. */
static void fill(const struct family *f)
{
	for (size_t i = 0; i < NAMES; i++) {
		void *found = find(f, names[i]);

		if (found)
			wefti_libc_table[i] = found;
	}
}

/* By arch/<cpu>/libc_entry.S: a call through a word that was not filled yet. */
void *wefti_os_libc_resolve(void *volatile *word)
{
	const char *name = names[word - wefti_libc_table];
	struct family f;
	void *found;

	collect(&f);
	fill(&f);
	found = find(&f, name);
	if (found)
		return found;
	if (f.count) {
		tell("weft: libc has no ");
		tell(name);
		tell("()\n");
	} else {
		tell("weft: a program that is linked with -static cannot use it: "
		     "there is no shared libc\n");
	}
	for (;;)
		wefti_arch_syscall(SYS_exit_group, NOT_FOUND, 0, 0, 0, 0, 0);
}

void wefti_os_libc_replace(const char *name, void *with)
{
	for (size_t i = 0; i < NAMES; i++)
		if (begins_with(name, names[i]) && begins_with(names[i], name))
			wefti_libc_table[i] = with;
}

/* The first of our constructors: a call by another one would fill the table twice. */
__attribute__((constructor(101))) static void load(void)
{
	collect(&family);
	is_loaded = 1;
	fill(&family);
}
