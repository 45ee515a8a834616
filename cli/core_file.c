/* SPDX-License-Identifier: MIT */
/* cli/core_file.c - a core file: its memory, its notes, and a copy with more of them */
#include "core_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "observe/layout.h"

#define BLOCK		((size_t)1 << 16)
#define PADDED(n)	(((n) + 3) & ~(size_t)3)

static const char no_core[] = "this is no core file of a process of 64 bits";

/* --- notes ----------------------------------------------------------- */

struct note {
	const char *owner, *bytes;
	size_t owner_bytes, count;
	uint32_t type;
};

/* Takes the note at *at out of a segment of notes. Returns 0 at its end. */
static int next_note(const char *notes, size_t size, size_t *at, struct note *n)
{
	Elf64_Nhdr h;

	if (size - *at < sizeof(h))
		return 0;
	memcpy(&h, notes + *at, sizeof(h));
	*at += sizeof(h);
	if (PADDED((size_t)h.n_namesz) > size - *at ||
	    PADDED((size_t)h.n_descsz) > size - *at - PADDED((size_t)h.n_namesz))
		return 0;
	n->owner = notes + *at;
	n->owner_bytes = h.n_namesz;
	n->bytes = n->owner + PADDED((size_t)h.n_namesz);
	n->count = h.n_descsz;
	n->type = h.n_type;
	*at += PADDED((size_t)h.n_namesz) + PADDED((size_t)h.n_descsz);
	return 1;
}

static int is_owner(const struct note *n, const char *owner)
{
	return n->owner_bytes == strlen(owner) + 1 &&
	       memcmp(n->owner, owner, n->owner_bytes) == 0;
}

/* NT_FILE: count, page size, then start, end and offset in pages of each, then paths. */
static int note_files(struct weft_cli_core_file *c, const struct note *n)
{
	const char *end = n->bytes + n->count, *path;
	uint64_t head[2], at[3];

	if (c->files || n->count < sizeof(head))
		return 0;
	memcpy(head, n->bytes, sizeof(head));
	if (head[0] > (n->count - sizeof(head)) / sizeof(at))
		return 0;
	c->files = calloc(head[0] ? head[0] : 1, sizeof(*c->files));
	path = n->bytes + sizeof(head) + head[0] * sizeof(at);
	for (; c->files && c->file_count < head[0]; c->file_count++) {
		const char *zero = memchr(path, 0, (size_t)(end - path));

		if (!zero)
			break;
		memcpy(at, n->bytes + sizeof(head) + c->file_count * sizeof(at),
		       sizeof(at));
		c->files[c->file_count] = (struct weft_cli_mapping){
			at[0], at[1], at[2] * head[1], path,
		};
		path = zero + 1;
	}
	return c->files ? 0 : -1;
}

static int read_notes(struct weft_cli_core_file *c, const Elf64_Phdr *s)
{
	size_t at = 0;
	struct note n;
	int error = 0;

	while (!error && next_note(c->bytes + s->p_offset, s->p_filesz, &at, &n)) {
		if (!is_owner(&n, "CORE"))
			continue;
		if (n.type == NT_FILE)
			error = note_files(c, &n);
		if (n.type != NT_PRSTATUS)
			continue;
		if (c->status_count++ == 0) {
			c->status = n.bytes;
			c->status_bytes = n.count;
		}
	}
	return error;
}

int weft_cli_core_note(struct weft_cli_core_file *c, const char *owner, uint32_t type,
		       const void *bytes, size_t count)
{
	const Elf64_Nhdr h = { (Elf64_Word)strlen(owner) + 1, (Elf64_Word)count, type };
	const size_t name = PADDED((size_t)h.n_namesz);
	const size_t all = sizeof(h) + name + PADDED(count);
	char *at;

	if (c->more_room - c->more_bytes < all) {
		const size_t room = 2 * c->more_room + all;
		char *more = realloc(c->more, room);

		if (!more)
			return -1;
		c->more = more;
		c->more_room = room;
	}
	at = c->more + c->more_bytes;
	memset(at, 0, all);
	memcpy(at, &h, sizeof(h));
	memcpy(at + sizeof(h), owner, h.n_namesz);
	memcpy(at + sizeof(h) + name, bytes, count);
	c->more_bytes += all;
	return 0;
}

/* --- the file -------------------------------------------------------- */

static int is_inside(const struct weft_cli_core_file *c, uint64_t offset, uint64_t bytes)
{
	return offset <= c->size && bytes <= c->size - offset;
}

/* A file of more than 65,534 segments has their number in its first section. */
static size_t count_segments(const struct weft_cli_core_file *c, const Elf64_Ehdr *h)
{
	if (h->e_phnum != PN_XNUM)
		return h->e_phnum;
	if (!is_inside(c, h->e_shoff, sizeof(Elf64_Shdr)))
		return 0;
	return ((const Elf64_Shdr *)(const void *)(c->bytes + h->e_shoff))->sh_info;
}

static const char *read_segments(struct weft_cli_core_file *c)
{
	const Elf64_Ehdr *h = (const void *)c->bytes;

	if (c->size < sizeof(*h) || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 ||
	    h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB ||
	    h->e_type != ET_CORE || h->e_phentsize != sizeof(Elf64_Phdr))
		return no_core;
	c->segment_count = count_segments(c, h);
	if (h->e_phoff % 8 || !is_inside(c, h->e_phoff,
					 c->segment_count * sizeof(Elf64_Phdr)))
		return no_core;
	c->segments = (const void *)(c->bytes + h->e_phoff);
	for (size_t i = 0; i < c->segment_count; i++) {
		if (!is_inside(c, c->segments[i].p_offset, c->segments[i].p_filesz))
			return "it is cut off: the disk was full, or ulimit -c too small";
		if (c->segments[i].p_type != PT_NOTE)
			continue;
		c->notes_segment = i;
		if (read_notes(c, &c->segments[i]) != 0)
			return strerror(ENOMEM);
	}
	return c->status ? NULL : no_core;
}

const char *weft_cli_core_open(struct weft_cli_core_file *c, const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC), error;
	const char *why;
	struct stat st;
	void *at;

	memset(c, 0, sizeof(*c));
	if (fd < 0)
		return strerror(errno);
	error = fstat(fd, &st);
	if (!error && !S_ISREG(st.st_mode)) {
		close(fd);
		return no_core;
	}
	c->size = (size_t)st.st_size;
	at = error || c->size == 0 ? MAP_FAILED :
	     mmap(NULL, c->size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		return no_core;
	c->bytes = at;
	why = read_segments(c);
	if (why)
		weft_cli_core_close(c);
	return why;
}

void weft_cli_core_close(struct weft_cli_core_file *c)
{
	munmap((void *)(uintptr_t)c->bytes, c->size);
	free(c->files);
	free(c->more);
}

/* --- memory ---------------------------------------------------------- */

/* The core file names the path. To open a device may do something, so only files are. */
static int read_file(const struct weft_cli_mapping *m, uint64_t at, void *to, size_t bytes)
{
	struct stat st;
	int fd, done;

	if (stat(m->path, &st) != 0 || !S_ISREG(st.st_mode))
		return 0;
	fd = open(m->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return 0;
	done = pread(fd, to, bytes, (off_t)(m->offset + at - m->start)) ==
	       (ssize_t)bytes;
	close(fd);
	return done;
}

int weft_cli_core_read(const struct weft_cli_core_file *c, uint64_t at, void *to,
		       size_t bytes)
{
	for (size_t i = 0; i < c->segment_count; i++) {
		const Elf64_Phdr *s = &c->segments[i];

		if (s->p_type == PT_LOAD && at >= s->p_vaddr &&
		    at - s->p_vaddr < s->p_filesz &&
		    bytes <= s->p_filesz - (at - s->p_vaddr)) {
			memcpy(to, c->bytes + s->p_offset + (at - s->p_vaddr), bytes);
			return 1;
		}
	}
	for (unsigned i = 0; i < c->file_count; i++) {
		const struct weft_cli_mapping *m = &c->files[i];

		if (at >= m->start && at < m->end && bytes <= m->end - at)
			return read_file(m, at, to, bytes);
	}
	return 0;
}

/* The note lies where its distance begins, so the sum is the table's address. */
static uint64_t table_of(const char *notes, size_t size, uint64_t at)
{
	size_t next = 0;
	struct note n;
	int64_t distance;

	while (next_note(notes, size, &next, &n))
		if (n.type == WEFTI_LAYOUT_NOTE && is_owner(&n, "weft") &&
		    n.count == sizeof(distance)) {
			memcpy(&distance, n.bytes, sizeof(distance));
			return at + (uint64_t)(n.bytes - notes) + (uint64_t)distance;
		}
	return 0;
}

uint64_t weft_cli_core_table(const struct weft_cli_core_file *c,
			     const struct weft_cli_mapping *m)
{
	uint64_t table = 0, bias = m->start;
	Elf64_Phdr s[64];
	char notes[4096];
	Elf64_Ehdr h;

	if (m->offset != 0 || !weft_cli_core_read(c, m->start, &h, sizeof(h)) ||
	    memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_phnum > 64 ||
	    !weft_cli_core_read(c, m->start + h.e_phoff, s, h.e_phnum * sizeof(*s)))
		return 0;
	for (unsigned i = 0; i < h.e_phnum; i++)
		if (s[i].p_type == PT_LOAD && s[i].p_offset == 0)
			bias = m->start - s[i].p_vaddr;
	for (unsigned i = 0; i < h.e_phnum && !table; i++)
		if (s[i].p_type == PT_NOTE && s[i].p_filesz <= sizeof(notes) &&
		    weft_cli_core_read(c, bias + s[i].p_vaddr, notes, s[i].p_filesz))
			table = table_of(notes, s[i].p_filesz, bias + s[i].p_vaddr);
	return table;
}

/* --- the copy -------------------------------------------------------- */

static int is_zero(const char *bytes, size_t n)
{
	return *bytes == 0 && memcmp(bytes, bytes + 1, n - 1) == 0;
}

static int put(int fd, const void *bytes, size_t count, uint64_t at)
{
	const char *from = bytes;

	while (count > 0) {
		const ssize_t n = pwrite(fd, from, count, (off_t)at);

		if (n < 0 && errno != EINTR)
			return -1;
		from += n > 0 ? n : 0;
		at += n > 0 ? (uint64_t)n : 0;
		count -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* Blocks of zeros become holes. */
static int put_file(int fd, const char *bytes, size_t size)
{
	for (size_t at = 0; at < size; at += BLOCK) {
		const size_t n = size - at < BLOCK ? size - at : BLOCK;

		if (!is_zero(bytes + at, n) && put(fd, bytes + at, n, at) != 0)
			return -1;
	}
	return 0;
}

static int put_all(const struct weft_cli_core_file *c, int fd)
{
	const Elf64_Ehdr *h = (const void *)c->bytes;
	const uint64_t at = (c->size + 7) & ~UINT64_C(7);
	Elf64_Phdr s = c->segments[c->notes_segment];
	const uint64_t old = s.p_offset, old_bytes = PADDED(s.p_filesz);

	if (!is_inside(c, old, old_bytes)) {
		errno = EINVAL;
		return -1;
	}
	s.p_offset = at;
	s.p_filesz = old_bytes + c->more_bytes;
	return put_file(fd, c->bytes, c->size) != 0 ||
	       put(fd, c->bytes + old, old_bytes, at) != 0 ||
	       put(fd, c->more, c->more_bytes, at + old_bytes) != 0 ||
	       put(fd, &s, sizeof(s), h->e_phoff + c->notes_segment * sizeof(s)) != 0;
}

const char *weft_cli_core_write(const struct weft_cli_core_file *c, const char *name)
{
	/* A file that is there is left alone: it may be the core file itself. */
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), error;

	if (fd < 0)
		return strerror(errno);
	error = put_all(c, fd) != 0 ? errno : 0;
	if (close(fd) != 0 && !error)
		error = errno;
	if (!error)
		return NULL;
	unlink(name);
	return strerror(error);
}
