#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""trace_perfetto.py FILE [NAME=COUNT...] - reads a trace by Perfetto's own messages

Python's package perfetto has the messages that Perfetto is made of. They parse FILE, and
this script looks at what it says:
  - each slice that begins ends on its track, and none ends that has not begun
  - each wait is followed by "ready" and that by "running", without a gap between them
  - each arrow begins once and ends at most once, and not before it begins
  - the last value of each counter is that of what was open, and none is negative

It prints how often each of these is there: spawns, wakes, waits, runs, marks (points of
the program's), jobs (slices of the program's), lost. With NAME=COUNT it fails if another
number is there. Status 77: the package is not installed.
"""
import sys
from collections import Counter, defaultdict

try:
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
except ImportError:
    print('skipped: Python has no package perfetto')
    sys.exit(77)

WAITS = ('waits', 'sleeps', 'joins', 'sends', 'receives')


def fail(text):
    print(f'wrong: {text}')
    sys.exit(1)


class Reader:
    def __init__(self, path):
        self.names, self.keys = {}, {}
        self.tracks, self.parents = {}, {}
        self.open = defaultdict(list)       # of each track: (name, time)
        self.last = {}                      # of each thread's track: (name, end)
        self.flows, self.ended = {}, set()
        self.counters = {}
        self.counts = Counter()
        self.time = 0
        trace = Trace()
        with open(path, 'rb') as file:
            trace.ParseFromString(file.read())
        for packet in trace.packet:
            self.read(packet)

    def read(self, packet):
        for name in packet.interned_data.event_names:
            self.names[name.iid] = name.name
        for name in packet.interned_data.debug_annotation_names:
            self.keys[name.iid] = name.name
        if packet.HasField('track_descriptor'):
            track = packet.track_descriptor
            self.tracks[track.uuid] = track.name
            self.parents[track.uuid] = track.parent_uuid
        if packet.HasField('track_event'):
            if packet.timestamp < self.time:
                fail('time goes back')
            self.time = packet.timestamp
            self.event(packet.track_event, packet.timestamp)

    def kind(self, uuid):
        """'threads', 'VCPUs', 'kernel threads', 'marks', or '' for a counter"""
        if uuid not in self.tracks:
            fail(f'no track {uuid} is described')
        parent = self.tracks.get(self.parents[uuid])
        if self.parents[self.parents[uuid]] and \
                self.tracks.get(self.parents[self.parents[uuid]]) == 'threads':
            return 'marks'
        return parent if parent in ('threads', 'VCPUs', 'kernel threads') else ''

    def event(self, event, time):
        name = self.names.get(event.name_iid)
        kind = self.kind(event.track_uuid)
        for flow in event.flow_ids:
            if flow in self.flows:
                fail(f'arrow {flow} begins twice')
            self.flows[flow] = time
        for flow in event.terminating_flow_ids:
            if flow not in self.flows or flow in self.ended:
                fail(f'arrow {flow} ends without a begin, or twice')
            self.ended.add(flow)
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            self.begin(event, kind, name, time)
        elif event.type == TrackEvent.TYPE_SLICE_END:
            self.end(event, kind, time)
        elif event.type == TrackEvent.TYPE_INSTANT:
            self.point(event, kind, name)
        elif event.type == TrackEvent.TYPE_COUNTER:
            if event.counter_value < 0:
                fail(f'{self.tracks[event.track_uuid]} is {event.counter_value}')
            self.counters[self.tracks[event.track_uuid]] = event.counter_value

    def begin(self, event, kind, name, time):
        if name is None:
            fail('a slice has no name')
        if kind == 'threads':
            if self.open[event.track_uuid]:
                fail(f'{self.tracks[event.track_uuid]} is in two states')
            before, end = self.last.get(event.track_uuid, (None, None))
            if before and before.split()[0] in WAITS and \
                    (name != 'ready' or end != time):
                fail(f'{self.tracks[event.track_uuid]}: "{before}", then "{name}"')
            if before == 'ready' and (name != 'running' or end != time):
                fail(f'{self.tracks[event.track_uuid]}: ready, then "{name}"')
            self.counts['runs'] += name == 'running'
            self.counts['waits'] += name.split()[0] in WAITS
        elif kind == 'marks':
            self.counts['jobs'] += 1
        self.open[event.track_uuid].append((name, time))

    def end(self, event, kind, time):
        if not self.open[event.track_uuid]:
            fail(f'nothing is open on {self.tracks[event.track_uuid]}')
        name, _ = self.open[event.track_uuid].pop()
        if kind == 'threads':
            self.last[event.track_uuid] = (name, time)

    def point(self, event, kind, name):
        self.counts['marks'] += kind == 'marks'
        self.counts['spawns'] += name == 'spawns'
        self.counts['wakes'] += name == 'wakes'
        if name == 'events are lost':
            self.counts['lost'] += sum(a.uint_value for a in event.debug_annotations)


def main():
    reader = Reader(sys.argv[1])
    if any(reader.open.values()):
        fail('a slice never ends')
    for arg in sys.argv[2:]:
        name, count = arg.split('=')
        if reader.counts[name] != int(count):
            fail(f'{name} is {reader.counts[name]}, and not {count}')
    print(' '.join(f'{name}={reader.counts[name]}' for name in (
        'spawns', 'wakes', 'waits', 'runs', 'marks', 'jobs', 'lost')))
    print(f'{len(reader.tracks)} tracks, {len(reader.flows)} arrows, '
          f'{len(reader.ended)} of them end')


main()
