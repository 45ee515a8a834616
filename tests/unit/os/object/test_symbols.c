/* SPDX-License-Identifier: MIT */
/*
 * test_symbols.c - os/symbols: names by the files' tables, and files that are
 * not what was loaded
 *
 * What is wrong is done to copies of a library that is loaded as well:
 * os/objects says where its file is, and the test has it say something else.
 */
#include "os/object/symbols.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>

#include "../module.h"
#include "holdings.h"

#define PLAIN	"weft_test_plain"

static char folder[64], original[PATH_MAX], other[128];
static void *loaded;
static uintptr_t plain;		/* its function */
static struct wefti_object *object;
static char name[256];

/* What a dump does first: the files of the last list are forgotten. */
static void begin(void)
{
	CU_ASSERT_EQUAL_FATAL(module_path("plain_module.so", original,
					  sizeof(original)), 0);
	module_folder(folder, sizeof(folder));
	snprintf(other, sizeof(other), "%s/other.so", folder);
	loaded = dlopen(original, RTLD_NOW | RTLD_LOCAL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(loaded);
	plain = (uintptr_t)dlsym(loaded, PLAIN);
	wefti_os_symbols_forget();
	wefti_os_objects_read();
	object = (struct wefti_object *)wefti_os_object_of(plain);
	CU_ASSERT_PTR_NOT_NULL_FATAL(object);
}

static void end(void)
{
	wefti_os_symbols_forget();
	dlclose(loaded);
	module_folder_end(folder);
}

static long look(uintptr_t pc)
{
	const struct wefti_object *o = wefti_os_object_of(pc);

	strcpy(name, "as before");
	CU_ASSERT_PTR_NOT_NULL_FATAL(o);
	return wefti_os_symbol(o, pc, name, sizeof(name));
}

/* With another file in the place of the library's. */
static long look_in(const char *path)
{
	wefti_os_symbols_forget();
	snprintf(object->path, sizeof(object->path), "%s", path);
	return look(plain);
}

__attribute__((noinline)) static int a_static_function(int x)
{
	__asm__ volatile("" : "+r" (x));
	return x + 1;
}

static void functions_have_their_names_wherever_one_is_in_them(void)
{
	uintptr_t pc = (uintptr_t)a_static_function;

	begin();
	for (int again = 0; again < 3; again++) {
		CU_ASSERT_EQUAL(look(pc), 0);
		CU_ASSERT_EQUAL(strncmp(name, "a_static_function", 17), 0);
		CU_ASSERT_EQUAL(look(pc + 1), 1);
		CU_ASSERT_EQUAL(strncmp(name, "a_static_function", 17), 0);
		CU_ASSERT_EQUAL(look(plain + 2), 2);
		CU_ASSERT_STRING_EQUAL(name, PLAIN);
		if (again == 1)
			wefti_os_symbols_forget();
	}
	CU_ASSERT_EQUAL(a_static_function(1), 2);
	end();
}

/* libc's own table has no static functions; one of several names will do. */
static void a_stripped_library_has_its_dynamic_names(void)
{
	uintptr_t pc = (uintptr_t)dlsym(RTLD_DEFAULT, "gnu_get_libc_version");

	begin();
	CU_ASSERT_EQUAL(look(pc), 0);
	CU_ASSERT_PTR_EQUAL(dlsym(RTLD_DEFAULT, name), (void *)pc);
	end();
}

static void names_are_cut_where_the_room_ends(void)
{
	char room[12];

	begin();
	for (size_t size = 1; size <= sizeof(room); size++) {
		memset(room, '!', sizeof(room));
		CU_ASSERT_EQUAL(wefti_os_symbol(object, plain, room, size), 0);
		CU_ASSERT_EQUAL(strlen(room), size - 1);
		CU_ASSERT_EQUAL(strncmp(room, PLAIN, size - 1), 0);
		CU_ASSERT_TRUE(size == sizeof(room) || room[size] == '!');
	}
	end();
}

static void what_is_no_function_has_no_name(void)
{
	begin();
	CU_ASSERT_EQUAL(look(object->low), -1);		/* the file's header */
	CU_ASSERT_STRING_EQUAL(name, "");
	end();
}

/* Those that share a place where the last ones are kept. */
static void a_name_that_was_looked_up_is_no_other_addresss(void)
{
	const struct wefti_object *o;
	uintptr_t pc;

	begin();
	pc = (uintptr_t)test_main;
	o = wefti_os_object_of(pc);
	for (int i = 0; i < 40; i++, pc += 512) {
		char fresh[sizeof(name)];
		long then, now;

		if (wefti_os_object_of(pc) != o)
			break;
		then = look(pc);		/* after the one before it */
		strcpy(fresh, name);
		wefti_os_symbols_forget();
		now = look(pc);
		CU_ASSERT_EQUAL(then, now);
		CU_ASSERT_STRING_EQUAL(name, fresh);
	}
	end();
}

/* --- mappings */

/*
 * Counts the mappings of the two files that are looked in; sanitizers have
 * others of their own.
 */
static size_t maps(void)
{
	char line[PATH_MAX + 200];
	FILE *f = fopen("/proc/self/maps", "r");
	size_t n = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, "/plain_module.so") != NULL ||
		     strstr(line, "/test_symbols") != NULL;
	fclose(f);
	return n;
}

static void files_are_mapped_until_they_are_forgotten(void)
{
	size_t before, descriptors;

	begin();
	look(plain);			/* what is needed for the first time */
	wefti_os_symbols_forget();
	before = maps();
	descriptors = holdings_entries("/proc/self/fd");
	CU_ASSERT_EQUAL(look(plain), 0);
	CU_ASSERT_EQUAL(look((uintptr_t)begin), 0);
	CU_ASSERT_EQUAL(maps(), before + 2);
	CU_ASSERT_EQUAL(holdings_entries("/proc/self/fd"), descriptors);
	/* One that was not what was loaded is mapped, and goes as well. */
	wefti_os_symbols_forget();
	CU_ASSERT_EQUAL(maps(), before);
	CU_ASSERT_EQUAL(look_in("/proc/self/exe"), -1);
	wefti_os_symbols_forget();
	CU_ASSERT_EQUAL(maps(), before);
	/* Those of the parent stay, and are not used. */
	strcpy(object->path, original);
	CU_ASSERT_EQUAL(look(plain), 0);
	wefti_os_symbols_abandon();
	CU_ASSERT_EQUAL(maps(), before + 1);
	CU_ASSERT_EQUAL(look(plain), 0);
	CU_ASSERT_STRING_EQUAL(name, PLAIN);
	CU_ASSERT_EQUAL(maps(), before + 2);
	wefti_os_symbols_forget();
	CU_ASSERT_EQUAL(maps(), before + 1);
	end();
}

/* --- files that took the library's place */

static void a_file_that_was_not_loaded_is_not_believed(void)
{
	begin();
	CU_ASSERT_EQUAL(look_in("/nonexistent/file"), -1);
	CU_ASSERT_STRING_EQUAL(name, "");
	CU_ASSERT_EQUAL(look_in(""), -1);
	CU_ASSERT_EQUAL(look_in("/dev/null"), -1);
	CU_ASSERT_EQUAL(look_in(folder), -1);
	CU_ASSERT_EQUAL(look_in("/proc/self/exe"), -1);
	CU_ASSERT_STRING_EQUAL(name, "");
	/* And is not looked at again, until all is forgotten. */
	strcpy(object->path, original);
	CU_ASSERT_EQUAL(look(plain), -1);
	wefti_os_symbols_forget();
	CU_ASSERT_EQUAL(look(plain), 0);
	end();
}

static void a_file_that_was_cut_has_no_names(void)
{
	struct stat st;
	size_t sizes[] = { 0, 1, 63, 64, 65, 4096, 0, 0 };

	begin();
	CU_ASSERT_EQUAL_FATAL(stat(original, &st), 0);
	sizes[6] = (size_t)st.st_size / 2;
	sizes[7] = (size_t)st.st_size - 1;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		module_copy(original, other, sizes[i]);
		CU_ASSERT_EQUAL(look_in(other), -1);
		CU_ASSERT_STRING_EQUAL(name, "");
	}
	module_copy(original, other, SIZE_MAX);
	CU_ASSERT_EQUAL(look_in(other), 0);
	CU_ASSERT_STRING_EQUAL(name, PLAIN);
	end();
}

static char text[1 << 20];
static ElfW(Shdr) *sections;
static size_t section_count;

static void read_copy(void)
{
	const ElfW(Ehdr) *eh = (const void *)text;
	FILE *f = fopen(original, "r");

	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	CU_ASSERT_FATAL(fread(text, 1, sizeof(text), f) > sizeof(*eh));
	fclose(f);
	sections = (void *)(text + eh->e_shoff);
	section_count = eh->e_shnum;
}

static long look_in_copy(void)
{
	struct stat st;
	FILE *f = fopen(other, "w");

	CU_ASSERT_EQUAL_FATAL(stat(original, &st), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	fwrite(text, 1, (size_t)st.st_size, f);
	fclose(f);
	return look_in(other);
}

/* Each of the fields that say where something is, in each table of symbols. */
static void tables_that_lie_outside_the_file_are_not_read(void)
{
	static const uint64_t wrong[] = {
		1 << 20, UINT64_MAX - 7, (uint64_t)1 << 63
	};

	begin();
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		for (int field = 0; field < 5; field++) {
			read_copy();
			for (size_t j = 0; j < section_count; j++) {
				ElfW(Shdr) *s = &sections[j];

				if (s->sh_type == SHT_STRTAB && field == 3)
					s->sh_offset = wrong[i];
				if (s->sh_type == SHT_STRTAB && field == 4)
					s->sh_size = wrong[i];
				if (s->sh_type != SHT_SYMTAB &&
				    s->sh_type != SHT_DYNSYM)
					continue;
				if (field == 0)
					s->sh_offset = wrong[i];
				else if (field == 1)
					s->sh_size = wrong[i];
				else if (field == 2)
					s->sh_link = (uint32_t)wrong[i];
			}
			CU_ASSERT_EQUAL(look_in_copy(), -1);
			CU_ASSERT_STRING_EQUAL(name, "");
		}
	/* Names outside of theirs, and a name without an end. */
	read_copy();
	for (size_t j = 0; j < section_count; j++)
		if (sections[j].sh_type == SHT_STRTAB)
			sections[j].sh_size = 1;
	CU_ASSERT_EQUAL(look_in_copy(), -1);
	end();
}

static const struct test_case cases[] = {
	TEST(functions_have_their_names_wherever_one_is_in_them),
	TEST(a_stripped_library_has_its_dynamic_names),
	TEST(names_are_cut_where_the_room_ends),
	TEST(what_is_no_function_has_no_name),
	TEST(a_name_that_was_looked_up_is_no_other_addresss),
	TEST(files_are_mapped_until_they_are_forgotten),
	TEST(a_file_that_was_not_loaded_is_not_believed),
	TEST(a_file_that_was_cut_has_no_names),
	TEST(tables_that_lie_outside_the_file_are_not_read),
};

TEST_MAIN("os/symbols", cases)
