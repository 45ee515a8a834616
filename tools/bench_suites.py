# SPDX-License-Identifier: MIT
"""bench_suites.py - each benchmark's pictures: panels, words, captions"""
import re

from bench_pictures import (
    ALL_KERNEL, BLUE, CLOCKS, FILLED, LESS, MARKS, MORE, ORDERS, POLICIES, RANKS, SKY,
    STYLES, TABLE, UNITS, VERMILION, Panel, Style, case_label, cases_of, curve, dots,
    dots_by_vcpus, others, picture, point, vcpus_in_words, vcpus_of, with_points)
from bench_results import Ratio

THREADS_LABELS = {
    "yield": "yield among {n} threads", "spawn-join": "spawn and join",
    "fan-out": "spawn {n}, then join all", "fib": "fib, a spawn",
    "skynet": "skynet of {n}, a leaf",
    "sem-pingpong": "round trip, semaphore",
    "pairs": "round trip, {n} threads in pairs",
    "cond-pingpong": "round trip, condition variable",
    "wake-park-p50": "wake and park, median", "lock": "lock and unlock",
    "lock-strict": "lock and unlock, strict mutex",
    "wake-idle-p50": "wake an idle VCPU, median",
    "wake-idle-p99": "wake an idle VCPU, 99 %",
    "wake-idle-p99.9": "wake an idle VCPU, 99.9 %",
    "wake-park-p99": "wake and park, 99 %",
    "wake-park-p99.9": "wake and park, 99.9 %",
    "beside-computing-p50": "other thread computes, median",
    "beside-computing-p90": "other thread computes, 90 %",
    "beside-computing-max": "other thread computes, greatest",
    "beside-blocked-p50": "other thread blocks, median",
    "beside-blocked-p90": "other thread blocks, 90 %",
    "beside-blocked-max": "other thread blocks, greatest",
    "parked": "{n} parked", "parked-tables": "page tables for {n}",
    "parked-million": "{n} parked",
    "parked-million-tables": "page tables for {n}",
    "fib-speedup": "fib", "skynet-speedup": "skynet of {n}",
}


def threads(r):
    styles = {v: STYLES[v] for v in ("light", "tls", "pthreads")}
    costs = ["yield", "spawn-join", "fan-out", "fib", "skynet", "sem-pingpong",
             "cond-pingpong", "pairs", "wake-park-p50", "lock", "lock-strict"]
    delays = ["wake-park-p9.*", "wake-idle-.*", "beside-.*"]
    memory = ["parked", "parked-million", "parked(-million)?-tables"]
    return (picture("threads-costs", "What threads cost",
                    "What one operation of threads costs. " + LESS + MARKS
                    + FILLED + CLOCKS,
                    dots_by_vcpus(r, "time of one operation (ns)", costs,
                                  styles, THREADS_LABELS), 2)
            + picture("threads-delays", "How long a thread waits for a VCPU",
                      "How long a thread that could run waits until it runs. "
                      + LESS + MARKS + FILLED + "All times are wall time. ",
                      dots_by_vcpus(r, "delay (µs)", delays, styles,
                                    THREADS_LABELS, 1e-3), 2)
            + picture("threads-memory", "What a waiting thread occupies",
                      "Resident memory of one thread that waits, and the page"
                      " tables beside it, without the kernel's stack. " + LESS
                      + MARKS + FILLED,
                      [dots(r, "", "memory of one thread (bytes)", memory,
                            styles, THREADS_LABELS)], 1)
            + picture("threads-speedup", "What a second VCPU brings",
                      "How many times faster 2 VCPUs are than 1, by wall time,"
                      " repetition by repetition. " + MORE + MARKS + FILLED,
                      [dots(r, "", "speed-up by a second VCPU (times)",
                            [".*-speedup"], styles, THREADS_LABELS, log=False)],
                      1))


def mutex(r):
    made = []
    for work in "1:1", "1:1000":
        for variant in "light", "tls":
            made += mutex_picture(r, work, variant)
    return made


def mutex_picture(r, work, variant):
    vcpus = vcpus_of(r, f"mutex-{work}-.*")

    def panel(v, suffix, quantity, **more):
        return Panel(vcpus_in_words(v), quantity, with_points(
            (style, curve(r, f"mutex-{work}-{policy}{suffix}",
                          variant if style.green else "pthreads", v))
            for policy, style in POLICIES.items()), **more)

    if variant not in r.variants(f"mutex-{work}-strict"):
        return []
    preempted = {
        "processes": "Other processes compute beside it, so the kernel stops"
                     " owners of the mutex. ",
        "threads": "Other threads compute beside it, so owners of the mutex"
                   " are preempted. ",
    }.get(r.preempt, "")
    kind = "with TLS" if variant == "tls" else "light"
    return picture(
        f"{r.name}-{work.replace(':', '-')}-{variant}",
        f"Work {work}, {kind} threads",
        "Threads compete for a mutex, with work inside and outside of it in a"
        f" ratio of {work}. Above: turns of all threads. Below: the share of"
        " the least served thread times the number of threads, where 1 is"
        f" fair. {preempted}The threads of weft are {kind}. " + MORE + MARKS
        + FILLED + "Marks stand beside each other where they would overlap. "
        + CLOCKS,
        [panel(v, "", "turns (million a second)") for v in vcpus]
        + [panel(v, "-fairness", "fairness (share × threads)", log=False,
                 line=1, top=1.1) for v in vcpus], len(vcpus))


CHANNELS_LABELS = {
    "rendezvous": "rendezvous,\nround trip", "skynet": "skynet of {n},\na leaf",
    "one-to-one": "buffer,\none to one",
    "four-to-four": "buffer,\nfour to four",
    "sieve": "sieve of\n2,000 primes",
}


def channels(r):
    styles = {v: STYLES[v] for v in ("light", "tls", "go", "pthreads")}
    return picture(
        "channels", "What messages cost",
        "What messages through channels cost; a buffer has 128 places. Less time"
        " and more throughput are better. " + MARKS + FILLED + CLOCKS,
        [dots(r, title, quantity, cases, styles, CHANNELS_LABELS)
         for title, quantity, cases in (
             ("operations", "time (ns)", ["rendezvous", "skynet"]),
             ("streams", "messages (million a second)",
              ["one-to-one", "four-to-four"]),
             ("program", "time (ms)", ["sieve"]))], 3)


ECHO_LABELS = {"echo": "requests", "echo-p50": "median", "echo-p99": "99 %",
               "echo-p99.9": "99.9 %", "echo-cpu": "a request"}


def echo(r):
    styles = {v: STYLES[v] for v in ("light", "tls", "go", "epoll", "pthreads")}
    return picture(
        "echo", "A server with a thread a connection",
        "A TCP echo server with 1,000 connections that send 64 bytes at a"
        " time. Latencies are as the clients see them. More requests, less"
        " latency and less CPU time are better. " + MARKS + FILLED
        + "Go has a goroutine a connection, the event loop a kernel thread"
        " a VCPU. ",
        [dots(r, title, quantity, cases, styles, ECHO_LABELS, scale)
         for title, quantity, cases, scale in (
             ("throughput", "requests (thousand a second)", ["echo"], 1),
             ("latency", "latency (ms)", ["echo-p.*"], 1e-3),
             ("cost", "server's CPU time (µs)", ["echo-cpu"], 1))], 3)


def plan9(r):
    styles = {v: STYLES[v] for v in ("light", "tls", "pthreads")}
    kinds = {"free": "lock-free (weft)", "spin": "spin lock",
             "greased": "counted lock", "mutex": "mutex"}
    about = ("600 threads send 10,000 messages through one channel of 16 places"
             " and 600 receive them. The rows are kinds of channels. ")

    def panels(quantity, forms, log=True):
        labels = {form.format(k): text.format(words)
                  for k, words in kinds.items() for form, text in forms.items()}
        return dots_by_vcpus(r, quantity, list(labels), styles, labels, log=log)

    return (picture("plan9-program", "The Plan 9 program",
                    about + "The time is that of the whole program, starts and"
                    " ends of threads included. " + LESS + MARKS + FILLED
                    + "All times are wall time. ",
                    panels("wall time of the program (ms)",
                           {"program-{}": "{}"}), 2)
            + picture("plan9-atomics", "Atomic instructions of the program",
                      about + "Compare-and-swaps (CAS) and other atomic"
                      " instructions for each of 20,000 operations. Those of"
                      " libc are not counted. " + LESS + MARKS + FILLED,
                      panels("instructions for an operation",
                             {"cas-{}": "{}: CAS", "rmw-{}": "{}: others"},
                             False), 2)
            + picture("plan9-pacer", "A thread with a period beside the program",
                      about + "A thread with a period of 10 ms runs beside it;"
                      " the figure is how late it wakes. " + LESS + MARKS
                      + FILLED,
                      panels("delay (µs)", {"pacer-{}-p50": "{}: median",
                                            "pacer-{}-p99": "{}: 99 %",
                                            "pacer-{}-p99.9": "{}: 99.9 %"}),
                      2))


def curves(r, cases, styles, quantity, vcpus=None, **more):
    """A panel for each case, by numbers of threads."""
    panels = []
    for bench, title in cases:
        for v in vcpus_of(r, re.escape(bench)):
            panels.append(Panel(title, quantity, with_points(
                (style, curve(r, bench, variant, v))
                for variant, style in styles.items()), **more))
    return panels


SLAB_KINDS = {
    "allocators": ("uslab", "malloc", "jemalloc", "mimalloc"),
    "lists without locks": ("cas", "stack", "istack"),
    "lists under spinlocks": ("tas", "ttas", "backoff"),
    "lists under locks in order": ("ticket", "mcs", "mutex"),
}
SLAB_TIMED = ("uslab", "stack", "mutex", "malloc", "jemalloc", "mimalloc")


def slab(r):
    styles = others(r.variants())

    def weft_and(names):
        return {v: s for v, s in styles.items()
                if v.startswith("weft") or v in names}

    panels = [p for title, names in SLAB_KINDS.items()
              for p in curves(r, [("pair-64", title)], weft_and(names),
                              "pairs (million a CPU second)")]
    return (picture("slab-pairs", "Taking an object and giving it back",
                    "Objects of 64 bytes are taken, written to and given back."
                    " weft's slab is in each part. " + MORE + MARKS + ALL_KERNEL,
                    panels, 2)
            + picture("slab-latency", "How long one pair takes",
                      "How long it takes to take an object of 64 bytes, to write"
                      " to it and to give it back. The table has more lists. "
                      + LESS + MARKS + ALL_KERNEL,
                      curves(r, [("latency-64-p50", "median"),
                                 ("latency-64-p99", "99 %"),
                                 ("latency-64-p99.9", "99.9 %")],
                             weft_and(SLAB_TIMED), "time for a pair (ns)"), 3))


ATOMIC_CASES = [("stack-24", "stack, 24 bytes"), ("stack-16", "stack, 16 bytes"),
                ("load-24", "load, 24 bytes"), ("store-24", "store, 24 bytes")]


def atomic(r):
    styles = others(r.variants())
    return (picture("atomic-throughput", "Atomic objects of many bytes",
                    "Operations on an atomic object that no instruction can"
                    " do, or under a lock. " + MORE + MARKS + ALL_KERNEL,
                    curves(r, ATOMIC_CASES, styles,
                           "operations (million a second)"), 2)
            + picture("atomic-fairness", "How fair atomic objects are",
                      "The share of the least served thread times the number"
                      " of threads, where 1 is fair. " + MORE + MARKS
                      + ALL_KERNEL,
                      curves(r, [(b + "-fairness", t) for b, t in ATOMIC_CASES],
                             styles, "fairness (share × threads)", log=False,
                             line=1, top=1.1), 2))


QUEUES_CASES = {"1-1": "1 to 1", "1-1-batch": "1 to 1, by 32", "2-2": "2 to 2",
                "4-4": "4 to 4"}


def queues(r):
    styles = others(r.variants())
    rows = list(styles)
    panels = [Panel(title, "elements (million a second)", with_points(
        (styles[v], [point(rows.index(v), f)])
        for v in rows if (f := r.find((bench, 2, 0), v))), rows)
        for bench, title in QUEUES_CASES.items()]
    made = picture("queues", "Elements through a queue",
                   "Words go through queues of 1,024 places, from producers to"
                   " consumers. " + MORE + MARKS + FILLED
                   + "A queue without a mark in a panel has no such form, or is"
                   " not installed. ", panels, 4)
    for p in made:
        p.rows_are_series = True
    return made


def litmus(r):
    styles = {v: ORDERS[v] for v in r.variants() if v in ORDERS}
    labels = {"sb": "store buffering", "mp": "message passing",
              "lb": "load buffering", "iriw": "independent reads",
              "lock": "lock that leaks"}
    panel = dots(r, "", "weak outcomes (in a million trials)", list(labels),
                 styles, labels)
    return picture("litmus", "Weak outcomes of litmus tests",
                   "How often a test had the outcome that only a weak order of"
                   " memory gives. The axis is linear from 0 to 1 and"
                   " logarithmic from there. " + MARKS + ALL_KERNEL,
                   [panel], 1)


LOCKS_LABELS = {
    "lock": "lock and unlock", "round-trip": "round trip, semaphore or futex",
    "cond-round-trip": "round trip, condition variable", "yield": "yield",
    "hand-off": "hand-off of a mutex",
}


def locks(r):
    styles = {v: STYLES[v] for v in ("light", "tls", "pthreads", "futex")}
    return (picture("locks-costs", "What locks cost",
                    "What one operation of a lock costs on one CPU. " + LESS
                    + MARKS + FILLED,
                    [dots(r, "", "time of one operation (ns)", list(LOCKS_LABELS),
                          styles, LOCKS_LABELS)], 1)
            + picture("locks-table", "A hash table under locks",
                      "Random look-ups in a hash table of 256 buckets, under"
                      " one lock that tries 0, 10 or 100 times before it"
                      " sleeps, under a mutex, under a lock for readers and"
                      " writers, or with a lock for each bucket. " + MORE
                      + MARKS + ALL_KERNEL,
                      curves(r, [("table", "")], TABLE,
                             "look-ups (million a second)"), 1))


PRELOAD_RATIOS = (
    "Programs under weft run, to the same programs with libc's threads, which"
    " are 1. {better} A mark is the median of the ratios of {{n}} pairs of"
    " samples, which were taken in turns. Its bar is the interval in which the"
    " median lies with a chance of 95 %; with fewer than six pairs it has all of"
    " them. ")


def ratios(r, title, quantity, cases, forms, log=True):
    """A row for each case, a series for each form: its style, and its suffix."""
    keys = [k for k in cases_of(r, cases) if r.find(k, "pthreads")]
    series = []
    for style, suffix in forms:
        points = []
        for i, (bench, vcpus, n) in enumerate(keys):
            weft, stock = (r.find((bench + suffix, vcpus, n), v)
                           for v in ("weft", "pthreads"))
            if weft and stock and stock.median:
                ratio = Ratio(weft, stock)
                points.append((i, ratio.median) + (
                    (ratio.median, ratio.median) if ratio.low is None
                    else (ratio.low, ratio.high)))
        series.append((style, points))
    return Panel(title, quantity, with_points(series),
                 [case_label(b, n, PRELOAD_LABELS) for b, _, n in keys], log, 1)


PRELOAD_LABELS = {
    "teams": "teams of {n}", "teams-passive": "teams of {n}, passive",
    "idle": "resident", "idle-tables": "page tables",
    "idle-kernel": "kernel's", "idle-all": "all",
} | {f"{s}{q}": f"{s}{w}" for s in ("echo", "memcached", "redis", "mariadb")
     for q, w in (("", ""), ("-p50", ", median"), ("-p99", ", 99 %"),
                  ("-p99.9", ", 99.9 %"))}


def preload(r):
    wall = Style("weft run, wall time", BLUE, "o", True)
    cpu = Style("weft run, CPU time", SKY, "s", True)
    run = Style("weft run", BLUE, "o", True)
    servers = "echo|memcached|redis|mariadb"
    programs = [f"(?!({servers}|idle))(?!.*-cpu).*"]
    bars = "interval of the median of {n} pairs"
    return (picture("preload-time", "Whole programs under weft run",
                    PRELOAD_RATIOS.format(better="Less is better."),
                    [ratios(r, "", "time (ratio to pthreads)", programs,
                            [(wall, ""), (cpu, "-cpu")])], 1, bars)
            + picture("preload-servers", "Servers and idle threads under weft run",
                      PRELOAD_RATIOS.format(
                          better="More throughput, less latency and less memory"
                          " are better."),
                      [ratios(r, title, quantity, cases, [(run, "")], log)
                       for title, quantity, cases, log in (
                           ("throughput", "requests (ratio to pthreads)",
                            [servers], True),
                           ("latency", "latency (ratio to pthreads)",
                            [f"({servers})-p.*"], True),
                           ("idle threads", "memory (ratio to pthreads)",
                            ["idle.*"], False))], 3, bars))


def cxx(r):
    labels = {"spawn-join": "spawn and join", "lock": "lock and unlock",
              "ping-pong": "message there\nand back"}
    styles = {"C": Style("C", VERMILION, "s", True), "C++": Style("C++", BLUE, "o", True)}
    return picture("cxx", "C++ beside C",
                   "The same steps in C and by weft.hpp. Less is better. " + MARKS,
                   [dots(r, "", "time (ns)", list(labels), styles, labels)], 1)


MPI_LABELS = {
    f"{case}{q}": f"{size}, {{n}} threads" for case, size in (
        ("talk-8", "8 bytes"), ("talk-8-many", "8 bytes"), ("talk-1k", "1 KiB"),
        ("talk-64k", "64 KiB"), ("talk-1m", "1 MiB"))
    for q in ("", "-p50", "-p99")
} | {
    f"reduce{case}-{metric}": text.format(size) for case, size in (
        ("", "8 bytes"), ("-64k", "64 KiB"), ("-1m", "1 MiB"))
    for metric, text in (
        ("p50", "{}, {{n}} threads, median"), ("p99", "{}, {{n}} threads, 99 %"),
        ("work", "{}, {{n}} threads"))
} | {
    "heat": "heat equation,\n{n} blocks a rank", "idle": "{n} in MPI_Recv",
}


def mpi(r):
    about = ("Two ranks on this machine. Threads of one rank send to threads of"
             " the other. One thread a rank has a request in the place of each"
             " thread. ")

    def panel(title, quantity, cases, scale=1):
        return dots(r, title, quantity, cases, RANKS, MPI_LABELS, scale)

    return (picture(f"{r.name}-rate", "Messages between ranks with threads inside",
                    about + MORE + MARKS + FILLED,
                    [panel("", "messages (thousand a second)",
                           ["talk-8(-many)?", "talk-[0-9]+[km]"])], 1)
            + picture(f"{r.name}-trip", "How long a message and its answer take",
                      about + LESS + MARKS + FILLED,
                      [panel(title, "time of a round trip (µs)",
                             [f"talk-8(-many)?-{q}", f"talk-[0-9]+[km]-{q}"])
                       for title, q in (("median", "p50"), ("99 %", "p99"))], 2)
            + picture(f"{r.name}-programs", "Ranks that compute and ranks that wait",
                      "MPI_Allreduce beside threads that compute, what these"
                      " compute meanwhile, the heat equation with a thread for"
                      " each block, and the CPU time of a rank whose threads all"
                      " wait. More units are better, else less is better. "
                      + MARKS + FILLED,
                      [panel("MPI_Allreduce", "time (µs)", ["reduce(-[0-9]+[km])?-p.*"]),
                       panel("computed", "units (million a second)",
                             ["reduce(-[0-9]+[km])?-work"]),
                       panel("program", "time (ms)", ["heat"]),
                       panel("idle rank", "CPU time of a second (ms)",
                             ["idle"])], 2))


def anything(r):
    """The cases of a benchmark that is not known here, by unit."""
    styles = others(r.variants())
    return [p for unit in dict.fromkeys(f.unit for f in r.figures)
            for p in picture(
                f"{r.name}-{re.sub('[^a-z]', '-', unit.lower())}", unit,
                MARKS, [dots(r, "", UNITS.get(unit, unit),
                             [re.escape(f.bench) for f in r.figures
                              if f.unit == unit], styles, {})], 1)]


SUITES = {
    "threads": threads, "mutex": mutex, "channels": channels, "echo": echo,
    "plan9": plan9, "slab": slab, "atomic": atomic, "queues": queues,
    "litmus": litmus, "locks": locks, "mpi": mpi, "preload": preload, "cxx": cxx,
}


def pictures(results):
    made = SUITES.get(results.suite, anything)(results)
    for p in made:
        p.caption = p.caption.replace("{n}", results.samples()).strip()
        p.bars = p.bars.replace("{n}", results.samples())
    return made
