/* SPDX-License-Identifier: MIT */
/*
 * os/object/dormant.c - a library that is mapped now, and linked when it is needed
 *
 * The loader does not know of it: it is in none of the loader's lists, and no other
 * library's names are bound to it. The caller's import function says what each name that it
 * imports means.
 *
 * The loader makes some pages read-only when it has relocated them (RELRO). Here they stay
 * writable. The library is linked at a time when the program's filter of system calls may
 * end a process that calls mprotect().
 *
 * Source
 *   System V ABI, generic, chapter 5 (dynamic linking), and its supplements for each CPU.
 */
#include "os/object/dormant.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "os/call/fatal.h"
#include "os/call/vm.h"
#include "os/libc/dynamic.h"
#include "os/libc/exports.h"
#include "reloc.h"
#include "syscall.h"

/* DT_RELRSZ and DT_RELR, newer than some headers that we compile with. */
#define PACKED_BYTES	35
#define PACKED	36

#define HEAD_BYTES	1024	/* the file's header, and those of its segments */
#define RELOC_TYPE(info)	((info) & 0xffffffff)
#define RELOC_SYMBOL(info)	((info) >> 32)
#define SYMBOL_BINDING(info)	((unsigned char)(info) >> 4)

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

struct head {
	union {
		ElfW(Ehdr) eh;
		char text[HEAD_BYTES];
	};
	const ElfW(Phdr) *segments;
};

static uintptr_t page_below(uintptr_t at)
{
	return at & ~(uintptr_t)(wefti_os_page_size() - 1);
}

static uintptr_t page_above(uintptr_t at)
{
	return page_below(at + wefti_os_page_size() - 1);
}

/* --- mapping --------------------------------------------------------- */

static int read_head(long fd, struct head *h)
{
	const long n = wefti_arch_syscall(SYS_read, fd, (long)h->text, HEAD_BYTES, 0, 0, 0);

	if (n < 0)
		return (int)n;
	if (n < (long)sizeof(h->eh) || h->eh.e_type != ET_DYN ||
	    memcmp(h->eh.e_ident, __ehdr_start.e_ident, EI_OSABI) != 0 ||
	    h->eh.e_machine != __ehdr_start.e_machine ||
	    h->eh.e_phentsize != sizeof(*h->segments) || h->eh.e_phoff % 8 != 0 ||
	    h->eh.e_phoff > (size_t)n ||
	    h->eh.e_phnum > ((size_t)n - h->eh.e_phoff) / sizeof(*h->segments))
		return -ENOEXEC;
	h->segments = (const void *)(h->text + h->eh.e_phoff);
	return 0;
}

static int protection_of(const ElfW(Phdr) *ph)
{
	return (ph->p_flags & PF_R ? PROT_READ : 0) |
	       (ph->p_flags & PF_W ? PROT_WRITE : 0) |
	       (ph->p_flags & PF_X ? PROT_EXEC : 0);
}

/*
 * The rest of a segment is zeros. Its whole pages are those of the room. The link clears the
 * rest of the file's last page.
 */
static int map_segment(struct wefti_dormant *d, long fd, const ElfW(Phdr) *ph)
{
	const uintptr_t start = page_below(ph->p_vaddr), file_end = ph->p_vaddr + ph->p_filesz;
	const size_t before = ph->p_vaddr - start;
	long at;

	if (ph->p_filesz > ph->p_memsz || before > ph->p_offset ||
	    (ph->p_offset - before) % wefti_os_page_size() != 0 ||
	    (ph->p_memsz > ph->p_filesz && !(ph->p_flags & PF_W)) ||
	    d->zeros_count == WEFTI_DORMANT_SEGMENTS)
		return -ENOEXEC;
	if (ph->p_filesz == 0)
		return 0;
	at = wefti_arch_syscall(SYS_mmap, (long)(d->base + start), (long)(file_end - start),
				protection_of(ph), MAP_PRIVATE | MAP_FIXED, fd,
				(long)(ph->p_offset - before));
	if (at < 0 && at > -4096)
		return (int)at;
	if (ph->p_memsz > ph->p_filesz) {
		d->zeros[d->zeros_count].start = d->base + file_end;
		d->zeros[d->zeros_count++].end = page_above(d->base + file_end);
	}
	return 0;
}

/* Reserves room for all segments. The library's addresses count from its beginning. */
static int make_room(struct wefti_dormant *d, const struct head *h)
{
	uintptr_t end = 0;

	for (int i = 0; i < h->eh.e_phnum; i++) {
		const ElfW(Phdr) *ph = &h->segments[i];

		if (ph->p_type == PT_LOAD && ph->p_vaddr + ph->p_memsz > end)
			end = ph->p_vaddr + ph->p_memsz;
	}
	*d = (struct wefti_dormant){ .bytes = page_above(end) };
	if (d->bytes == 0)
		return -ENOEXEC;
	d->base = (uintptr_t)wefti_os_vm_reserve(d->bytes);
	return d->base ? 0 : -ENOMEM;
}

static int map_all(struct wefti_dormant *d, long fd, const struct head *h)
{
	int error = make_room(d, h);

	for (int i = 0; i < h->eh.e_phnum && !error; i++) {
		const ElfW(Phdr) *ph = &h->segments[i];

		if (ph->p_type == PT_LOAD)
			error = map_segment(d, fd, ph);
		else if (ph->p_type == PT_DYNAMIC)
			d->dynamic = d->base + ph->p_vaddr;
	}
	if (!error && !d->dynamic)
		error = -ENOEXEC;
	if (error)
		wefti_os_dormant_unmap(d);
	return error;
}

int wefti_os_dormant_map(struct wefti_dormant *d, const char *path)
{
	const long fd = wefti_arch_syscall(SYS_openat, AT_FDCWD, (long)path,
					   O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0, 0, 0);
	struct head h;
	int error;

	d->base = 0;
	if (fd < 0)
		return (int)fd;
	error = read_head(fd, &h);
	if (!error)
		error = map_all(d, fd, &h);
	wefti_arch_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	return error;
}

void wefti_os_dormant_unmap(struct wefti_dormant *d)
{
	if (d->base)
		wefti_os_vm_unmap((void *)d->base, d->bytes);
	d->base = 0;
}

/* --- linking --------------------------------------------------------- */

struct tables {
	const ElfW(Rela) *rela, *plt;
	const ElfW(Addr) *relr;
	void (*const *init_array)(int, char **, char **);
	void (*init)(int, char **, char **);
	size_t rela_bytes, plt_bytes, relr_bytes, init_bytes;
};

static struct tables read_tables(const struct wefti_dormant *d)
{
	const ElfW(Dyn) *dyn = (const void *)d->dynamic;
	const void *init = wefti_dynamic_table(d->base, dyn, DT_INIT);
	struct tables t = {
		.rela = wefti_dynamic_table(d->base, dyn, DT_RELA),
		.rela_bytes = wefti_dynamic_number(dyn, DT_RELASZ),
		.plt = wefti_dynamic_table(d->base, dyn, DT_JMPREL),
		.plt_bytes = wefti_dynamic_number(dyn, DT_PLTRELSZ),
		.relr = wefti_dynamic_table(d->base, dyn, PACKED),
		.relr_bytes = wefti_dynamic_number(dyn, PACKED_BYTES),
		.init_array = wefti_dynamic_table(d->base, dyn, DT_INIT_ARRAY),
		.init_bytes = wefti_dynamic_number(dyn, DT_INIT_ARRAYSZ),
	};

	memcpy(&t.init, &init, sizeof(init));
	return t;
}

/* Has it relocations in its code, or without an addend? Neither is done here. */
static int has_other_relocations(const struct wefti_dormant *d)
{
	const ElfW(Dyn) *dyn = (const void *)d->dynamic;

	return wefti_dynamic_find(dyn, DT_TEXTREL) || wefti_dynamic_find(dyn, DT_REL);
}

/* Stands for each function that the library may not call. */
static void never(void)
{
	wefti_os_fatal("a function that a dormant library lacks", 0);
}

static uintptr_t address_of_import(const char *name, const ElfW(Sym) *s,
				   wefti_dormant_import_fn *import)
{
	const int is_tls = strcmp(name, "__tls_get_addr") == 0;
	void *found = is_tls ? NULL : import(name);

	if (found)
		return (uintptr_t)found;
	return SYMBOL_BINDING(s->st_info) == STB_WEAK ? 0 : (uintptr_t)never;
}

static uintptr_t address_of(const struct wefti_dormant *d, const struct wefti_exports *e,
			    size_t number, wefti_dormant_import_fn *import)
{
	const ElfW(Sym) *s = &e->symbols[number];

	if (s->st_shndx != SHN_UNDEF)
		return d->base + s->st_value;
	return address_of_import(e->strings + s->st_name, s, import);
}

/* The words for TLS (a module's number, an offset) stay 0: __tls_get_addr() is never(). */
static int relocate(const struct wefti_dormant *d, const struct wefti_exports *e,
		    const ElfW(Rela) *r, wefti_dormant_import_fn *import)
{
	const unsigned long type = RELOC_TYPE(r->r_info);
	uintptr_t *word = (uintptr_t *)(d->base + r->r_offset);

	if (type == WEFTI_ARCH_R_RELATIVE)
		*word = d->base + (uintptr_t)r->r_addend;
	else if (type == WEFTI_ARCH_R_CALLED || type == WEFTI_ARCH_R_NAMED ||
		 type == WEFTI_ARCH_R_POINTER)
		*word = address_of(d, e, RELOC_SYMBOL(r->r_info), import) +
			(uintptr_t)r->r_addend;
	else if (type == WEFTI_ARCH_R_TLSDESC)
		*word = (uintptr_t)never;
	else if (type != WEFTI_ARCH_R_TLS_MODULE && type != WEFTI_ARCH_R_TLS_OFFSET)
		return -ENOEXEC;
	return 0;
}

static int relocate_all(const struct wefti_dormant *d, const ElfW(Rela) *r, size_t bytes,
			wefti_dormant_import_fn *import)
{
	const struct wefti_exports e =
		wefti_exports_read(d->base, (const void *)d->dynamic);
	int error = 0;

	for (size_t i = 0; i < bytes / sizeof(*r) && !error; i++)
		error = relocate(d, &e, &r[i], import);
	return error;
}

/*
 * An even word is the place of an address. An odd word has a bit for each of the 63 words
 * behind those that the words before it have named.
 */
static void relocate_packed(const struct wefti_dormant *d, const struct tables *t)
{
	uintptr_t *next = NULL;

	for (size_t i = 0; i < t->relr_bytes / sizeof(*t->relr); i++) {
		ElfW(Addr) word = t->relr[i];

		if (!(word & 1)) {
			next = (uintptr_t *)(d->base + word);
			*next++ += d->base;
			continue;
		}
		for (size_t bit = 0; word >>= 1; bit++)
			if (word & 1)
				next[bit] += d->base;
		next += 8 * sizeof(word) - 1;
	}
}

static void call_constructors(const struct tables *t)
{
	static char *nothing[] = { NULL };

	if (t->init)
		t->init(0, nothing, nothing);
	for (size_t i = 0; i < t->init_bytes / sizeof(*t->init_array); i++)
		t->init_array[i](0, nothing, nothing);
}

int wefti_os_dormant_link(const struct wefti_dormant *d, wefti_dormant_import_fn *import)
{
	const struct tables t = read_tables(d);
	int error;

	if (has_other_relocations(d))
		return -ENOEXEC;
	for (size_t i = 0; i < d->zeros_count; i++)
		memset((void *)d->zeros[i].start, 0,
		       d->zeros[i].end - d->zeros[i].start);
	relocate_packed(d, &t);
	error = relocate_all(d, t.rela, t.rela_bytes, import);
	if (!error)
		error = relocate_all(d, t.plt, t.plt_bytes, import);
	if (!error)
		call_constructors(&t);
	return error;
}

void *wefti_os_dormant_find(const struct wefti_dormant *d, const char *name)
{
	const struct wefti_exports e =
		wefti_exports_read(d->base, (const void *)d->dynamic);
	const ElfW(Sym) *s = wefti_exports_find(&e, name);

	return s ? (void *)(d->base + s->st_value) : NULL;
}
