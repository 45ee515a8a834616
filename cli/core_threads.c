/* SPDX-License-Identifier: MIT */
/*
 * cli/core_threads.c - weft core CORE -o OUT: parked threads become threads of a core file
 *
 * A core file has a note with the registers of each kernel thread. This command copies
 * the file, and adds such a note for each thread that is parked or ready. So any reader
 * of core files shows its stack, and no reader needs to know weft. The notes move to the
 * file's end; all else stays where it was.
 *
 * Where the threads are is in a table of the runtime (observe/layout.h), to which an ELF
 * note of the library or the program leads. Both are in the core file in most cases. What
 * is not is read from the mapped file, if that is here.
 */
#include "core_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

#define FIRST_TID	1000000000	/* no kernel thread has such a number */
#define LEAST_TID	(1 << 22)	/* nor one from here on */
#define STATUS_PID	32		/* in struct elf_prstatus of 64 bits */
#define STATUS_REGS	112
#define STATUS_MOST	4096		/* no CPU's struct is larger */
#define VCPUS_MOST	4096
#define SLOTS_MOST	(1u << 24)	/* of threads; a runtime has no more */
#define NOTE_TLS	0x401		/* NT_ARM_TLS */

/* What is read of the table; its names are those of observe/layout.c. */
struct known {
	uint64_t runtime, slots, tid;
	uint64_t state, on, monitor;
	uint64_t next, chunk, in_chunk;
	uint64_t bytes, sp, tp, wait, slot, bits, attention, cold, gen;
	uint64_t kind, green, main, phase, parked;
	uint64_t vcpu_count, vcpu, current;
	uint64_t frame, to_sp, to_tp;
	struct {
		uint64_t at, word;
		char name[24];
	} reg[32];
	unsigned regs;
};

#define NAME(text, field)	{ text, offsetof(struct known, field) }

static const struct {
	const char *name;
	size_t field;
} names[] = {
	NAME("at.runtime", runtime), NAME("at.slots", slots), NAME("at.tid", tid),
	NAME("runtime.state", state), NAME("runtime.on", on),
	NAME("runtime.monitor", monitor), NAME("runtime.vcpu_count", vcpu_count),
	NAME("runtime.vcpu", vcpu), NAME("vcpu.current", current),
	NAME("dense.next", next), NAME("dense.chunk", chunk),
	NAME("dense.in_chunk", in_chunk), NAME("thread.bytes", bytes),
	NAME("thread.sp", sp), NAME("thread.tp", tp), NAME("thread.wait", wait),
	NAME("thread.slot", slot), NAME("thread.bits", bits),
	NAME("thread.attention", attention), NAME("thread.cold", cold),
	NAME("thread.gen", gen), NAME("bits.kind", kind),
	NAME("kind.green", green), NAME("kind.main", main),
	NAME("wait.phase", phase), NAME("wait.parked", parked),
	NAME("frame.bytes", frame), NAME("core.to_sp", to_sp),
	NAME("core.to_tp", to_tp),
};

#define NAMES	(sizeof(names) / sizeof(*names))

static int learn_register(struct known *k, const char *name, uint64_t value)
{
	const int is_frame = strncmp(name, "reg.", 4) == 0;
	unsigned i = 0;

	if (!is_frame && strncmp(name, "core.", 5) != 0)
		return 0;
	name += is_frame ? 4 : 5;
	while (i < k->regs && strcmp(k->reg[i].name, name) != 0)
		i++;
	if (i == sizeof(k->reg) / sizeof(*k->reg))
		return 0;
	if (i == k->regs)
		snprintf(k->reg[k->regs++].name, sizeof(k->reg[i].name), "%s", name);
	*(is_frame ? &k->reg[i].at : &k->reg[i].word) = value;
	return 1;
}

/* Reads the table at this address. Returns 1 if it is one, and has all names. */
static int learn(const struct weft_cli_core_file *c, uint64_t at, struct known *k)
{
	struct {
		char name[24];
		uint64_t value;
	} e;
	size_t found = 0;

	memset(k, 0, sizeof(*k));
	if (!weft_cli_core_read(c, at, &e, sizeof(e)) ||
	    strcmp(e.name, "weft layout") != 0 || e.value != 1)
		return 0;
	while (weft_cli_core_read(c, at += sizeof(e), &e, sizeof(e)) && *e.name) {
		e.name[sizeof(e.name) - 1] = 0;
		for (size_t i = 0; i < NAMES; i++)
			if (strcmp(names[i].name, e.name) == 0) {
				memcpy((char *)k + names[i].field, &e.value, 8);
				*e.name = 0;
				found++;
			}
		if (*e.name)
			learn_register(k, e.name, e.value);
	}
	return found == NAMES;
}

static uint64_t number(const struct weft_cli_core_file *c, uint64_t at, size_t bytes)
{
	uint64_t n = 0;

	return weft_cli_core_read(c, at, &n, bytes) ? n : 0;
}

static uint64_t field(const char *thread, uint64_t offset, size_t bytes)
{
	uint64_t n = 0;

	memcpy(&n, thread + offset, bytes);
	return n;
}

static int runs(const struct weft_cli_core_file *c, const struct known *k, uint64_t at)
{
	const uint64_t count = number(c, k->runtime + k->vcpu_count, 4);

	for (uint64_t i = 0; i < count; i++)
		if (number(c, number(c, k->runtime + k->vcpu + 8 * i, 8) + k->current,
			   8) == at)
			return 1;
	return 0;
}

/* As observe/view.c: does the thread's saved context say where it is? */
static int has_context(const struct weft_cli_core_file *c, const struct known *k,
		       uint64_t at, const char *t)
{
	const uint64_t kind = field(t, k->bits, 1) & k->kind;
	const int is_parked = (field(t, k->wait, 8) & k->phase) == k->parked;

	if (!(field(t, k->gen, 4) & 1) || !field(t, k->cold, 8) ||
	    (kind != k->green && kind != k->main))
		return 0;
	return (is_parked || field(t, k->attention, 4) == 0) && !runs(c, k, at);
}

/*
 * The id that libc's block of the thread has: libthread_db knows the thread by it, and
 * gdb asks that library. The first thread has the id of a kernel thread, and a light one
 * has no block.
 */
static int32_t id_of(const struct weft_cli_core_file *c, const struct known *k,
		     const char *t)
{
	const uint64_t at = number(c, k->tid, 8), tp = field(t, k->tp, 8);
	const int32_t id = at && tp ? (int32_t)number(c, tp + at, 4) : 0;

	return id >= LEAST_TID ? id : FIRST_TID + (int32_t)field(t, k->slot, 4);
}

/* What gdb's gcore cannot read is left out of the file, or zeroes there. */
static int has_frame(const struct weft_cli_core_file *c, const struct known *k, uint64_t sp,
		     char *frame, size_t bytes)
{
	if (k->frame > bytes || !weft_cli_core_read(c, sp, frame, k->frame))
		return 0;
	for (size_t i = 0; i < k->frame; i++)
		if (frame[i])
			return 1;
	return 0;
}

/* Appends the notes of one thread. Returns 1, 0: its stack is not there, or -1: no memory. */
static int add_thread(struct weft_cli_core_file *c, const struct known *k, const char *t)
{
	uint64_t sp = field(t, k->sp, 8), tp = field(t, k->tp, 8), value;
	const int32_t tid = id_of(c, k, t);
	char frame[512], *status;
	int error;

	if (!has_frame(c, k, sp, frame, sizeof(frame)))
		return 0;
	status = calloc(1, c->status_bytes);
	if (!status)
		return -1;
	memcpy(status + STATUS_PID, c->status + STATUS_PID, 16);
	memcpy(status + STATUS_PID, &tid, sizeof(tid));
	for (unsigned i = 0; i < k->regs; i++)
		memcpy(status + STATUS_REGS + 8 * k->reg[i].word,
		       frame + k->reg[i].at, 8);
	value = sp + k->frame;
	memcpy(status + STATUS_REGS + 8 * k->to_sp, &value, 8);
	if (k->to_tp != (uint64_t)-1)
		memcpy(status + STATUS_REGS + 8 * k->to_tp, &tp, 8);
	error = weft_cli_core_note(c, "CORE", NT_PRSTATUS, status, c->status_bytes);
	if (!error && k->to_tp == (uint64_t)-1)
		error = weft_cli_core_note(c, "LINUX", NOTE_TLS, &tp, 8);
	free(status);
	return error ? -1 : 1;
}

/*
 * Returns how many were added; -1: no memory. There are no more than the file has room
 * for: a forged table may name one struct again and again.
 */
static int add_threads(struct weft_cli_core_file *c, const struct known *k, int *lost)
{
	const uint64_t limit = number(c, k->slots + k->next, 4);
	const uint64_t most = c->size / k->bytes;
	char *t = malloc(k->bytes);
	int n = 0, added;

	for (uint64_t i = 1; t && n >= 0 && (uint64_t)(n + *lost) < most && i < limit; i++) {
		const uint64_t at = number(c, k->slots + k->chunk +
					   8 * (i / k->in_chunk), 8) +
				    i % k->in_chunk * k->bytes;

		if (!weft_cli_core_read(c, at, t, k->bytes) || !has_context(c, k, at, t))
			continue;
		added = add_thread(c, k, t);
		*lost += added == 0;
		n = added < 0 ? -1 : n + added;
	}
	n = t ? n : -1;
	free(t);
	return n;
}

/* Does an item of `each` bytes at `at` lie within `bytes`? No sum here overflows. */
static int lies_in(uint64_t at, uint64_t each, uint64_t bytes)
{
	return each <= bytes && at <= bytes - each;
}

static int is_register(const struct weft_cli_core_file *c, uint64_t word)
{
	return word < STATUS_MOST && lies_in(STATUS_REGS + 8 * word, 8, c->status_bytes);
}

static int has_fields(const struct known *k)
{
	const uint64_t eight[] = { k->sp, k->tp, k->wait, k->cold };
	const uint64_t four[] = { k->slot, k->attention, k->gen };
	int has = lies_in(k->bits, 1, k->bytes);

	for (size_t i = 0; i < sizeof(eight) / sizeof(*eight); i++)
		has &= lies_in(eight[i], 8, k->bytes);
	for (size_t i = 0; i < sizeof(four) / sizeof(*four); i++)
		has &= lies_in(four[i], 4, k->bytes);
	return has;
}

/* Anyone may have made the core file: what its table says is used only if this holds. */
static int is_sound(const struct weft_cli_core_file *c, const struct known *k)
{
	if (!k->in_chunk || k->bytes > 4096 || !has_fields(k) || k->frame % 8 ||
	    c->status_bytes > STATUS_MOST || !is_register(c, k->to_sp) ||
	    (k->to_tp != (uint64_t)-1 && !is_register(c, k->to_tp)) ||
	    number(c, k->runtime + k->vcpu_count, 4) > VCPUS_MOST ||
	    number(c, k->slots + k->next, 4) > SLOTS_MOST)
		return 0;
	for (unsigned i = 0; i < k->regs; i++)
		if (!lies_in(k->reg[i].at, 8, k->frame) ||
		    !is_register(c, k->reg[i].word))
			return 0;
	return 1;
}

/* The runtimes of the process: libweft's, the preload library's. Counts what is not there. */
static int add_all(struct weft_cli_core_file *c, int *lost)
{
	struct known k;
	int found = -1, n;

	for (unsigned i = 0; i < c->file_count; i++) {
		const uint64_t table = weft_cli_core_table(c, &c->files[i]);

		if (!table || !learn(c, table, &k) || !is_sound(c, &k) ||
		    number(c, k.runtime + k.state, 4) != k.on)
			continue;
		n = add_threads(c, &k, lost);
		if (n < 0)
			return -2;
		found = (found < 0 ? 0 : found) + n;
	}
	return found;
}

static int tell_lost(const char *name, int lost)
{
	char why[100];

	snprintf(why, sizeof(why), "the stacks of %d threads are not in it; "
		 "weft core PID writes them", lost);
	return weft_cli_complain(0, name, why);
}

int weft_cli_core_threads(const char *name, const char *to)
{
	struct weft_cli_core_file c;
	const char *why = weft_cli_core_open(&c, name);
	int n, lost = 0, status = 1;

	if (why)
		return weft_cli_complain(1, name, why);
	n = add_all(&c, &lost);
	if (n == -1)
		why = "weft's runtime did not run there, or the core file lacks its data";
	else if (n < 0)
		why = strerror(ENOMEM);
	else
		why = weft_cli_core_write(&c, to);
	if (why) {
		weft_cli_complain(1, n < 0 ? name : to, why);
	} else {
		printf("%s is written: %d threads beside the %u kernel threads\n", to, n,
		       c.status_count);
		status = lost ? tell_lost(name, lost) : 0;
	}
	weft_cli_core_close(&c);
	return status;
}
