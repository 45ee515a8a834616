/* SPDX-License-Identifier: MIT */
/*
 * cli/profile/unwind.c - calls and their names, by libdw
 *
 * libdw is elfutils'. It knows the tables of calls, the symbols, the lines and the inline
 * functions of ELF files, and finds debug files that are installed apart. Its licence (LGPL
 * 3 or GPL 2) allows any program to be linked with the shared library.
 *
 * Rejected: addr2line and eu-addr2line as programs. They name addresses, but do not unwind.
 * libunwind, with which the runtime makes its dumps, unwinds, but knows no lines.
 *
 * The process may have ended, so its maps were read while it lived, and its stacks are
 * copies. Its files are opened by their names; one that was replaced since has other
 * addresses, and gives wrong names.
 */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/profile.h"
#include "registers.h"

struct profile_files {
	Dwfl *dwfl;
	/* The stack that is unwound now. */
	const struct wefti_record_stack *head;
	const uint64_t *words;	/* behind the head */
	size_t count;
	int is_exact;
	uint64_t *pcs;
	size_t depth, most;
};

/* The kernel's own objects have no file. */
static int find_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
		    char **path, Elf **elf)
{
	int fd;

	(void)module, (void)data, (void)base, (void)elf;
	if (name[0] != '/')
		return -1;
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0)
		*path = strdup(name);
	return fd;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf, .find_debuginfo = dwfl_standard_find_debuginfo,
};

static pid_t next_thread(Dwfl *dwfl, void *files, void **thread)
{
	(void)dwfl;
	if (*thread)
		return 0;
	*thread = files;
	return 1;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *files, void **thread)
{
	(void)dwfl, (void)tid;
	*thread = files;
	return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr at, Dwarf_Word *word, void *arg)
{
	const struct profile_files *f = arg;
	const uint64_t offset = at - f->head->sp;
	const uint64_t bytes = f->count * sizeof(uint64_t);

	(void)dwfl;
	if (at < f->head->sp || offset > bytes || bytes - offset < sizeof(uint64_t))
		return false;
	memcpy(word, (const char *)f->words + offset, sizeof(uint64_t));
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct profile_files *f = arg;
	const struct { int number; uint64_t value; } known[] = {
		{ WEFTI_ARCH_NUMBER_FP, f->head->fp },
		{ WEFTI_ARCH_NUMBER_SP, f->head->sp },
		{ WEFTI_ARCH_NUMBER_LINK, f->head->link },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].number >= 0 &&
		    !dwfl_thread_state_registers(thread, known[i].number, 1,
						 &known[i].value))
			return false;
	dwfl_thread_state_register_pc(thread, f->head->pc);
	return true;
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread, .get_thread = get_thread,
	.memory_read = read_memory, .set_initial_registers = set_registers,
};

static int add_frame(Dwfl_Frame *frame, void *arg)
{
	struct profile_files *f = arg;
	bool is_exact;
	Dwarf_Addr pc;

	if (f->depth == f->most || !dwfl_frame_pc(frame, &pc, &is_exact) || pc == 0)
		return DWARF_CB_ABORT;
	if (f->depth == 0)
		is_exact = f->is_exact;
	f->pcs[f->depth++] = is_exact ? pc : pc - 1;
	return DWARF_CB_OK;
}

struct profile_files *profile_files_open(const char *maps, size_t bytes)
{
	struct profile_files *f = calloc(1, sizeof(*f));
	FILE *file;
	int failed;

	if (!f)
		return NULL;
	while (bytes > 1 && maps[bytes - 2] == '\n')
		bytes--;	/* the recording's last word; no empty line */
	f->dwfl = dwfl_begin(&callbacks);
	file = fmemopen((void *)(uintptr_t)maps, bytes, "r");
	failed = !f->dwfl || !file || dwfl_linux_proc_maps_report(f->dwfl, file) != 0 ||
		 dwfl_report_end(f->dwfl, NULL, NULL) != 0 ||
		 !dwfl_attach_state(f->dwfl, NULL, 1, &thread_callbacks, f);
	if (file)
		fclose(file);
	if (!failed)
		return f;
	profile_files_close(f);
	return NULL;
}

void profile_files_close(struct profile_files *files)
{
	if (files)
		dwfl_end(files->dwfl);
	free(files);
}

size_t profile_unwind(struct profile_files *f, const uint64_t *words, size_t count,
		      int is_exact, uint64_t *pcs, size_t most)
{
	if (count < WEFTI_RECORD_STACK_WORDS || most == 0)
		return 0;
	if (!f) {
		pcs[0] = ((const struct wefti_record_stack *)words)->pc;
		return 1;
	}
	f->head = (const void *)words;
	f->words = words + WEFTI_RECORD_STACK_WORDS;
	f->count = count - WEFTI_RECORD_STACK_WORDS;
	f->is_exact = is_exact;
	f->pcs = pcs;
	f->depth = 0;
	f->most = most;
	(void)dwfl_getthread_frames(f->dwfl, 1, add_frame, f);
	if (f->depth == 0)
		f->pcs[f->depth++] = f->head->pc;
	return f->depth;
}

/* As the linker knows it, or as the source has it. */
static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name,
								 &attr));

	return name ? name : dwarf_diename(die);
}

static int number_of(Dwarf_Die *die, unsigned which)
{
	Dwarf_Attribute attr;
	Dwarf_Word word;

	return dwarf_formudata(dwarf_attr(die, which, &attr), &word) == 0 ? (int)word : 0;
}

static const char *call_file(Dwarf_Die *unit, Dwarf_Die *die)
{
	const int number = number_of(die, DW_AT_call_file);
	Dwarf_Files *files;
	size_t count;

	if (number < 0 || dwarf_getsrcfiles(unit, &files, &count) != 0 ||
	    (size_t)number >= count)
		return NULL;
	return dwarf_filesrc(files, (size_t)number, NULL, NULL);
}

/* From the innermost function out to the one that was not made inline. */
static size_t inline_lines(Dwarf_Die *unit, Dwarf_Addr pc,
			   struct profile_line lines[PROFILE_LINES_MOST])
{
	Dwarf_Die *scopes = NULL, *all = NULL;
	int count = dwarf_getscopes(unit, pc, &scopes);
	size_t n = 0;

	if (count > 0)
		count = dwarf_getscopes_die(&scopes[0], &all);
	for (int i = 0; i < count && n < PROFILE_LINES_MOST; i++) {
		const int tag = dwarf_tag(&all[i]);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		lines[n++].function = name_of(&all[i]);
		if (tag == DW_TAG_subprogram || n == PROFILE_LINES_MOST)
			break;
		lines[n].file = call_file(unit, &all[i]);
		lines[n].line = number_of(&all[i], DW_AT_call_line);
	}
	free(scopes);
	free(all);
	return n;
}

size_t profile_lines(struct profile_files *f, uint64_t pc,
		     struct profile_line lines[PROFILE_LINES_MOST])
{
	Dwfl_Module *module = f ? dwfl_addrmodule(f->dwfl, pc) : NULL;
	Dwarf_Addr bias;
	Dwarf_Die *unit;
	Dwfl_Line *line;
	size_t n;

	memset(lines, 0, PROFILE_LINES_MOST * sizeof(*lines));
	if (!module)
		return 1;
	line = dwfl_module_getsrc(module, pc);
	if (line)
		lines[0].file = dwfl_lineinfo(line, NULL, &lines[0].line, NULL, NULL, NULL);
	unit = dwfl_module_addrdie(module, pc, &bias);
	n = unit ? inline_lines(unit, pc - bias, lines) : 0;
	if (n == 0)
		n = 1;
	if (n == 1 || !lines[n - 1].function)
		lines[n - 1].function = dwfl_module_addrname(module, pc);
	return n;
}

const char *profile_name_at(struct profile_files *f, uint64_t address)
{
	Dwfl_Module *module = f ? dwfl_addrmodule(f->dwfl, address) : NULL;
	GElf_Off offset;
	GElf_Sym symbol;
	const char *name;

	if (!module)
		return NULL;
	name = dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);
	return name && (offset == 0 || offset < symbol.st_size) ? name : NULL;
}

static int note_first(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr start,
		      void *first)
{
	(void)module, (void)data, (void)name;
	*(uint64_t *)first = start;
	return DWARF_CB_ABORT;
}

uint64_t profile_first_file(struct profile_files *f)
{
	uint64_t first = 0;

	if (f)
		(void)dwfl_getmodules(f->dwfl, note_first, &first, 0);
	return first;
}

int profile_file_at(struct profile_files *f, uint64_t pc, uint64_t *start, uint64_t *end,
		    const char **path)
{
	Dwfl_Module *module = f ? dwfl_addrmodule(f->dwfl, pc) : NULL;

	*path = module ? dwfl_module_info(module, NULL, start, end, NULL, NULL, NULL, NULL) :
			 NULL;
	return *path != NULL;
}
