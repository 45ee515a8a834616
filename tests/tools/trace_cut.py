# SPDX-License-Identifier: MIT
"""Reads parts of a recording. Called by test_trace_cut.sh.

trace_cut.py WEFT SEED LOG: the parts of LOG, and of a copy of memory with its events.
trace_cut.py WEFT SEED LOG counter: a process that has that memory, with another counter.
"""
import ctypes
import fcntl
import os
import random
import struct
import subprocess
import sys
import time

NO_BLOCK = 'it holds no whole block: its writer was killed at the start'
weft, seed, log = sys.argv[1], int(sys.argv[2]), open(sys.argv[3], 'rb').read()
head = dict(zip(('magic', 'version', 'head', 'event', 'vcpus', 'rings', 'events', 'names',
                 'clock', 'names_at', 'rings_at', 'events_at', 'bytes', 'start_ticks',
                 'start_ns', 'real_ns'), struct.unpack_from('<8s8I7Q', log)))


def blocks():
    """Ring, number of the first, events of each block; and the length at which it is whole."""
    at = head['head']
    while at < len(log):
        ring, count, first = struct.unpack_from('<IIQ', log, at)
        each = 32 if ring < head['rings'] else 64 if ring == head['rings'] else 8
        end = at + 16 + count * each
        yield ring, first, log[at + 16:end] if ring < head['rings'] else b'', end
        at = end


def memory(start_ticks=None):
    """The log's events where a recorder has them."""
    data = bytearray(head['bytes'])
    data[:head['head']] = b'weftrec\0' + log[8:head['head']]
    if start_ticks is not None:
        struct.pack_into('<Q', data, struct.calcsize('<8s8I4Q'), start_ticks)
    for ring, first, items, _ in blocks():
        if not items:
            continue
        count = first + len(items) // 32
        struct.pack_into('<Q', data, head['rings_at'] + 64 * ring, count)
        for i in range(0, len(items), 32):
            slot = ring * head['events'] + (first + i // 32) % head['events']
            at = head['events_at'] + 32 * slot
            data[at:at + 32] = items[i:i + 32]
    return bytes(data)


def read(data):
    """What weft trace says: its status, the text, and its message."""
    with open('cut.weft', 'wb') as file:
        file.write(data)
    done = subprocess.run([weft, 'trace', '--format=text', '-o', '-', 'cut.weft'],
                          capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


def check_cut(data, length, least):
    """least: up to this length nothing is whole."""
    status, _, message = read(data[:length])
    if length < least:
        assert status == 1 and NO_BLOCK in message, (length, status, message)
    else:
        assert status == 0 and not message, (length, status, message)


def check_cuts(rng):
    lines = []
    ends = sorted({head['head']} | {end for *_, end in blocks()})
    for length in list(range(head['head'] + 20)) + ends + rng.sample(range(len(log)), 20):
        check_cut(log, length, head['head'])
    for end in ends:
        lines.append(read(log[:end])[1].count(b'\n'))
        assert lines[-1] >= max(lines), 'a longer part has less'
    assert lines[0] < lines[-1], 'no events'
    copy = memory()
    least = head['events_at']
    for length in (list(range(0, head['head'] + 8, 8)) + [least - 1, least, least + 33] +
                   rng.sample(range(len(copy)), 20)):
        check_cut(copy, length, least)
    # All events of the log, but for the names, which the log has apart.
    assert read(copy)[1].count(b'\n') == lines[-1], 'the memory has other events'


def check_wrong():
    """Wrong bytes: the version, the number of rings, a block's ring, the memory's size."""
    def refused(data, at, value, message):
        status, _, said = read(data[:at] + bytes([value]) + data[at + 1:])
        assert status == 1 and message in said, (at, status, said)

    refused(log, 8, 77, 'another version')
    refused(log, 24, 0, 'it is malformed')
    refused(log, head['head'], 200, 'it is malformed')
    refused(memory(), struct.calcsize('<8s8I3Q') + 7, 1, 'it is malformed')
    refused(log, 0, 0, 'neither a recording nor a program')


def check_counter():
    """The ticks are those of a counter that is far ahead of this machine's."""
    libc = ctypes.CDLL(None)
    fd = os.memfd_create('weft-record', os.MFD_ALLOW_SEALING)
    os.write(fd, memory(1 << 62))
    fcntl.fcntl(fd, 1033, 2 | 4)    # F_ADD_SEALS: SHRINK, GROW
    libc.prctl(15, b'weft-monitor', 0, 0, 0)    # PR_SET_NAME
    while time.monotonic_ns() < head['start_ns'] + 200000000:
        time.sleep(0.05)
    subprocess.run([weft, 'trace', '--for=0', '-o', 'counter.weft', str(os.getpid())],
                   check=True)
    with open('counter.weft', 'rb') as file:
        new = file.read()
    rate = struct.calcsize('<8s8I7Q')
    assert new[rate:rate + 8] != bytes(8) and read(new)[0] == 0, read(new)
    assert struct.unpack_from('<Q', new, rate) == struct.unpack_from('<Q', memory(), rate)


if len(sys.argv) > 4:
    check_counter()
else:
    check_cuts(random.Random(seed))
    check_wrong()
