#!/bin/sh
# SPDX-License-Identifier: MIT
# test_plots.sh - pictures and the report of recorded results have what they need
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

plot=$tools/plot-bench
report=$tools/bench-report
recorded=$(cd "$(dirname "$0")/results" && pwd)
mkdir "$work/made" "$work/bad"

command -v python3 >/dev/null || {
	echo "skipped: there is no python3"
	exit 77
}

# has FILE TEXT...: the file has each text
has()
{
	file=$1
	shift
	for text; do
		grep -Fq -e "$text" "$work/made/$file" && continue
		echo "$file does not have: $text"
		faults=$((faults + 1))
	done
}

# lacks FILE TEXT...: the file has none of them
lacks()
{
	file=$1
	shift
	for text; do
		grep -Fq -e "$text" "$work/made/$file" || continue
		echo "$file has: $text"
		faults=$((faults + 1))
	done
}

# bad NAME MESSAGE [SED]: both tools refuse the results, changed by sed
bad()
{
	sed "$3" "$recorded/litmus.json" >"$work/bad/$1.json"
	fails "plot-bench: $1" "$1.json: .*$2" "$plot" "$work/bad/$1.json" "$work/made"
	fails "bench-report: $1" "$1.json: .*$2" "$report" "$work/bad"
	grep -q "<section id=\"$1\">" "$work/bad/report.html" || {
		echo "the report does not say that $1.json is bad"
		faults=$((faults + 1))
	}
	rm "$work/bad/$1.json"
}

bad cut 'no JSON' 10q
bad empty 'no JSON' d
bad list 'no "suite"' '1c[]
1!d'
bad no-results 'no "results"' s/results/others/
bad text 'is "5", which is no' 's/"median": [0-9.]*/"median": "5"/'
bad not-finite 'is nan' 's/"median": [0-9.]*/"median": NaN/'
bad disorder 'is not between' 's/"min": [0-9.]*/"min": 1e99/'
fails "results that are not there" 'none.json: No such file' \
	"$plot" "$work/none.json" "$work/made"
fails "a directory that is not there" 'none: is no directory' \
	"$plot" "$recorded/litmus.json" "$work/none"
fails "a directory without results" 'there are no results' "$report" "$work/made"
fails "no arguments" 'usage: tools/plot-bench' "$plot"

# The words need no matplotlib.
passes "the words of the pictures" env PYTHONPATH="$tools" \
	PYTHONDONTWRITEBYTECODE=1 python3 - "$recorded" <<'END'
import pathlib
import re
import sys

import bench_results
import bench_suites

for path in sorted(pathlib.Path(sys.argv[1]).glob("*.json")):
    results = bench_results.read(path)
    pictures = bench_suites.pictures(results)
    assert pictures, path
    names = [p.name for p in pictures]
    assert len(set(names)) == len(names), names
    shown = {v for p in pictures for panel in p.panels for s in panel.series
             for point in s.points for v in [point[1]]}
    assert shown, path
    for p in pictures:
        assert re.fullmatch("[a-z0-9-]+", p.name), p.name
        assert p.name.startswith(results.name), p.name
        assert "samples" in p.bars or "pairs" in p.bars, p.bars
        assert "hreads" in p.caption and "{" not in p.caption, p.caption
        looks = [(s.mark, s.green) for s in p.styles]
        assert len(set(looks)) == len(looks), (p.name, looks)
        for s in p.styles:
            pthreads = s.label in ("pthreads", "no mutex")
            assert not (pthreads and s.green), s
        for panel in p.panels:
            assert re.search(r"\(.+\)|operation", panel.quantity), \
                panel.quantity
            for s in panel.series:
                assert all(low <= mid <= high
                           for _, mid, low, high in s.points)
            for row in panel.rows or []:
                assert "{" not in row, row

interval = bench_results.median_interval
assert interval([3, 1, 2]) == (1, 3, 0.75)
assert interval(range(6)) == (0, 5, 0.96875)
low, high, chance = interval(range(10))
assert (low, high) == (1, 8) and 0.95 <= chance < 0.98, (low, high, chance)


def figure(values):
    return bench_results.Figure({
        "bench": "b", "variant": "v", "vcpus": 1, "threads": 0, "unit": "ns",
        "median": sorted(values)[len(values) // 2], "min": min(values),
        "max": max(values), "n": len(values), "values": values})


# Taken in turns: the second repetition was twice as slow for both.
ratio = bench_results.Ratio(figure([10, 20, 12]), figure([5, 10, 6]))
assert (ratio.low, ratio.median, ratio.high) == (2, 2, 2)
ratio = bench_results.Ratio(figure([10, 20, 12]), figure([5, 10]))
assert ratio.low is None
END

# Without matplotlib: no pictures, but the report.
cp "$recorded/litmus.json" "$work/made"
mkdir "$work/without"
echo 'raise ImportError' >"$work/without/matplotlib.py"
# without COMMAND...: as where there is none
without()
{
	PYTHONDONTWRITEBYTECODE=1 WEFT_PYTHON_TRIED=1 PYTHONPATH=$work/without "$@"
}

without "$plot" "$recorded/litmus.json" "$work/made" 2>"$work/made/message"
[ $? -eq 77 ] || {
	echo "without matplotlib, the status is not 77"
	faults=$((faults + 1))
}
has message 'python3-matplotlib'
passes "a report without pictures" without "$report" "$work/made"
has report.html 'python3-matplotlib' '<section id="litmus">'
lacks report.html '<svg'

# With it.
"$plot" "$recorded/litmus.json" "$work/made" >"$work/message" 2>&1
status=$?
[ $status -ne 77 ] || {
	[ $faults -eq 0 ] || exit 1
	echo "skipped: $(cat "$work/message")"
	exit 77
}
cp "$work/made/litmus.svg" "$work/first.svg"
sed 's/"commit": "[^"]*"/"commit": "unknown"/' "$recorded/threads.json" \
	>"$work/made/threads.json"
cp "$recorded/mutex.json" "$work/made/mutex-preempted.json"
for name in litmus mutex-preempted threads; do
	passes "$name is drawn" "$plot" "$work/made/$name.json" "$work/made"
done
cmp "$work/first.svg" "$work/made/litmus.svg" || faults=$((faults + 1))

has threads-costs.svg 'time of one operation (ns)' 'yield among 1,000 threads' \
	'<!-- pthreads -->' 'weft, light threads' 'least to greatest of 3 samples' \
	'1 VCPU' '<!-- 1,000 -->'
has threads-memory.svg 'memory of one thread (bytes)'
has mutex-preempted-1-1-light.svg 'turns (million a second)' \
	'fairness (share × threads)' 'number of threads' 'weft, adaptive' \
	'2 VCPUs' 'least to greatest of 3 samples'
has litmus.svg 'weak outcomes (in a million trials)' 'store buffering'
has mutex-preempted-1-1-light.txt 'Machine: AMD EPYC, 2 CPUs; Linux 6.1.0' \
	'Date: 20' ' UTC' 'Command: build/bench/bench-mutex --quick' \
	'Commit: 0123456789ab' 'kernel threads'
has threads-costs.txt 'Commit: not recorded'
for f in "$work/made"/*.svg; do
	name=$(basename "$f" .svg)
	lacks "$name.svg" unknown .json .csv '>threads.json<'
	lacks "$name.txt" unknown
	[ "$(head -c 5 "$work/made/$name.pdf")" = %PDF- ] || {
		echo "$name.pdf is no PDF"
		faults=$((faults + 1))
	}
done

passes "the report" "$report" "$work/made"
passes "the report's form" python3 - "$work/made" <<'END'
import collections
import pathlib
import re
import sys
from html.parser import HTMLParser

out = pathlib.Path(sys.argv[1])
page = (out / "report.html").read_text(encoding="utf-8")
ids, targets, tags = collections.Counter(), set(), []
OPEN = {"meta", "br"}


class Look(HTMLParser):
    def handle_starttag(self, tag, attrs):
        if tag not in OPEN:
            tags.append(tag)
        for name, value in attrs:
            if name == "id":
                ids[value] += 1
            elif name in ("href", "xlink:href"):
                assert value.startswith("#"), value
                targets.add(value[1:])
            assert name not in ("src", "srcset", "data", "action"), name

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in OPEN:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert tags.pop() == tag, tag


look = Look()
look.feed(page)
look.close()
assert not tags, tags
# Nothing comes from elsewhere.
assert "://" not in page and "@import" not in page
targets |= set(re.findall(r"url\(#([^)]*)\)", page))
assert page.count("url(") == len(re.findall(r"url\(#", page))
assert all(n == 1 for n in ids.values()), ids.most_common(3)
assert targets <= set(ids), targets - set(ids)
for path in out.glob("*.json"):
    assert f'<section id="{path.stem}">' in page, path
pictures = list(out.glob("*.svg"))
assert len(pictures) > 4 and page.count("<svg") == len(pictures)
assert "times better" in page and " to " in page
END

finish
