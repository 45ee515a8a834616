/* SPDX-License-Identifier: MIT */
/*
 * mem/stack.c - stacks for threads, in slabs of one size class
 *
 * Structure
 *   A slab is one mapping of up to 256 stacks of a class, some 64 MiB at most. So many
 *   stacks of the usual sizes share the system calls of a mapping, and a program with
 *   one stack of a size reserves no more for it. A larger stack is a slab of its
 *   own. Where the address space is limited, smaller slabs are tried. All slabs get the
 *   same advice, so the kernel merges neighbours into one mapping. A slab of large
 *   stacks begins in the middle of the range of one of the kernel's page tables. So the
 *   top of a stack and the guard of the neighbour above share one page table; otherwise
 *   they would need two. Each stack has a record of 16 bytes in a dense table, as there
 *   may be a million; `left` in it says how many stacks of its slab follow, itself
 *   included. Idle stacks are in one depot for each class. Nothing is ever unmapped: a
 *   program keeps the address space of its largest number of stacks in each class, and
 *   the memory until it gives that back (mem/stack_trim.c).
 *
 *   A stack of a class has the class's power of two and one page. So with a guard of a
 *   page the power of two is left, and a thread that asks for 8 MiB can use all of them.
 *   A guard is the low end of a stack. It is made when the stack is first given to a
 *   caller that wants one, and is kept while the stack is idle. The kernel marks it
 *   without a mapping of its own. Kernels before 6.13 (for locked memory, before 6.15)
 *   cannot do that, and mprotect costs two mappings for each stack. The first refusal
 *   decides for all stacks made later.
 *
 * States of a record
 *   BLANK place == 0; zeros, the slab's maker is filling it
 *   IDLE	in the depot of its class, not USED
 *   HELD a caller's: between pop and push
 *
 *   BLANK --make_slab--> IDLE or HELD;  IDLE --alloc--> HELD --free--> IDLE
 *
 * Writers
 *   record.guard  change_guard, install_guard, set_idle, wefti_stack_alloc
 *   record.next  fill_records, wefti_stack_alloc, wefti_stack_free;
 *       depot.h: wefti_depot_push, wefti_depot_push_if; pool.c: to_common
 *   record.place  fill_records
 *   by_mprotect  install_guard
 *   limit_told  tell_limit
 *   slabs  make_slab
 *
 * Invariants
 *   I1  place does not change after it is published.
 *   I2  guard and USED change only in HELD, by the holder.
 *   I3  guard says what the kernel knows about the stack's low end.
 *
 * Linearization
 *   alloc and free: at the depot's. Two allocs that find a depot empty make a slab
 *   each. of and stat do not linearize. of is exact for a held stack if its holder does
 *   not free it meanwhile.
 *
 * Progress
 *   alloc and free: lock-free, except for system calls. of, stat: wait-free.
 *
 * ABA and reclamation
 *   The depot's tag; records and slabs are never freed.
 *
 * Pairs
 *   P1  make_slab's store of place	-> of's, stat's load: the slab's memory
 *
 * Source
 *   Ours. Rejected: a mapping for each stack (30 microseconds, and at most 32,753
 *   stacks); a guard only between slabs (a stack overflows into its neighbour). Rejected,
 *   too: the guard within the power of two (a stack of a usual size was a page too small).
 */
#include "mem/stack.h"

#include <errno.h>

#include "base/check.h"
#include "base/log.h"
#include "cpu.h"
#include "lockfree/depot.h"
#include "mem/dense.h"
#include "mem/stack_code.h"
#include "mem/stack_place.h"
#include "os/call/vm.h"

#if defined(WEFT_ASAN)
#include <sanitizer/asan_interface.h>
#endif

#define SLAB_STACKS	256
#define SLAB_BYTES	((size_t)64 << 20)

/* In guard; its size is a multiple of a page. */
#define BY_MPROTECT	1u
#define USED		2u
#define GUARD_FLAGS	(BY_MPROTECT | USED)

struct record {
	_Atomic uint64_t place;	/* mem/stack_place.h; P1, I1 */
	_Atomic uint32_t next;	/* the depot's */
	_Atomic uint32_t guard;	/* bytes | flags (I2) */
};

struct wefti_dense wefti_stack_records TABLE;
static struct wefti_depot idle[WEFTI_STACK_CLASSES];
static _Atomic uint32_t slabs;		/* statistics */
static _Atomic uint8_t by_mprotect;	/* set at the first refusal */
static _Atomic uint8_t limit_told;

static ALWAYS_INLINE struct record *record_at(uint32_t index)
{
	return wefti_dense_at(&wefti_stack_records, sizeof(struct record), index);
}

static ALWAYS_INLINE _Atomic uint32_t *next_of(uint32_t index)
{
	return &record_at(index)->next;
}

static uint32_t guard_bytes_of(struct record *r)
{
	return load_relaxed(&r->guard) & ~GUARD_FLAGS;
}

int wefti_stack_class(size_t bytes)
{
	/* With pages larger than 4 KiB. */
	size_t least = wefti_os_page_size();

	if (bytes < WEFTI_STACK_LEAST || bytes > WEFTI_STACK_MOST)
		return -EINVAL;
	if (bytes < least)
		bytes = least;
	return 64 - WEFTI_STACK_SHIFT - __builtin_clzl(bytes - 1);
}

/* BLANK -> IDLE; but the first record, `first`: BLANK -> HELD. */
static void fill_records(uint32_t first, uint32_t count, unsigned class,
			 uintptr_t low)
{
	size_t bytes = wefti_place_class_bytes(class);

	for (uint32_t i = 0; i < count; i++) {
		uintptr_t at = low + i * bytes;

		wefti_arch_tell_stack(at, at + bytes);
		store_release(&record_at(first + i)->place,	/* P1: to of */
			      wefti_place(at, count - i, class));
	}
	/* Downwards, so that they are handed out upwards. */
	for (uint32_t i = count - 1; i > 0; i--)
		wefti_depot_push(&idle[class], first + i, next_of(first + i));
}

static size_t slack_of(size_t bytes)
{
	return bytes >= WEFTI_PLACE_TABLE_BYTES ? WEFTI_PLACE_TABLE_BYTES : 0;
}

/*
 * The caller holds the first stack of the new slab. If all new memory is locked in
 * memory, a slab is a single stack.
 */
static COLD int make_slab(unsigned class, uint32_t *index)
{
	const int locks = wefti_os_vm_is_locking();
	size_t bytes = wefti_place_class_bytes(class);
	size_t slack = locks ? 0 : slack_of(bytes);
	size_t count = locks ? 1 : SLAB_BYTES / (WEFTI_STACK_LEAST << class);
	void *low;
	int error;

	if (count > SLAB_STACKS)
		count = SLAB_STACKS;
	for (;; count /= 16) {
		if (count == 0)
			count = 1;
		low = wefti_os_vm_reserve(count * bytes + slack);
		if (low)
			break;
		if (count == 1)
			return -ENOMEM;
	}
	wefti_os_vm_nohugepage(low, count * bytes + slack);
	error = wefti_stack_code_begin(low, count * bytes + slack);
	if (!error)
		error = wefti_dense_grow(&wefti_stack_records, sizeof(struct record),
					 (uint32_t)count, index);
	if (error) {
		wefti_os_vm_unmap(low, count * bytes + slack);
		return error;
	}
	fetch_add_relaxed(&slabs, 1);
	fill_records(*index, (uint32_t)count, class, wefti_place_first(low, slack));
	wefti_stack_code_end(*index);
	return 0;
}

static COLD void tell_limit(void)
{
	struct wefti_stack_stat stat;

	if (xchg_relaxed(&limit_told, 1))
		return;
	wefti_stack_stat(&stat);
	wefti_log(WEFTI_LOG_WARNING, "weft: no more stacks: %zu have a guard; before "
		  "Linux 6.13 each takes two mappings, and a process may "
		  "have vm.max_map_count of them (sysctl)\n", stat.guarded);
}

/* The stack has no guard. On an error it still has none. */
static int install_guard(struct record *r, uint32_t bytes)
{
	void *low = (void *)wefti_place_low(load_relaxed(&r->place));

	if (!load_relaxed(&by_mprotect)) {
		int error = wefti_os_vm_guard(low, bytes);

		if (error != -ENOTSUP) {
			if (!error)
				store_relaxed(&r->guard, bytes | USED);
			return error;
		}
		if (!xchg_relaxed(&by_mprotect, 1))
			wefti_log(WEFTI_LOG_INFO, "weft: the guard of a stack takes "
				  "two mappings, before Linux 6.13 (6.15 in locked "
				  "memory)\n");
	}
	if (wefti_os_vm_forbid(low, bytes) != 0) {
		tell_limit();
		return -EAGAIN;
	}
	store_relaxed(&r->guard, bytes | BY_MPROTECT | USED);
	return 0;
}

/* On an error the stack has its old guard, or none. */
static COLD int change_guard(struct record *r, uint32_t bytes)
{
	uint32_t old_bytes = guard_bytes_of(r);
	void *low = (void *)wefti_place_low(load_relaxed(&r->place));

	if (old_bytes != 0) {
		int error = load_relaxed(&r->guard) & BY_MPROTECT ?
			    wefti_os_vm_allow(low, old_bytes) :
			    wefti_os_vm_unguard(low, old_bytes);

		if (error || wefti_stack_code_begin(low, old_bytes) != 0)
			return -ENOMEM;
		store_relaxed(&r->guard, USED);
	}
	return bytes ? install_guard(r, bytes) : 0;
}

static void set_idle(struct record *r)
{
	store_relaxed(&r->guard, load_relaxed(&r->guard) & ~USED);
}

static ALWAYS_INLINE void describe(uint32_t index, unsigned class, uintptr_t low,
				   struct wefti_stack *out)
{
	out->low = (void *)(low + guard_bytes_of(record_at(index)));
	out->top = (void *)(low + wefti_place_class_bytes(class));
	out->index = index;
	out->class = class;
}

int wefti_stack_alloc(size_t bytes, size_t guard_bytes, struct wefti_stack *out)
{
	size_t page = wefti_os_page_size();
	uint32_t index;
	int class, error;

	if (guard_bytes > WEFTI_STACK_MOST || bytes > WEFTI_STACK_MOST)
		return -EINVAL;
	guard_bytes = (guard_bytes + page - 1) & ~(page - 1);
	if (guard_bytes > page && bytes >= WEFTI_STACK_LEAST)
		bytes += guard_bytes - page;
	class = wefti_stack_class(bytes);
	if (class < 0)
		return class;

	index = wefti_depot_pop(&idle[class], next_of);
	if (unlikely(index == WEFTI_DEPOT_NONE)) {
		error = make_slab((unsigned)class, &index);
		if (error)
			return error;
	}

	struct record *r = record_at(index);		/* IDLE -> HELD */

	store_relaxed(&r->guard, load_relaxed(&r->guard) | USED);
	if (unlikely(guard_bytes_of(r) != guard_bytes)) {
		error = change_guard(r, (uint32_t)guard_bytes);
		if (error) {
			set_idle(r);		/* HELD -> IDLE */
			wefti_depot_push(&idle[class], index, &r->next);
			return error;
		}
	}
	describe(index, (unsigned)class, wefti_place_low(load_relaxed(&r->place)), out);
	return 0;
}

void wefti_stack_free(struct wefti_stack *s)
{
	struct record *r = record_at(s->index);

	WEFT_CHECK(r && wefti_place_class(load_relaxed(&r->place)) == s->class &&
		   (load_relaxed(&r->guard) & USED),
		   "stack %u at %p is not in use", s->index, s->low);
#if defined(WEFT_ASAN)
	/* Frames that were left without a return are still poisoned. */
	__asan_unpoison_memory_region(s->low, (size_t)((char *)s->top - (char *)s->low));
#endif
	set_idle(r);		/* HELD -> IDLE */
	wefti_depot_push(&idle[s->class], s->index, &r->next);
}

enum wefti_stack_where wefti_stack_of(const void *address,
				      struct wefti_stack *out)
{
	uint32_t limit = wefti_dense_limit(&wefti_stack_records);

	for (uint32_t i = 0; i < limit;) {
		struct record *r = record_at(i);
		uint64_t place = load_acquire(&r->place); /* P1: from make_slab */
		uintptr_t low = wefti_place_low(place);

		if (!place) {
			i++;
			continue;
		}

		size_t bytes = wefti_place_bytes(place);
		size_t offset = (uintptr_t)address - low;

		if (offset >= bytes * wefti_place_left(place)) {
			i += wefti_place_left(place);
			continue;
		}
		/* Its own record may still be BLANK; r's says what it will be. */
		low += offset / bytes * bytes;
		describe(i + (uint32_t)(offset / bytes), wefti_place_class(place),
			 low, out);
		return (uintptr_t)address < (uintptr_t)out->low ?
		       WEFTI_STACK_GUARD : WEFTI_STACK_INSIDE;
	}
	return WEFTI_STACK_NONE;
}

void wefti_stack_stat(struct wefti_stack_stat *out)
{
	uint32_t limit = wefti_dense_limit(&wefti_stack_records);
	size_t split = 0;

	*out = (struct wefti_stack_stat){ 0 };
	for (uint32_t i = 0; i < limit; i++) {
		struct record *r = record_at(i);
		uint64_t place = load_acquire(&r->place); /* P1: from make_slab */
		uint32_t guard = load_relaxed(&r->guard);
		size_t bytes = wefti_place_bytes(place);

		if (!place)
			continue;
		out->stacks++;
		out->in_use += (guard & USED) != 0;
		out->mapped_bytes += bytes;
		if (wefti_place_left(place) == 1)
			out->mapped_bytes += slack_of(bytes);
		out->guarded += (guard & ~GUARD_FLAGS) != 0;
		split += guard & BY_MPROTECT;
	}
	out->vmas_most = load_relaxed(&slabs) + 2 * split;
}

int wefti_stack_is_used(uint32_t index)
{
	return (load_relaxed(&record_at(index)->guard) & USED) != 0;
}

void *wefti_stack_top(uint32_t index)
{
	uint64_t place = load_relaxed(&record_at(index)->place);  /* held: I1 */

	return (void *)(wefti_place_low(place) + wefti_place_bytes(place));
}

_Atomic uint32_t *wefti_stack_link(uint32_t index)
{
	return &record_at(index)->next;
}

uint64_t wefti_stack_place(uint32_t index)
{
	return load_acquire(&record_at(index)->place);	/* P1: from make_slab */
}

size_t wefti_stack_split_bytes(uint32_t index)
{
	uint32_t guard = guard_bytes_of(record_at(index));
	size_t page = wefti_os_page_size();
	return !load_seq_cst(&by_mprotect) ? 0 : guard > page ? guard : page;
}
