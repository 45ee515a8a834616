/* SPDX-License-Identifier: MIT */
/* os/libc/bind.c - changes which functions a loaded library calls */
#include "os/libc/bind.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "os/call/vm.h"
#include "os/libc/dynamic.h"
#include "os/libc/libc.h"
#include "os/libc/named.h"
#include "reloc.h"

#define RELOC_TYPE(info)	((info) & 0xffffffff)
#define RELOC_SYMBOL(info)	((info) >> 32)
#define SYMBOL_TYPE(info)	((info) & 0xf)

struct object {
	uintptr_t base, end;
	const ElfW(Phdr) *headers;
	int count;
	uintptr_t constant;	/* not to be written to any more: whole pages, */
	size_t constant_bytes;	/* as the loader does */
	int is_open;		/* they may be written to for now */
	int error;		/* of mprotect() */
};

static uintptr_t page_of(uintptr_t at)
{
	return at & ~(uintptr_t)(wefti_os_page_size() - 1);
}

static int find_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct object *o = arg;

	(void)size;
	if (info->dlpi_addr != o->base)
		return 0;
	o->headers = info->dlpi_phdr;
	o->count = info->dlpi_phnum;
	for (int i = 0; i < o->count; i++) {
		uintptr_t end = o->base + o->headers[i].p_vaddr +
				o->headers[i].p_memsz;

		if (o->headers[i].p_type == PT_LOAD && end > o->end)
			o->end = end;
		if (o->headers[i].p_type != PT_GNU_RELRO)
			continue;
		o->constant = page_of(o->base + o->headers[i].p_vaddr);
		o->constant_bytes = page_of(o->base + o->headers[i].p_vaddr +
					    o->headers[i].p_memsz) -
				    o->constant;
	}
	return 1;
}

struct tables {
	const ElfW(Rela) *rela, *plt;
	size_t rela_bytes, plt_bytes;
	const ElfW(Sym) *symbols;
	const char *strings;
};

static struct tables read_tables(const struct object *o, const ElfW(Dyn) *d)
{
	return (struct tables){
		.rela = wefti_dynamic_table(o->base, d, DT_RELA),
		.rela_bytes = wefti_dynamic_number(d, DT_RELASZ),
		.plt = wefti_dynamic_table(o->base, d, DT_JMPREL),
		.plt_bytes = wefti_dynamic_number(d, DT_PLTRELSZ),
		.symbols = wefti_dynamic_table(o->base, d, DT_SYMTAB),
		.strings = wefti_dynamic_table(o->base, d, DT_STRTAB),
	};
}

/* What is to be bound: all of a name, what is libc's, or all that libc has. */
enum which { NAMED, LIBCS, APART };

struct request {
	const struct wefti_os_binding *bindings;
	size_t count;
	enum which which;
};

/* Until it is called the first time, a word leads back into its own object. */
static int is_libcs(const struct object *o, const char *name, uintptr_t word,
		    const ElfW(Sym) *s)
{
	if (s->st_shndx != SHN_UNDEF)
		return 0;
	return (word >= o->base && word < o->end) ||
	       (void *)word == wefti_os_libc(name);
}

/* A program may replace these; and data may be the program's copy. */
static int is_programs(const char *name, const ElfW(Sym) *s)
{
	static const char *const names[] = {
		"malloc", "calloc", "realloc", "free", "aligned_alloc",
		"posix_memalign",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i]) == 0)
			return 1;
	return s->st_shndx != SHN_UNDEF ||
	       (SYMBOL_TYPE(s->st_info) != STT_FUNC &&
		SYMBOL_TYPE(s->st_info) != STT_NOTYPE);
}

/*
 * Mostly nothing is to be changed, and then nothing is opened. If that fails, it fails
 * before the first word is written.
 */
static void write_word(struct object *o, void **word, void *to)
{
	if (*word == to || o->error)
		return;
	if (!o->is_open && o->constant_bytes &&
	    mprotect((void *)o->constant, o->constant_bytes, PROT_READ | PROT_WRITE) != 0) {
		o->error = -errno;
		return;
	}
	o->is_open = 1;
	*word = to;
}

static void bind_one(struct object *o, const struct request *r,
		     const char *name, const ElfW(Sym) *s, void **word)
{
	void *to = NULL;

	if (r->which == LIBCS && !is_libcs(o, name, (uintptr_t)*word, s))
		return;
	if (r->which == APART && is_programs(name, s))
		return;
	for (size_t i = 0; i < r->count; i++)
		if (r->bindings[i].to && strcmp(name, r->bindings[i].name) == 0)
			to = r->bindings[i].to;
	if (!to && r->which == APART)
		to = wefti_os_libc(name);
	if (to)
		write_word(o, word, to);
}

static void bind_table(struct object *o, const struct tables *t,
		       const ElfW(Rela) *r, size_t bytes,
		       const struct request *request)
{
	for (size_t i = 0; r && i < bytes / sizeof(*r); i++) {
		unsigned long type = RELOC_TYPE(r[i].r_info);
		const ElfW(Sym) *s = &t->symbols[RELOC_SYMBOL(r[i].r_info)];

		if (type == WEFTI_ARCH_R_CALLED || type == WEFTI_ARCH_R_NAMED ||
		    (type == WEFTI_ARCH_R_POINTER && r[i].r_addend == 0))
			bind_one(o, request, t->strings + s->st_name, s,
				 (void **)(o->base + r[i].r_offset));
	}
}

static int bind_object(uintptr_t base, const struct request *request)
{
	struct object o = { .base = base };
	struct tables t = { .symbols = NULL };

	dl_iterate_phdr(find_object, &o);
	for (int i = 0; i < o.count; i++)
		if (o.headers[i].p_type == PT_DYNAMIC)
			t = read_tables(&o, (const void *)(base +
							   o.headers[i].p_vaddr));
	if (!t.symbols || !t.strings)
		return -ENOENT;
	bind_table(&o, &t, t.rela, t.rela_bytes, request);
	bind_table(&o, &t, t.plt, t.plt_bytes, request);
	if (o.is_open && o.constant_bytes)
		(void)mprotect((void *)o.constant, o.constant_bytes, PROT_READ);
	return o.error;
}

int wefti_os_bind(uintptr_t base, const struct wefti_os_binding *bindings,
		  size_t count)
{
	const struct request request = { bindings, count, NAMED };

	return bind_object(base, &request);
}

int wefti_os_bind_libcs(uintptr_t base, const struct wefti_os_binding *bindings,
			size_t count)
{
	const struct request request = { bindings, count, LIBCS };

	return bind_object(base, &request);
}

struct search {
	const char *file;
	uintptr_t base;
};

static int find_file(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *search = arg;

	(void)size;
	if (!wefti_os_is_named(info->dlpi_name, &search->file, 1))
		return 0;
	search->base = info->dlpi_addr;
	return 1;
}

int wefti_os_bind_apart(const char *file, const struct wefti_os_binding *bindings,
			size_t count)
{
	const struct request request = { bindings, count, APART };
	struct search search = { file, 0 };

	return dl_iterate_phdr(find_file, &search) ?
		       bind_object(search.base, &request) : -ENOENT;
}
