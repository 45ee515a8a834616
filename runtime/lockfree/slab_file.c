/* SPDX-License-Identifier: MIT */
/*
 * lockfree/slab_file.c - makes, opens and closes sets; see slab.h
 *
 * A process is a number in the header's table and a lock on the file at that number,
 * which the kernel drops when the process ends. The maker of a set holds one more lock.
 * A set without magic is one whose maker died.
 *
 * Writers
 *   slab.state  take_set, use_file, weft_slab_close, weft_slab_create
 *   slab_header.magic  use_file
 *   slab_header.process  enter, weft_slab_close;
 *       slab_recover.c: weft_slab_recover
 *   done  watch_forks
 *   sets  take_set
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lockfree/slab.h"
#include "os/call/fork.h"
#include "os/call/shared_file.h"
#include "os/call/vm.h"

#define MAGIC		UINT64_C(0x0042414c53544657)
#define FORMAT_VERSION	2u
#define BYTE_ORDER_MARK	0x01020304u
#define MAKER		WEFTI_SLAB_PROCESSES	/* the maker's lock */
#define PAGE		4096u		/* of the format, not of the machine */
#define LIMIT		(UINT64_C(1) << 40)
#define BYTES		(UINT64_C(1) << 46)
#define OBJECT_BYTES	(1u << 20)

/* All sets of this process; the list only grows. */
static _Atomic(struct weft_slab *) sets;

/* --- shape */

static uint64_t round_up(uint64_t bytes, uint64_t to)
{
	return (bytes + to - 1) / to * to;
}

/* FNV-1a, over the fields above the checksum. */
static uint64_t checksum(const struct wefti_slab_shape *shape)
{
	const unsigned char *at = (const unsigned char *)shape;
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < offsetof(struct wefti_slab_shape, checksum); i++)
		sum = (sum ^ at[i]) * UINT64_C(0x100000001b3);
	return sum;
}

static int make_shape(struct wefti_slab_shape *shape,
		      const struct weft_slab_attr *attr)
{
	uint32_t slots = attr->threads ? attr->threads : 1024;
	uint64_t in_slab = WEFTI_SLAB_GROUPS * WEFTI_SLAB_OBJECTS, slabs;

	if (attr->limit == 0 || attr->limit > LIMIT ||
	    slots > WEFTI_SLAB_SLOTS ||
	    attr->object_bytes == 0 || attr->object_bytes > OBJECT_BYTES)
		return -EINVAL;
	memset(shape, 0, sizeof(*shape));
	shape->byte_order = BYTE_ORDER_MARK;
	shape->version = FORMAT_VERSION;
	shape->object_bytes = (uint32_t)round_up(attr->object_bytes, 8);
	shape->slots = slots;
	shape->limit = attr->limit;
	slabs = attr->limit +
		(uint64_t)slots * (WEFTI_SLAB_OBJECTS + WEFTI_SLAB_HELD);	/* I6 */
	slabs = (slabs + in_slab - 1) / in_slab;
	shape->slabs = (uint32_t)slabs;
	shape->slots_at = round_up(sizeof(struct wefti_slab_header), PAGE);
	shape->hints_at = shape->slots_at +
			  slots * sizeof(struct wefti_slab_slot);
	shape->tops_at = shape->hints_at + round_up(slabs * 8, CACHE_LINE);
	shape->slabs_at = round_up(shape->tops_at + slabs / 64 * 8 + 8, PAGE);
	shape->slab_bytes = round_up(WEFTI_SLAB_GROUPS *
				     sizeof(struct wefti_slab_group) +
				     in_slab * shape->object_bytes, PAGE);
	if (slabs > BYTES / shape->slab_bytes)
		return -EINVAL;
	shape->total_bytes = shape->slabs_at + slabs * shape->slab_bytes;
	shape->checksum = checksum(shape);
	return 0;
}

/* --- sets of this process */

/* CLOSED -> BUSY, or a new set. */
static struct weft_slab *take_set(void)
{
	struct weft_slab *s = load_seq_cst(&sets);

	for (; s; s = s->next) {
		uint32_t closed = WEFTI_SLAB_CLOSED;

		if (cas_seq_cst(&s->state, &closed, WEFTI_SLAB_BUSY))
			return s;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	store_relaxed(&s->state, WEFTI_SLAB_BUSY);
	s->next = load_seq_cst(&sets);
	while (!cas_weak_seq_cst(&sets, &s->next, s))
		;
	return s;
}

static void set_up(struct weft_slab *s, char *base, int fd,
		   const struct wefti_slab_shape *shape)
{
	s->base = base;
	s->header = (struct wefti_slab_header *)base;
	s->shape = *shape;
	s->slot = (struct wefti_slab_slot *)(base + shape->slots_at);
	s->hint = (_Atomic uint64_t *)(base + shape->hints_at);
	s->top = (_Atomic uint64_t *)(base + shape->tops_at);
	s->object_bytes = shape->object_bytes;
	s->group_bytes = s->object_bytes * WEFTI_SLAB_OBJECTS;
	s->fd = fd;
}

/* --- processes */

/* Takes a number for this process. Returns 0 or -EUSERS. */
static int enter(struct weft_slab *s)
{
	for (uint32_t i = 0; i < WEFTI_SLAB_PROCESSES; i++) {
		_Atomic uint32_t *entry = &s->header->process[i];

		if (load_seq_cst(entry) ||
		    wefti_os_file_try_lock(s->fd, i) != 0)
			continue;
		if (!load_seq_cst(entry)) {
			store_seq_cst(entry, 1);
			s->process = i;
			return 0;
		}
		wefti_os_file_unlock(s->fd, i);	/* another came first, and died */
	}
	s->process = WEFTI_SLAB_PROCESSES;
	return -EUSERS;
}

/* The child has the parent's open file description and so its locks, but no threads. */
static void after_fork(struct weft_slab *s)
{
	int again = wefti_os_file_open_again(s->fd);

	wefti_slab_forget_locals(s);
	wefti_os_file_close(s->fd);
	s->fd = again;
	s->process = WEFTI_SLAB_PROCESSES;	/* -EAGAIN later, if that fails */
	if (again >= 0)
		(void)enter(s);
}

static void child_of_fork(void)
{
	for (struct weft_slab *s = load_seq_cst(&sets); s; s = s->next) {
		if (load_seq_cst(&s->state) == WEFTI_SLAB_OPEN && s->is_shared)
			after_fork(s);
	}
}

static int watch_forks(void)
{
	static _Atomic uint32_t done;
	uint32_t no = 0;
	int rc = 0;

	if (cas_seq_cst(&done, &no, 1)) {
		rc = wefti_os_at_fork(child_of_fork);
		if (rc != 0)
			store_seq_cst(&done, 0);
	}
	return rc;
}

/* --- make, open, close */

int weft_slab_create(struct weft_slab **slab,
		     const struct weft_slab_attr *attr)
{
	struct wefti_slab_shape shape;
	struct weft_slab *s;
	int rc = make_shape(&shape, attr);
	char *base;

	if (rc != 0)
		return rc;
	s = take_set();
	if (!s)
		return -ENOMEM;
	shape.total_bytes = round_up(shape.total_bytes, wefti_os_page_size());
	base = wefti_os_vm_reserve(shape.total_bytes);
	if (!base) {
		store_seq_cst(&s->state, WEFTI_SLAB_CLOSED);
		return -ENOMEM;
	}
	set_up(s, base, -1, &shape);
	s->is_shared = 0;
	s->process = 0;
	store_seq_cst(&s->state, WEFTI_SLAB_OPEN);
	*slab = s;
	return 0;
}

/* Called with the maker's lock. Afterwards the file has its length and header. */
static int fill_file(int fd, const struct wefti_slab_shape *shape)
{
	struct wefti_slab_header *header;
	uint64_t size = 0;
	int rc = wefti_os_file_size(fd, &size);

	if (rc == 0 && size != 0) {
		if (size < PAGE)
			return -EEXIST;
		header = wefti_os_file_map(fd, PAGE);
		if (!header)
			return -ENOMEM;
		/* A maker that died has not written magic, or nothing at all, yet. */
		rc = load_seq_cst(&header->magic) == 0 &&
		     (header->shape.byte_order == BYTE_ORDER_MARK ||
		      (header->shape.byte_order == 0 &&
		       size == shape->slabs_at)) ? 0 : -EEXIST;
		wefti_os_vm_unmap(header, PAGE);
	}
	if (rc == 0)
		rc = wefti_os_file_set_size(fd, 0);	/* zeros */
	if (rc == 0)
		rc = wefti_os_file_reserve(fd, 0, shape->slabs_at);
	if (rc != 0)
		return rc;
	header = wefti_os_file_map(fd, PAGE);
	if (!header)
		return -ENOMEM;
	header->shape = *shape;
	wefti_os_vm_unmap(header, PAGE);
	return wefti_os_file_set_size(fd, shape->total_bytes);
}

/* Returns 0: the header is one of ours, is complete, and is copied to *shape. */
static int read_shape(int fd, struct wefti_slab_shape *shape)
{
	struct wefti_slab_header *header;
	uint64_t size = 0, magic;
	int rc = wefti_os_file_size(fd, &size);

	if (rc != 0)
		return rc;
	if (size < sizeof(*header))
		return -ENODATA;
	header = wefti_os_file_map(fd, PAGE);
	if (!header)
		return -ENOMEM;
	magic = load_acquire(&header->magic);	/* of slab.h: P6 */
	*shape = header->shape;
	wefti_os_vm_unmap(header, PAGE);
	if (magic == __builtin_bswap64(MAGIC))
		return -ENOTSUP;
	if (magic != MAGIC)
		return -EINVAL;
	if (shape->byte_order != BYTE_ORDER_MARK ||
	    (shape->version != FORMAT_VERSION &&
	     shape->version != WEFTI_SLAB_NOT_HELD))
		return -ENOTSUP;
	if (shape->checksum != checksum(shape))
		return -EINVAL;
	return size < shape->total_bytes ? -ENODATA : 0;
}

/* Maps the file's set and enters it. On an error, `fd` stays the caller's. */
static int use_file(struct weft_slab **slab, int fd,
		    const struct wefti_slab_shape *shape, int is_new)
{
	struct weft_slab *s = take_set();
	char *base;
	int rc;

	if (!s)
		return -ENOMEM;
	base = wefti_os_file_map(fd, shape->total_bytes);
	rc = base ? watch_forks() : -ENOMEM;
	if (rc == 0) {
		set_up(s, base, fd, shape);
		s->is_shared = 1;
		rc = enter(s);
	}
	if (rc != 0) {
		if (base)
			wefti_os_vm_unmap(base, shape->total_bytes);
		store_seq_cst(&s->state, WEFTI_SLAB_CLOSED);
		return rc;
	}
	if (is_new)	/* of slab.h: P6, to open */
		store_release(&s->header->magic, MAGIC);
	store_seq_cst(&s->state, WEFTI_SLAB_OPEN);
	*slab = s;
	return 0;
}

static int lock_maker(int fd)
{
	int rc = wefti_os_file_lock(fd, MAKER);

	return rc == -EINVAL || rc == -ENOLCK ? -EOPNOTSUPP : rc;
}

int weft_slab_create_file(struct weft_slab **slab,
			  const struct weft_slab_attr *attr, const char *path,
			  unsigned mode)
{
	struct wefti_slab_shape shape;
	int rc = make_shape(&shape, attr), fd;

	if (rc != 0)
		return rc;
	fd = wefti_os_file_open(path, (int)mode);
	if (fd < 0)
		return fd;
	rc = lock_maker(fd);
	if (rc == 0)
		rc = fill_file(fd, &shape);
	if (rc == 0)
		rc = use_file(slab, fd, &shape, 1);
	if (rc != 0)
		wefti_os_file_close(fd);
	else
		wefti_os_file_unlock(fd, MAKER);
	return rc;
}

int weft_slab_open_file(struct weft_slab **slab, const char *path,
			size_t object_bytes)
{
	struct wefti_slab_shape shape;
	int fd = wefti_os_file_open(path, -1), rc;

	if (fd < 0)
		return fd;
	rc = lock_maker(fd);
	if (rc == 0)
		rc = read_shape(fd, &shape);
	if (rc == 0 && object_bytes &&
	    round_up(object_bytes, 8) != shape.object_bytes)
		rc = -EMSGSIZE;
	if (rc == 0)
		rc = use_file(slab, fd, &shape, 0);
	if (rc != 0)
		wefti_os_file_close(fd);
	else
		wefti_os_file_unlock(fd, MAKER);
	return rc;
}

void weft_slab_close(struct weft_slab *slab)
{
	wefti_slab_forget_locals(slab);
	if (slab->is_shared && slab->process < WEFTI_SLAB_PROCESSES) {
		uint64_t self[WEFTI_SLAB_PROCESSES / 64 + 1];

		memset(self, 0, sizeof(self));
		self[slab->process / 64] |= UINT64_C(1) << slab->process % 64;
		(void)wefti_slab_reclaim(slab, self);
		store_seq_cst(&slab->header->process[slab->process], 0);
	}
	wefti_os_vm_unmap(slab->base, slab->shape.total_bytes);
	if (slab->fd >= 0)
		wefti_os_file_close(slab->fd);
	slab->base = NULL;
	store_seq_cst(&slab->state, WEFTI_SLAB_CLOSED);
}
