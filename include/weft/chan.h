/* SPDX-License-Identifier: MIT */
/*
 * weft/chan.h - channels, and alt, which waits for the first of several events
 *
 * A channel carries messages of one fixed size from senders to receivers, first in,
 * first out. With capacity 0 the channel is a rendezvous: a sender and a receiver
 * meet, and the message is copied from the sender's memory to the receiver's. With a
 * larger capacity, a send returns when its message is in the buffer.
 *
 * Any number of threads may send and receive, foreign threads too. A message is sent
 * as a whole or not at all. If a send returns 0, the message is in the buffer or with
 * a receiver. If it returns -EAGAIN, -ETIMEDOUT, -ECANCELED or -EPIPE, no receiver
 * gets the message.
 */
#ifndef WEFT_CHAN_H
#define WEFT_CHAN_H

#include <errno.h>
#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_chan;

#define WEFT_CHAN_ONE_TO_ONE	1u	/* one sender and one receiver */

#define WEFT_CHAN_MESSAGE_MAX	0x7fffffffu	/* bytes of a message */
#define WEFT_CHAN_CAPACITY_MAX	0x0fffffffu	/* messages */

/*
 * weft_chan_create - make a channel
 *
 *   chan        receives the channel
 *   elem_bytes  size of each message; may be 0; at most WEFT_CHAN_MESSAGE_MAX
 *   capacity    number of messages that the buffer holds, at most
 *               WEFT_CHAN_CAPACITY_MAX; 0: a rendezvous
 *   flags       0, or WEFT_CHAN_ONE_TO_ONE: only the first thread that tries to
 *               send may send, and only the first that tries to receive may
 *               receive. An alternative of weft_alt() counts as such a try. With
 *               a capacity, sends and receives are then wait-free and cheaper.
 *
 * WEFT_CHAN_OF() makes channels whose messages have a type that the compiler checks.
 *
 * Returns 0, else
 *   -EINVAL   an argument is out of range
 *   -ENOMEM   no memory
 *   -ENOTSUP  the channel has a capacity and is not one-to-one, and the processor has
 *             no 16-byte compare-and-swap (x86-64 of 2004)
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_chan_create(struct weft_chan **chan,
	size_t elem_bytes, size_t capacity, unsigned flags);

/*
 * weft_chan_send - send one message, waiting for room or for a receiver
 *
 *   elem      the message, elem_bytes of the channel; copied before the call
 *             returns. May be NULL if elem_bytes is 0.
 *   deadline  a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER
 *
 * Returns 0 when the message is in the buffer or with a receiver. On an error the
 * message was not sent:
 *   -EAGAIN     there was no room or no receiver, and deadline is WEFT_NO_WAIT
 *   -ETIMEDOUT  there was no room or no receiver before the deadline
 *   -EPIPE      the channel is closed
 *   -ECANCELED  the thread is cancelled. This comes before the other errors, and even
 *               if there is room.
 *   -EPERM      the channel is one-to-one, and another thread is its sender
 *   -ENOMEM     no memory
 *
 * Blocks     may park, unless deadline is WEFT_NO_WAIT.
 * Orders     the send happens before the return of the receive that gets the
 *            message. At a rendezvous the receive also happens before the return of
 *            the send. With a capacity, the receive that made the room happens
 *            before the return of the send.
 * Fairness   parked senders are served first come, first served. A new sender that
 *            finds room at the moment when it appears may go first.
 * Progress   lock-free. A kernel thread that is stopped inside the call delays no
 *            other call. It delays at most one parked thread: the partner that it
 *            copies a message to or from, the thread that it is about to make ready,
 *            or the other side of a one-to-one channel.
 * Not for    signal handlers.
 * See        weft_chan_recv(), weft_alt()
 * Source     C. A. R. Hoare, "Communicating sequential processes", 1978; Plan 9
 *            thread(2).
 * Since      0.1
 */
WEFT_API int weft_chan_send(struct weft_chan *chan, const void *elem,
	int64_t deadline);

/*
 * weft_chan_recv - receive one message, waiting for it
 *
 *   elem      room for elem_bytes of the channel; NULL: the message is dropped
 *   deadline  a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER
 *
 * Returns 0 with the message in *elem. On an error *elem is untouched:
 *   -EAGAIN     there was no message, and deadline is WEFT_NO_WAIT
 *   -ETIMEDOUT  there was no message before the deadline
 *   -EPIPE      the channel is closed, and every message sent has been received
 *   -ECANCELED  the thread is cancelled; no message was taken, even if there was one
 *   -EPERM      the channel is one-to-one, and another thread is its receiver
 *   -ENOMEM     no memory
 *
 * Blocks     may park, unless deadline is WEFT_NO_WAIT.
 * Orders     as for weft_chan_send().
 * Fairness   as for weft_chan_send().
 * Progress   as for weft_chan_send().
 * Not for    signal handlers.
 * See        weft_chan_send(), weft_alt()
 * Since      0.1
 */
WEFT_API int weft_chan_recv(struct weft_chan *chan, void *elem,
	int64_t deadline);

/*
 * weft_chan_close - say that nothing will be sent any more
 *
 * From now on every send fails, also one that is waiting. Receives take what is left
 * in the buffer, and then fail.
 *
 * If a channel has several senders, the last of them closes it: an atomic counter tells
 * which one is the last. If another sender closes the channel earlier, the sends of the
 * others fail with -EPIPE.
 *
 * Returns 0, or -EALREADY: it was closed before.
 *
 * Blocks     never.
 * Orders     the close happens before every return of -EPIPE that it causes.
 * Progress   lock-free. A kernel thread that is stopped inside the call delays only
 *            the one parked thread that it is about to make ready. The next call
 *            that finds the channel closed wakes the other parked threads.
 * Since      0.1
 */
WEFT_API int weft_chan_close(struct weft_chan *chan);

/*
 * weft_chan_destroy - end a channel's life
 *
 * Messages in the buffer are dropped. If a message has a pointer, the memory that it
 * points to is not freed: receive such messages first. The thread whose call on the
 * channel was the last to take effect may destroy the channel, even if the call of its
 * partner has not returned yet.
 *
 * Returns 0, or -EBUSY: threads wait in it.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API int weft_chan_destroy(struct weft_chan *chan);

/*
 * weft_chan_length, weft_chan_capacity, weft_chan_elem_bytes, weft_chan_is_closed - what a channel is like
 *
 * Returns, from weft_chan_length(), about how many messages the buffer had at some
 * moment during the call. weft_chan_capacity() and weft_chan_elem_bytes() return the
 * arguments of weft_chan_create(). weft_chan_is_closed() returns 1 if the channel is
 * closed, else 0.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API size_t weft_chan_length(struct weft_chan *chan);
WEFT_API size_t weft_chan_capacity(struct weft_chan *chan);
WEFT_API size_t weft_chan_elem_bytes(struct weft_chan *chan);
WEFT_API int weft_chan_is_closed(struct weft_chan *chan);

/* What an alternative waits for. */
#define WEFT_ALT_NONE	0u	/* nothing: the alternative is skipped */
#define WEFT_ALT_SEND	1u	/* chan, elem: as weft_chan_send() */
#define WEFT_ALT_RECV	2u	/* chan, elem: as weft_chan_recv() */
#define WEFT_ALT_JOIN	3u	/* u.thread, elem (a void **, or NULL): as
				 * weft_join() */
#define WEFT_ALT_TIME	4u	/* u.time: that time of weft_clock() */
#define WEFT_ALT_READY	5u	/* u.ready: as weft_wait_fd() */

/* Zero-filled, except for the fields that op needs. */
struct weft_alt {
	unsigned op;
	int error;		/* out: what the call would have returned */
	struct weft_chan *chan;
	void *elem;		/* not written to if op is WEFT_ALT_SEND */
	union {
		uint64_t thread;
		int64_t time;
		struct {
			int fd;
			short events;	/* POLLIN ..., as of poll(2) */
			short revents;	/* out: the events that occurred */
		} ready;
	} u;
	uint64_t weft_private[2];
};

#define WEFT_ALTS_MAX	1000u

/*
 * weft_alt - wait until one of several operations is possible, and do that one
 *
 *   alt       array of count alternatives. Only the call may touch them until it
 *             returns. Several may name the same channel, to send and to receive
 *             too; a thread never meets itself.
 *   count     1 to WEFT_ALTS_MAX
 *   deadline  a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER
 *
 * Exactly one alternative takes effect. An alternative that fails has taken effect as
 * well: its channel is closed, its thread cannot be joined, or its descriptor is not
 * open. Its field error then has the error; otherwise it is 0.
 *
 * WEFT_ALT_READY only says that the descriptor is ready. Nothing is read from it, so
 * another thread may still take the data first. The number means the same file during
 * the whole call: weft_close() does not free the number before the call has returned.
 *
 * The call makes its thread the sender or receiver of each one-to-one channel in the
 * array, whichever alternative takes effect. After -EPERM it may be so for some of them.
 *
 * Returns the index of the alternative that took effect. On an error none did:
 *   -EAGAIN     none was possible when they were tried, one after the other, and
 *               deadline is WEFT_NO_WAIT
 *   -ETIMEDOUT  none was possible before the deadline
 *   -ECANCELED  the thread is cancelled
 *   -EPERM      another thread is the sender or receiver of a one-to-one channel
 *   -EINVAL     count or an op is out of range, or a send or receive has no channel
 *   -ENOMEM     no memory
 *   -EMFILE     see weft_read(3)
 *   -ENFILE     the system has no descriptor left for the poller
 *   -ENOSYS     the call would have to wait for a descriptor, and epoll or eventfd is
 *               missing (see weft-calls(7))
 *   -ESRCH      the call would have to wait for a descriptor, and the runtime is not
 *               running
 *
 * Blocks     may park, unless deadline is WEFT_NO_WAIT.
 * Orders     as for the call in the alternative.
 * Fairness   if several alternatives are possible, one is chosen at random. If
 *            several have the same operation on the same channel and the thread
 *            parks, its partner serves the first of them.
 * Progress   as for weft_chan_send(). A thread that waits for a descriptor is woken
 *            as in weft_poll().
 * Not for    signal handlers.
 * See        weft_chan_send(), weft_join(), weft_wait_fd()
 * Source     Plan 9 thread(2), alt.
 * Since      0.1
 */
WEFT_API int weft_alt(struct weft_alt *alt, size_t count, int64_t deadline);

#ifdef __cplusplus
}
#endif

/*
 * Typed channels. WEFT_CHAN_OF(name, type); makes a struct name, which is a channel
 * of messages of that type, and these functions. The compiler checks the type of every
 * message. A struct name is a handle: programs pass and copy it. The first four wait for
 * ever or not at all.
 *
 *     int   name_send(struct name c, type message);
 *     int   name_recv(struct name c, type *message);
 *     int   name_try_send(struct name c, type message);
 *     int   name_try_recv(struct name c, type *message);
 *     int   name_send_until(struct name c, type const *message, int64_t deadline);
 *     int   name_recv_until(struct name c, type *message, int64_t deadline);
 *     int   name_create(struct name *c, size_t capacity, unsigned flags);
 *     int   name_of(struct name *c, struct weft_chan *chan);
 *     int   name_close(struct name c);
 *     int   name_destroy(struct name c);
 *     void  name_alt_send(struct weft_alt *alt, struct name c, type *message);
 *     void  name_alt_recv(struct weft_alt *alt, struct name c, type *message);
 *
 * name_of() makes a typed channel of a struct weft_chan *. It returns -EMSGSIZE if
 * the channel's messages have another size than the type. Unless NDEBUG is defined,
 * each send and receive checks this too.
 */
#define WEFT_CHAN_OF(name, type)					\
	struct name {							\
		struct weft_chan *chan;					\
	};								\
	WEFT_CHAN_FUNCTION_ int name##_size_(struct name c)		\
	{								\
		return weft_chan_elem_bytes(c.chan) == sizeof(type) ?	\
		       0 : -EMSGSIZE;					\
	}								\
	WEFT_CHAN_FUNCTION_ int name##_create(struct name *c,		\
			size_t capacity, unsigned flags)		\
	{								\
		return weft_chan_create(&c->chan, sizeof(type),		\
					capacity, flags);		\
	}								\
	WEFT_CHAN_FUNCTION_ int name##_of(struct name *c,		\
			struct weft_chan *chan)				\
	{								\
		struct name made;					\
		int err;						\
									\
		made.chan = chan;					\
		err = name##_size_(made);				\
		if (!err)						\
			*c = made;					\
		return err;						\
	}								\
	WEFT_CHAN_FUNCTION_ int name##_send_until(struct name c,	\
			type const *elem, int64_t deadline)		\
	{								\
		int err = WEFT_CHAN_CHECK_(name##_size_(c));		\
									\
		return err ? err :					\
		       weft_chan_send(c.chan, elem, deadline);		\
	}								\
	WEFT_CHAN_FUNCTION_ int name##_recv_until(struct name c,	\
			type *elem, int64_t deadline)			\
	{								\
		int err = WEFT_CHAN_CHECK_(name##_size_(c));		\
									\
		return err ? err :					\
		       weft_chan_recv(c.chan, elem, deadline);		\
	}								\
	WEFT_CHAN_FUNCTION_ int name##_send(struct name c, type elem)	\
	{								\
		return name##_send_until(c, &elem, WEFT_FOREVER);	\
	}								\
	WEFT_CHAN_FUNCTION_ int name##_recv(struct name c, type *elem)	\
	{								\
		return name##_recv_until(c, elem, WEFT_FOREVER);	\
	}								\
	WEFT_CHAN_FUNCTION_ int name##_try_send(struct name c, type elem) \
	{								\
		return name##_send_until(c, &elem, WEFT_NO_WAIT);	\
	}								\
	WEFT_CHAN_FUNCTION_ int name##_try_recv(struct name c, type *elem) \
	{								\
		return name##_recv_until(c, elem, WEFT_NO_WAIT);	\
	}								\
	WEFT_CHAN_FUNCTION_ int name##_close(struct name c)		\
	{								\
		return weft_chan_close(c.chan);				\
	}								\
	WEFT_CHAN_FUNCTION_ int name##_destroy(struct name c)		\
	{								\
		return weft_chan_destroy(c.chan);			\
	}								\
	WEFT_CHAN_FUNCTION_ void name##_alt_send(struct weft_alt *alt,	\
			struct name c, type *elem)			\
	{								\
		alt->op = WEFT_ALT_SEND;				\
		alt->chan = c.chan;					\
		alt->elem = elem;					\
	}								\
	WEFT_CHAN_FUNCTION_ void name##_alt_recv(struct weft_alt *alt,	\
			struct name c, type *elem)			\
	{								\
		alt->op = WEFT_ALT_RECV;				\
		alt->chan = c.chan;					\
		alt->elem = elem;					\
	}								\
	struct name

#define WEFT_CHAN_FUNCTION_	static inline __attribute__((unused))

#ifdef NDEBUG
#define WEFT_CHAN_CHECK_(error)	0
#else
#define WEFT_CHAN_CHECK_(error)	(error)
#endif

#endif
