/* SPDX-License-Identifier: MIT */
/*
 * os/object/unwind.c - the call stack of a context, by the unwind tables
 *
 * All that is read comes from wefti_os_unwind_read(). That takes the stack from a copy,
 * and everything else through a small cache of pages, copied without a fault. Our own list
 * of objects says where the unwind tables are (os/object/cfi.c reads them). So there is no
 * lock, no malloc, no descriptor, and nothing that has to be loaded.
 *
 * Where no table says anything, as in code that a compiler made at run time, the frame
 * pointer is followed. It may not be one: then the stack ends, or has wrong frames.
 *
 * Rejected:
 * - libunwind, loaded when the runtime starts: half of what the start cost (a kernel
 *   thread, and a library whose calls had to be bound to libc's). A dump had no stacks
 *   where the library or the loader's lock could not be had.
 * - the same, loaded by the first dump: a library of another root would run with all the
 *   process's rights.
 * - libgcc's unwinder: it walks the stack that it runs on, and takes the loader's lock.
 */
#include "os/object/unwind.h"

#include <errno.h>
#include <string.h>

#include "interrupted.h"
#include "os/call/copy.h"
#include "os/object/cfi.h"

static const struct wefti_stack_copy *stack;	/* what is unwound now, or NULL */

/* Pages that were read: tables, text, and stacks beyond the copy. */
#define PAGE	4096u
#define PAGES	64u

static struct page {
	uintptr_t start;	/* 0: none */
	size_t bytes;
	char text[PAGE];
} pages[PAGES];

static int read_page(char *to, uintptr_t from, size_t bytes)
{
	const uintptr_t start = from & ~(uintptr_t)(PAGE - 1);
	const size_t offset = from - start;
	struct page *p = &pages[start / PAGE % PAGES];

	if (p->start != start) {
		p->start = start;
		p->bytes = wefti_os_copy(p->text, (void *)start, PAGE);
	}
	if (offset + bytes > p->bytes)
		return 0;
	memcpy(to, p->text + offset, bytes);
	return 1;
}

int wefti_os_unwind_read(void *to, uintptr_t from, size_t bytes)
{
	const uintptr_t offset = stack ? from - stack->from : 0;
	char *at = to;

	if (stack && offset < stack->bytes && stack->bytes - offset >= bytes) {
		memcpy(to, stack->text + offset, bytes);
		return 1;
	}
	while (bytes > 0) {
		const size_t room = PAGE - from % PAGE;
		const size_t some = bytes < room ? bytes : room;

		if (!read_page(at, from, some))
			return 0;
		at += some;
		from += some;
		bytes -= some;
	}
	return 1;
}

void wefti_os_unwind_begin(void)
{
	for (size_t i = 0; i < PAGES; i++)
		pages[i].start = 0;
	wefti_os_cfi_forget();
}

/*
 * Is it where a handler returns to? It begins there, and its caller was
 * interrupted: neither is a return address.
 */
static int is_sigreturn(uintptr_t pc)
{
	unsigned char code[WEFTI_ARCH_SIGRETURN_BYTES];

	return wefti_os_unwind_read(code, pc, sizeof(code)) &&
	       wefti_arch_is_sigreturn(code);
}

static void take_context(struct wefti_cfi_frame *f, const ucontext_t *uc)
{
	f->pc = wefti_arch_ucontext_pc(uc);
	for (int i = 0; i < WEFTI_ARCH_UNWIND_REGISTERS; i++)
		(void)wefti_arch_register(uc, i, &f->reg[i]);
}

/* The handler has returned: the kernel's frame is at the stack pointer. */
static int leave_handler(struct wefti_cfi_frame *f)
{
	static ucontext_t uc;

	if (!wefti_os_unwind_read(&uc, f->reg[WEFTI_ARCH_NUMBER_SP] +
				       WEFTI_ARCH_SIGRETURN_CONTEXT,
				  WEFTI_ARCH_CONTEXT_BYTES))
		return -1;
	take_context(f, &uc);
	return 0;
}

/* The caller's frame pointer, and the return address: see WEFTI_ARCH_RECORD_END. */
static int follow_frame_pointer(struct wefti_cfi_frame *f)
{
	const uintptr_t fp = f->reg[WEFTI_ARCH_NUMBER_FP];
	uintptr_t record[2];

	if (fp % sizeof(fp) != 0 || fp < f->reg[WEFTI_ARCH_NUMBER_SP] ||
	    !wefti_os_unwind_read(record, fp + WEFTI_ARCH_RECORD_END - sizeof(record),
				  sizeof(record)))
		return -1;
	f->reg[WEFTI_ARCH_NUMBER_SP] = fp + WEFTI_ARCH_RECORD_END;
	f->reg[WEFTI_ARCH_NUMBER_FP] = record[0];
	f->pc = wefti_arch_code(record[1]);
	return 0;
}

/* A return address may be behind the function that made the call. */
static int step(struct wefti_cfi_frame *f, int is_return)
{
	const int error = wefti_os_cfi_step(f, is_return ? f->pc - 1 : f->pc);

	return error == -ENOENT ? follow_frame_pointer(f) : error;
}

size_t wefti_os_unwind(const ucontext_t *context,
		       const struct wefti_stack_copy *copy,
		       uintptr_t *pcs, size_t most)
{
	struct wefti_cfi_frame f = { 0 };
	uintptr_t last = 0, last_pc = 0;
	int was_interrupted = 0, is_handlers_end = 0;
	size_t n = 0;

	stack = copy;
	take_context(&f, context);
	while (n < most && (n == 0 || f.pc != 0)) {
		const uintptr_t sp = f.reg[WEFTI_ARCH_NUMBER_SP];

		/* Up the stack only: what else it is told is no stack. */
		if (n > 0 && (sp < last || (sp == last && f.pc == last_pc)))
			break;
		last = sp;
		last_pc = f.pc;
		was_interrupted = is_handlers_end;
		is_handlers_end = is_sigreturn(f.pc);
		pcs[n++] = f.pc | (was_interrupted || is_handlers_end ? WEFTI_PC_EXACT : 0);
		if (is_handlers_end ? leave_handler(&f) != 0 :
				      step(&f, n > 1 && !was_interrupted) != 0)
			break;
	}
	stack = NULL;
	return n;
}
