/* SPDX-License-Identifier: MIT */
/*
 * observe/layout.c - where a debugger finds the threads, by name
 *
 * The compiler makes the numbers, so they are right whatever the flags are. Names let a
 * reader and a library of different versions understand each other: a reader that
 * misses an entry does without what it tells.
 *
 * Rejected: DWARF. Distributions strip it, and keep it where a core file of another
 * machine does not lead. Rejected too: the exported symbol alone. A stripped program
 * that is linked with libweft.a has no symbols, but has the note.
 */
#include "observe/layout.h"

#include <stddef.h>

#include "context.h"
#include "cpu.h"
#include "io/table.h"
#include "os/tls/tls_layout.h"
#include "sched/vcpu.h"
#include "sync/mutex.h"
#include "sync/waitlist.h"
#include "thread/name.h"
#include "thread/wait.h"

/* Known when the program runs. */
static struct {
	uint64_t self;		/* the thread's word, from the thread pointer */
	uint64_t tid;		/* the id in libc's block, the same; 0: not known */
	const void *names, *fds, *more;
} places;

#define PLACE(name, object)	{ "at." name, (int64_t)(uintptr_t)&(object) }
#define FIELD(name, type, field)	{ name, (int64_t)offsetof(struct type, field) }
#define REGISTER(name, offset, word) \
	{ "reg." name, offset }, { "core." name, word },

/* The fields of bits lie in the byte before this one. */
#define BITS_AT		(offsetof(struct wefti_thread, node_lent) - 1)

__attribute__((used)) const struct wefti_layout wefti_layout[] = {
	{ "weft layout", WEFTI_LAYOUT_VERSION },
	PLACE("runtime", wefti_rt),
	PLACE("slots", wefti_slots),
	PLACE("self", places.self),
	PLACE("tid", places.tid),
	PLACE("names", places.names),
	PLACE("fds", places.fds),
	PLACE("more", places.more),

	FIELD("runtime.state", wefti_runtime, state),
	{ "runtime.on", WEFTI_RT_ON },
	FIELD("runtime.vcpu_count", wefti_runtime, vcpu_count),
	FIELD("runtime.vcpu", wefti_runtime, vcpu),
	FIELD("runtime.monitor", wefti_runtime, monitor),

	FIELD("dense.next", wefti_dense, next),
	FIELD("dense.chunk", wefti_dense, chunk),
	{ "dense.in_chunk", WEFTI_DENSE_CHUNK },

	{ "thread.bytes", sizeof(struct wefti_thread) },
	FIELD("thread.sp", wefti_thread, ctx.sp),
	FIELD("thread.tp", wefti_thread, tp),
	FIELD("thread.attention", wefti_thread, attention),
	FIELD("thread.wait", wefti_thread, wait),
	FIELD("thread.cold", wefti_thread, cold),
	FIELD("thread.slot", wefti_thread, slot),
	{ "thread.bits", BITS_AT },
	FIELD("thread.why", wefti_thread, why),
	FIELD("thread.join", wefti_thread, join),
	FIELD("thread.waits_for", wefti_thread, waits_for),
	FIELD("thread.gen", wefti_thread, gen),

	{ "bits.kind", 0xf },
	{ "bits.light", 0x10 },
	{ "bits.keep", 0x20 },
	{ "kind.green", WEFTI_KIND_GREEN },
	{ "kind.main", WEFTI_KIND_MAIN },
	{ "kind.foreign", WEFTI_KIND_FOREIGN },
	{ "wait.phase", WEFTI_WAIT_PHASE },
	{ "wait.parked", WEFTI_WAIT_PARKED },
	{ "join.done", WEFTI_JOIN_DONE },

	FIELD("cold.name", wefti_cold, name),
	FIELD("cold.carrier_tid", wefti_cold, carrier_tid),
	{ "name.bytes", WEFTI_NAME_BYTES },

	FIELD("vcpu.current", wefti_vcpu, current),
	FIELD("vcpu.kthread", wefti_vcpu, kthread),
	FIELD("kthread.tid", wefti_kthread, tid),

	FIELD("mutex.owner", wefti_mutex, owner),
	FIELD("list.owner", wefti_owned_list, owner),
	{ "fd.bytes", sizeof(struct wefti_fd) },
	{ "fd.in_chunk", WEFTI_FD_CHUNK },
	{ "fd.chunks", WEFTI_FD_CHUNKS },

	{ "why.join", WEFTI_WHY_JOIN },
	{ "why.sleep", WEFTI_WHY_SLEEP },
	{ "why.mutex", WEFTI_WHY_MUTEX },
	{ "why.cond", WEFTI_WHY_COND },
	{ "why.read_lock", WEFTI_WHY_READ_LOCK },
	{ "why.write_lock", WEFTI_WHY_WRITE_LOCK },
	{ "why.sem", WEFTI_WHY_SEM },
	{ "why.barrier", WEFTI_WHY_BARRIER },
	{ "why.once", WEFTI_WHY_ONCE },
	{ "why.send", WEFTI_WHY_SEND },
	{ "why.recv", WEFTI_WHY_RECV },
	{ "why.alt", WEFTI_WHY_ALT },
	{ "why.descriptor", WEFTI_WHY_DESCRIPTOR },
	{ "why.disk", WEFTI_WHY_DISK },
	{ "why.seat", WEFTI_WHY_SEAT },
	{ "why.futex", WEFTI_WHY_FUTEX },

	/* A parked thread's frame: registers at its saved sp, and its size. */
	{ "frame.bytes", FRAME_BYTES },
	WEFTI_ARCH_FRAME(REGISTER)
	{ "core.to_sp", WEFTI_ARCH_CORE_SP },
	{ "core.to_tp", WEFTI_ARCH_CORE_TP },
	{ "", 0 },
};

extern __typeof__(wefti_layout) wefti_debug_layout
	__attribute__((alias("wefti_layout"), visibility("default")));

/* By asm, since no initializer in C is a distance. */
__asm__(".pushsection .note.weft, \"a\", %note\n\t"
	".balign 4\n\t"
	".4byte 5, 8, 1\n\t"
	".asciz \"weft\"\n\t"
	".balign 4\n\t"
	".8byte wefti_layout - .\n\t"
	".popsection");
_Static_assert(WEFTI_LAYOUT_NOTE == 1, "the third number");

void wefti_layout_begin(void)
{
	const uintptr_t tp = wefti_arch_tp_get();

	places.self = wefti_self_offset();
	places.tid = wefti_rt.own_tls ? (uintptr_t)wefti_tls_field(tp,
				wefti_tls_layout.pthread_tid) - tp : 0;
	places.names = wefti_name_table();
	places.fds = wefti_fd_directory();
}

void wefti_layout_add(const struct wefti_layout *more)
{
	places.more = more;
}
