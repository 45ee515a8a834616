/* SPDX-License-Identifier: MIT */
/*
 * explore/sites.c - which places of the code are points: those that touch shared memory
 *
 * A first run learns them: the places of all accesses to a location that two threads
 * touch, one of them by a write. weft keeps them in the report for the other runs. All runs
 * have the same sites, so a seed alone says the order. A run that learned on its own would
 * learn too late: behind the first access of the second thread.
 *
 * A place is told by its module and how far in it the place is. So it is the same where
 * the kernel does not leave addresses alone.
 */
#include "race.h"

#include <link.h>
#include <string.h>

#define MODULES		64u
#define TABLE		(WEFTI_EX_SITES * 2)	/* so a search in it ends */

static struct module {
	uintptr_t from, to;
} modules[MODULES];
static unsigned module_count;
static uint64_t table[TABLE];

static int note_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	const uintptr_t where = (uintptr_t)arg;
	uintptr_t to = 0;
	int is_it = 0;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD)
			continue;
		if (where - info->dlpi_addr - p->p_vaddr < p->p_memsz)
			is_it = 1;
		to = info->dlpi_addr + p->p_vaddr + p->p_memsz;
	}
	if (is_it && module_count < MODULES)
		modules[module_count++] = (struct module){ info->dlpi_addr, to };
	return is_it;
}

static const struct module *module_of(const void *where)
{
	for (unsigned i = 0; i < module_count; i++)
		if ((uintptr_t)where >= modules[i].from && (uintptr_t)where < modules[i].to)
			return &modules[i];
	return NULL;
}

void wefti_ex_module(const void *where)
{
	if (!module_of(where))
		(void)dl_iterate_phdr(note_module, (void *)(uintptr_t)where);
}

int wefti_ex_is_instrumented(const void *where)
{
	return module_of(where) != NULL;
}

uint64_t wefti_ex_place(const void *where)
{
	const struct module *m = module_of(where);

	return m ? (uint64_t)(m - modules + 1) << 48 | ((uintptr_t)where - m->from) :
		   (uintptr_t)where;
}

static uint64_t *find(uint64_t place)
{
	size_t i = (size_t)(place * UINT64_C(0x9e3779b97f4a7c15) >> 24) % TABLE;

	while (table[i] && table[i] != place)
		i = (i + 1) % TABLE;
	return &table[i];
}

int wefti_ex_is_site(const void *where)
{
	return *find(wefti_ex_place(where)) != 0;
}

void wefti_ex_site(const void *where)
{
	struct wefti_ex_report *r = wefti_ex.report;
	uint64_t *place = find(wefti_ex_place(where));

	if (*place || r->sites == WEFTI_EX_SITES)
		return;
	*place = wefti_ex_place(where);
	r->site[r->sites++] = *place;
}

void wefti_ex_sites_begin(void)
{
	const struct wefti_ex_report *r = wefti_ex.report;

	for (uint32_t i = 0; i < r->sites && i < WEFTI_EX_SITES; i++)
		*find(r->site[i]) = r->site[i];
}
