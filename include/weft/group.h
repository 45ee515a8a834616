/* SPDX-License-Identifier: MIT */
/*
 * weft/group.h - groups: threads that begin and end together
 *
 * A group is a set of threads with one owner. The owner spawns threads into the group,
 * and then waits until all of them have ended. The first failure of a thread cancels the
 * others, and the owner gets that failure. So no thread outlives the call that waits for
 * its group, and no error is lost:
 *
 *     struct weft_group group = WEFT_GROUP_INIT;
 *     int error = weft_group_spawn(&group, NULL, NULL, fetch, &a);
 *     if (!error)
 *         error = weft_group_spawn(&group, NULL, NULL, fetch, &b);
 *     if (error)
 *         weft_group_cancel(&group);
 *     error = weft_group_wait(&group, weft_deadline(WEFT_SECONDS(5)), NULL);
 *
 * A group lies in memory of its owner, for example on its stack. The owner must call
 * weft_group_wait() before that memory ends, even after an error. Zero-filled is an empty
 * group.
 *
 * Groups nest. A thread of a group may own a group of its own. If the outer group is
 * cancelled, that thread is cancelled, and its weft_group_wait() cancels the inner group.
 * A cancellation is a request, as weft_cancel(3) explains: a thread that makes no call
 * that can be cancelled goes on, and should look at weft_is_cancelled().
 */
#ifndef WEFT_GROUP_H
#define WEFT_GROUP_H

#include <weft/base.h>
#include <weft/thread.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_group {
	uint64_t weft_private[12];
};

#define WEFT_GROUP_INIT	{ { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } }

/*
 * weft_group_spawn - start a thread in a group
 *
 *   group  the group. The caller is its owner, a thread of the group, or a thread of a
 *          group inside it.
 *   id     receives the thread's id, for weft_cancel() and weft_set_name(); may be NULL.
 *          The id is not for weft_join() and weft_detach(), which the group calls itself.
 *   attr   stack size, name and flags, see struct weft_attr; NULL: the defaults. Not
 *          kept. WEFT_LIGHT is allowed, WEFT_DETACHED is not.
 *   fn     the thread's function. A result that is not 0 is a failure: a negative errno,
 *          or any other number. Its first failure cancels the group.
 *   arg    passed to fn; must live until the thread has ended
 *
 * The new thread may run at once, as in weft_spawn(). A thread that ends by weft_exit()
 * has not failed, and is released by weft_group_wait(). When a group lives long, later
 * calls release the threads that have ended. So a server may spawn a thread for each
 * connection into one group.
 *
 * Returns 0, else no thread was started:
 *   -ECANCELED  the group is cancelled
 *   -EINVAL     fn is NULL, or an attribute is out of range
 *   -EAGAIN     no stack can be mapped
 *   -ENOMEM     no memory, or there are 16 million threads
 *   -ESRCH      the runtime is not running
 *
 * Blocks     may park.
 * Orders     everything that the caller did before happens before fn.
 * Progress   no thread spins. Calls on one group take its mutex for some instructions.
 *            If the kernel stops a thread there, other calls on the group park.
 * See        weft_group_wait(), weft_group_cancel(), weft_spawn()
 * Source     N. J. Smith, "Notes on structured concurrency", 2018 (Trio's nursery).
 * Since      0.2
 */
WEFT_API WEFT_MUST_USE int weft_group_spawn(struct weft_group *group,
	uint64_t *id, const struct weft_attr *attr, int (*fn)(void *arg),
	void *arg);

/*
 * weft_group_cancel - ask all threads of a group to end
 *
 * Each thread of the group is cancelled as by weft_cancel(). From now on
 * weft_group_spawn() returns -ECANCELED. The call does not wait for the threads. The
 * owner and its other groups are not cancelled. If the group is cancelled already, the
 * call does nothing.
 *
 * Any thread may call it, as long as weft_group_wait() has not returned.
 *
 * Blocks     may park for the mutex of the group. Not cancelled.
 * Orders     everything that the caller did before happens before the -ECANCELED that a
 *            thread of the group gets.
 * Progress   as weft_group_spawn().
 * Not for    signal handlers.
 * See        weft_group_wait(), weft_cancel()
 * Since      0.2
 */
WEFT_API void weft_group_cancel(struct weft_group *group);

/*
 * weft_group_wait - wait until all threads of a group have ended
 *
 *   deadline  a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER. When it passes, the
 *             group is cancelled. WEFT_NO_WAIT cancels the group at once, unless all of
 *             its threads have ended.
 *   failed    receives the id of the thread that failed first, or 0 if the result has
 *             another cause; may be NULL. The id is for messages and comparisons: the
 *             thread has ended.
 *
 * The call returns only when no thread of the group is left, on an error too. So a thread
 * that does not react to its cancellation delays the call. If the caller is cancelled, it
 * cancels the group and goes on waiting. After the call the group is empty and not
 * cancelled, and may be used again.
 *
 * Returns 0 if no thread failed, else what cancelled the group first:
 *   a result    what the function of the failed thread returned
 *   -ETIMEDOUT  the deadline passed while threads had not ended; also with WEFT_NO_WAIT
 *   -ECANCELED  the caller was cancelled, or weft_group_cancel() was called
 *   -EDEADLK    the caller is a thread of the group; nothing was done
 *   -EBUSY      another thread waits for the group; nothing was done
 *
 * Blocks     may park.
 * Orders     everything that the threads of the group did happens before the return.
 * Progress   as weft_group_spawn().
 * Not for    regions of weft_block_begin().
 * See        weft_group_spawn(), weft_join()
 * Source     Go's errgroup with a context, Java's StructuredTaskScope, libdill's bundles.
 * Since      0.2
 */
WEFT_API WEFT_MUST_USE int weft_group_wait(struct weft_group *group,
	int64_t deadline, uint64_t *failed);

#ifdef __cplusplus
}
#endif
#endif
