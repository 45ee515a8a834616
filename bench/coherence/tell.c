/* SPDX-License-Identifier: MIT */
/* coherence/tell.c - one line of JSON for a measured part */
#include <stdlib.h>
#include <string.h>

#include "coherence/coherence.h"
#include "coherence/turn.h"

static const char *const names[MESI_EVENTS] = {
	[MESI_HIT] = "hit", [MESI_FIRST] = "first", [MESI_FETCH] = "fetch",
	[MESI_TAKE] = "take", [MESI_UPGRADE] = "upgrade", [MESI_MISSED] = "missed",
};

static void put_text(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fputc('\\', f);
		fputc((unsigned char)*s < ' ' ? ' ' : *s, f);
	}
	fputc('"', f);
}

static void put_tally(FILE *f, const struct coherence_tally *t)
{
	fputs("{\"file\":", f);
	put_text(f, t->site->file);
	fprintf(f, ",\"line\":%u,\"what\":", t->site->line);
	put_text(f, t->site->what);
	fprintf(f, ",\"write\":%u,\"object\":", t->site->is_write);
	put_text(f, t->object ? t->object : "");
	for (unsigned k = 0; k < MESI_EVENTS; k++)
		fprintf(f, ",\"%s\":%llu", names[k],
			(unsigned long long)t->count[k]);
	fprintf(f, ",\"invalidated\":%llu}", (unsigned long long)t->invalidated);
}

void coherence_tell(const struct bench_ctx *ctx, const char *metric, double ops,
		    double ns)
{
	const char *path = getenv("WEFT_COHERENCE");
	const struct coherence_tally *t;
	FILE *f = path ? fopen(path, "ae") : NULL;

	if (!f)
		return;
	fprintf(f, "{\"bench\":\"%s%s\",\"vcpus\":%u,\"threads\":%u,\"ops\":%.0f,"
		"\"ns\":%.0f,\"rescues\":%u,\"places\":[", ctx->question->name,
		metric, ctx->vcpus, ctx->threads, ops, ns, turn_rescues());
	for (unsigned n = 0, first = 1; (t = coherence_tally(n)); n++) {
		uint64_t sum = 0;

		for (unsigned k = 0; k < MESI_EVENTS; k++)
			sum += t->count[k];
		if (sum == 0)
			continue;
		if (!first)
			fputc(',', f);
		first = 0;
		put_tally(f, t);
	}
	fputs("]}\n", f);
	if (fclose(f) != 0)
		bench_fail("cannot write %s", path);
}
