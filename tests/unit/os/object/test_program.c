/* SPDX-License-Identifier: MIT */
/* test_program.c - os/program: what takes a library, and what does not */
#include "os/object/program.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

static char folder[] = "/tmp/weft-program-XXXXXX";
static char path[sizeof(folder) + 16];

static void write_file(const char *name, const void *data, size_t bytes)
{
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	CU_ASSERT_EQUAL(fwrite(data, 1, bytes, f), bytes);
	fclose(f);
	chmod(path, 0700);
}

static void write_script(const char *name, const char *line)
{
	write_file(name, line, strlen(line));
}

/* A program of one kind: with what loader, what library, what word size and machine. */
static void write_elf(const char *loader, const char *library, int class,
		      int machine)
{
	struct {
		Elf64_Ehdr head;
		Elf64_Phdr segments[3];
		Elf64_Dyn dynamic[3];
		char loader[64], strings[64];
	} f = {
		.head = { .e_type = ET_DYN, .e_machine = (Elf64_Half)machine,
			  .e_phoff = sizeof(f.head),
			  .e_phentsize = sizeof(f.segments[0]), .e_phnum = 3 },
		.segments = {
			{ .p_type = PT_LOAD, .p_filesz = sizeof(f),
			  .p_vaddr = 0x1000 },
			{ .p_type = PT_DYNAMIC,
			  .p_offset = offsetof(__typeof__(f), dynamic),
			  .p_filesz = sizeof(f.dynamic) },
			{ .p_type = loader ? PT_INTERP : PT_NULL,
			  .p_offset = offsetof(__typeof__(f), loader),
			  .p_filesz = loader ? strlen(loader) + 1 : 0 },
		},
		.dynamic = {
			{ .d_tag = DT_NEEDED, .d_un.d_val = 1 },
			{ .d_tag = DT_STRTAB,
			  .d_un.d_ptr = 0x1000 +
					offsetof(__typeof__(f), strings) },
		},
	};

	memcpy(f.head.e_ident, ELFMAG, SELFMAG);
	f.head.e_ident[EI_CLASS] = (unsigned char)class;
	if (loader)
		strcpy(f.loader, loader);
	strcpy(f.strings + 1, library);
	write_file("program", &f, sizeof(f));
}

static int own_machine(void)
{
	Elf64_Ehdr head = { .e_machine = EM_NONE };
	FILE *f = fopen("/proc/self/exe", "r");

	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	CU_ASSERT_EQUAL(fread(&head, sizeof(head), 1, f), 1);
	fclose(f);
	return head.e_machine;
}

static enum wefti_os_program of(const char *file)
{
	return wefti_os_program(AT_FDCWD, file);
}

static void programs_of_all_kinds(void)
{
	static const char glibcs[] = "/lib64/ld-linux-x86-64.so.2";
	const int own = own_machine();

	write_elf(glibcs, "libm.so.6", ELFCLASS64, own);
	CU_ASSERT_EQUAL(of(path), WEFTI_PROGRAM_TAKES);
	write_elf(NULL, "libm.so.6", ELFCLASS64, own);
	CU_ASSERT_EQUAL(of(path), WEFTI_PROGRAM_STATIC);
	write_elf("/lib/ld-musl-x86_64.so.1", "libm.so.6", ELFCLASS64, own);
	CU_ASSERT_EQUAL(of(path), WEFTI_PROGRAM_LIBC);
	write_elf("/system/bin/linker64", "libm.so.6", ELFCLASS64, own);
	CU_ASSERT_EQUAL(of(path), WEFTI_PROGRAM_LIBC);
	write_elf(glibcs, "libm.so.6", ELFCLASS32, own);
	CU_ASSERT_EQUAL(of(path), WEFTI_PROGRAM_OTHER);
	write_elf(glibcs, "libm.so.6", ELFCLASS64, EM_S390);
	CU_ASSERT_EQUAL(of(path), WEFTI_PROGRAM_OTHER);
	write_elf(glibcs, "libasan.so.8", ELFCLASS64, own);
	CU_ASSERT_EQUAL(of(path), WEFTI_PROGRAM_ASAN);
	write_elf(glibcs, "libclang_rt.asan-x86_64.so", ELFCLASS64, own);
	CU_ASSERT_EQUAL(of(path), WEFTI_PROGRAM_ASAN);
	write_elf(glibcs, "libtsan.so.2", ELFCLASS64, own);
	CU_ASSERT_EQUAL(of(path), WEFTI_PROGRAM_TAKES);
}

static void a_script_is_what_interprets_it(void)
{
	char line[sizeof(path) + 32], outer[sizeof(path) + 32];

	write_elf(NULL, "", ELFCLASS64, own_machine());
	snprintf(line, sizeof(line), "#! \t%s -x\necho\n", path);
	write_script("script", line);
	CU_ASSERT_EQUAL(of(path), WEFTI_PROGRAM_STATIC);
	snprintf(outer, sizeof(outer), "#!%s\n", path);
	write_script("outer", outer);
	CU_ASSERT_EQUAL(of(path), WEFTI_PROGRAM_STATIC);
	snprintf(line, sizeof(line), "#!%s/loop\n", folder);
	write_script("loop", line);
	CU_ASSERT_EQUAL(of(path), WEFTI_PROGRAM_TAKES);
	write_script("bare", "echo\n");
	CU_ASSERT_EQUAL(of(path), WEFTI_PROGRAM_TAKES);
	write_script("empty", "#!\n");
	CU_ASSERT_EQUAL(of(path), WEFTI_PROGRAM_TAKES);
}

/* What the kernel will refuse is left to it. */
static void what_cannot_be_looked_at_takes_it(void)
{
	CU_ASSERT_EQUAL(of("/no/such/file"), WEFTI_PROGRAM_TAKES);
	CU_ASSERT_EQUAL(of("/"), WEFTI_PROGRAM_TAKES);
	write_script("cut", "\177ELF");
	CU_ASSERT_EQUAL(of(path), WEFTI_PROGRAM_TAKES);
}

static void a_descriptor_is_looked_at_and_left_open(void)
{
	char byte;
	int fd;

	write_elf(NULL, "", ELFCLASS64, own_machine());
	fd = open(path, O_RDONLY);
	CU_ASSERT_EQUAL(wefti_os_program(fd, ""), WEFTI_PROGRAM_STATIC);
	CU_ASSERT_EQUAL(read(fd, &byte, 1), 1);
	CU_ASSERT_EQUAL(byte, '\177');
	close(fd);
	fd = open(folder, O_RDONLY | O_DIRECTORY);
	CU_ASSERT_EQUAL(wefti_os_program(fd, "program"), WEFTI_PROGRAM_STATIC);
	close(fd);
}

__attribute__((constructor)) static void make_folder(void)
{
	if (!mkdtemp(folder))
		abort();
}

__attribute__((destructor)) static void remove_folder(void)
{
	static const char *const names[] = {
		"program", "script", "outer", "loop", "bare", "empty", "cut",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
}

static const struct test_case cases[] = {
	TEST(programs_of_all_kinds),
	TEST(a_script_is_what_interprets_it),
	TEST(what_cannot_be_looked_at_takes_it),
	TEST(a_descriptor_is_looked_at_and_left_open),
};

TEST_MAIN("os/program", cases)
