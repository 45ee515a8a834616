/* SPDX-License-Identifier: MIT */
/*
 * weft/slab.h - objects of one size, shared by threads and processes, kept in
 * a file
 *
 * A slab set is a piece of memory, the program's own or a file that several
 * processes map, from which any number of threads take objects of one size and
 * give them back, without a lock. It needs no running runtime. Nothing is
 * touched before it is used.
 *
 * Each thread has a magazine, a group of 48 neighbouring objects of which it
 * takes and gives back with plain stores. What of them is free is not there for
 * others; a set therefore has room for a group a thread beyond its limit.
 *
 * In a file (or shared memory: a path in /dev/shm is what shm_open() makes;
 * /proc/self/fd/N is a descriptor that the program has) all state lies in the
 * mapping, without pointers. A set that is opened again has every object that
 * was not freed. A process that is killed, at whatever instruction, harms
 * nobody; what it had in its magazines and was about to hand out or to free is
 * lost until weft_slab_recover(). After a crash of the machine itself a set is
 * not to be relied on.
 *
 * None of these functions may be called from a signal handler. After fork() the
 * child has the parent's sets: of a private one its copy, in which the
 * magazines of the parent's other threads are lost, of one in a file the same
 * one. Children of vfork() or of a bare clone() must not touch them. Files on
 * network file systems are not supported.
 */
#ifndef WEFT_SLAB_H
#define WEFT_SLAB_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_slab;

struct weft_slab_attr {
	uint64_t limit;		/* so many objects, or more, live at once */
	uint32_t object_bytes;	/* 1 to 2^20; rounded up to 8 */
	uint32_t threads;	/* that use it at once, all processes counted;
				   at most 16,000, 0: 1,024 */
};

#define WEFT_SLAB_ROOTS		8u

/*
 * weft_slab_create - make a set in memory of this process
 *
 *   slab  receives the set, to be given back by weft_slab_close()
 *   attr  copied
 *
 * Objects are aligned to the largest power of two, 64 at most, that divides
 * their rounded size.
 *
 * Returns 0, or
 *   -EINVAL  a field of attr is out of range
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
 *   path  is made if it is missing, with `mode` less the umask; an empty file
 *         is used as it is. It has its full length at once, without the space,
 *         which is reserved as the set grows.
 *
 * A creation that was killed is begun anew by the next.
 *
 * Returns 0, or
 *   -EINVAL      as weft_slab_create(); or path is no regular file
 *   -EEXIST      the file has contents
 *   -ENOSPC      no space for what a set needs at the least
 *   -EOPNOTSUPP  the file system cannot reserve space or lock
 *   -ENOMEM      there is no memory or address space
 *   or what open(2) and ftruncate(2) fail with
 *
 * Blocks     the kernel thread, while another process makes the same set.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_slab_create_file(struct weft_slab **slab,
	const struct weft_slab_attr *attr, const char *path, unsigned mode);

/*
 * weft_slab_open_file - use a set that is in a file
 *
 *   object_bytes  what the objects must have; 0: whatever they have
 *
 * Returns 0, or
 *   -EINVAL    path is no regular file; it holds no set, or a damaged one
 *   -ENOTSUP   it was made by another version, or with another byte order
 *   -EMSGSIZE  its objects have another size
 *   -ENODATA   the file is shorter than its set: it was cut, or is empty
 *   -EUSERS    1,000 processes use it, or died and were not recovered
 *   -ENOMEM    there is no memory or address space
 *   or what open(2) fails with
 *
 * Blocks     the kernel thread, while another process makes the set.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_slab_open_file(struct weft_slab **slab,
	const char *path, size_t object_bytes);

/*
 * weft_slab_close - end the use of a set
 *
 * No thread of this process may be using it. A private one is gone with its
 * objects; of one in a file the magazines are given back and the file remains.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API void weft_slab_close(struct weft_slab *slab);

/*
 * weft_slab_alloc - take an object
 *
 *   error  NULL, or receives the reason when there is none
 *
 * The object has the contents that it had when it was freed, or zeros.
 *
 * Returns the object, which the caller gives back by weft_slab_free(), or NULL:
 *   -ENOSPC  the limit is reached, or the file system is full
 *   -EAGAIN  attr.threads threads have magazines
 *   -ENOMEM  there is no memory for the thread's record
 *   or another reason why the file system reserves no space
 *
 * Blocks     never, but for the kernel when the set grows.
 * Orders     what was done to the object before it was freed happens before
 *            the return.
 * Progress   wait-free from the magazine, else lock-free: a thread or process
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
 *   -EINVAL    it is no object of this set: a foreign pointer, or one into an
 *              object
 *   -EALREADY  it is free. Two frees at the same time are seen if weft was
 *              configured with --enable-debug; else that is undefined.
 *   -EAGAIN    as weft_slab_alloc(), of a thread without a magazine
 *   -ENOMEM    as weft_slab_alloc()
 *
 * Blocks     never.
 * Orders     what the caller did to the object happens before its next return
 *            from weft_slab_alloc().
 * Progress   wait-free, but for a thread's first call.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_slab_free(struct weft_slab *slab, void *object);

/*
 * weft_slab_reserve, weft_slab_publish - take an object that is lost with the
 * process unless it says otherwise
 *
 * A reserved object is freed by weft_slab_recover() if the process dies before
 * it publishes it; weft_slab_each() does not show it. So a process fills an
 * object, links it, and publishes it, and no object without contents stays
 * behind. weft_slab_free() frees a reserved object as well. Who reserves an
 * object and ends as a thread leaves it reserved until the process ends.
 *
 * Returns as weft_slab_alloc(); weft_slab_publish() 0 or
 *   -EINVAL    it is no object of this set
 *   -EALREADY  it is not reserved
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
 * A reference is a number, never 0, the same wherever the set is mapped.
 *
 * Returns the reference of an object, 0 if it is not in this set; the object of
 * a reference, NULL if it is 0 or not in this set. Neither looks whether the
 * object is free.
 *
 * Blocks     never.
 * Progress   wait-free.
 * Since      0.1
 */
WEFT_API uint64_t weft_slab_ref(const struct weft_slab *slab,
	const void *object);
WEFT_API void *weft_slab_object(const struct weft_slab *slab, uint64_t ref);

/*
 * weft_slab_root - where the program's own structure begins
 *
 *   number  less than WEFT_SLAB_ROOTS
 *
 * Returns a word of the set, 0 at its creation and never touched by weft, for a
 * reference for example; NULL if there is no such root. Processes that share it
 * use their own atomics on it.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API uint64_t *weft_slab_root(struct weft_slab *slab, unsigned number);

/*
 * weft_slab_each - visit the objects that live
 *
 *   visit  is called with each object and with arg; anything but 0 ends the
 *          visit. It may free the object.
 *
 * An object that is taken or freed meanwhile may be shown or not.
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
 * Others may use the set meanwhile, and recover it too: a process is recovered
 * by one of them. Killed during a recovery, the next one completes it.
 *
 * Returns how many objects were found and freed, 0 for a private set, or
 *   -EBUSY  another thread does so with the same weft_slab
 *
 * Blocks     never; it looks at each object that was ever in use.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int64_t weft_slab_recover(struct weft_slab *slab);

struct weft_slab_info {
	uint64_t live;		/* objects, reserved ones too */
	uint64_t limit;		/* as at the creation */
	uint64_t bytes;		/* of address space */
	uint64_t reserved_bytes;	/* of them with space */
	uint32_t object_bytes;	/* rounded */
	uint32_t threads;	/* that have a magazine */
	uint32_t processes;	/* that use it, or died unrecovered */
	uint32_t weft_unused;
};

/*
 * weft_slab_info - count what is in a set
 *
 * Blocks     never; it looks at each object that was ever in use. Counts are
 *            hints while others work.
 * Since      0.1
 */
WEFT_API void weft_slab_info(struct weft_slab *slab,
	struct weft_slab_info *info);

/*
 * weft_slab_leave - give back the calling thread's magazine
 *
 * That happens by itself when a kernel thread ends, or a thread with complete
 * TLS. Light threads use the magazines of the kernel threads that carry them.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API void weft_slab_leave(struct weft_slab *slab);

#ifdef __cplusplus
}
#endif
#endif
