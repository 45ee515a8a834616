/* SPDX-License-Identifier: MIT */
/* os/object/objects.c - the program and its libraries, without a lock */
#include "os/object/objects.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "base/compiler.h"
#include "os/call/copy.h"
#include "syscall.h"

#define PHDRS_MOST	64
#define MAPS_MOST	4096	/* a list that is being changed may be endless */

static struct wefti_object objects[WEFTI_OBJECTS_MOST] TABLE;
static size_t count;

static void add(uintptr_t bias, const ElfW(Phdr) *ph, size_t n,
		const char *path)
{
	struct wefti_object *o = &objects[count];

	*o = (struct wefti_object){ .bias = bias, .low = UINTPTR_MAX };
	for (size_t i = 0; i < n; i++) {
		uintptr_t at = bias + ph[i].p_vaddr;

		if (ph[i].p_type == PT_LOAD) {
			if (at < o->low)
				o->low = at;
			if (at + ph[i].p_memsz > o->high)
				o->high = at + ph[i].p_memsz;
		} else if (ph[i].p_type == PT_GNU_EH_FRAME) {
			o->eh_frame_hdr = at;
		}
	}
	strncpy(o->path, path, sizeof(o->path) - 1);
	if (o->low < o->high)
		count++;
}

/* A library: its headers are at the start of its first segment. */
static void add_map(const struct link_map *map)
{
	char path[sizeof(objects[0].path)] = "";
	ElfW(Phdr) ph[PHDRS_MOST];
	ElfW(Ehdr) eh;
	size_t bytes;

	if (wefti_os_copy(&eh, (void *)map->l_addr, sizeof(eh)) < sizeof(eh) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
	    eh.e_phnum > PHDRS_MOST)
		return;
	bytes = eh.e_phnum * sizeof(ph[0]);
	if (wefti_os_copy(ph, (void *)(map->l_addr + eh.e_phoff), bytes) <
	    bytes)
		return;
	wefti_os_copy(path, map->l_name, sizeof(path) - 1);
	add(map->l_addr, ph, eh.e_phnum, path);
}

/* Adds the program, from its auxiliary vector. Returns its r_debug. */
static uintptr_t add_program(void)
{
	const ElfW(Phdr) *ph = (const void *)getauxval(AT_PHDR);
	size_t n = getauxval(AT_PHNUM);
	char path[sizeof(objects[0].path)] = "";
	uintptr_t bias = 0, dynamic = 0;
	ElfW(Dyn) d;

	if (!ph)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (ph[i].p_type == PT_PHDR)
			bias = (uintptr_t)ph - ph[i].p_vaddr;
	for (size_t i = 0; i < n; i++)
		if (ph[i].p_type == PT_DYNAMIC)
			dynamic = bias + ph[i].p_vaddr;
	wefti_arch_syscall(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe",
			   (long)path, sizeof(path) - 1, 0, 0);
	add(bias, ph, n, path);
	for (; dynamic; dynamic += sizeof(d)) {
		if (wefti_os_copy(&d, (void *)dynamic, sizeof(d)) < sizeof(d) ||
		    d.d_tag == DT_NULL)
			return 0;
		if (d.d_tag == DT_DEBUG)
			return d.d_un.d_ptr;
	}
	return 0;
}

void wefti_os_objects_read(void)
{
	struct r_debug debug;
	struct link_map map;
	const void *next;
	uintptr_t at;

	count = 0;
	at = add_program();
	if (!at || wefti_os_copy(&debug, (void *)at, sizeof(debug)) <
		   sizeof(debug))
		return;
	next = debug.r_map;
	for (int i = 0; next && i < MAPS_MOST; i++) {
		if (count == WEFTI_OBJECTS_MOST ||
		    wefti_os_copy(&map, next, sizeof(map)) < sizeof(map))
			return;
		if (i > 0)		/* the first is the program */
			add_map(&map);
		next = map.l_next;
	}
}

const struct wefti_object *wefti_os_object_of(uintptr_t address)
{
	for (size_t i = 0; i < count; i++)
		if (address >= objects[i].low && address < objects[i].high)
			return &objects[i];
	return NULL;
}

size_t wefti_os_object_index(const struct wefti_object *o)
{
	return (size_t)(o - objects);
}
