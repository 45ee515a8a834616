/* SPDX-License-Identifier: MIT */
/* os/bind.c - what a library that is loaded calls is changed */
#include "os/bind.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "os/vm.h"
#include "reloc.h"

#define RELOC_TYPE(info)	((info) & 0xffffffff)
#define RELOC_SYMBOL(info)	((info) >> 32)

struct object {
	uintptr_t base;
	const ElfW(Phdr) *headers;
	int count;
	uintptr_t constant;	/* not to be written to any more: whole pages, */
	size_t constant_bytes;	/* as the loader does */
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
		if (o->headers[i].p_type != PT_GNU_RELRO)
			continue;
		o->constant = page_of(o->base + o->headers[i].p_vaddr);
		o->constant_bytes = page_of(o->base + o->headers[i].p_vaddr +
					    o->headers[i].p_memsz) -
				    o->constant;
	}
	return 1;
}

/* The loader has made most of them addresses, but not of each object. */
static uintptr_t address_of(const struct object *o, const ElfW(Dyn) *d)
{
	return d->d_un.d_ptr < o->base ? o->base + d->d_un.d_ptr :
					 d->d_un.d_ptr;
}

struct tables {
	const ElfW(Rela) *rela, *plt;
	size_t rela_bytes, plt_bytes;
	const ElfW(Sym) *symbols;
	const char *strings;
};

static void read_dynamic(const struct object *o, const ElfW(Dyn) *d,
			 struct tables *t)
{
	for (; d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) {
		case DT_RELA:
			t->rela = (const void *)address_of(o, d);
			break;
		case DT_JMPREL:
			t->plt = (const void *)address_of(o, d);
			break;
		case DT_SYMTAB:
			t->symbols = (const void *)address_of(o, d);
			break;
		case DT_STRTAB:
			t->strings = (const void *)address_of(o, d);
			break;
		case DT_RELASZ:
			t->rela_bytes = d->d_un.d_val;
			break;
		case DT_PLTRELSZ:
			t->plt_bytes = d->d_un.d_val;
			break;
		default:
			break;
		}
	}
}

static void bind_one(const char *name, uintptr_t at,
		     const struct wefti_os_binding *bindings, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (bindings[i].to && strcmp(name, bindings[i].name) == 0)
			*(void **)at = bindings[i].to;
}

static void bind_table(const struct object *o, const struct tables *t,
		       const ElfW(Rela) *r, size_t bytes,
		       const struct wefti_os_binding *bindings, size_t count)
{
	for (size_t i = 0; r && i < bytes / sizeof(*r); i++) {
		unsigned long type = RELOC_TYPE(r[i].r_info);
		const ElfW(Sym) *s = &t->symbols[RELOC_SYMBOL(r[i].r_info)];

		if (type == WEFTI_ARCH_R_CALLED || type == WEFTI_ARCH_R_NAMED)
			bind_one(t->strings + s->st_name,
				 o->base + r[i].r_offset, bindings, count);
	}
}

int wefti_os_bind(uintptr_t base, const struct wefti_os_binding *bindings,
		  size_t count)
{
	struct object o = { .base = base };
	struct tables t = { NULL, NULL, 0, 0, NULL, NULL };

	dl_iterate_phdr(find_object, &o);
	for (int i = 0; i < o.count; i++)
		if (o.headers[i].p_type == PT_DYNAMIC)
			read_dynamic(&o, (const void *)(base +
				     o.headers[i].p_vaddr), &t);
	if (!t.symbols || !t.strings)
		return -ENOENT;
	if (o.constant_bytes &&
	    mprotect((void *)o.constant, o.constant_bytes,
		     PROT_READ | PROT_WRITE) != 0)
		return -errno;
	bind_table(&o, &t, t.rela, t.rela_bytes, bindings, count);
	bind_table(&o, &t, t.plt, t.plt_bytes, bindings, count);
	if (o.constant_bytes)
		(void)mprotect((void *)o.constant, o.constant_bytes, PROT_READ);
	return 0;
}
