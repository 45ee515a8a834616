/* SPDX-License-Identifier: MIT */
/* test_objects.c - os/objects: the loader's list, also where it is no good */
#include "os/object/objects.h"

#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "../module.h"
#include "lockfree/atomic.h"

#define MANY	(WEFTI_OBJECTS_MOST + 8)

static const struct wefti_object *object_of(const void *p)
{
	return wefti_os_object_of((uintptr_t)p);
}

/* --- against what the loader says itself */

static size_t known, not_known;
static unsigned char index_is_taken[WEFTI_OBJECTS_MOST];

static int compare(struct dl_phdr_info *info, size_t size, void *arg)
{
	uintptr_t low = UINTPTR_MAX, high = 0, eh = 0;
	const struct wefti_object *o;
	size_t index;

	(void)size;
	(void)arg;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_GNU_EH_FRAME)
			eh = from;
		if (p->p_type != PT_LOAD)
			continue;
		low = from < low ? from : low;
		high = from + p->p_memsz > high ? from + p->p_memsz : high;
	}
	o = wefti_os_object_of(low);
	if (!o) {
		printf("    not known: '%s'\n", info->dlpi_name);
		not_known++;
		return 0;
	}
	known++;
	CU_ASSERT_EQUAL(o->bias, info->dlpi_addr);
	CU_ASSERT_EQUAL(o->low, low);
	CU_ASSERT_EQUAL(o->high, high);
	CU_ASSERT_EQUAL(o->eh_frame_hdr, eh);
	CU_ASSERT_PTR_EQUAL(wefti_os_object_of(high - 1), o);
	CU_ASSERT_PTR_NOT_EQUAL(wefti_os_object_of(high), o);
	CU_ASSERT_PTR_NOT_EQUAL(wefti_os_object_of(low - 1), o);
	if (info->dlpi_name[0])
		CU_ASSERT_STRING_EQUAL(o->path, info->dlpi_name);
	index = wefti_os_object_index(o);
	CU_ASSERT_FATAL(index < WEFTI_OBJECTS_MOST);
	CU_ASSERT_EQUAL(index_is_taken[index], 0);
	index_is_taken[index] = 1;
	return 0;
}

static void each_object_is_as_the_loader_has_it(void)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int on_stack = 0;

	CU_ASSERT_PTR_NULL(object_of(&n));
	CU_ASSERT_PTR_NULL(object_of((void *)compare));	/* not read yet */
	wefti_os_objects_read();
	dl_iterate_phdr(compare, NULL);
	CU_ASSERT_TRUE(known >= 3);
	CU_ASSERT_EQUAL(not_known, 0);
	CU_ASSERT_FATAL(n > 0 && object_of((void *)compare));
	self[n] = 0;
	self[sizeof(((struct wefti_object *)0)->path) - 1] = 0;
	CU_ASSERT_STRING_EQUAL(object_of((void *)compare)->path, self);
	CU_ASSERT_PTR_EQUAL(object_of(&known), object_of((void *)compare));
	CU_ASSERT_PTR_NULL(object_of(&on_stack));
	CU_ASSERT_PTR_NULL(object_of(NULL));
	CU_ASSERT_PTR_NULL(wefti_os_object_of(UINTPTR_MAX));
}

/* --- libraries that come and go */

static char folder[64], original[PATH_MAX];

static void begin(void)
{
	module_folder(folder, sizeof(folder));
	CU_ASSERT_EQUAL_FATAL(module_path("plain_module.so", original,
					  sizeof(original)), 0);
}

static void *load(const char *path)
{
	void *loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!loaded)
		printf("    %s\n", dlerror());
	CU_ASSERT_PTR_NOT_NULL_FATAL(loaded);
	return loaded;
}

static void one_that_is_loaded_is_known_from_the_next_read_on(void)
{
	void *loaded, *function;

	begin();
	wefti_os_objects_read();
	loaded = load(original);
	function = dlsym(loaded, "weft_test_plain");
	CU_ASSERT_PTR_NULL(object_of(function));
	wefti_os_objects_read();
	CU_ASSERT_PTR_NOT_NULL_FATAL(object_of(function));
	CU_ASSERT_STRING_EQUAL(object_of(function)->path, original);
	dlclose(loaded);
	wefti_os_objects_read();
	CU_ASSERT_PTR_NULL(object_of(function));
	module_folder_end(folder);
}

static void a_long_path_is_cut(void)
{
	char part[101], path[PATH_MAX];
	const struct wefti_object *o;
	void *loaded;
	size_t used;

	begin();
	memset(part, 'p', 100);
	part[100] = 0;
	used = (size_t)snprintf(path, sizeof(path), "%s", folder);
	for (int i = 0; i < 3; i++) {
		used += (size_t)snprintf(path + used, sizeof(path) - used,
					 "/%s", part);
		CU_ASSERT_EQUAL_FATAL(mkdir(path, 0700), 0);
	}
	snprintf(path + used, sizeof(path) - used, "/module.so");
	module_copy(original, path, SIZE_MAX);
	loaded = load(path);
	wefti_os_objects_read();
	o = object_of(dlsym(loaded, "weft_test_plain"));
	CU_ASSERT_PTR_NOT_NULL_FATAL(o);
	CU_ASSERT_EQUAL(strlen(o->path), sizeof(o->path) - 1);
	CU_ASSERT_EQUAL(strncmp(o->path, path, sizeof(o->path) - 1), 0);
	dlclose(loaded);
	module_folder_end(folder);
}

/* The first are known, the rest is left out. In memory: no disk's time. */
static void more_than_there_is_room_for_are_left_out(void)
{
	static void *loaded[MANY];
	static int fd[MANY];
	struct rlimit limit;
	int missing = 0;

	begin();
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	for (int i = 0; i < MANY; i++) {
		char path[64];

		fd[i] = memfd_create("copy", MFD_CLOEXEC);
		CU_ASSERT_FATAL(fd[i] >= 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd[i]);
		module_copy(original, path, SIZE_MAX);
		loaded[i] = load(path);
	}
	wefti_os_objects_read();
	for (int i = 0; i < MANY; i++) {
		void *function = dlsym(loaded[i], "weft_test_plain");
		const struct wefti_object *o = object_of(function);

		missing += !o;
		CU_ASSERT_EQUAL(missing > 0, !o);
		if (o)
			CU_ASSERT_TRUE(wefti_os_object_index(o) <
				       WEFTI_OBJECTS_MOST);
	}
	CU_ASSERT_TRUE(missing >= MANY - WEFTI_OBJECTS_MOST && missing < MANY);
	CU_ASSERT_PTR_NOT_NULL(object_of((void *)compare));
	for (int i = 0; i < MANY; i++) {
		dlclose(loaded[i]);
		close(fd[i]);
	}
	module_folder_end(folder);
	wefti_os_objects_read();
}

/* --- while the loader's lock is held, and lists that are no good */

static _Atomic int may_read, has_read;

static void *read_there(void *unused)
{
	while (!load_seq_cst(&may_read))
		;
	wefti_os_objects_read();
	store_seq_cst(&has_read, 1);
	return unused;
}

/* dl_iterate_phdr() has the lock as long as this runs. */
static int wait_for_the_read(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)info;
	(void)size;
	(void)arg;
	store_seq_cst(&may_read, 1);
	while (!load_seq_cst(&has_read))
		;
	return 1;
}

static void no_lock_of_the_loaders_is_waited_for(void)
{
	pthread_t reader;

	CU_ASSERT_EQUAL_FATAL(pthread_create(&reader, NULL, read_there, NULL),
			      0);
	CU_ASSERT_EQUAL(dl_iterate_phdr(wait_for_the_read, NULL), 1);
	pthread_join(reader, NULL);
	CU_ASSERT_PTR_NOT_NULL(object_of((void *)compare));
}

/* The loader's, by what it has told debuggers. */
static struct r_debug *loaders_debug(void)
{
	const ElfW(Dyn) *d = _DYNAMIC;

	while (d->d_tag != DT_NULL && d->d_tag != DT_DEBUG)
		d++;
	CU_ASSERT_FATAL(d->d_tag == DT_DEBUG && d->d_un.d_ptr);
	return (struct r_debug *)d->d_un.d_ptr;
}

/* What a read meets in the middle of the loader's work, or worse. */
static void a_list_that_is_no_good_is_read_as_far_as_it_goes(void)
{
	struct link_map nothing = { .l_next = &nothing };
	struct r_debug *debug = loaders_debug();
	struct link_map *first = debug->r_map, *next = first->l_next;
	void *libc_function = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");

	wefti_os_objects_read();
	CU_ASSERT_PTR_NOT_NULL(object_of(libc_function));
	first->l_next = (struct link_map *)8;	/* not there */
	wefti_os_objects_read();
	CU_ASSERT_PTR_NOT_NULL(object_of((void *)compare));
	CU_ASSERT_PTR_NULL(object_of(libc_function));
	first->l_next = first;			/* without an end */
	wefti_os_objects_read();
	CU_ASSERT_PTR_NOT_NULL(object_of((void *)compare));
	first->l_next = &nothing;		/* nor with anything in it */
	wefti_os_objects_read();
	CU_ASSERT_PTR_NOT_NULL(object_of((void *)compare));
	first->l_next = NULL;
	wefti_os_objects_read();
	CU_ASSERT_PTR_NULL(object_of(libc_function));
	first->l_next = next;
	debug->r_map = NULL;			/* not made yet */
	wefti_os_objects_read();
	CU_ASSERT_PTR_NOT_NULL(object_of((void *)compare));
	CU_ASSERT_PTR_NULL(object_of(libc_function));
	debug->r_map = first;
	wefti_os_objects_read();
	CU_ASSERT_PTR_NOT_NULL(object_of(libc_function));
}

static const struct test_case cases[] = {
	TEST(each_object_is_as_the_loader_has_it),
	TEST(one_that_is_loaded_is_known_from_the_next_read_on),
	TEST(a_long_path_is_cut),
	TEST(more_than_there_is_room_for_are_left_out),
	TEST(no_lock_of_the_loaders_is_waited_for),
	TEST(a_list_that_is_no_good_is_read_as_far_as_it_goes),
};

TEST_MAIN("os/objects", cases)
