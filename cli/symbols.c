/* SPDX-License-Identifier: MIT */
/*
 * cli/symbols.c - the symbols that an ELF file imports and exports
 *
 * They are found by the section headers, which strip(1) leaves in place. Nothing in
 * the file is trusted: every offset and size must lie within the file.
 */
#include "cli.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The same for both word sizes. */
#define SYMBOL_BINDING(info)	((unsigned char)(info) >> 4)

struct file {
	const char *data;
	size_t bytes;
};

/* Returns count items of `each` bytes at offset. NULL: not all are in the file. */
static const void *part(const struct file *f, size_t offset, size_t count,
			size_t each)
{
	if (offset > f->bytes || count > (f->bytes - offset) / each ||
	    offset % sizeof(ElfW(Word)) != 0)
		return NULL;
	return f->data + offset;
}

static const char *malformed(void)
{
	return "is malformed";
}

static const char *read_symbols(const struct file *f, const ElfW(Shdr) *table,
				const ElfW(Shdr) *strings,
				weft_cli_symbol_fn *each, void *arg)
{
	size_t count = table->sh_size / sizeof(ElfW(Sym));
	const ElfW(Sym) *symbols = part(f, table->sh_offset, count,
					sizeof(*symbols));
	const char *names;

	if (strings->sh_offset > f->bytes ||
	    strings->sh_size > f->bytes - strings->sh_offset || !symbols)
		return malformed();
	names = f->data + strings->sh_offset;
	if (strings->sh_size == 0 || names[strings->sh_size - 1] != 0)
		return malformed();
	for (size_t i = 1; i < count; i++) {
		if (symbols[i].st_name >= strings->sh_size)
			return malformed();
		if (SYMBOL_BINDING(symbols[i].st_info) != STB_LOCAL)
			each(names + symbols[i].st_name,
			     symbols[i].st_shndx == SHN_UNDEF, arg);
	}
	return NULL;
}

static const char *read_file(const struct file *f, weft_cli_symbol_fn *each,
			     void *arg)
{
	const ElfW(Ehdr) *head = part(f, 0, 1, sizeof(*head));
	const ElfW(Shdr) *sections;

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0)
		return "is not an ELF file";
	if (head->e_shnum == 0)
		return "has no section headers";
	sections = part(f, head->e_shoff, head->e_shnum, sizeof(*sections));
	if (!sections)
		return malformed();
	for (size_t i = 0; i < head->e_shnum; i++) {
		if (sections[i].sh_type != SHT_DYNSYM)
			continue;
		if (sections[i].sh_link >= head->e_shnum)
			return malformed();
		return read_symbols(f, &sections[i],
				    &sections[sections[i].sh_link], each, arg);
	}
	return "has no dynamic symbols";
}

const char *weft_cli_symbols(const char *path, weft_cli_symbol_fn *each,
			     void *arg)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *why;
	struct stat st;
	struct file f;
	void *data;

	if (fd < 0)
		return strerror(errno);
	if (fstat(fd, &st) != 0 || st.st_size == 0) {
		close(fd);
		return "is empty";
	}
	f.bytes = (size_t)st.st_size;
	data = mmap(NULL, f.bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (data == MAP_FAILED)
		return strerror(errno);
	f.data = data;
	why = read_file(&f, each, arg);
	munmap(data, f.bytes);
	return why;
}
