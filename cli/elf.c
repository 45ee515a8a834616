/* SPDX-License-Identifier: MIT */
/* cli/elf.c - can the preload library be loaded into a program? */
#include "cli.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "os/object/go.h"
#include "os/object/program.h"

#define HEAD		256	/* bytes of a script that the kernel reads */
#define SCRIPTS_MOST	4
#define SEGMENTS_MOST	128
#define NOTES_MOST	4096

#ifdef __LP64__
#define OUR_CLASS	ELFCLASS64
#else
#define OUR_CLASS	ELFCLASS32
#endif

/* The linker makes this: our own ELF header. Without /proc we cannot find our file. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

/* Other programs must be for the machine that this one is for. */
static int our_machine(void)
{
	return __ehdr_start.e_machine;
}

static const char cut_off[] = "is cut off: a part of the program is missing";

/* The kernel would start a file that is cut off, and the program would crash. */
static int is_whole(int fd, const ElfW(Phdr) *s)
{
	struct stat st;
	uint64_t end;

	return s->p_type != PT_LOAD ||
	       (fstat(fd, &st) == 0 &&
		!__builtin_add_overflow(s->p_offset, s->p_filesz, &end) &&
		end <= (uint64_t)st.st_size);
}

/* The path of the loader that the program names. */
static const char *find_loader(int fd, const ElfW(Ehdr) *head, char *loader)
{
	ElfW(Phdr) segments[SEGMENTS_MOST];
	size_t bytes = head->e_phnum * sizeof(*segments);
	const char *why = "is statically linked: no library can be "
			  "preloaded into it";

	if (head->e_phnum > SEGMENTS_MOST ||
	    pread(fd, segments, bytes, (off_t)head->e_phoff) != (ssize_t)bytes)
		return cut_off;
	for (int i = 0; i < head->e_phnum; i++) {
		const ElfW(Phdr) *s = &segments[i];

		if (!is_whole(fd, s))
			return cut_off;
		if (s->p_type != PT_INTERP)
			continue;
		if (s->p_filesz == 0 || s->p_filesz > PATH_MAX ||
		    pread(fd, loader, s->p_filesz, (off_t)s->p_offset) !=
		    (ssize_t)s->p_filesz || loader[s->p_filesz - 1] != 0)
			return cut_off;
		why = NULL;
	}
	return why;
}

/* The loader of another libc would not know our symbols, and would not just list. */
static int is_glibcs(const char *loader)
{
	const char *slash = strrchr(loader, '/');

	return strncmp(slash ? slash + 1 : loader, "ld", 2) == 0 &&
	       !strstr(loader, "musl");
}

static const char *check_elf(int fd, struct weft_cli_program *p)
{
	ElfW(Ehdr) head;
	const char *why;

	if (pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head))
		return cut_off;
	if (head.e_ident[EI_CLASS] != OUR_CLASS)
		return "has another word size (32 bits?) than weft's library";
	if (head.e_machine != our_machine())
		return "is for another kind of machine";
	why = find_loader(fd, &head, p->loader);
	if (!why && !is_glibcs(p->loader))
		why = "is for another libc than glibc";
	p->asan = wefti_os_program(fd, "") == WEFTI_PROGRAM_ASAN;
	return why;
}

/* Is this segment a note of Go's? */
static int has_go_note(int fd, const ElfW(Phdr) *s)
{
	char notes[NOTES_MOST];
	size_t bytes = s->p_filesz < NOTES_MOST ? s->p_filesz : NOTES_MOST;

	return s->p_type == PT_NOTE &&
	       pread(fd, notes, bytes, (off_t)s->p_offset) == (ssize_t)bytes &&
	       wefti_os_go_is_noted(notes, bytes);
}

int weft_cli_is_go(const char *path)
{
	ElfW(Phdr) segments[SEGMENTS_MOST];
	ElfW(Ehdr) head;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), is_go = 0;

	if (fd < 0)
		return 0;
	if (pread(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	    head.e_phnum <= SEGMENTS_MOST &&
	    pread(fd, segments, head.e_phnum * sizeof(*segments),
		  (off_t)head.e_phoff) > 0)
		for (int i = 0; i < head.e_phnum && !is_go; i++)
			is_go = has_go_note(fd, &segments[i]);
	close(fd);
	return is_go;
}

/* The loader ignores LD_PRELOAD if the program gains privileges. */
static const char *check_privileges(const char *path, int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return strerror(errno);
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? "is a directory" :
					     "is not a regular file";
	if ((st.st_mode & S_ISUID) && st.st_uid != geteuid())
		return "is set-user-ID: the loader ignores weft's library";
	if ((st.st_mode & S_ISGID) && st.st_gid != getegid())
		return "is set-group-ID: the loader ignores weft's library";
	if (geteuid() != 0 &&
	    getxattr(path, "security.capability", NULL, 0) > 0)
		return "has capabilities: the loader ignores weft's library";
	return NULL;
}

/* The program that env runs: the first word that is neither an option nor a variable. */
static void note_words(const char *line, char *word, size_t size)
{
	for (size_t length; *word == 0; line += length) {
		line += strspn(line, " \t\r");
		length = strcspn(line, " \t\r\n");
		if (length == 0 || length >= size)
			return;
		if (*line != '-' && !memchr(line, '=', length)) {
			memcpy(word, line, length);
			word[length] = 0;
		}
	}
}

/* Reads "#!interpreter argument". */
static int interpreter_of(const char *head, char *path, size_t size,
			  struct weft_cli_program *p)
{
	const char *from = head + 2 + strspn(head + 2, " \t");
	size_t length = strcspn(from, " \t\n");

	if (length == 0 || length >= size)
		return -1;
	memcpy(path, from, length);
	path[length] = 0;
	p->is_script = 1;
	p->word[0] = 0;
	note_words(from + length, p->word, sizeof(p->word));
	return 0;
}

static const char *check_program(const char *path, struct weft_cli_program *p,
				 int depth)
{
	char head[HEAD + 1] = "", interpreter[HEAD];
	const char *why;
	/* O_NONBLOCK: the open does not wait for the other end of a FIFO. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;

	snprintf(p->path, sizeof(p->path), "%s", path);
	if (fd < 0 && errno == EACCES && access(path, X_OK) == 0)
		return NULL;	/* may be run, but not read: the kernel decides */
	if (fd < 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			p->status = STATUS_NOT_FOUND;
		return strerror(errno);
	}
	why = check_privileges(path, fd);
	if (!why && access(path, X_OK) != 0)
		why = strerror(errno);
	n = why ? 0 : pread(fd, head, HEAD, 0);
	if (!why && n >= 4 && memcmp(head, ELFMAG, SELFMAG) == 0)
		why = check_elf(fd, p);
	else if (!why && n > 2 && memcmp(head, "#!", 2) == 0)
		why = depth == SCRIPTS_MOST ||
		      interpreter_of(head, interpreter, HEAD, p) != 0 ?
		      "is a script without a usable first line" :
		      check_program(interpreter, p, depth + 1);
	else if (!why)
		why = "is not a program";
	close(fd);
	return why;
}

const char *weft_cli_refusal(const char *path, struct weft_cli_program *p)
{
	*p = (struct weft_cli_program){ .status = STATUS_CANNOT_RUN };
	return check_program(path, p, 0);
}
