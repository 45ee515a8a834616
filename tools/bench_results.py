# SPDX-License-Identifier: MIT
"""bench_results.py - reads the JSON of a benchmark; ratios and their intervals"""
import json
import math
import statistics


class Wrong(Exception):
    """The input cannot be used; the text says why, for the user."""


class Figure:
    """What one variant reached in one case, in all repetitions."""

    def __init__(self, entry):
        self.bench = member(entry, "bench", str)
        self.variant = member(entry, "variant", str)
        self.vcpus = member(entry, "vcpus", int)
        self.threads = member(entry, "threads", int)
        self.unit = member(entry, "unit", str)
        self.median = number(entry, "median")
        self.least = number(entry, "min")
        self.most = number(entry, "max")
        self.count = member(entry, "n", int)
        self.values = entry.get("values", [])
        if not self.least <= self.median <= self.most:
            raise Wrong(f"{self.bench}, {self.variant}: the median"
                        f" {self.median:g} is not between {self.least:g} and"
                        f" {self.most:g}")

    @property
    def case(self):
        return self.bench, self.vcpus, self.threads


class Results:
    """One run of one benchmark."""

    def __init__(self, name, top):
        self.name = name
        self.suite = member(top, "suite", str)
        self.commit = member(top, "commit", str)
        self.date = top.get("date", "")
        self.command = top.get("command", "")
        self.machine = member(top, "machine", dict)
        for key in "cpu", "kernel", "compiler":
            member(self.machine, key, str)
        member(self.machine, "cores", int)
        self.others = number(self.machine, "others")
        self.settings = member(top, "settings", dict)
        self.preempt = self.settings.get("preempt", "none")
        self.figures = [Figure(e) for e in member(top, "results", list)]
        self.skipped = top.get("skipped", [])
        self.failed = top.get("failed", [])
        self.by_key = {f.case + (f.variant,): f for f in self.figures}

    def find(self, case, variant):
        return self.by_key.get(tuple(case) + (variant,))

    def variants(self, bench=None):
        """In the order of the file."""
        return list(dict.fromkeys(f.variant for f in self.figures
                                  if bench in (None, f.bench)))

    def samples(self):
        """How many samples a figure has, in words."""
        counts = {f.count for f in self.figures} or {0}
        if len(counts) == 1:
            return str(max(counts))
        return f"{min(counts)} to {max(counts)}"

    def machine_in_words(self):
        cores = self.machine["cores"]
        return (f"{self.machine['cpu']}, {cores} CPU{'s' * (cores != 1)};"
                f" {self.machine['kernel']}; {self.machine['compiler']}")

    def provenance(self):
        """The machine, the date, the command and the commit, as pairs."""
        lines = [("Machine", self.machine_in_words()),
                 ("Load", "other processes used"
                  f" {100 * self.others:.0f} % of the CPUs' time"
                  + ("; compare ratios only" if self.others > 0.05 else "")),
                 ("Date", self.date.replace("T", " ").replace("Z", " UTC")),
                 ("Command", "build/bench/" + self.command),
                 ("Commit", self.commit)]
        absent = {"Date": self.date, "Command": self.command,
                  "Commit": self.commit.replace("unknown", "")}
        return [(k, v if absent.get(k, v) else "not recorded")
                for k, v in lines]


KINDS = {str: "string", int: "whole number", (int, float): "number",
         list: "list", dict: "object"}


def member(where, name, kind):
    if not isinstance(where, dict) or name not in where:
        raise Wrong(f'there is no "{name}"')
    value = where[name]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise Wrong(f'"{name}" is {json.dumps(value)[:40]}, which is no'
                    f" {KINDS[kind]}")
    return value


def number(where, name):
    value = float(member(where, name, (int, float)))
    if not math.isfinite(value):
        raise Wrong(f'"{name}" is {value}')
    return value


def read(path):
    """The results in a file; its name tells mutex-preempted from mutex."""
    name = path.name[:-len(".json")] if path.name.endswith(".json") else \
        path.name
    try:
        top = json.loads(path.read_text(encoding="utf-8"))
        return Results(name, top)
    except OSError as e:
        raise Wrong(f"{path}: {e.strerror}") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as e:
        raise Wrong(f"{path}: no JSON: {e}") from None
    except Wrong as e:
        raise Wrong(f"{path}: no results of a benchmark: {e}") from None


def median_interval(values):
    """An interval of the median: its two ends, and the chance that it holds the median.

    The median of what was sampled lies between the k-th value from below and the
    k-th from above with a chance of 1 - 2 P(fewer than k of n lie below it). No
    distribution is assumed. The interval is the narrowest one with at least 95 %.
    With fewer than six values there is none, and the interval has all of them.
    """
    ordered = sorted(values)
    n = len(ordered)

    def chance(k):
        return 1 - 2 * sum(math.comb(n, i) for i in range(k)) / 2 ** n

    k = 1
    while 2 * (k + 1) <= n and chance(k + 1) >= 0.95:
        k += 1
    return ordered[k - 1], ordered[n - k], chance(k)


class Ratio:
    """The ratio of two figures.

    Their samples were taken in turns, so the n-th sample of one is divided by the n-th
    of the other. Figures without samples have the ratio of their medians alone.
    """

    def __init__(self, above, below):
        pairs = list(zip(above.values, below.values))
        self.low = self.high = self.chance = None
        self.count = 0
        if len(above.values) == len(below.values) >= 2 and \
                all(b > 0 for _, b in pairs):
            ratios = [a / b for a, b in pairs]
            self.median = statistics.median(ratios)
            self.low, self.high, self.chance = median_interval(ratios)
            self.count = len(ratios)
        else:
            self.median = above.median / below.median
