#!/bin/sh
# SPDX-License-Identifier: MIT
# test_probes.sh - the library has a probe for each event, and weft(7) lists them
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
build=$PWD
. "$(dirname "$0")/common.sh"

library=$build/.libs/libweft.so
if [ ! -f "$library" ] || ! command -v readelf >/dev/null ||
    ! grep -q 'WEFT_HAS_SDT=1' "$build/Makefile"; then
	echo "test_probes.sh: skipped, there is no library here with probes, or no readelf"
	exit 0
fi

# of_library: the names in its notes
of_library()
{
	LC_ALL=C readelf -n "$library" | sed -n '/Provider: weft$/{n;s/ *Name: //p;}' | sort -u
}

# of_events FILE: what record/format.h has, except what only continues another event, and
# the samples of weft profile: a tracer takes its own
of_events()
{
	sed -n '/^enum wefti_event_kind {/,/^};/s/^	WEFTI_EVENT_\([A-Z_]*\),.*/\1/p' "$1" |
		grep -v -x -e NONE -e TEXT -e STACK -e SAMPLE | tr '[:upper:]' '[:lower:]' | sort -u
}

# of_manual FILE: the list in weft(7)
of_manual()
{
	sed -n '/probes: begin/,/probes: end/s/^\.It Cm //p' "$1" | sort -u
}

# agree FORMAT MANUAL
agree()
{
	of_library >"$work/library"
	of_events "$1" >"$work/events"
	of_manual "$2" >"$work/manual"
	[ -s "$work/library" ] && diff "$work/events" "$work/library" &&
		diff "$work/library" "$work/manual"
}

format=$top/runtime/record/format.h manual=$top/doc/man/weft.7
passes "events, probes and weft(7)" agree "$format" "$manual"

# Controls: what is missing on one side is noticed.
sed '/^\.It Cm seat_lost$/d' "$manual" >"$work/short.7"
fails "a probe that weft(7) does not list" '< seat_lost' agree "$format" "$work/short.7"
sed 's/^	WEFTI_EVENT_IDLE,/&\n	WEFTI_EVENT_NEVER,/' "$format" >"$work/long.h"
fails "an event without a probe" '< never' agree "$work/long.h" "$manual"

# told FORMAT SOURCE: weft trace has words for each kind of event
told()
{
	of_events "$1" >"$work/events"
	sed -n 's/^	case WEFTI_EVENT_\([A-Z_]*\):.*/\1/p' "$2" | tr '[:upper:]' '[:lower:]' |
		grep -v -x sample | sort -u >"$work/told"
	[ -s "$work/told" ] && diff "$work/events" "$work/told"
}

text=$top/cli/trace/text.c
passes "events and the words of weft trace" told "$format" "$text"
fails "an event without words" '< never' told "$work/long.h" "$text"

# with_a_vcpu <NOTES: each READY has something for its VCPU, and not a number that the
# compiler knew: each place has one at hand
with_a_vcpu()
{
	sed -n '/Name: ready$/,/Arguments:/s/ *Arguments: //p' >"$work/ready"
	[ -s "$work/ready" ] && ! grep -E '@[$]?-?[0-9]+ *$|@xzr *$' "$work/ready"
}
of_notes()
{
	LC_ALL=C readelf -n "$library"
}
ready_has_a_vcpu()
{
	of_notes | with_a_vcpu
}
# shellcheck disable=SC2016 # readelf's $0
ready_has_none()
{
	printf '    Name: ready\n    Arguments: 8@%%rbx 4@56(%%rbx) 8@$0\n' | with_a_vcpu
}
passes "the VCPU of each ready" ready_has_a_vcpu
# shellcheck disable=SC2016
fails "a ready without a VCPU" '8@$0' ready_has_none

# gdb stops at a probe, and finds the arguments where the note says they are.
if ! command -v gdb >/dev/null || ! command -v "${CC-cc}" >/dev/null ||
    ! gdb --batch --nx -ex 'set startup-with-shell off' -ex run true 2>&1 |
    grep -q 'exited normally'; then
	echo "test_probes.sh: arguments are left out, there is no gdb that runs programs"
	finish
fi
cat >"$work/program.c" <<'EOF'
#include <weft.h>

static void *work(void *arg)
{
	return arg;
}

int main(void)
{
	uint64_t id;

	if (weft_start(NULL) != 0 || weft_spawn(&id, NULL, work, NULL) != 0)
		return 1;
	return weft_join(id, NULL);
}
EOF
passes "a program" "${CC-cc}" -g -I"$top/include" -o "$work/program" \
	"$work/program.c" "$library" -Wl,-rpath,"$build/.libs" -pthread

# Without quotes: gdb's own variables.
# shellcheck disable=SC2016
at_spawn()
{
	gdb --batch --nx -ex 'set startup-with-shell off' \
		-ex 'handle SIGURG nostop noprint pass' -ex 'break main' -ex run \
		-ex 'break -probe-stap weft:spawn' -ex continue \
		-ex 'printf "argc=%d\n", $_probe_argc' -ex 'info symbol $_probe_arg2' \
		-ex 'printf "is_number=%d\n", $_probe_arg1 > 0 && $_probe_arg1 < 1000' \
		"$work/program" >"$work/gdb" 2>&1
	cat "$work/gdb"
	grep -q '^argc=3$' "$work/gdb" && grep -q '^work in section' "$work/gdb" &&
		grep -q '^is_number=1$' "$work/gdb"
}
passes "gdb at a spawn" at_spawn
finish
