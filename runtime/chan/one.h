/* SPDX-License-Identifier: MIT */
/*
 * chan/one.h - the ring between one sender and one receiver, declared so
 *
 * Structure
 *   Messages lie in an array; tail counts those sent, head those received, and
 *   both only grow. tail's top bit is CLOSED. Each side keeps what it last saw
 *   of the other's counter, and looks again when that says full or empty.
 *   receiver_waits and sender_waits are tickets of the one who waits, or 0.
 *
 * States of a message's place
 *   FREE     its number is not in head .. tail; the sender's
 *   FULL     it is; the receiver's
 *
 *   FREE --send: tail + 1--> FULL --receive: head + 1--> FREE
 *
 * Invariants
 *   I1  head <= tail <= head + capacity.
 *   I2  tail is changed by the sender alone, but for one CLOSED; head by the
 *       receiver alone.
 *   I3  Who waits has stored its ticket before it looked last; who sends or
 *       receives looks for a ticket behind it: one of the two sees the other.
 *   I4  After its change of tail or head, a call touches nothing of the channel
 *       but the word of the ticket: the other may have ended it.
 *
 * Linearization
 *   send: the CAS of tail. receive: the exchange of head. close: the RMW that
 *   sets CLOSED. Full, empty, closed: the load that shows it.
 *
 * Progress
 *   Wait-free, all but the wait itself: send has one CAS, which fails at most
 *   once, by close; to wake the other is one claim of its wait word, whose CAS
 *   fails at most twice (commit and a time-out), and one finish. tests/stall
 *   counts the steps.
 *
 * ABA and reclamation
 *   Counters do not come back in 2^63 messages. Tickets are used once.
 *
 * Pairs
 *   P1  send's CAS of tail  ->  receive's load: the message
 *   P2  receive's exchange of head  ->  send's load: it was read
 *   P3  a ticket is stored; fence  ->  the other's fence behind P1, P2, close
 *
 * Source
 *   L. Lamport, "Specifying concurrent program modules", TOPLAS 1983, with the
 *   cached counters of J. Giacomoni et al., "FastForward", PPoPP 2008.
 */
#ifndef WEFT_CHAN_ONE_H
#define WEFT_CHAN_ONE_H

#include <errno.h>
#include <stdalign.h>

#include "base/compiler.h"
#include "lockfree/atomic.h"

#define WEFTI_ONE_CLOSED	(UINT64_C(1) << 63)

struct wefti_one {
	char *message;
	uint32_t capacity;
	/* The sender's, but CLOSED, and the receiver's ticket. */
	alignas(CACHE_LINE) _Atomic uint64_t tail;
	uint64_t seen_head;
	uint32_t tail_place;
	_Atomic uint64_t receiver_waits;
	/* The receiver's, but the sender's ticket. */
	alignas(CACHE_LINE) _Atomic uint64_t head;
	uint64_t seen_tail;
	uint32_t head_place;
	_Atomic uint64_t sender_waits;
};

#endif
