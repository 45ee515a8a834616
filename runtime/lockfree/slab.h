/* SPDX-License-Identifier: MIT */
/*
 * lockfree/slab.h - objects of one size, shared by threads and processes
 *
 * Structure
 *   One mapping: a header with the table of processes; a slot for each thread; two
 *   levels of hints; slabs. A slab is 64 groups, then their objects. A group is one
 *   word, and a stamp for each of its 48 objects. There are no pointers, and
 *   zero-filled is the first state: nothing is written before use.
 *
 *   group word  taken:48 | owner:16. A bit is set if the object is not free for
 *               all; the owner is a slot + 1, or 0.
 *   stamp       0 FREE, LIVE, RESERVED | process, FREEING | slot
 *   hint        A set bit: this group has an owner or is full; on the second level:
 *               all 64 groups of a word do. May be wrongly clear. It is wrongly set
 *               only while a thread is between two steps; that thread then clears it.
 *               A thread that is stopped there hides one group, or on the second level
 *               one slab. So ENOSPC is returned only after a look at the first level.
 *   slot        process + 1, or 0: free; and `doing`, index + 1 of the object that its
 *               thread is freeing for all, or 0: none
 *
 *   A thread has two magazines. The first is the group that it owns: the thread itself
 *   keeps which of the objects there are free (`mine`, in its own memory). The second,
 *   `held`, has objects of any group that the thread has freed. When the first magazine
 *   is empty, the thread takes the object that came last out of the second. When the
 *   second is full, its older half is given back to all.
 *
 * States of an object
 *   IN         taken bit clear: free for the present or next owner of its group
 *   MAGAZINE   taken, stamp FREE: free for its group's owner
 *   OUT        taken, LIVE or RESERVED: the user's
 *   HELD       taken, FREEING | slot: in the slot's second magazine, or on its way in
 *
 *   IN --absorb--> MAGAZINE --alloc--> OUT --free in the own group--> MAGAZINE
 *   OUT --free elsewhere--> HELD --alloc--> OUT
 *   HELD --too many, leave, recover--> IN
 *   MAGAZINE --leave, recover--> IN
 *
 * Invariants
 *   I1  Only the owner sets bits of `taken`. The thread that frees the object clears
 *       its bit; so does the owner or, after its death, the thread that recovers it.
 *   I2  The stamp of an object that is IN is made FREE before its bit is set. So taken
 *       with FREEING | s means that s has not cleared the bit yet. No other thread may
 *       clear it, but for the thread that recovers s.
 *   I3  From a stamp of LIVE or RESERVED to the next stamp by a free, the object is the
 *       user's, whichever threads die.
 *   I4  A free is one store, of the stamp. If the object goes into no magazine, `doing`
 *       names it from before the stamp becomes FREEING until the bit is clear.
 *   I5  A group without an owner that is not full has a clear hint, at both levels,
 *       except while a thread is between the two steps.
 *   I6  There are so many groups that each slot could own one and have a full second
 *       magazine, and the others would still have room for the limit.
 *
 * Linearization
 *   alloc: the store of the stamp. free: the store of the stamp (FREE in the
 *   own group, FREEING elsewhere). ENOSPC: the load of `made` by the search
 *   that found no group while `changes` stayed the same.
 *
 * Progress
 *   alloc from the magazines, and free: wait-free. Taking a group:
 *   lock-free, except for the kernel's part of a new slab. A failed CAS means that
 *   another thread took the group or that an object came back; a new search, that a
 *   group came back. No thread waits for an owner: a dead or stopped owner only keeps
 *   its group.
 *
 * ABA and reclamation
 *   There are no links. A bit means the same whenever it is read. The owner's CAS of
 *   the word may succeed after any number of changes, since the word then is what it
 *   expects. Slabs are not freed before the set is.
 *
 * Death
 *   If a process is killed at any instruction, the kernel keeps every store up to
 *   there. Recovery needs only the order of stores within one thread, which is the
 *   program's order (the compiler is held off). It follows these rules, each of which
 *   can be done again from its start:
 *     group of a dead owner  An object is OUT by its stamp, else it goes IN;
 *                            FREEING of a slot that lives is left to that slot.
 *     FREEING | dead slot    It goes IN, by one clearing of its bit.
 *     doing                  Taken and FREEING | slot: the bit is cleared. Otherwise
 *                            it was cleared (I2), or the free had not begun.
 *     RESERVED | dead        It goes IN, by one clearing of its bit.
 *     hints                  Cleared again where I5 needs it.
 *
 * Pairs
 *   P1  free's clearing of a bit  ->  absorb's load of the word: what the user
 *       did to the object, and its stamp
 *   P2  leave's CAS, which drops the group  ->  acquire's CAS: the same
 *   P3  a free's store of FREEING -> recovery's load of the stamp: `doing`, and what
 *       the user did to the object
 *   P4  absorb's setting of bits  ->  recovery's load of the word: the stamps
 *       that it made FREE (I2)
 *   P5  growing's CAS of made -> load of made: the space exists
 *   P6  creation's store of magic  ->  open's load: the header
 *   P7  a slot is given back  ->  it is taken: doing is 0, and no object is HELD
 *
 * Source
 *   After the slab allocator of "Racing to Win" (uslab). There each slab has a list of
 *   objects under a tagged head. Here a group's word is that head: a bitmap, which
 *   needs no tag, as nothing is read through it. With hints instead of a list of slabs,
 *   recovery may repeat each step, whereas putting an object into a list twice would
 *   break the list; and one CAS gets 48 objects. Magazines: Bonwick and Adams, USENIX
 *   2001.
 */
#ifndef WEFT_LOCKFREE_SLAB_H
#define WEFT_LOCKFREE_SLAB_H

#include <stdint.h>

#include "base/compiler.h"
#include "lockfree/atomic.h"
#include "weft/slab.h"

#define WEFTI_SLAB_OBJECTS	48u	/* in a group */
#define WEFTI_SLAB_GROUPS	64u	/* in a slab */
#define WEFTI_SLAB_SLOTS	16000u	/* at most */
#define WEFTI_SLAB_PROCESSES	1000u
#define WEFTI_SLAB_HELD		64u	/* objects, in a second magazine */

/*
 * The version of the format in which no thread has a second magazine: there may not be
 * the room of I6, and recovery by a process of weft 0.1 would leave HELD objects out.
 */
#define WEFTI_SLAB_NOT_HELD	1u

#define WEFTI_SLAB_TAKEN	((UINT64_C(1) << WEFTI_SLAB_OBJECTS) - 1)

#define WEFTI_STAMP_FREE	0x0000u
#define WEFTI_STAMP_RESERVED	0x4000u		/* | process */
#define WEFTI_STAMP_FREEING	0x8000u		/* | slot */
#define WEFTI_STAMP_LIVE	0xffffu
#define WEFTI_STAMP_KIND	0xc000u
#define WEFTI_STAMP_NUMBER	0x3fffu		/* of the process or slot */

/* Two cache lines, so that owners of neighbouring groups do not share one. */
struct wefti_slab_group {
	_Atomic uint64_t word;		/* taken:48 | owner:16 */
	_Atomic uint16_t stamp[WEFTI_SLAB_OBJECTS];
	uint64_t unused[3];
};

_Static_assert(sizeof(struct wefti_slab_group) == 2 * CACHE_LINE,
	       "part of the file format");

struct wefti_slab_slot {
	_Atomic uint64_t process;	/* + 1; 0: free */
	_Atomic uint64_t doing;		/* index + 1; 0: nothing */
	uint64_t unused[6];
};

_Static_assert(sizeof(struct wefti_slab_slot) == CACHE_LINE,
	       "part of the file format");

/* How the mapping is divided; all in bytes from its start. */
struct wefti_slab_shape {
	uint32_t byte_order;
	uint32_t version;
	uint32_t object_bytes;		/* rounded */
	uint32_t slots;
	uint32_t slabs;			/* at most */
	uint32_t unused;
	uint64_t limit;			/* as asked for */
	uint64_t slots_at;
	uint64_t hints_at;		/* a word for each slab */
	uint64_t tops_at;		/* a word for 64 of those */
	uint64_t slabs_at;
	uint64_t slab_bytes;
	uint64_t total_bytes;
	uint64_t checksum;		/* of the fields above */
};

struct wefti_slab_header {
	_Atomic uint64_t magic;		/* stored last */
	struct wefti_slab_shape shape;	/* constant */
	uint64_t root[WEFT_SLAB_ROOTS];
	_Alignas(CACHE_LINE) _Atomic uint64_t made;	/* number of slabs */
	_Alignas(CACHE_LINE) _Atomic uint64_t changes;	/* groups made
							   available again */
	_Alignas(CACHE_LINE) _Atomic uint32_t process[WEFTI_SLAB_PROCESSES];
};

struct wefti_slab_held {
	char *object;
	_Atomic uint16_t *stamp;
};

/*
 * What one thread knows of one set; in the process's memory. `slab` is NULL if the set
 * was closed, or left behind by a fork, while the thread lives. A call from the
 * magazine reads one cache line of it, which also has what the call needs of the set.
 */
struct wefti_slab_local {
	struct weft_slab *slab;
	uint64_t mine;			/* free objects of the group */
	char *objects;			/* the group's first; NULL */
	_Atomic uint16_t *stamp;	/* the group's; with no group, zeros */
	uint64_t inverse;		/* modulo 2^64, of the size's odd part */
	uint32_t shift;			/* the rest of the size, a power of two */
	uint32_t object_bytes;
	struct wefti_slab_group *group;	/* NULL: it owns none */
	uint64_t number;		/* of the group */

	struct wefti_slab_local *next;	/* of the thread's */
	struct wefti_slab_local *other;	/* of the set's */
	struct wefti_slab_slot *slot;
	uint32_t slot_number;
	uint32_t start;			/* the slab where it begins to search */
	_Atomic uint32_t used;		/* a thread uses it */
	uint32_t held_count;
	char *slabs;			/* the first */
	uint64_t known_bytes;		/* of the slabs that the thread knows of */
	uint64_t slab_bytes;
	uint64_t slab_inverse;		/* 2^64 / slab_bytes, and a bit more */

	struct wefti_slab_held held[WEFTI_SLAB_HELD];	/* the oldest first */
};

enum wefti_slab_state { WEFTI_SLAB_CLOSED, WEFTI_SLAB_BUSY, WEFTI_SLAB_OPEN };

/* A set in this process: type-stable, used again after its close. */
struct weft_slab {
	/* Constant while the set is open. */
	char *base;
	struct wefti_slab_header *header;
	struct wefti_slab_slot *slot;
	_Atomic uint64_t *hint;
	_Atomic uint64_t *top;
	uint64_t object_bytes;
	uint64_t group_bytes;
	struct wefti_slab_shape shape;
	int fd;				/* -1: private, or lost by a fork */
	int is_shared;			/* in a file */
	uint32_t process;		/* its own number; PROCESSES: it has none */

	_Atomic(struct wefti_slab_local *) locals;
	_Atomic uint32_t state;		/* enum wefti_slab_state */
	_Atomic uint32_t is_recovering;	/* a thread of this process */
	struct weft_slab *next;		/* all sets that ever were; constant */
};

/* The calling thread's records, the last used one in front; the last is of no set. */
extern struct wefti_slab_local wefti_slab_last;
extern _Thread_local struct wefti_slab_local *wefti_slab_locals
	__attribute__((tls_model("initial-exec")));

/* --- slab_local.c: a thread's record */

/* Makes a record if needed, and puts it in front. NULL: *error says why. */
struct wefti_slab_local *wefti_slab_join(struct weft_slab *s, int *error);
/* No thread uses the set: threads find out later that their record is void. */
void wefti_slab_forget_locals(struct weft_slab *s);

/* --- slab_group.c: groups change hands */

/* The thread owns no group. */
void wefti_slab_own_none(struct wefti_slab_local *l);
struct wefti_slab_group *wefti_slab_group_at(const struct weft_slab *s,
					     uint64_t group);
/* Returns 0, with l->mine not 0; or a negative errno value. */
int wefti_slab_refill(struct wefti_slab_local *l);
/*
 * The owner, alive or dead, drops the group; the objects in `in` become free for all.
 */
void wefti_slab_drop(struct weft_slab *s, uint64_t group, uint64_t in);
/* Objects become free for all. Updates the hints if the group has no owner. */
void wefti_slab_clear_bits(struct weft_slab *s, uint64_t group, uint64_t bits);
/* HELD -> IN, the `count` oldest objects. */
void wefti_slab_put_back(struct wefti_slab_local *l, uint32_t count);
/* The group has no owner and a free object: the hints say so now. */
void wefti_slab_make_available(struct weft_slab *s, uint64_t group);

/* --- slab_call.c */

/* Returns the index of an object, or UINT64_MAX. */
uint64_t wefti_slab_index(const struct weft_slab *s, const void *object);
void *wefti_slab_at(const struct weft_slab *s, uint64_t index);

/* --- slab_recover.c */

/* Gives back everything that the processes in the set `dead` (a bit for each) had. */
int64_t wefti_slab_reclaim(struct weft_slab *s, const uint64_t *dead);

static inline _Atomic uint16_t *wefti_slab_stamp(const struct weft_slab *s,
						 uint64_t index)
{
	return &wefti_slab_group_at(s, index / WEFTI_SLAB_OBJECTS)
			->stamp[index % WEFTI_SLAB_OBJECTS];
}

static inline int wefti_stamp_is_out(uint16_t stamp)
{
	return stamp == WEFTI_STAMP_LIVE ||
	       (stamp & WEFTI_STAMP_KIND) == WEFTI_STAMP_RESERVED;
}

#endif
