/* SPDX-License-Identifier: MIT */
/*
 * weft/slab.h - objects of one size, shared by threads and processes, kept in a file
 *
 * A slab set is memory from which any number of threads allocate objects of one size,
 * without a lock. The memory is the program's own, or a file that several processes
 * map. A set needs no running runtime. Its memory is not touched before it is used.
 *
 * Each thread has a magazine: a group of 48 neighbouring objects, and up to 64 other
 * objects that it has freed itself. It allocates from the magazine, and frees to it, with
 * plain stores. The free objects of a magazine are not available to other threads. So
 * that the limit can be reached all the same, a set has room for 112 more objects for
 * each thread.
 *
 * A set can lie in a file or in shared memory. A path in /dev/shm names what
 * shm_open() makes, and /proc/self/fd/N names a descriptor of the program. All state
 * of the set is in the mapping, without pointers. When a set is opened again, it has
 * every object that was not freed.
 *
 * A process that is killed, at any instruction, harms no other process. The objects in
 * its magazines, and those that it was allocating or freeing, are lost until
 * weft_slab_recover(). After a crash of the machine itself, a set must not be used any
 * more.
 *
 * None of these functions may be called from a signal handler. After fork() the child
 * has the parent's sets. It has a copy of each private set; there the magazines of the
 * parent's other threads are lost. Sets in files are shared. Children of vfork() or
 * clone() must not touch sets. Files on network file systems are not supported.
 */
#ifndef WEFT_SLAB_H
#define WEFT_SLAB_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_slab;

struct weft_slab_attr {
	uint64_t limit;		/* 1 to 2^40: at least this many objects can
				   live at once */
	uint32_t object_bytes;	/* 1 to 2^20; rounded up to a multiple of 8 */
	uint32_t threads;	/* how many may use the set at once, in all
				   processes; at most 16,000, 0: 1,024 */
};

#define WEFT_SLAB_ROOTS		8u

/*
 * weft_slab_create - make a set in memory of this process
 *
 *   slab  receives the set; weft_slab_close() releases it
 *   attr  copied
 *
 * Objects are aligned to the largest power of two, up to 64, that divides their
 * rounded size.
 *
 * Returns 0, or
 *   -EINVAL  a field of attr is out of range, or all objects together would take more
 *            than 2^46 bytes
 *   -ENOMEM  there is no memory or address space
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_slab_create(struct weft_slab **slab,
	const struct weft_slab_attr *attr);

/*
 * weft_slab_create_file - make a set in a file
 *
 *   path  a missing file is made, with mode and the umask; an empty file is used as
 *         it is. The file has its full length at once, but disk space is reserved
 *         only as the set grows.
 *
 * If a process is killed while it makes a set, the next call starts anew.
 *
 * Returns 0, or
 *   -EINVAL      as weft_slab_create(); or path is not a regular file
 *   -EEXIST      the file is not empty
 *   -ENOSPC      no space for the smallest set
 *   -EOPNOTSUPP  the file system cannot reserve space or lock
 *   -ENOMEM      there is no memory or address space
 *   or the errors of open(2) and ftruncate(2)
 *
 * Blocks     the kernel thread, while another process makes the same set.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_slab_create_file(struct weft_slab **slab,
	const struct weft_slab_attr *attr, const char *path, unsigned mode);

/*
 * weft_slab_open_file - use a set that is in a file
 *
 *   object_bytes  the size that the objects must have; 0: any size
 *
 * Returns 0, or
 *   -EINVAL      path is not a regular file, or holds no set or a damaged one
 *   -ENOTSUP     the set was made by another version of weft, or with another byte
 *                order
 *   -EMSGSIZE    its objects have another size
 *   -ENODATA     the file is shorter than its set: it was truncated, or is empty
 *   -EUSERS      1,000 processes use the set, counting dead ones not yet recovered
 *   -EOPNOTSUPP  the file system cannot lock
 *   -ENOMEM      there is no memory or address space
 *   or the errors of open(2)
 *
 * Blocks     the kernel thread, while another process makes the set.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_slab_open_file(struct weft_slab **slab,
	const char *path, size_t object_bytes);

/*
 * weft_slab_close - end the use of a set
 *
 * No thread of this process may be using the set. A private set is gone, with all its
 * objects. A set in a file gets the magazines of this process back, and the objects that
 * this process has reserved and not published. The file remains.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API void weft_slab_close(struct weft_slab *slab);

/*
 * weft_slab_alloc - allocate an object
 *
 *   error  NULL, or receives the reason when there is no object
 *
 * The object has the contents that it had when it was freed, or zeros.
 *
 * Returns the object, which weft_slab_free() gives back. NULL: there is none, and *error
 * is
 *   -ENOSPC  the limit is reached, or the file system is full
 *   -EAGAIN  as many threads as attr.threads have magazines already; or the process
 *            was made by fork() and could not enter the set, for example because 1,000
 *            processes use it
 *   -ENOMEM  there is no memory for the thread's record
 *   or another reason why the file system reserves no space
 *
 * Blocks     never, except in the kernel when the set grows.
 * Orders     whatever was done to the object before it was freed happens before the
 *            return.
 * Progress   wait-free from the magazine, otherwise lock-free: a thread or process
 *            that is stopped anywhere hinders no other.
 * Source     J. Evans' and J. Bonwick's magazines, over one word for 48
 *            objects in place of a list through them.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE void *weft_slab_alloc(struct weft_slab *slab,
	int *error);

/*
 * weft_slab_free - give an object back
 *
 * Any thread of any process may do so.
 *
 * Returns 0, or
 *   -EINVAL    the pointer is not an object of this set, or points into one
 *   -EALREADY  the object is free already. Two frees at the same time are detected
 *              only if weft was configured with --enable-debug; otherwise they are
 *              undefined.
 *   -EAGAIN    as weft_slab_alloc(), for a thread without a magazine
 *   -ENOMEM    as weft_slab_alloc()
 *
 * Blocks     never.
 * Orders     whatever the caller did to the object happens before the
 *            weft_slab_alloc() that returns it next.
 * Progress   wait-free, except for a thread's first call.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_slab_free(struct weft_slab *slab, void *object);

/*
 * weft_slab_reserve, weft_slab_publish - take an object that does not outlive a crash
 *
 * A process reserves an object, fills and links it, and then publishes it. If the
 * process dies before it publishes the object, weft_slab_recover() frees the object.
 * So no half-filled object stays behind. weft_slab_each() does not show reserved
 * objects. weft_slab_free() frees a reserved object as well. If a thread ends without
 * publishing, its objects stay reserved until the process closes the set or ends.
 *
 * Returns, from weft_slab_reserve(), the same as weft_slab_alloc().
 * weft_slab_publish() returns 0, or
 *   -EINVAL    the pointer is not an object of this set
 *   -EALREADY  the object is not reserved
 *
 * Blocks     as weft_slab_alloc(); weft_slab_publish() never.
 * Progress   as weft_slab_alloc(); weft_slab_publish() is wait-free.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE void *weft_slab_reserve(struct weft_slab *slab,
	int *error);
WEFT_API WEFT_MUST_USE int weft_slab_publish(struct weft_slab *slab,
	void *object);

/*
 * weft_slab_ref, weft_slab_object - name an object for all processes
 *
 * A reference is a number, never 0, that is the same wherever the set is mapped.
 *
 * Returns, from weft_slab_ref(), the reference of an object; 0 if the object is not in
 * this set. weft_slab_object() returns the object of a reference; NULL if the reference
 * is 0 or not in this set. Neither checks whether the object is free.
 *
 * Blocks     never.
 * Progress   wait-free.
 * Since      0.1
 */
WEFT_API uint64_t weft_slab_ref(const struct weft_slab *slab,
	const void *object);
WEFT_API void *weft_slab_object(const struct weft_slab *slab, uint64_t ref);

/*
 * weft_slab_root - a word where the program keeps the start of its structure
 *
 *   number  less than WEFT_SLAB_ROOTS
 *
 * A root can hold, for example, a reference to the program's first object. It is 0 when
 * the set is created, and weft never touches it. Processes that share it use their own
 * atomic operations on it.
 *
 * Returns a pointer to the word in the set; NULL if there is no such root.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API uint64_t *weft_slab_root(struct weft_slab *slab, unsigned number);

/*
 * weft_slab_each - visit the live objects
 *
 *   visit  called with each object and with arg. It may free the object. If it
 *          returns anything but 0, the walk ends.
 *
 * An object that is allocated or freed during the walk may be visited or not.
 *
 * Returns 0, or what visit returned last.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API int weft_slab_each(struct weft_slab *slab,
	int (*visit)(void *object, void *arg), void *arg);

/*
 * weft_slab_recover - free what dead processes have lost
 *
 * Other threads and processes may use the set during the call. Several may call it at
 * once; each dead process is then recovered by one of them. If a process is killed
 * during a recovery, the next call completes it.
 *
 * Returns the number of objects that were found and freed, 0 for a private set, or
 *   -EBUSY  another thread of this process is recovering the same struct weft_slab
 *
 * Blocks     never; the call looks at each object that was ever in use.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int64_t weft_slab_recover(struct weft_slab *slab);

struct weft_slab_info {
	uint64_t live;		/* objects, with the reserved ones */
	uint64_t limit;		/* as at the creation */
	uint64_t bytes;		/* of address space */
	uint64_t reserved_bytes;	/* of these, bytes that have space */
	uint32_t object_bytes;	/* rounded */
	uint32_t threads;	/* with a magazine */
	uint32_t processes;	/* using it, or dead and not recovered */
	uint32_t weft_unused;
};

/*
 * weft_slab_info - count what is in a set
 *
 * The counts are hints while other threads use the set.
 *
 * Blocks     never; the call looks at each object that was ever in use.
 * Since      0.1
 */
WEFT_API void weft_slab_info(struct weft_slab *slab,
	struct weft_slab_info *info);

/*
 * weft_slab_leave - give back the calling thread's magazine
 *
 * This happens by itself when a kernel thread ends, and when a thread with thread-local
 * storage of its own ends. Light threads use the magazines of the kernel threads that
 * carry them.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API void weft_slab_leave(struct weft_slab *slab);

#ifdef __cplusplus
}
#endif
#endif
