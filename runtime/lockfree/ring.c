/* SPDX-License-Identifier: MIT */
/*
 * lockfree/ring.c - a lock-free bounded FIFO for many producers and many consumers
 *
 * Structure
 *   Positions count pushes (and pops) from 0 up. Position p uses cell p mod capacity, a
 *   pair of the element and the cell's state. tail is a hint to the first position that
 *   is not pushed yet, and head to the first that is not popped: it is there or further
 *   on. A caller walks from the hint to the first position that is not done.
 *
 * States of a cell (hi)
 *   EMPTY(p)	2p	waits for push p
 *   FULL(p)	2p + 1	holds the element of push p
 *
 *   EMPTY(p) --push p--> FULL(p) --pop p--> EMPTY(p + capacity)
 *
 * Writers
 *   ring.cell  weft_ring_pop, weft_ring_push
 *   ring.head  hint_to, weft_ring_init, weft_ring_pop
 *   ring.magic  weft_ring_init
 *   ring.tail  hint_to, weft_ring_init, weft_ring_push
 *
 * Invariants
 *   I1  Push p is done after push p - 1; pop p is done after pop p - 1 and after push
 *       p. A caller tries p only when it has seen all positions before it done.
 *   I2  head and tail only grow, and are never past what is done.
 *   I3  lo changes only together with hi, EMPTY -> FULL.
 *
 * Linearization
 *   push: at the CAS of the cell. pop: at the CAS of its hi. "Full" for position p: at
 *   the load that found FULL(p - capacity): all of p - capacity .. p - 1 were pushed
 *   and none popped. "Empty" for p: at the load that found EMPTY(p): all before it were
 *   popped, and p was not pushed.
 *
 * Progress
 *   Both are lock-free: a CAS of a cell fails when another call has succeeded, and a
 *   walk passes positions that others have done. A caller that stops anywhere has done
 *   either all of its push or pop, or nothing. The hint lags by at most a step of
 *   HINT_STEP for each caller that stopped before it moved the hint. A thread that
 *   loses a CAS makes a bounded number of pauses and waits for no other thread.
 *
 * ABA and reclamation
 *   States do not come back before 2^63 elements. The memory is the caller's.
 *
 * Pairs
 *   P1  push's CAS of the cell	-> the loads of hi: the element
 *   P2  pop's CAS of hi	-> the loads of hi: "the element was read"
 *   P3  the CAS of a hint	-> the loads of it: that all before it is done
 *   P4  init's store of magic	-> attach's load of it: the header
 *
 *   Without P3 a caller that starts at the hint could find a cell of the lap before,
 *   and take the queue for full (empty).
 *
 * Source
 *   C. Shann, T. Huang, C. Chen, "A practical nonblocking queue algorithm using
 *   compare-and-swap", ICPADS 2000. There the cell has a counter, and NULL for empty,
 *   and each caller must move the index before it goes on. The states are those of D.
 *   Vyukov's ring, in which a caller takes a ticket first and fills the cell later; a
 *   caller that stops in between stops all others. SCQ (R. Nikolaev, DISC 2019) has
 *   cheaper steps, but each caller that stops with an index in its hands makes the
 *   queue full with one element less.
 */
#include "lockfree/ring.h"

#include <errno.h>

#include "lockfree/back_off.h"

/* Everything except the version, which is the last byte. */
#define MAGIC_MASK	(~UINT64_C(0xff))

/* A hint is moved once for so many positions, a line of cells. */
#define HINT_STEP	4

/*
 * Pauses of a thread that has lost a CAS. With 2 producers and 2 consumers on two cores
 * they raise the throughput by half.
 */
#define BACK_OFF_FIRST	8u
#define BACK_OFF_MOST	64u

#define EMPTY(p)	(2 * (p))
#define FULL(p)		(2 * (p) + 1)

/* How far state a is ahead of state b; negative if it is behind. */
#if defined(WEFT_MODEL)
#define behind(a, b)	((int16_t)((a) - (b)))
#else
#define behind(a, b)	((int64_t)((a) - (b)))
#endif

size_t weft_ring_bytes(size_t capacity)
{
	const size_t most = (SIZE_MAX / 2 - sizeof(struct weft_ring)) /
			    sizeof(struct wefti_pair);

	if (capacity == 0 || (capacity & (capacity - 1)) != 0 ||
	    capacity > most)
		return 0;
	return sizeof(struct weft_ring) + capacity * sizeof(struct wefti_pair);
}

static int is_aligned(const void *memory)
{
	return (uintptr_t)memory % WEFT_RING_ALIGN == 0;
}

int weft_ring_init(struct weft_ring **ring, void *memory, size_t bytes,
		   size_t capacity)
{
	size_t need = weft_ring_bytes(capacity);
	struct weft_ring *r = memory;

	if (need == 0 || need > bytes || !is_aligned(memory))
		return -EINVAL;
	if (!(wefti_arch_wide_can() & WEFTI_WIDE_CAS))
		return -ENOTSUP;
	r->mask = capacity - 1;
	for (uint64_t p = 0; p < capacity; p++)
		pair_init(&r->cell[p], 0, EMPTY(p));
	store_relaxed(&r->head, (uint64_t)0);
	store_relaxed(&r->tail, (uint64_t)0);
	store_release(&r->magic, WEFTI_MPMC_MAGIC);	/* P4: to attach */
	*ring = r;
	return 0;
}

int weft_ring_attach(struct weft_ring **ring, void *memory, size_t bytes)
{
	struct weft_ring *r = memory;
	uint64_t magic;
	size_t need;

	if (bytes < sizeof(*r) || !is_aligned(memory))
		return -EINVAL;
	magic = load_acquire(&r->magic);	/* P4: from init */
	if ((magic & MAGIC_MASK) != (WEFTI_MPMC_MAGIC & MAGIC_MASK))
		return -EINVAL;
	if (magic != WEFTI_MPMC_MAGIC)
		return -EPROTO;
	need = weft_ring_bytes((size_t)r->mask + 1);
	if (need == 0)
		return -EINVAL;
	if (need > bytes)
		return -EMSGSIZE;
	*ring = r;
	return 0;
}

/* All positions before p are done. Tells the others now and then. */
static inline void hint_to(_Atomic uint64_t *hint, uint64_t p)
{
	uint64_t h;

	if (likely(p % HINT_STEP != 0))
		return;
	h = load_relaxed(hint);		/* a guess; the CAS checks it */
	while ((int64_t)(p - h) > 0)
		if (cas_weak_release(hint, &h, p))	/* P3: to a new caller */
			return;
}

/* As long as this thread does not look, the others work in their own caches. */
static NOINLINE void back_off(unsigned *lost)
{
	wefti_back_off(lost, BACK_OFF_FIRST, BACK_OFF_MOST);
}

/* EMPTY(p) -> FULL(p) */
int weft_ring_push(struct weft_ring *r, uint64_t element)
{
	uint64_t p = load_acquire(&r->tail);	/* P3: a hint */

	for (unsigned lost = 0;;) {
		struct wefti_pair *cell = &r->cell[p & r->mask];
		uint64_t state = pair_hi_acquire(cell);	/* P2: a pop */
		int64_t ahead = behind(state, EMPTY(p));

		if (ahead < 0)
			return -EAGAIN;		/* FULL(p - capacity) */
		if (ahead > 0) {
			p++;			/* push p is done */
			continue;
		}

		struct wefti_wide old = { pair_lo_relaxed(cell), state };
		const struct wefti_wide full = { element, FULL(p) };

		if (pair_cas_acq_rel(cell, &old, full)) {	/* P1: to pop */
			hint_to(&r->tail, p + 1);
			return 0;
		}
		back_off(&lost);
	}
}

/* FULL(p) -> EMPTY(p + capacity) */
int weft_ring_pop(struct weft_ring *r, uint64_t *element)
{
	uint64_t p = load_acquire(&r->head);	/* P3: a hint */

	for (unsigned lost = 0;;) {
		struct wefti_pair *cell = &r->cell[p & r->mask];
		uint64_t state = pair_hi_acquire(cell);	/* P1: a push */
		int64_t ahead = behind(state, FULL(p));

		if (ahead < 0)
			return -EAGAIN;		/* EMPTY(p) */
		if (ahead > 0) {
			p++;			/* pop p is done */
			continue;
		}

		/* It does not change as long as the state does not (I3). */
		uint64_t e = pair_lo_relaxed(cell);

		/* P2: to push */
		if (pair_hi_cas_acq_rel(cell, &state, EMPTY(p + r->mask + 1))) {
			*element = e;
			hint_to(&r->head, p + 1);
			return 0;
		}
		back_off(&lost);
	}
}
