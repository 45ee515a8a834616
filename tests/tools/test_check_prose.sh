#!/bin/sh
# SPDX-License-Identifier: MIT
# test_check_prose.sh - each rule finds what it is for, and nothing in good prose
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2016
. "$(dirname "$0")/common.sh"

cd "$work" || exit 1
cat >good.md <<'END'
# A mutex

The waiting thread gets -EPIPE. A reader who knows pthreads understands it; a thread
whose VCPU was taken waits. Who owns the lock?

    who waits is told        (an example)

| a word | `who` is code |

<!-- declarations that are not shown
int who; whose; whom;
-->
END
cat >good.c <<'END'
/*
 * good.c - one word for one thing
 *
 * Writers
 *   ring.word   who   writes
 *
 *   FREE --by a thread, who comes--> TAKEN
 */
static const char *text = "/who asks the weft server";	/* The owner writes it. */
static const char *name = "who waits";
#define ENTER	__asm__("who waits is told")
END
passes "good prose" "$tools/check-prose" good.md good.c

# bad WHAT RULE FILE: the text is on standard input
bad()
{
	cat >"$3"
	fails "$1" "$3:[0-9]*: $2:" "$tools/check-prose" "$3"
}

bad "who as the subject" who a.md <<'END'
A channel is closed. Who waits is told.
END
bad "prose behind a hidden comment" who h.md <<'END'
<!-- hidden
-->
Who waits is told.
END
bad "whom after a preposition" who b.c <<'END'
/* The thread for whom it was made. */
END
bad "whose without a noun" who c.c <<'END'
/* Whose call was the last one may destroy it. */
END
bad "a comment of a script" who d.sh <<'END'
#!/bin/sh
# The name of who waits.
END
bad "a manual page" who e.7 <<'END'
.SH WAITS
It tells
.B weft
who waits.
END
bad "a reason for a mutant" who mutate-survivors <<'END'
runtime/a.c who_is: load_acquire(&who) -> relaxed
	Nobody reads it: who waits is told.
END
bad "a long sentence, over lines" long f.md <<'END'
This is a sentence with many words that goes on and on, over one line and over the
next, and that tells the reader of one thing and of another and of a third, until
nobody knows how it began or what it was that it was going to say at all.
END
bad "a fronted object" of g.md <<'END'
- Of several threads one gets it.
END
bad "a word that is not the glossary's" word h.md <<'END'
Each OS thread carries one.
END
bad "a usage" who k.sh <<'SCRIPT'
cat <<END
usage: a

Who waits is told.
END
SCRIPT
bad "comments of Rust, over lines" long i.rs <<'END'
/// This is a sentence with many words that goes on and on, over one line and over
/// the next, and that tells the reader of one thing and of another and of a third,
/// until nobody knows how it began or what it was that it was going to say at all.
END
bad "a message" who l.c <<'END'
static const char *text = "weft: who waits \"here\" " /* who */
	"is told";
END
bad "a message of several lines" long m.c <<'END'
const char *text =
"This is a sentence with %d words that goes on and on, over one line and over\n"
"the next, and that tells the reader of one thing and of another and of a third,\n"
"until nobody knows how it began or what it was that it was going to say at all.\n";
END
bad "a help text" of n.c <<'END'
const char *text =
"  -n, --name      the name\n"
"  -t, --threads   of each VCPU as many threads\n";
END
bad "a test case with a pronoun for a name" case j.c <<'END'
static const struct test_case cases[] = {
	TEST(who_waits_is_told),
};
END
mkdir -p pthread/core
bad "a note in the table of functions" of pthread/core/table.h <<'END'
	OURS(open, \
		"of a FIFO: in a region") \
END
printf '\tHELP("a pipe" \\\n\t\t"of weft")\n' >pthread/core/table_a.h
cat >good.sh <<'END'
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2016
cat <<'THERE'
# Who waits is told.
THERE
END
passes "a here-document, and literals that are one" \
	"$tools/check-prose" good.sh pthread/core/table_a.h
fails "a comment after a here-document" 'good.sh:5: who' sh -c \
	'echo "# Who waits is told." >>good.sh; exec "$1" good.sh' sh "$tools/check-prose"
fails "an unknown option" 'check-prose \[--list\]' "$tools/check-prose" --nothing

finish
