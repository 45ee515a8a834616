#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""trace_whole.py FILE FORMAT.H [NAME=COUNT...] - is a recording of format raw whole?

FILE is read as cli/trace/recording.h describes it, and not by weft's own reader. FORMAT.H
has the numbers of the kinds. What is behind the first MARK, in any ring, is left out: the
program has counted before that. This script looks at what is there:
  - each ring's events are numbered without a gap, from the first one on
  - each wait of a thread has one READY, and each run one reason: that the thread is new, a
    wait, a switch by which it gave way, or a VCPU that was taken from it
  - each thread that was spawned has run, and has ended once
With NAME=COUNT it fails if another number is there: events, spawns, switches, steals,
wakes, preemptions, compensations.
"""
import re
import struct
import sys
from collections import Counter, defaultdict

LEFT_YIELDED, LEFT_SPAWNED, LEFT_ENDED, LEFT_WAITS = 1, 2, 3, 16
READY_SPAWNED, READY_SEAT = 4, 5


def fail(text):
    print(f'wrong: {text}')
    sys.exit(1)


def kinds_of(path):
    enum = open(path).read().split('enum wefti_event_kind {')[1].split('};')[0]
    return {name: i for i, name in enumerate(re.findall(r'^\tWEFTI_EVENT_(\w+),', enum,
                                                        re.M))}


def rings_of(path):
    """The number of the first event of each ring, and the words of all its events."""
    data = open(path, 'rb').read()
    at, rings = (struct.unpack_from('<I', data, i)[0] for i in (12, 24))
    first, events = {}, defaultdict(bytearray)
    while at + 16 <= len(data):
        ring, count, number = struct.unpack_from('<IIQ', data, at)
        at += 16
        size = count * (32 if ring < rings else 64)
        if ring < rings:
            there = len(events[ring]) // 32
            if number != first.setdefault(ring, number) + there:
                fail(f'ring {ring}: event {first[ring] + there} is missing')
            events[ring] += data[at:at + size]
        at += size
    return first, events, rings


class Thread:
    __slots__ = ('runs', 'waits', 'gave_way', 'woken', 'new', 'seats', 'ended')

    def __init__(self):
        self.runs = self.waits = self.gave_way = self.woken = 0
        self.new = self.seats = self.ended = 0


def main():
    k = kinds_of(sys.argv[2])
    first, rings, ring_count = rings_of(sys.argv[1])
    end = min((time for ring in rings.values()
               for word, time, _, _ in struct.iter_unpack('<4Q', ring)
               if word & 0xff == k['MARK']), default=1 << 64)
    RUN, READY, CARRY = k['RUN'], k['READY'], k['CARRY']
    threads, counts, spawned = defaultdict(Thread), Counter(), set()
    for ring, events in rings.items():
        on = 0
        number = first[ring]
        for word, time, thread, arg in struct.iter_unpack('<4Q', events):
            kind, detail = word & 0xff, word >> 8 & 0xffffff
            number += 1
            if word >> 32 != number & 0xffffffff:
                fail(f'ring {ring}: event {number - 1} has another number')
            if kind == k['TEXT'] or kind == k['STACK'] or time >= end:
                continue
            counts['events'] += 1
            if kind == RUN:
                counts['switches'] += 1
                if on:
                    t = threads[on]
                    if detail >= LEFT_WAITS:
                        t.waits += 1
                    elif detail in (LEFT_YIELDED, LEFT_SPAWNED):
                        t.gave_way += 1
                    elif detail == LEFT_ENDED:
                        t.ended += 1
                on = thread
                if on:
                    threads[on].runs += 1
            elif kind == READY:
                t = threads[thread]
                if detail & 0xff == READY_SPAWNED:
                    t.new += 1
                elif detail & 0xff == READY_SEAT:
                    t.seats += 1
                else:
                    t.woken += 1
            elif kind == CARRY:
                on = 0      # the thread before it lost the VCPU
            elif kind == k['STEAL']:
                counts['steals'] += detail
            elif kind == k['SPAWN']:
                spawned.add(thread)
            elif kind in (k['WAKE'], k['TAKEN'], k['PREEMPT']):
                counts[{k['WAKE']: 'wakes', k['TAKEN']: 'compensations',
                        k['PREEMPT']: 'preemptions'}[kind]] += 1
    counts['spawns'] = len(spawned)
    counts['switches'] -= 1         # the first one says that main runs
    for thread, t in threads.items():
        if t.woken != t.waits:
            fail(f'thread {thread}: {t.waits} waits, but ready {t.woken} times')
        if t.runs != 1 + t.waits + t.gave_way + t.seats:
            fail(f'thread {thread}: {t.runs} runs, but 1 + {t.waits} + {t.gave_way} + '
                 f'{t.seats} reasons')
        if thread in spawned and t.ended != 1:
            fail(f'thread {thread} has ended {t.ended} times')
    for thread in spawned - threads.keys():
        fail(f'thread {thread} has not run')
    for arg in sys.argv[3:]:
        name, count = arg.split('=')
        if counts[name] != int(count):
            fail(f'{name} is {counts[name]}, and not {count}')
    print(f'{len(threads)} threads, {ring_count} rings,',
          ' '.join(f'{name}={counts[name]}' for name in sorted(counts)))


main()
