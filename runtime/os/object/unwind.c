/* SPDX-License-Identifier: MIT */
/*
 * os/object/unwind.c - the call stack of a context, by libunwind
 *
 * libunwind's own way to unwind its process walks the loader's list under the loader's
 * lock, asks the kernel about each page, and reads a stack that may be in use. So it is
 * used as a debugger uses it, as if the process were another one. All that it reads comes
 * from access_memory(). That takes the stack from a copy, and everything else through a
 * small cache of pages, copied without a fault. Our own list of objects says where the
 * unwind tables are. os/object/unwind_open.c finds libunwind at the start, and links it
 * for the first dump.
 *
 * libunwind keeps its parsed tables in memory of its own (mmap) under a lock
 * of its own, which only we take.
 *
 * Without libunwind there is no stack but the program counter: frame pointers
 * cannot be relied on, since neither libc nor most programs keep them.
 *
 * Writers
 *   state  make_ready, wefti_os_unwind_forget, wefti_os_unwind_load
 */
#include "os/object/unwind.h"

#include <errno.h>
#include <libunwind.h>
#include <string.h>

#include "interrupted.h"
#include "lockfree/atomic.h"
#include "os/call/copy.h"
#include "os/object/objects.h"
#include "os/object/unwind_open.h"

#define TEXT_(x)	#x
#define TEXT(x)		TEXT_(x)
#define NAME(f)		TEXT(UNW_OBJ(f))

static unw_addr_space_t (*create_addr_space)(unw_accessors_t *, int);
static int (*set_caching_policy)(unw_addr_space_t, unw_caching_policy_t);
static void (*flush_cache)(unw_addr_space_t, unw_word_t, unw_word_t);
static int (*init_remote)(unw_cursor_t *, unw_addr_space_t, void *);
static int (*step)(unw_cursor_t *);
static int (*get_reg)(unw_cursor_t *, int, unw_word_t *);
static int (*search_table)(unw_addr_space_t, unw_word_t, unw_dyn_info_t *,
			   unw_proc_info_t *, int, void *);

static unw_addr_space_t space;

/* NONE -> MAPPED -> READY; from each to NEVER. READY is set last, after all above. */
#define NONE	0
#define MAPPED	1
#define READY	2
#define NEVER	(-1)

static _Atomic int state;

/* What is unwound now. */
struct subject {
	const ucontext_t *context;
	const struct wefti_stack_copy *copy;
};

/* Pages that were read: tables, text, and stacks beyond the copy. */
#define PAGE	4096u
#define PAGES	64u

static struct page {
	uintptr_t start;	/* 0: none */
	size_t bytes;
	char text[PAGE];
} pages[PAGES] TABLE;

static int read_word(uintptr_t at, unw_word_t *value)
{
	uintptr_t start = at & ~(uintptr_t)(PAGE - 1);
	size_t offset = at - start;
	struct page *p = &pages[start / PAGE % PAGES];

	if (offset > PAGE - sizeof(*value))	/* across two pages: rare */
		return wefti_os_copy(value, (void *)at, sizeof(*value)) ==
		       sizeof(*value) ? 0 : -UNW_EINVAL;
	if (p->start != start) {
		p->start = start;
		p->bytes = wefti_os_copy(p->text, (void *)start, PAGE);
	}
	if (offset + sizeof(*value) > p->bytes)
		return -UNW_EINVAL;
	memcpy(value, p->text + offset, sizeof(*value));
	return 0;
}

static int access_memory(unw_addr_space_t as, unw_word_t at, unw_word_t *value,
			 int write, void *arg)
{
	const struct wefti_stack_copy *copy = ((struct subject *)arg)->copy;
	uintptr_t offset = at - copy->from;

	(void)as;
	if (write)
		return -UNW_EINVAL;
	if (offset < copy->bytes && copy->bytes - offset >= sizeof(*value)) {
		memcpy(value, copy->text + offset, sizeof(*value));
		return 0;
	}
	return read_word(at, value);
}

static int access_register(unw_addr_space_t as, unw_regnum_t number,
			   unw_word_t *value, int write, void *arg)
{
	uintptr_t found;

	(void)as;
	if (write || wefti_arch_register(((struct subject *)arg)->context,
					 number, &found) != 0)
		return -UNW_EBADREG;
	*value = found;
	return 0;
}

static int access_float(unw_addr_space_t as, unw_regnum_t number,
			unw_fpreg_t *value, int write, void *arg)
{
	(void)as;
	(void)number;
	(void)value;
	(void)write;
	(void)arg;
	return -UNW_EBADREG;
}

/* The head of .eh_frame_hdr, with the encodings that all linkers write. */
struct eh_head {
	uint8_t version, pointer, count, table;
	int32_t eh_frame;
	uint32_t entries;
};

#define EH_SDATA4_PCREL		0x1b
#define EH_UDATA4		0x03
#define EH_SDATA4_DATAREL	0x3b

static int find_proc(unw_addr_space_t as, unw_word_t pc, unw_proc_info_t *info,
		     int need_info, void *arg)
{
	const struct wefti_object *o = wefti_os_object_of(pc);
	unw_dyn_info_t table = { .format = UNW_INFO_FORMAT_REMOTE_TABLE };
	struct eh_head head;

	if (!o || !o->eh_frame_hdr ||
	    wefti_os_copy(&head, (void *)o->eh_frame_hdr, sizeof(head)) <
	    sizeof(head))
		return -UNW_ENOINFO;
	if (head.version != 1 || head.pointer != EH_SDATA4_PCREL ||
	    head.count != EH_UDATA4 || head.table != EH_SDATA4_DATAREL)
		return -UNW_ENOINFO;
	table.start_ip = o->low;
	table.end_ip = o->high;
	table.u.rti.segbase = o->eh_frame_hdr;
	table.u.rti.table_data = o->eh_frame_hdr + sizeof(head);
	table.u.rti.table_len = (unw_word_t)head.entries * 8 /
				sizeof(unw_word_t);
	return search_table(as, pc, &table, info, need_info, arg);
}

/* libunwind frees the info itself. */
static void put_info(unw_addr_space_t as, unw_proc_info_t *info, void *arg)
{
	(void)as;
	(void)info;
	(void)arg;
}

static int no_dyn_list(unw_addr_space_t as, unw_word_t *list, void *arg)
{
	(void)as;
	(void)list;
	(void)arg;
	return -UNW_ENOINFO;
}

static int no_resume(unw_addr_space_t as, unw_cursor_t *c, void *arg)
{
	(void)as;
	(void)c;
	(void)arg;
	return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t as, unw_word_t pc, char *buf, size_t size,
		   unw_word_t *offset, void *arg)
{
	(void)as;
	(void)pc;
	(void)buf;
	(void)size;
	(void)offset;
	(void)arg;
	return -UNW_ENOINFO;
}

static unw_accessors_t accessors = {
	.find_proc_info = find_proc,
	.put_unwind_info = put_info,
	.get_dyn_info_list_addr = no_dyn_list,
	.access_mem = access_memory,
	.access_reg = access_register,
	.access_fpreg = access_float,
	.resume = no_resume,
	.get_proc_name = no_name,
};

static int find_functions(void)
{
	const struct {
		void *function;
		const char *name;
	} wanted[] = {
		{ &create_addr_space, NAME(create_addr_space) },
		{ &set_caching_policy, NAME(set_caching_policy) },
		{ &flush_cache, NAME(flush_cache) },
		{ &init_remote, NAME(init_remote) },
		{ &step, NAME(step) },
		{ &get_reg, NAME(get_reg) },
		{ &search_table, NAME(dwarf_search_unwind_table) },
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		void *found = wefti_os_unwind_function(wanted[i].name);

		if (!found)
			return -ENOENT;
		memcpy(wanted[i].function, &found, sizeof(found));
	}
	return 0;
}

int wefti_os_unwind_load(void)
{
	const int now = load_seq_cst(&state);

	if (now != NONE)
		return now == NEVER ? -ENOENT : 0;
	if (wefti_os_unwind_map() != 0)
		return -ENOENT;
	store_seq_cst(&state, MAPPED);
	return 0;
}

int wefti_os_unwind_is_loaded(void)
{
	return load_seq_cst(&state) > NONE;
}

void wefti_os_unwind_forget(void)
{
	store_seq_cst(&state, NEVER);
}

/* MAPPED -> READY, or NEVER: it is another libunwind than those that we know. */
static void make_ready(void)
{
	if (wefti_os_unwind_link() != 0 || find_functions() != 0 ||
	    !(space = create_addr_space(&accessors, 0))) {
		store_seq_cst(&state, NEVER);
		return;
	}
	set_caching_policy(space, UNW_CACHE_GLOBAL);
	store_seq_cst(&state, READY);
}

void wefti_os_unwind_begin(void)
{
	for (size_t i = 0; i < PAGES; i++)
		pages[i].start = 0;
	if (load_seq_cst(&state) == MAPPED)
		make_ready();
	else if (load_seq_cst(&state) == READY)
		flush_cache(space, 0, 0);
}

/*
 * Is it where a handler returns to? It begins there, and its caller was
 * interrupted: neither is a return address. Not by unw_is_signal_frame(), which
 * on AArch64 tells of the frame that the cursor is at, and on x86-64 of the one
 * that it has left.
 */
static int is_sigreturn(uintptr_t pc)
{
	uint64_t code[2];
	_Static_assert(sizeof(code) >= WEFTI_ARCH_SIGRETURN_BYTES, "all of it");

	return read_word(pc, &code[0]) == 0 && read_word(pc + 8, &code[1]) == 0 &&
	       wefti_arch_is_sigreturn((const unsigned char *)code);
}

size_t wefti_os_unwind(const ucontext_t *context,
		       const struct wefti_stack_copy *copy,
		       uintptr_t *pcs, size_t most)
{
	struct subject subject = { context, copy };
	unw_cursor_t cursor;
	unw_word_t pc, sp, last = 0, last_pc = 0;
	int returns_from_signal = 0, interrupted;
	size_t n = 0;

	if (most == 0)
		return 0;
	/* Not UNW_TDEP_IP: on AArch64 that is where a call will return to. */
	pcs[0] = wefti_arch_ucontext_pc(context);
	if (load_seq_cst(&state) != READY ||
	    init_remote(&cursor, space, &subject) < 0)
		return 1;
	do {
		if (get_reg(&cursor, UNW_REG_IP, &pc) < 0 || pc == 0 ||
		    get_reg(&cursor, UNW_REG_SP, &sp) < 0)
			break;
		/* Up the stack only: what else it is told is no stack. */
		if (sp < last || (sp == last && pc == last_pc))
			break;
		last = sp;
		last_pc = pc;
		interrupted = returns_from_signal;
		returns_from_signal = is_sigreturn(pc);
		pcs[n++] = pc | (interrupted || returns_from_signal ?
				 WEFTI_PC_EXACT : 0);
	} while (n < most && step(&cursor) > 0);
	return n;
}
