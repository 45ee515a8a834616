/* SPDX-License-Identifier: MIT */
/*
 * weft/chan.h - channels, and alt, which waits for the first of several things
 *
 * A channel carries messages of one fixed size from senders to receivers, first
 * in, first out. Capacity 0 makes it a rendezvous: a send and a receive meet,
 * and the message goes from the one's memory to the other's. With a capacity, a
 * send returns when its message is in the buffer.
 *
 * Any threads may send and receive, foreign ones too. A message is sent wholly
 * or not at all: of a call that returns -EAGAIN, -ETIMEDOUT, -ECANCELED or
 * -EPIPE nobody gets the message, of one that returns 0 somebody does, or the
 * buffer has it.
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
 *   chan        where it goes
 *   elem_bytes  of each message; may be 0
 *   capacity    messages that the buffer holds; 0: a rendezvous
 *   flags       WEFT_CHAN_ONE_TO_ONE: the first thread that sends is the only
 *               one that may, and the first that receives. With a capacity, its
 *               operations are then wait-free and cheaper. Else 0.
 *
 * Returns 0, else
 *   -EINVAL   an argument is out of range
 *   -ENOMEM   no memory
 *   -ENOTSUP  a capacity, not declared one-to-one, and the processor cannot change
 *             16 bytes at once (x86-64 of 2004)
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_chan_create(struct weft_chan **chan,
	size_t elem_bytes, size_t capacity, unsigned flags);

/*
 * weft_chan_send - send one message, waiting for room or for a receiver
 *
 *   elem      elem_bytes of the channel, copied before the call returns; may be
 *             NULL if these are 0
 *   deadline  see weft/base.h; WEFT_NO_WAIT tries once
 *
 * Returns 0 when the message is in the buffer or with a receiver, else, and it
 * was not sent,
 *   -EAGAIN     there was no room or no receiver, and deadline is WEFT_NO_WAIT
 *   -ETIMEDOUT  nor was there before the deadline
 *   -EPIPE      the channel is closed
 *   -ECANCELED  the thread is cancelled
 *   -EPERM      the channel is one-to-one, and another thread is its sender
 *   -ENOMEM     no memory
 *
 * Blocks     may park, unless deadline is WEFT_NO_WAIT.
 * Orders     the send happens before the return of the receive that gets the
 *            message. Of a rendezvous the receive happens before the return of
 *            the send; with a capacity, the receive that made the room does.
 * Fairness   senders that wait are served first come, first served, but for one
 *            that finds room at the moment it is made.
 * Progress   lock-free; a kernel thread that is stopped in it delays nobody but
 *            a thread that waits: the one whose message it copies, the one whose
 *            wait it has ended and which it is about to make ready, and the other
 *            side of a one-to-one channel.
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
 *   elem      elem_bytes of the channel; may be NULL: the message is dropped
 *   deadline  see weft/base.h; WEFT_NO_WAIT tries once
 *
 * Returns 0 with the message in *elem, else, and *elem is untouched,
 *   -EAGAIN     there was none, and deadline is WEFT_NO_WAIT
 *   -ETIMEDOUT  nor was there before the deadline
 *   -EPIPE      the channel is closed, and all that was sent has been received
 *   -ECANCELED  the thread is cancelled; no message was taken
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
 * Sends fail from now on, those that wait too. Receives get what is in the
 * buffer, and then fail.
 *
 * Returns 0, or -EALREADY: it was closed.
 *
 * Blocks     never.
 * Orders     it happens before the return of each -EPIPE that it causes.
 * Progress   lock-free; a kernel thread that is stopped in it delays nobody but
 *            a thread whose wait it has ended and which it is about to make ready.
 *            Whoever finds the channel closed wakes the others.
 * Since      0.1
 */
WEFT_API int weft_chan_close(struct weft_chan *chan);

/*
 * weft_chan_destroy - end a channel's life
 *
 * Messages in its buffer are dropped. Whose call on it was the last one to take
 * effect may destroy it, although the call of the partner has not returned yet.
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
 * Returns how many messages the buffer had at some moment, about; the arguments
 * of weft_chan_create(); 1 when it is closed, else 0.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API size_t weft_chan_length(struct weft_chan *chan);
WEFT_API size_t weft_chan_capacity(struct weft_chan *chan);
WEFT_API size_t weft_chan_elem_bytes(struct weft_chan *chan);
WEFT_API int weft_chan_is_closed(struct weft_chan *chan);

/* What an alternative waits for. */
#define WEFT_ALT_NONE	0u	/* nothing: it is passed over */
#define WEFT_ALT_SEND	1u	/* chan, elem: as weft_chan_send() */
#define WEFT_ALT_RECV	2u	/* chan, elem: as weft_chan_recv() */
#define WEFT_ALT_JOIN	3u	/* u.thread, elem (a void **, or NULL): as
				 * weft_join() */
#define WEFT_ALT_TIME	4u	/* u.time: until then, of weft_clock() */
#define WEFT_ALT_READY	5u	/* u.ready: as weft_wait_fd() */

/* Zero-filled but for what op needs. */
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
			short revents;	/* out: which of them there are */
		} ready;
	} u;
	uint64_t weft_private[2];
};

#define WEFT_ALTS_MAX	1000u

/*
 * weft_alt - wait until one of several things can be done, and do that one
 *
 *   alt       count of them; only the call may touch them until it returns. The
 *             same channel may stand in several, for sending and receiving too;
 *             a thread does not meet itself.
 *   count     1 to WEFT_ALTS_MAX
 *   deadline  see weft/base.h; WEFT_NO_WAIT tries once
 *
 * One alternative takes effect, and no other does. An alternative that fails
 * (its channel is closed, its thread cannot be joined, its descriptor is closed
 * by weft_close()) has taken effect: then its error says so; otherwise that is 0.
 *
 * Of a descriptor the effect is to know that it is ready: nothing is taken from
 * it, and another thread may be faster since. The number means one file for the
 * whole call: it is not given again before the call has returned.
 *
 * Returns the index of that alternative, else, and none took effect,
 *   -EAGAIN     none could be done when it was tried, one after the other, and
 *               deadline is WEFT_NO_WAIT
 *   -ETIMEDOUT  nor before the deadline
 *   -ECANCELED  the thread is cancelled
 *   -EPERM      the sender or receiver of a one-to-one channel is another
 *   -EINVAL     count or an op is out of range
 *   -ENOMEM     no memory
 *   -EMFILE     see weft/io.h
 *   -ENFILE     the system has no descriptor left for the poller
 *   -ESRCH      it would have to wait for a descriptor, and the runtime is not
 *               running
 *
 * Blocks     may park, unless deadline is WEFT_NO_WAIT.
 * Orders     as for the call in the alternative.
 * Fairness   which of several that can be done is done is random. Where the same
 *            operation on the same channel stands in several, whoever comes
 *            serves a thread that waits in the first of them.
 * Progress   as for weft_chan_send(); who waits for a descriptor is woken as in
 *            weft_poll().
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
 * The typed face: WEFT_CHAN_OF(name, type); makes a struct name, which is a
 * channel of type, and functions name_create, name_of, name_send, name_recv,
 * name_try_send, name_try_recv, name_send_until, name_recv_until, name_close,
 * name_destroy, name_alt_send and name_alt_recv. The compiler checks what goes
 * in and comes out. name_of() takes a channel that came without its type; its
 * size is checked then, and in each call unless NDEBUG is defined: -EMSGSIZE.
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
		WEFT_CHAN_CHECK_(name##_size_(c));			\
		return weft_chan_send(c.chan, elem, deadline);		\
	}								\
	WEFT_CHAN_FUNCTION_ int name##_recv_until(struct name c,	\
			type *elem, int64_t deadline)			\
	{								\
		WEFT_CHAN_CHECK_(name##_size_(c));			\
		return weft_chan_recv(c.chan, elem, deadline);		\
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
#define WEFT_CHAN_CHECK_(error)	((void)0)
#else
#define WEFT_CHAN_CHECK_(error)						\
	do {								\
		int weft_error_ = (error);				\
									\
		if (weft_error_)					\
			return weft_error_;				\
	} while (0)
#endif

#endif
