# SPDX-License-Identifier: MIT
"""bench_draw.py - draws pictures by matplotlib, for a page of 170 mm"""
import io
import math
import os
import sys
import textwrap

from bench_results import Wrong

# Debian's matplotlib is there for Debian's python; PATH may have another one first.
DEBIAN = "/usr/bin/python3"
try:
    import matplotlib
except ImportError:
    if sys.executable != DEBIAN and os.access(DEBIAN, os.X_OK) and \
            not os.environ.get("WEFT_PYTHON_TRIED"):
        os.environ["WEFT_PYTHON_TRIED"] = "1"
        os.execv(DEBIAN, [DEBIAN] + sys.argv)
    raise ImportError("no pictures: matplotlib is not there (Debian:"
                      " python3-matplotlib)") from None
matplotlib.use("Agg")
# pylint: disable=wrong-import-position
from matplotlib import pyplot, ticker
from matplotlib.collections import LineCollection
from matplotlib.container import ErrorbarContainer
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

MM = 1 / 25.4
FULL, COLUMN = 170, 85          # widths of a page's text and of a column
RC = {
    "font.family": "DejaVu Sans", "font.size": 7, "axes.labelsize": 7,
    "axes.titlesize": 7.5, "xtick.labelsize": 6.5, "ytick.labelsize": 6.5,
    "legend.fontsize": 6.5, "axes.linewidth": 0.6, "xtick.major.width": 0.6,
    "ytick.major.width": 0.6, "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4, "lines.linewidth": 1, "lines.markersize": 3.8,
    "axes.spines.top": False, "axes.spines.right": False,
    "axes.axisbelow": True, "grid.color": "#dddddd", "grid.linewidth": 0.5,
    "pdf.fonttype": 42, "svg.fonttype": "path", "figure.facecolor": "white",
}
BAR = {"elinewidth": 0.7, "capsize": 1.1, "capthick": 0.7}


def plain(value, _=None):
    """1,000 and 0.5, not powers of ten."""
    return f"{value:,.0f}" if abs(value) >= 1 and value == round(value) else \
        f"{value:g}"


def log_ticks(low, high, many):
    """Few enough to be read: some in each decade, or one in one, two or three decades."""
    decades = math.log10(high / low)
    steps = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8) if decades < 0.6 else \
        (1, 2, 5) if decades < many else (1,)
    stride = 1 if decades < 5.5 else 2 if decades < 10 else 3
    first = math.floor(math.log10(low) / stride) * stride
    return [step * 10 ** e for e in range(first, first + 40, stride)
            for step in steps if low <= step * 10 ** e <= high]


def scale(ax, axis, values, panel):
    """Sets the limits and ticks of the axis with the values. axis: "x" or "y"."""
    def call(what, *args, **more):
        getattr(ax, what.format(axis))(*args, **more)

    of_axis = getattr(ax, f"{axis}axis")
    log, top, line = panel.log, panel.top, panel.line
    if line is not None:
        values = values + [line]
    if not log:
        call("set_{}lim", 0, top or 1.06 * max(values) or 1)
        of_axis.set_major_locator(ticker.MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    elif min(values) <= 0:
        call("set_{}scale", "symlog", linthresh=1, linscale=0.4)
        call("set_{}lim", -0.15, 2 * max(max(values), 5))
        of_axis.set_minor_locator(ticker.NullLocator())
    else:
        low, high = min(values), max(values)
        margin = 1.15 if high / low < 30 else 1.4
        low, high = low / margin, high * margin
        call("set_{}scale", "log")
        call("set_{}lim", low, high)
        # Labels beside each other take more of an axis than one above another.
        many = 3.1 if axis == "y" else 2.2 if high < 1e4 else 1.3
        of_axis.set_major_locator(
            ticker.FixedLocator(log_ticks(low, high, many)))
        of_axis.set_minor_locator(
            ticker.LogLocator(subs=range(1, 10), numticks=20))
        of_axis.set_minor_formatter(ticker.NullFormatter())
    of_axis.set_major_formatter(ticker.FuncFormatter(plain))


def face(style):
    return style.colour if style.green else "white"


def draw_series(ax, series, along, is_rows):
    style = series.style
    centre = [p[1] for p in series.points]
    reach = [[p[1] - p[2] for p in series.points],
             [p[3] - p[1] for p in series.points]]
    look = dict(marker=style.mark, color=style.colour, ecolor=style.colour,
                markerfacecolor=face(style), markeredgecolor=style.colour,
                markeredgewidth=0.9, clip_on=False, **BAR)
    if is_rows:
        ax.errorbar(centre, along, xerr=reach, linestyle="none", **look)
    else:
        ax.errorbar(along, centre, yerr=reach, linestyle=style.dash, **look)


def spread(n, width):
    """Offsets for n series, so that their bars stand beside each other."""
    return [width * ((i + 0.5) / n - 0.5) for i in range(n)]


def draw_rows(ax, panel, alone):
    """alone: each row is a series of its own, and needs no offset."""
    offsets = spread(len(panel.series), 0.66)
    for series, offset in zip(panel.series, offsets):
        draw_series(ax, series, [p[0] + (0 if alone else offset)
                                 for p in series.points], True)
    count = len(panel.rows)
    ax.set_ylim(count - 0.5, -0.5)
    ax.set_yticks(range(count), panel.rows)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x")
    for edge in range(1, count):
        ax.axhline(edge - 0.5, color="#eeeeee", linewidth=0.5, zorder=0)
    scale(ax, "x", all_values(panel), panel)
    if panel.line is not None:
        ax.axvline(panel.line, color="#555555", linewidth=0.7, zorder=0.5)
    ax.set_xlabel(panel.quantity)


def draw_curves(ax, panel):
    counts = sorted({p[0] for s in panel.series for p in s.points})
    # All offsets together are part of an octave, so a mark stays beside its tick.
    offsets = spread(len(panel.series), 0.6)
    for series, offset in zip(panel.series, offsets):
        draw_series(ax, series, [p[0] * 2 ** offset for p in series.points],
                    False)
    ax.set_xscale("log", base=2)
    ax.set_xlim(counts[0] / 1.4, counts[-1] * 1.4)
    ax.xaxis.set_major_locator(ticker.FixedLocator(counts))
    ax.xaxis.set_minor_locator(ticker.NullLocator())
    ax.xaxis.set_major_formatter(ticker.FuncFormatter(plain))
    ax.grid(axis="y")
    scale(ax, "y", all_values(panel), panel)
    if panel.line is not None:
        ax.axhline(panel.line, color="#555555", linewidth=0.7, zorder=0.5)


def all_values(panel):
    return [v for s in panel.series for p in s.points for v in p[1:]]


def legend_entries(picture):
    lines = any(p.rows is None for p in picture.panels)
    entries = [] if picture.rows_are_series or len(picture.styles) < 2 else [
        Line2D([], [], color=s.colour, marker=s.mark, markerfacecolor=face(s),
               markeredgecolor=s.colour, markeredgewidth=0.9, label=s.label,
               linestyle=s.dash if lines else "none") for s in picture.styles]
    kinds = {s.green for s in picture.styles}
    if picture.rows_are_series and len(kinds) == 2:
        entries += [Line2D([], [], color="#555555", marker="o",
                           markerfacecolor="#555555" if green else "white",
                           linestyle="none",
                           label="green threads" if green else "kernel threads")
                    for green in (False, True)]
    return entries + [bar_entry(picture.bars, lines)]


def bar_entry(text, upright):
    """What the bars at the points are, with such a bar before it."""
    line, cap = Line2D([], [], color="#555555", linestyle="none"), "_|"
    caps = [Line2D([], [], color="#555555", marker=cap[not upright],
                   markersize=2 * BAR["capsize"]) for _ in range(2)]
    bar = LineCollection([], colors="#555555", linewidths=BAR["elinewidth"])
    return ErrorbarContainer((line, caps, [bar]), has_xerr=not upright,
                             has_yerr=upright, label=text)


def add_legend(fig, picture, width):
    """At the top; returns the height that it takes, as a part of the figure."""
    entries = legend_entries(picture)
    lines = any(p.rows is None for p in picture.panels)
    # As many columns as fit: a letter takes about 1.17 mm.
    longest = max(len(e.get_label()) for e in entries) * 1.17 + \
        (11 if lines else 7)
    columns = max(1, min(len(entries), int(width / longest)))
    rows = -(-len(entries) // columns)
    columns = -(-len(entries) // rows)
    legend = fig.legend(handles=entries, loc="upper center", ncol=columns,
                        frameon=False, borderaxespad=0.2, handlelength=3 if lines else 1.5,
                        columnspacing=1.4, labelspacing=0.35)
    legend.set_in_layout(False)
    fig.canvas.draw()
    box = legend.get_window_extent()
    return box.height / fig.bbox.height + 1.5 / (fig.get_figheight() / MM)


def size_of(picture):
    """Width and height in mm, without the legend."""
    columns = picture.columns
    grid_rows = -(-len(picture.panels) // columns)
    rows = [p.rows for p in picture.panels]
    if rows[0] is not None:
        entries = max(len(r) for r in rows)
        lines = max(len(p.series) for p in picture.panels)
        text = max(row.count("\n") + 1 for row in rows[0])
        each = 4.4 if picture.rows_are_series else \
            max(5.0, 2.0 + 1.7 * lines, 1.5 + 2.9 * text)
        height = grid_rows * (entries * each + 14)
        width = COLUMN if columns == 1 else FULL
    else:
        width = FULL
        height = grid_rows * (46 if columns > 2 else 54) + 4
        if columns == 1:
            height = 80
    return width, height


def figure(picture):
    width, height = size_of(picture)
    fig = pyplot.figure(figsize=(width * MM, (height + 12) * MM))
    taken = add_legend(fig, picture, width)
    fig.set_layout_engine(ConstrainedLayoutEngine(
        rect=(0, 0, 1, 1 - taken), w_pad=1.2 * MM, h_pad=1 * MM, wspace=0.02,
        hspace=0.03))
    grid_rows = -(-len(picture.panels) // picture.columns)
    axes = fig.subplots(grid_rows, picture.columns, squeeze=False)
    for ax in axes.flat[len(picture.panels):]:
        ax.set_visible(False)
    for i, (ax, panel) in enumerate(zip(axes.flat, picture.panels)):
        at_left = i % picture.columns == 0
        above = picture.panels[i - picture.columns] if i >= picture.columns \
            else None
        if not above or above.title != panel.title:
            ax.set_title(panel.title)
        if panel.rows is not None:
            draw_rows(ax, panel, picture.rows_are_series)
            same = i and panel.rows == picture.panels[i - 1].rows
            if same and not at_left:
                ax.set_yticklabels([])
            continue
        draw_curves(ax, panel)
        if i + picture.columns >= len(picture.panels):
            ax.set_xlabel("number of threads")
        left = picture.panels[i - i % picture.columns]
        if at_left or panel.quantity != left.quantity:
            ax.set_ylabel(panel.quantity)
        else:
            ax.tick_params(axis="y", labelleft=False)
    same_scale(axes, picture)
    return fig


def same_scale(axes, picture):
    """Panels in a row that show one quantity get one scale, so they can be compared."""
    for at in range(0, len(picture.panels), picture.columns):
        row = picture.panels[at:at + picture.columns]
        if len({p.quantity for p in row}) == 1:
            union(axes.flat[at:at + len(row)], row,
                  "y" if row[0].rows is None else "x")


def union(axes, panels, axis):
    values = [v for p in panels for v in all_values(p)]
    for ax, p in zip(axes, panels):
        scale(ax, axis, values, p)


def draw(picture, *forms):
    """The picture as bytes in each form: svg, pdf."""
    # Without dates, and with ids that depend on the name alone: the same results
    # give the same files, and several pictures can stand in one page.
    without = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    made = []
    with matplotlib.rc_context(RC | {"svg.hashsalt": picture.name}):
        fig = figure(picture)
        for form in forms:
            out = io.BytesIO()
            fig.savefig(out, format=form, metadata=without[form])
            made.append(out.getvalue())
        pyplot.close(fig)
    return made


def write(picture, results, directory):
    """NAME.svg, NAME.pdf and the caption, NAME.txt; returns the path."""
    path = directory / picture.name
    try:
        for form, image in zip(("svg", "pdf"), draw(picture, "svg", "pdf")):
            path.with_name(f"{picture.name}.{form}").write_bytes(image)
        path.with_name(f"{picture.name}.txt").write_text(
            caption(picture, results), encoding="utf-8")
    except OSError as e:
        raise Wrong(f"{e.filename}: {e.strerror}") from None
    return path


def caption(picture, results):
    lines = textwrap.wrap(picture.caption, 80) + [""]
    for name, value in results.provenance():
        lines += textwrap.wrap(f"{name}: {value}", 80, subsequent_indent="  ")
    return "\n".join(lines) + "\n"
