/* SPDX-License-Identifier: MIT */
/*
 * os/object/cfi_entry.c - what .eh_frame has for an instruction
 *
 * The Linux Standard Base, "Exception Frames". A common entry (CIE) has what functions
 * share, a function's entry (FDE) the rest. .eh_frame_hdr is a sorted table of the
 * functions.
 */
#include "os/object/cfi_entry.h"

#include "os/object/objects.h"

/* The head of .eh_frame_hdr, with the encodings that all linkers write. */
struct eh_head {
	uint8_t version, pointer, count, table;
	int32_t eh_frame;
	uint32_t entries;
};

#define EH_SDATA4_PCREL		0x1b
#define EH_UDATA4		0x03
#define EH_SDATA4_DATAREL	0x3b

struct eh_entry {
	int32_t function, fde;	/* from the head */
};

/* Encodings of an address: how many bytes, with a sign, and from where. */
#define PE_BYTES		0x07
#define PE_SIGNED		0x08
#define PE_FROM			0x70
#define PE_PCREL		0x10
#define PE_INDIRECT		0x80
#define PE_OMIT			0xff

static uint64_t take_encoded(struct wefti_bytes *b, unsigned encoding)
{
	static const uint8_t sizes[] = { 8, 0, 2, 4, 8 };
	const uintptr_t here = b->at;
	const unsigned kind = encoding & PE_BYTES;
	uint64_t value = 0;

	if (encoding & PE_INDIRECT || kind >= sizeof(sizes) || !sizes[kind])
		b->failed = 1;
	else if (encoding & PE_SIGNED)
		value = (uint64_t)wefti_bytes_signed(b, sizes[kind]);
	else
		value = wefti_bytes_take(b, sizes[kind]);
	if ((encoding & PE_FROM) == PE_PCREL)
		return value + here;
	if (encoding & PE_FROM)
		b->failed = 1;
	return value;
}

/* The last function that begins at or below pc. 0: none. */
static uintptr_t find_fde(uintptr_t pc)
{
	const struct wefti_object *o = wefti_os_object_of(pc);
	const uintptr_t hdr = o ? o->eh_frame_hdr : 0;
	struct eh_head head;
	struct eh_entry e;
	uint32_t low = 0, high;

	if (!hdr || !wefti_os_unwind_read(&head, hdr, sizeof(head)) || head.version != 1 ||
	    head.pointer != EH_SDATA4_PCREL || head.count != EH_UDATA4 ||
	    head.table != EH_SDATA4_DATAREL)
		return 0;
	for (high = head.entries; low < high;) {
		const uint32_t middle = low + (high - low) / 2;

		if (!wefti_os_unwind_read(&e, hdr + sizeof(head) + middle * sizeof(e),
					  sizeof(e)))
			return 0;
		if (pc >= hdr + (uintptr_t)(intptr_t)e.function)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || !wefti_os_unwind_read(&e, hdr + sizeof(head) +
					      (low - 1) * sizeof(e), sizeof(e)))
		return 0;
	return hdr + (uintptr_t)(intptr_t)e.fde;
}

/* The bytes behind an entry's length. */
static struct wefti_bytes open_entry(uintptr_t at)
{
	struct wefti_bytes b = { at, at + 4, 0 };
	const uint64_t bytes = wefti_bytes_take(&b, 4);

	if (bytes == 0 || bytes > WEFTI_CFI_ENTRY_MOST)
		b.failed = 1;
	b.end = b.at + (uintptr_t)bytes;
	return b;
}

static void skip_personality(struct wefti_bytes *b)
{
	const unsigned encoding = (unsigned)wefti_bytes_take(b, 1);

	if (encoding != PE_OMIT)
		(void)take_encoded(b, encoding & ~(unsigned)PE_INDIRECT);
}

static void read_augmentation(struct wefti_bytes *b, uintptr_t text, struct wefti_cie *c)
{
	struct wefti_bytes letters = { text, b->end, 0 };
	uintptr_t end;

	if (wefti_bytes_take(&letters, 1) != 'z')
		return;
	c->has_more = 1;
	end = (uintptr_t)wefti_bytes_uleb(b);
	end += b->at;
	for (;;) {
		const uint64_t letter = wefti_bytes_take(&letters, 1);

		if (letter == 'R')
			c->encoding = (uint8_t)wefti_bytes_take(b, 1);
		else if (letter == 'L')
			(void)wefti_bytes_take(b, 1);
		else if (letter == 'P')
			skip_personality(b);
		else if (letter != 'S' && letter != 'B' && letter != 'G')
			break;
	}
	b->at = end;
}

static int read_cie(uintptr_t at, struct wefti_cie *c)
{
	struct wefti_bytes b = open_entry(at);
	const uint64_t id = wefti_bytes_take(&b, 4), version = wefti_bytes_take(&b, 1);
	const uintptr_t text = b.at;

	*c = (struct wefti_cie){ 0 };
	while (wefti_bytes_take(&b, 1));
	c->code_align = wefti_bytes_uleb(&b);
	c->data_align = wefti_bytes_sleb(&b);
	c->link = version == 1 ? wefti_bytes_take(&b, 1) : wefti_bytes_uleb(&b);
	read_augmentation(&b, text, c);
	c->code = b;
	return b.failed || id != 0 || (version != 1 && version != 3) ||
	       c->link >= WEFTI_ARCH_UNWIND_REGISTERS ? -1 : 0;
}

int wefti_os_cfi_entries(uintptr_t pc, struct wefti_cie *c, struct wefti_bytes *code,
			 uintptr_t *low)
{
	const uintptr_t at = find_fde(pc);
	struct wefti_bytes b = open_entry(at);
	const uintptr_t here = b.at;
	uintptr_t bytes;

	if (!at || b.failed ||
	    read_cie(here - (uintptr_t)wefti_bytes_take(&b, 4), c) != 0)
		return -1;
	*low = (uintptr_t)take_encoded(&b, c->encoding);
	bytes = (uintptr_t)take_encoded(&b, c->encoding & (PE_BYTES | PE_SIGNED));
	if (c->has_more) {
		const uint64_t more = wefti_bytes_uleb(&b);

		b.at += (uintptr_t)more;
	}
	*code = b;
	return b.failed || pc - *low >= bytes ? -1 : 0;
}
