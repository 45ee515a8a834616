/* SPDX-License-Identifier: MIT */
/*
 * lockfree/slab.h - objects of one size, shared by threads and processes
 *
 * Structure
 *   One mapping: a header with the table of processes; a slot for each thread;
 *   two levels of hints; slabs. A slab is 64 groups, then their objects. A
 *   group is one word and a stamp for each of its 48 objects. All is numbers,
 *   and zero-filled is its first state: nothing is written before use.
 *
 *   group word  taken:48 | owner:16. A bit is set where the object is not free
 *               for all; the owner is a slot + 1, 0: nobody.
 *   stamp       0 FREE, LIVE, RESERVED | process, FREEING | slot
 *   hint        A set bit: this group has an owner or is full; on the second
 *               level: all 64 of a word have. May be clear wrongly; set wrongly
 *               only while somebody is between two steps, who then clears it:
 *               who is stopped there hides one group, or on the second level
 *               a slab. So nobody says ENOSPC before a look at the first one.
 *   slot        process + 1, 0: nobody's; and `doing`, index + 1 of the object
 *               that its thread is freeing into a group of others, 0: none
 *
 *   A thread's magazine is the group that it owns; which of the objects there
 *   are free it knows by itself (`mine`, in its own memory).
 *
 * States of an object
 *   IN         taken bit clear: free for who owns, or comes to own, its group
 *   MAGAZINE   taken, stamp FREE: free for its group's owner
 *   OUT        taken, LIVE or RESERVED: the user's
 *   RETURNING  taken, FREEING | slot: on its way in
 *
 *   IN --absorb--> MAGAZINE --alloc--> OUT --free in the own group--> MAGAZINE
 *   OUT --free elsewhere--> RETURNING --> IN
 *   MAGAZINE --leave, recover--> IN
 *
 * Invariants
 *   I1  Bits of `taken` are set only by the owner, and cleared by who frees the
 *       object or by the owner (after its death, by who recovers it).
 *   I2  The stamp of an object that is IN is made FREE before its bit is set,
 *       so taken with FREEING | s means that s has not cleared the bit yet.
 *   I3  From the stamp's LIVE or RESERVED to the next one by a free, the object
 *       is the user's, whoever dies.
 *   I4  `doing` names the object before its stamp becomes FREEING, and does so
 *       until its bit is clear. A free in the own group is one store.
 *   I5  A group without an owner that is not full has a clear hint, at both
 *       levels, but for those between the two steps.
 *   I6  There are so many groups that each slot could own one and the others
 *       still have the limit.
 *
 * Linearization
 *   alloc: the store of the stamp. free: the store of the stamp (FREE in the
 *   own group, FREEING elsewhere). ENOSPC: the load of `made` by the search
 *   that found no group while `changes` stayed the same.
 *
 * Progress
 *   alloc and free in the magazine, free elsewhere: wait-free. Taking a group:
 *   lock-free, but for the kernel's part of a new slab; a failed CAS means that
 *   another took it or that an object came back, a new search that a group did.
 *   Nobody waits for an owner: a dead or stopped one keeps its group only.
 *
 * ABA and reclamation
 *   There are no links. A bit says the same whenever it is read; the owner's
 *   CAS of the word may succeed after any number of changes, since it then
 *   holds what it says. Slabs are never given back before the set is.
 *
 * Death
 *   Of a process killed at any instruction the kernel has kept every store up
 *   to there. Recovery needs only the order of stores within one thread, which
 *   is that of the program (the compiler is held off). It goes by these rules,
 *   each of which can be done again from its start:
 *     group of a dead owner  An object is OUT by its stamp, else it goes IN;
 *                            FREEING of another slot is left to that.
 *     doing                  Taken and FREEING | slot: the bit is cleared. Else
 *                            it was (I2), or the free had not begun.
 *     RESERVED | dead        It goes IN, by one clearing of its bit.
 *     hints                  Cleared anew where I5 wants it.
 *
 * Pairs
 *   P1  free's clearing of a bit  ->  absorb's load of the word: what the user
 *       did to the object, and its stamp
 *   P2  leave's CAS, which drops the group  ->  acquire's CAS: the same
 *   P3  a free's store of FREEING  ->  recovery's load of the stamp: `doing`
 *   P4  absorb's setting of bits  ->  recovery's load of the word: the stamps
 *       that it made FREE (I2)
 *   P5  growing's CAS of made  ->  load of made: the space is there
 *   P6  creation's store of magic  ->  open's load: the header
 *   P7  a slot is given back  ->  it is taken: doing is 0
 *
 * Source
 *   After the slab allocator of "Racing to Win" (uslab), whose slabs each have
 *   a list of objects under a tagged head. Here a group's word is that head: a
 *   bitmap, which needs no tag, since nothing is read through it. With hints in
 *   place of a list of slabs, who recovers may do each step again, where an
 *   object put into a list twice would break it, and 48 objects are had by one
 *   CAS. Magazines: Bonwick and Adams, USENIX 2001.
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

#define WEFTI_SLAB_TAKEN	((UINT64_C(1) << WEFTI_SLAB_OBJECTS) - 1)

#define WEFTI_STAMP_FREE	0x0000u
#define WEFTI_STAMP_RESERVED	0x4000u		/* | process */
#define WEFTI_STAMP_FREEING	0x8000u		/* | slot */
#define WEFTI_STAMP_LIVE	0xffffu
#define WEFTI_STAMP_KIND	0xc000u
#define WEFTI_STAMP_WHO		0x3fffu

/* Two cache lines, so that owners of neighbouring groups do not meet. */
struct wefti_slab_group {
	_Atomic uint64_t word;		/* taken:48 | owner:16 */
	_Atomic uint16_t stamp[WEFTI_SLAB_OBJECTS];
	uint64_t unused[3];
};

_Static_assert(sizeof(struct wefti_slab_group) == 2 * CACHE_LINE,
	       "part of the file format");

struct wefti_slab_slot {
	_Atomic uint64_t process;	/* + 1; 0: nobody's */
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
	uint64_t checksum;		/* of what stands above */
};

struct wefti_slab_header {
	_Atomic uint64_t magic;		/* stored last */
	struct wefti_slab_shape shape;	/* constant */
	uint64_t root[WEFT_SLAB_ROOTS];
	_Alignas(CACHE_LINE) _Atomic uint64_t made;	/* slabs */
	_Alignas(CACHE_LINE) _Atomic uint64_t changes;	/* groups made
							   available again */
	_Alignas(CACHE_LINE) _Atomic uint32_t process[WEFTI_SLAB_PROCESSES];
};

/*
 * What one thread knows of one set; in the process's memory. `slab` is NULL
 * when the set was closed, or left behind by a fork, while the thread lives.
 * A call from the magazine reads one cache line of it, and what that needs of
 * the set stands there too.
 */
struct wefti_slab_local {
	struct weft_slab *slab;
	uint64_t mine;			/* free objects of the group */
	char *objects;			/* the group's first; NULL */
	_Atomic uint16_t *stamp;	/* the group's; with no group, zeros */
	uint64_t inverse;		/* modulo 2^64, of the size's odd part */
	uint32_t shift;			/* what is left of it, a power of two */
	uint32_t object_bytes;
	struct wefti_slab_group *group;	/* NULL: it owns none */
	uint64_t number;		/* of the group */

	struct wefti_slab_local *next;	/* of the thread's */
	struct wefti_slab_local *other;	/* of the set's */
	struct wefti_slab_slot *slot;
	uint32_t slot_number;
	uint32_t start;			/* slab where it searches first */
	_Atomic uint32_t used;		/* by a thread */
};

enum wefti_slab_state { WEFTI_SLAB_CLOSED, WEFTI_SLAB_BUSY, WEFTI_SLAB_OPEN };

/* A set in this process: type-stable, used again after its close. */
struct weft_slab {
	/* Constant while it is open. */
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
	uint32_t process;		/* own number; PROCESSES: has none */

	_Atomic(struct wefti_slab_local *) locals;
	_Atomic uint32_t state;		/* enum wefti_slab_state */
	_Atomic uint32_t is_recovering;	/* a thread of this process */
	struct weft_slab *next;		/* all sets that ever were; constant */
};

/* The calling thread's, the one used last in front; of no set at the end. */
extern struct wefti_slab_local wefti_slab_last;
extern _Thread_local struct wefti_slab_local *wefti_slab_locals
	__attribute__((tls_model("initial-exec")));

/* --- slab_local.c: a thread's record */

/* Makes one if need be, and puts it in front. NULL: *error says why. */
struct wefti_slab_local *wefti_slab_join(struct weft_slab *s, int *error);
/* Nobody uses the set: threads find later that their record is void. */
void wefti_slab_forget_locals(struct weft_slab *s);

/* --- slab_group.c: groups change hands */

/* It owns none. */
void wefti_slab_own_none(struct wefti_slab_local *l);
struct wefti_slab_group *wefti_slab_group_at(const struct weft_slab *s,
					     uint64_t group);
/* 0, and l->mine is not; or a negative errno value. */
int wefti_slab_refill(struct wefti_slab_local *l);
/* Its owner, alive or dead, drops it; `in` are to be free for all. */
void wefti_slab_drop(struct weft_slab *s, uint64_t group, uint64_t in);
/* A bit becomes free for all. The group's owner or nobody must be told. */
void wefti_slab_clear_bit(struct weft_slab *s, uint64_t group, unsigned bit);
/* The group has no owner, and something free: says so in the hints. */
void wefti_slab_make_available(struct weft_slab *s, uint64_t group);

/* --- slab_call.c */

/* The index of an object, or UINT64_MAX. */
uint64_t wefti_slab_index(const struct weft_slab *s, const void *object);
void *wefti_slab_at(const struct weft_slab *s, uint64_t index);

/* --- slab_recover.c */

/* Gives back all that the processes in the set had (a bit for each). */
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
