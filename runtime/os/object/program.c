/* SPDX-License-Identifier: MIT */
/*
 * os/object/program.c - can a library be preloaded into what a file is?
 *
 * This looks at what the kernel and the loader will look at: the first line of a script,
 * the program's headers, and the libraries that it needs. Offsets and sizes in the file
 * are not trusted. A part that cannot be read is skipped: the kernel will report what is
 * wrong.
 */
#include "os/object/program.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "syscall.h"

#define HEAD		256	/* the kernel reads as much of a script */
#define SCRIPTS_MOST	4
#define SEGMENTS_MOST	32
#define ENTRIES_MOST	32	/* of the dynamic section, at a time */
#define ENTRIES_ALL	1024
#define NAME_MOST	64

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

struct file {
	int fd;
	ElfW(Ehdr) head;
	ElfW(Phdr) segments[SEGMENTS_MOST];
	int count;
};

static long read_at(int fd, void *to, size_t bytes, uint64_t offset)
{
	return wefti_arch_syscall(SYS_pread64, fd, (long)to, (long)bytes,
				  (long)offset, 0, 0);
}

static int begins_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* The offset in the file of that address. 0: it is not in the file. */
static uint64_t offset_of(const struct file *f, uint64_t address)
{
	for (int i = 0; i < f->count; i++) {
		const ElfW(Phdr) *s = &f->segments[i];

		if (s->p_type == PT_LOAD && address >= s->p_vaddr &&
		    address - s->p_vaddr < s->p_filesz)
			return address - s->p_vaddr + s->p_offset;
	}
	return 0;
}

static const ElfW(Phdr) *segment(const struct file *f, ElfW(Word) type)
{
	for (int i = 0; i < f->count; i++)
		if (f->segments[i].p_type == type)
			return &f->segments[i];
	return NULL;
}

/* By the loader's name: it is the same in all programs of glibc and this machine. */
static int is_glibcs(const struct file *f, const ElfW(Phdr) *interpreter)
{
	char path[HEAD] = "";
	const char *slash;
	size_t bytes = interpreter->p_filesz;

	if (bytes == 0 || bytes >= sizeof(path) ||
	    read_at(f->fd, path, bytes, interpreter->p_offset) != (long)bytes)
		return 1;
	slash = strrchr(path, '/');
	return begins_with(slash ? slash + 1 : path, "ld") &&
	       !strstr(path, "musl");
}

/* Calls each() for each entry of that tag. Returns the first result that is not 0. */
static int for_entries(const struct file *f, const ElfW(Phdr) *dynamic,
		       ElfW(Sxword) tag,
		       int (*each)(const struct file *f, uint64_t value,
				   uint64_t *arg),
		       uint64_t *arg)
{
	ElfW(Dyn) d[ENTRIES_MOST];
	uint64_t at = dynamic->p_offset;

	for (int i = 0; i < ENTRIES_ALL; i++) {
		int k = i % ENTRIES_MOST, result;

		if (k == 0) {
			memset(d, 0, sizeof(d));	/* DT_NULL */
			if (read_at(f->fd, d, sizeof(d), at) <= 0)
				return 0;
			at += sizeof(d);
		}
		if (d[k].d_tag == DT_NULL)
			return 0;
		result = d[k].d_tag == tag ? each(f, d[k].d_un.d_val, arg) : 0;
		if (result)
			return result;
	}
	return 0;
}

static int note(const struct file *f, uint64_t value, uint64_t *arg)
{
	*arg = offset_of(f, value);
	return 1;
}

static int is_asans(const struct file *f, uint64_t value, uint64_t *strings)
{
	char name[NAME_MOST + 1] = "";

	return read_at(f->fd, name, NAME_MOST, *strings + value) > 0 &&
	       (begins_with(name, "libasan.so") ||
		begins_with(name, "libclang_rt.asan") ||
		begins_with(name, "libhwasan.so") ||
		begins_with(name, "libclang_rt.hwasan"));
}

static int needs_asan(const struct file *f)
{
	const ElfW(Phdr) *dynamic = segment(f, PT_DYNAMIC);
	uint64_t strings = 0;

	return dynamic && for_entries(f, dynamic, DT_STRTAB, note, &strings) &&
	       strings && for_entries(f, dynamic, DT_NEEDED, is_asans, &strings);
}

static enum wefti_os_program kind_of_elf(struct file *f)
{
	const ElfW(Phdr) *interpreter;
	size_t bytes;

	if (read_at(f->fd, &f->head, sizeof(f->head), 0) !=
	    (long)sizeof(f->head))
		return WEFTI_PROGRAM_TAKES;
	if (f->head.e_ident[EI_CLASS] != __ehdr_start.e_ident[EI_CLASS] ||
	    f->head.e_machine != __ehdr_start.e_machine)
		return WEFTI_PROGRAM_OTHER;
	bytes = f->head.e_phnum * sizeof(f->segments[0]);
	if (f->head.e_phnum > SEGMENTS_MOST ||
	    read_at(f->fd, f->segments, bytes, f->head.e_phoff) != (long)bytes)
		return WEFTI_PROGRAM_TAKES;
	f->count = f->head.e_phnum;
	interpreter = segment(f, PT_INTERP);
	if (!interpreter)
		return WEFTI_PROGRAM_STATIC;
	if (!is_glibcs(f, interpreter))
		return WEFTI_PROGRAM_LIBC;
	return needs_asan(f) ? WEFTI_PROGRAM_ASAN : WEFTI_PROGRAM_TAKES;
}

/* Reads "#!interpreter argument". Returns 0 if there is none. */
static int read_script(const char *head, char *path)
{
	const char *from = head + 2;
	size_t length;

	if (!begins_with(head, "#!"))
		return 0;
	from += strspn(from, " \t");
	length = strcspn(from, " \t\n");
	if (length == 0 || length >= HEAD)
		return 0;
	memcpy(path, from, length);
	path[length] = 0;
	return 1;
}

static int open_it(int dirfd, const char *path)
{
	if (!*path)
		return dirfd;
	/* Does not wait at a FIFO. */
	return (int)wefti_arch_syscall(SYS_openat, dirfd, (long)path,
				       O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0, 0,
				       0);
}

static void close_it(int fd, const char *path)
{
	if (*path)
		(void)wefti_arch_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

enum wefti_os_program wefti_os_program(int dirfd, const char *path)
{
	enum wefti_os_program result = WEFTI_PROGRAM_TAKES;
	char interpreter[HEAD] = "";
	struct file f;

	for (int i = 0, is_script = 1; is_script && i < SCRIPTS_MOST; i++) {
		char head[HEAD + 1] = "";

		f.fd = open_it(dirfd, path);
		if (f.fd < 0 || read_at(f.fd, head, HEAD, 0) < 4) {
			is_script = 0;
		} else if (memcmp(head, ELFMAG, SELFMAG) == 0) {
			result = kind_of_elf(&f);
			is_script = 0;
		} else {
			is_script = read_script(head, interpreter);
		}
		if (f.fd >= 0)
			close_it(f.fd, path);
		path = interpreter;
	}
	return result;
}
