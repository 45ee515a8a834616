#!/bin/sh
# SPDX-License-Identifier: MIT
# test_report_browser.sh - a browser without a network shows the report
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

# Its profile is its own, and no name is found.
browser=$(command -v chromium || command -v chromium-browser) || {
	echo "skipped: there is no chromium"
	exit 77
}
mkdir "$work/page"
cp "$(dirname "$0")/results/litmus.json" "$(dirname "$0")/results/locks.json" \
	"$work/page"
"$tools/bench-report" "$work/page" >"$work/message" 2>&1 || {
	cat "$work/message"
	exit 1
}
! grep -q matplotlib "$work/message" || {
	echo "skipped: $(grep matplotlib "$work/message" | tail -n 1)"
	exit 77
}

# Every script and picture of the page has been run when this is printed.
cat >>"$work/page/report.html" <<'END'
<script>
const broken = performance.getEntriesByType("resource").map(e => e.name);
const drawn = [...document.querySelectorAll("figure svg")].filter(s => {
	const box = s.getBoundingClientRect();
	return box.width > 300 && box.height > 80 &&
		[...s.querySelectorAll("use")].every(u =>
			document.getElementById(u.href.baseVal.slice(1)));
});
const wide = document.documentElement.scrollWidth - innerWidth;
document.body.dataset.seen = "loaded " + broken.length + ", pictures " +
	drawn.length + ", sections " + document.querySelectorAll("section").length +
	", too wide by " + Math.max(0, wide);
</script>
END
HOME=$work timeout 100 "$browser" --headless --no-sandbox --disable-gpu \
	--user-data-dir="$work/profile" --host-resolver-rules='MAP * ~NOTFOUND' \
	--no-first-run --disable-background-networking --disable-component-update \
	--disable-quic --disable-sync --window-size=1100,900 --dump-dom \
	"file://$work/page/report.html" >"$work/dom" 2>"$work/message" || {
	cat "$work/message"
	echo "the browser ended with status $?"
	exit 1
}
grep -o 'data-seen="[^"]*"' "$work/dom" >"$work/seen"
echo 'data-seen="loaded 0, pictures 3, sections 2, too wide by 0"' |
	diff - "$work/seen" || faults=1
finish
