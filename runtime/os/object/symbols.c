/* SPDX-License-Identifier: MIT */
/* os/object/symbols.c - which function an address lies in */
#include "os/object/symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/compiler.h"
#include "os/call/copy.h"
#include "os/call/root.h"
#include "syscall.h"

struct file {
	const char *start;	/* NULL: not opened */
	size_t bytes;
	const ElfW(Sym) *symbols;
	size_t count;
	const char *names;
	size_t names_bytes;
	int failed;
};

static struct file files[WEFTI_OBJECTS_MOST] TABLE;

/* The functions found last, by the address. */
#define MEMO	512u

static struct memo {
	uintptr_t pc;
	const struct file *file;
	const ElfW(Sym) *symbol;
} memo[MEMO] TABLE;

/* Not from another root: a file there may be truncated while it is read, or be a FIFO. */
static int map_file(struct file *f, const char *path)
{
	long fd = !wefti_os_root_is_same() ? -1 :
		wefti_arch_syscall(SYS_openat, AT_FDCWD, (long)path,
				   O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0, 0, 0);
	long size, start;

	if (fd < 0)
		return -1;
	size = wefti_arch_syscall(SYS_lseek, fd, 0, 2 /* SEEK_END */, 0, 0, 0);
	start = size <= 0 ? -1 :
		wefti_arch_syscall(SYS_mmap, 0, size, PROT_READ, MAP_PRIVATE,
				   fd, 0);
	wefti_arch_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	if (start < 0 && start > -4096)
		return -1;
	f->start = (const char *)start;
	f->bytes = (size_t)size;
	return 0;
}

/* NULL: not all of it lies inside the file. */
static const void *part(const struct file *f, uint64_t offset, uint64_t bytes)
{
	if (offset > f->bytes || bytes > f->bytes - offset)
		return NULL;
	return f->start + offset;
}

/* Is it the file that was loaded, and not one that took its place? */
static int is_loaded(const struct file *f, const struct wefti_object *o)
{
	ElfW(Ehdr) there;

	return f->bytes >= sizeof(there) &&
	       wefti_os_copy(&there, (void *)o->low, sizeof(there)) ==
	       sizeof(there) &&
	       memcmp(&there, f->start, sizeof(there)) == 0 &&
	       memcmp(there.e_ident, ELFMAG, SELFMAG) == 0;
}

static void use_table(struct file *f, const ElfW(Shdr) *sections, size_t n,
		      const ElfW(Shdr) *table)
{
	const ElfW(Shdr) *names;

	if (table->sh_link >= n)
		return;
	names = &sections[table->sh_link];
	f->symbols = part(f, table->sh_offset, table->sh_size);
	f->names = part(f, names->sh_offset, names->sh_size);
	f->names_bytes = names->sh_size;
	f->count = f->symbols && f->names ?
		   table->sh_size / sizeof(*f->symbols) : 0;
}

/* The full table where the file is not stripped, else the dynamic one. */
static void find_table(struct file *f)
{
	const ElfW(Ehdr) *eh = (const void *)f->start;
	const ElfW(Shdr) *sections = part(f, eh->e_shoff, (uint64_t)eh->e_shnum *
					  sizeof(*sections));

	for (size_t i = 0; sections && i < eh->e_shnum; i++) {
		if (sections[i].sh_type == SHT_SYMTAB ||
		    (sections[i].sh_type == SHT_DYNSYM && !f->count))
			use_table(f, sections, eh->e_shnum, &sections[i]);
		if (sections[i].sh_type == SHT_SYMTAB)
			return;
	}
}

static struct file *file_of(const struct wefti_object *o)
{
	struct file *f = &files[wefti_os_object_index(o)];

	if (!f->start && !f->failed) {
		f->failed = 1;
		if (map_file(f, o->path) == 0 && is_loaded(f, o)) {
			find_table(f);
			f->failed = 0;
		}
	}
	return f->failed ? NULL : f;
}

static const ElfW(Sym) *search(const struct file *f, uintptr_t at)
{
	const ElfW(Sym) *best = NULL;

	for (size_t i = 0; i < f->count; i++) {
		const ElfW(Sym) *s = &f->symbols[i];

		if ((s->st_info & 15) != STT_FUNC || s->st_shndx == SHN_UNDEF ||
		    at < s->st_value || s->st_name >= f->names_bytes)
			continue;
		/* Size 0: assembler that gives none. Takes the nearest below. */
		if (s->st_size && at >= s->st_value + s->st_size)
			continue;
		if (!best || s->st_value > best->st_value)
			best = s;
	}
	return best;
}

long wefti_os_symbol(const struct wefti_object *o, uintptr_t pc, char *buf,
		     size_t size)
{
	struct file *f = file_of(o);
	struct memo *m = &memo[pc % MEMO];
	uintptr_t at = pc - o->bias;

	buf[0] = 0;
	if (!f)
		return -1;
	if (m->pc != pc || m->file != f)
		*m = (struct memo){ pc, f, search(f, at) };
	if (!m->symbol)
		return -1;

	const char *name = f->names + m->symbol->st_name;
	size_t most = f->names_bytes - m->symbol->st_name;
	size_t length = strnlen(name, most < size - 1 ? most : size - 1);

	memcpy(buf, name, length);
	buf[length] = 0;
	return (long)(at - m->symbol->st_value);
}

void wefti_os_symbols_abandon(void)
{
	memset(files, 0, sizeof(files));
	memset(memo, 0, sizeof(memo));
}

void wefti_os_symbols_forget(void)
{
	for (size_t i = 0; i < WEFTI_OBJECTS_MOST; i++)
		if (files[i].start)
			wefti_arch_syscall(SYS_munmap, (long)files[i].start,
					   (long)files[i].bytes, 0, 0, 0, 0);
	wefti_os_symbols_abandon();
}
