# SPDX-License-Identifier: MIT
"""bench_pictures.py - what a picture of a benchmark is made of, and what all share

Pure data, without the library that draws: a picture has panels, a panel has
series, a series has points. bench_suites.py says which pictures a benchmark has.
What is the same in all pictures:
 - Filled marks are green threads, open marks are kernel threads.
 - Blue is weft. Vermilion is libc's pthreads.
 - A point is a median; its bar reaches from the least to the greatest sample.
No quantity is drawn as a bar from zero, so each axis may be logarithmic.
"""
import re
from dataclasses import dataclass, field

BLUE, SKY, VERMILION = "#0072b2", "#56b4e9", "#d55e00"
GREEN, ORANGE, PINK = "#009e73", "#e69f00", "#b5598f"
BLACK, GREY = "#000000", "#777777"
SOLID, DASHED, DOTTED = "-", (0, (4, 1.6)), (0, (1, 1.4))
DASH_DOT, LONG = (0, (5, 1.5, 1, 1.5)), (0, (8, 2))


@dataclass(frozen=True)
class Style:
    label: str
    colour: str
    mark: str
    green: bool = False         # a green thread's mark is filled
    dash: object = SOLID


@dataclass
class Series:
    style: Style
    points: list                # x or row, median, least, most


@dataclass
class Panel:
    title: str
    quantity: str               # with its unit; of the axis with the values
    series: list
    rows: list = None           # labels of the other axis; None: threads
    log: bool = True
    line: float = None          # a value to compare with
    top: float = None           # the axis goes from 0 to here


@dataclass
class Picture:
    name: str
    title: str                  # for the report; a picture has none
    caption: str
    panels: list
    columns: int
    bars: str = ""              # what the bars are, for the legend
    rows_are_series: bool = False
    styles: list = field(init=False)

    def __post_init__(self):
        self.styles = list(dict.fromkeys(
            s.style for p in self.panels for s in p.series))


STYLES = {
    "light": Style("weft, light threads", BLUE, "o", True),
    "tls": Style("weft, threads with TLS", SKY, "s", True),
    "pthreads": Style("pthreads", VERMILION, "^", dash=DASHED),
    "go": Style("Go", GREEN, "D", True, DASH_DOT),
    "epoll": Style("event loop (epoll)", BLACK, "v", dash=DOTTED),
    "futex": Style("futex", BLACK, "v", dash=DOTTED),
}

RANKS = {
    "light": STYLES["light"], "tls": STYLES["tls"],
    "weft-mpi": Style("weft run, with libweft-mpi", GREEN, "D", True, DASH_DOT),
    "weft-run": Style("weft run alone", ORANGE, "v", True, LONG),
    "pthreads": STYLES["pthreads"],
    "alone": Style("one thread a rank", BLACK, "x", dash=DOTTED),
}

POLICIES = {
    "strict": Style("weft, strict", BLUE, "o", True),
    "adaptive": Style("weft, adaptive", SKY, "s", True, LONG),
    "spin": Style("queue behind a spin lock", ORANGE, "D", True, DASH_DOT),
    "paper": Style("hand-off of the LFthreads paper", PINK, "v", True, DOTTED),
    "linux": STYLES["pthreads"],
    "none": Style("no mutex", GREY, "x", dash=DOTTED),
}

TABLE = {
    "one-weft": Style("one lock of weft's", BLUE, "o"),
    "each-weft": Style("weft's, a bucket", SKY, "s"),
    "one-mutex": Style("one pthread mutex", VERMILION, "^", dash=DASHED),
    "each-mutex": Style("pthread mutex, a bucket", PINK, "<", dash=DASHED),
    "rwlock": Style("one pthread rwlock", GREEN, ">", dash=DASH_DOT),
    "one-0": Style("one futex, no tries", BLACK, "v", dash=DOTTED),
    "one-10": Style("one futex, 10 tries", GREY, "D", dash=DOTTED),
    "one-100": Style("one futex, 100 tries", ORANGE, "P", dash=DOTTED),
}

ORDERS = {
    "relaxed": Style("relaxed", VERMILION, "^"),
    "acq-rel": Style("acquire and release", ORANGE, "D"),
    "seq-cst": Style("sequentially consistent", BLACK, "s"),
}

# For libraries beside weft's; colours, marks and dashes go round apart.
OTHER_COLOURS = ORANGE, GREEN, PINK, BLACK, GREY, VERMILION, "#8c6d31"
OTHER_MARKS = "D^v<>PX*dp12x"
OTHER_DASHES = DASHED, DASH_DOT, DOTTED, LONG, (0, (3, 1, 1, 1, 1, 1))

UNITS = {
    "ns": "time (ns)", "us": "time (µs)", "ms": "time (ms)",
    "M/s": "throughput (million a second)",
    "k/s": "throughput (thousand a second)", "bytes": "memory (bytes)",
    "share": "share of the least served × threads",
    "times": "number",
}
MORE_IS_BETTER = {"M/s", "k/s"}

MARKS = ("A mark is the median of {n} samples, and its bar reaches from the"
         " least to the greatest of them. ")
FILLED = "Filled marks are green threads, open marks are kernel threads. "
ALL_KERNEL = "All threads are kernel threads. "
CLOCKS = ("On 1 VCPU the time is the process's CPU time, on more it is wall"
          " time; pthreads may use as many CPUs as there are VCPUs. ")
LESS, MORE = "Less is better. ", "More is better. "


def others(names):
    """Styles for variants of a suite of libraries."""
    styles, n = {}, 0
    for name in names:
        if name in STYLES:
            styles[name] = STYLES[name]
        elif name.startswith("weft"):
            styles[name] = Style(name, SKY if "-ring" in name else BLUE,
                                 "s" if "-ring" in name else "o",
                                 name == "weft-chan")
        else:
            styles[name] = Style(name, OTHER_COLOURS[n % len(OTHER_COLOURS)],
                                 OTHER_MARKS[n % len(OTHER_MARKS)],
                                 dash=OTHER_DASHES[n % len(OTHER_DASHES)])
            n += 1
    return styles


def vcpus_of(results, pattern):
    return sorted({f.vcpus for f in results.figures
                   if re.fullmatch(pattern, f.bench)})


def vcpus_in_words(n):
    return f"{n} VCPU{'s' * (n != 1)}"


def point(x, figure, scale=1):
    return (x, figure.median * scale, figure.least * scale,
            figure.most * scale)


def curve(results, bench, variant, vcpus):
    return sorted(point(f.threads, f) for f in results.figures
                  if (f.bench, f.variant, f.vcpus) == (bench, variant, vcpus))


def with_points(pairs):
    return [Series(style, points) for style, points in pairs if points]


def case_label(bench, threads, labels):
    """{n} in a label is the number of threads. A case without a label has its name."""
    label = labels.get(bench, bench + ", {n}" * bool(threads))
    return label.replace("{n}", f"{threads:,}")


def dots(results, title, quantity, cases, styles, labels, scale=1, log=True):
    """A panel with a row for each case and number of VCPUs."""
    keys = cases_of(results, cases)
    several = len({v for _, v, _ in keys}) > 1
    rows = [case_label(b, t, labels)
            + (f"\n{vcpus_in_words(v)}" if several else "")
            for b, v, t in keys]
    return Panel(title, quantity, with_points(
        (style, [point(i, f, scale) for i, key in enumerate(keys)
                 if (f := results.find(key, variant))])
        for variant, style in styles.items()), rows, log)


def dots_by_vcpus(results, quantity, cases, styles, labels, scale=1, log=True):
    """A panel for each number of VCPUs; all have the rows of all."""
    keys = cases_of(results, cases)
    rows = list(dict.fromkeys((b, t) for b, _, t in keys))
    return [Panel(vcpus_in_words(v), quantity, with_points(
        (style, [point(i, f, scale) for i, (b, t) in enumerate(rows)
                 if (f := results.find((b, v, t), variant))])
        for variant, style in styles.items()),
        [case_label(b, t, labels) for b, t in rows], log)
        for v in sorted({v for _, v, _ in keys})]


def cases_of(results, patterns):
    """In the order of the patterns, and then of the file."""
    return list(dict.fromkeys(f.case for p in patterns for f in results.figures
                              if re.fullmatch(p, f.bench)))


def picture(name, title, caption, panels, columns,
            bars="least to greatest of {n} samples"):
    """A list of one picture, or of none when nothing was measured."""
    panels = [p for p in panels if p.series]
    if not panels:
        return []
    return [Picture(name, title, caption, panels, min(columns, len(panels)),
                    bars)]
