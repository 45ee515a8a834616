# SPDX-License-Identifier: MIT
"""weft-gdb.py - gdb sees the threads of weft, in a process and in a core file

    info weft threads          each thread: its number, state, and what it waits for
    weft thread N              looks at thread N: bt, frame, info locals
    weft apply all COMMAND     the same for each thread, with a command of gdb's
    weft locks                 what is waited for, its owner, and the waiting threads
    weft why N                 what N waits for, what its owner waits for, and so on

N is the number of the first column, or a thread's id. Nothing is written into the process.
A kernel thread of the process, the selected one, lends its frame 0: an unwinder says that
the parked thread's frames are that frame's callers, and a filter hides it from bt. So
frame numbers begin with 1. `weft thread none` ends it.

The library tells where its data lie (runtime/observe/layout.h), so no debug information
of weft's own is needed.
"""
import struct

import gdb
from gdb.unwinder import Unwinder, register_unwinder

PHRASES = {
    "why.join": "joins", "why.sleep": "sleeps", "why.mutex": "waits for mutex",
    "why.cond": "waits for condition", "why.read_lock": "waits to read, for lock",
    "why.write_lock": "waits to write, for lock", "why.sem": "waits for semaphore",
    "why.barrier": "waits for barrier", "why.once": "waits for once",
    "why.send": "sends to channel", "why.recv": "receives from channel",
    "why.alt": "waits for one of several", "why.descriptor": "waits for descriptor",
    "why.disk": "waits for the disk", "why.seat": "waits for a VCPU",
    "why.futex": "waits for futex",
}
WITHOUT_OBJECT = ("why.sleep", "why.alt", "why.disk", "why.seat")
POINTERS = ("fs_base", "tpidr", "tp")	# the thread pointer's names, by CPU
PC, SP = ("rip", "pc"), ("rsp", "sp")
NOTES_MOST = 1 << 16	# bytes; a page that only looks like an ELF file may say anything


def read(at, count):
    return gdb.selected_inferior().read_memory(at, count).tobytes()


def number(at, count=8):
    return int.from_bytes(read(at, count), "little")


def text_of(raw):
    """Without what a terminal would obey: the program chose the name."""
    text = raw.split(b"\0")[0].decode("utf-8", "replace")
    return "".join(c if c.isprintable() else "?" for c in text)


def symbol(name):
    """The address, also without debug information; None: there is no such symbol."""
    language = gdb.parameter("language")
    try:
        gdb.execute("set language c", to_string=True)
        return int(gdb.parse_and_eval(f"(unsigned long)&{name}"))
    except gdb.error:
        return None
    finally:
        gdb.execute(f"set language {language}", to_string=True)


def table(at):
    """{name: value} of a layout."""
    found = {}
    while True:
        raw = read(at, 32)
        if not raw[0]:
            return found
        found[text_of(raw[:24])] = struct.unpack("<q", raw[24:])[0]
        at += 32


def noted(notes, at):
    """The layout's address by the note of the owner "weft"; None: there is none."""
    next_note = 0
    while next_note + 12 <= len(notes):
        owner, count, kind = struct.unpack_from("<3I", notes, next_note)
        name = next_note + 12
        body = name + (owner + 3 & ~3)
        if notes[name:name + owner] == b"weft\0" and (kind, count) == (1, 8):
            return at + body + struct.unpack_from("<q", notes, body)[0]
        next_note = body + (count + 3 & ~3)
    return None


def noted_in(start):
    """The same for the ELF file that is mapped from here on."""
    head = read(start, 64)
    if head[:5] != b"\x7fELF\2":
        return None
    at, size, count = struct.unpack("<Q", head[32:40]) + struct.unpack("<2H", head[54:58])
    segments = [struct.unpack("<2I6Q", read(start + at + i * size, 56)) for i in range(count)]
    bias = next((start - s[3] for s in segments if s[0] == 1 and s[2] == 0), start)
    for kind, _, _, address, _, stored, _, _ in segments:
        found = noted(read(bias + address, stored), bias + address) \
            if kind == 4 and stored <= NOTES_MOST else None
        if found:
            return found
    return None


def layouts_by_notes():
    """For a stripped program that is linked with libweft.a."""
    try:
        mappings = gdb.execute("info proc mappings", to_string=True)
    except gdb.error:
        return
    for line in mappings.splitlines():
        words = line.split()
        if len(words) < 5 or not words[0].startswith("0x") or int(words[3], 16):
            continue
        try:
            at = noted_in(int(words[0], 16))
        except (gdb.MemoryError, struct.error):
            continue
        if at:
            yield table(at)


def layouts():
    """Each layout of this program, the preload library's first."""
    at = symbol("wefti_debug_pthread")
    if at:
        more = table(at)
        yield dict(table(more["at.base"]), **more)
    at = symbol("wefti_debug_layout") or symbol("wefti_layout")
    if at:
        yield table(at)
    else:
        yield from layouts_by_notes()


class Runtime:
    """What is read once for a command."""

    def __init__(self):
        for has in layouts():
            self.has = has
            if has.get("weft layout") != 1:
                raise gdb.GdbError("this weft is newer than the script")
            at = has["at.runtime"]
            if number(at + has["runtime.state"], 4) == has["runtime.on"]:
                break
        else:
            raise gdb.GdbError("weft's runtime does not run here")
        self.monitor = number(at + has["runtime.monitor"])
        self.why = {value: name for name, value in has.items() if name.startswith("why.")}
        self.on_vcpu = {}
        self.tid = {}
        for i in range(number(at + has["runtime.vcpu_count"], 4)):
            vcpu = number(at + has["runtime.vcpu"] + 8 * i)
            current = number(vcpu + has["vcpu.current"])
            kthread = number(vcpu + has["vcpu.kthread"])
            self.on_vcpu[current] = i
            self.tid[current] = number(kthread + has["kthread.tid"], 4) if kthread else 0
        self.threads = {t.at: t for t in self.all_threads()}
        self.carriers = self.find_carriers()
        self.owners = None

    def dense(self, at, item, index):
        """The address of an item of a table of mem/dense.h; None."""
        per = self.has["dense.in_chunk"]
        chunk = number(at + self.has["dense.chunk"] + 8 * (index // per))
        return chunk + index % per * item if chunk else None

    def all_threads(self):
        has = self.has
        size, per = has["thread.bytes"], has["dense.in_chunk"]
        limit = number(has["at.slots"] + has["dense.next"], 4)
        for first in range(0, limit, per):
            at = self.dense(has["at.slots"], size, first)
            count = min(per, limit - first)
            raw = read(at, count * size)
            for i in range(count):
                t = Thread(self, at + i * size, raw[i * size:(i + 1) * size])
                if first + i and t.gen & 1 and t.at != self.monitor:
                    yield t

    def find_carriers(self):
        """{thread: gdb's thread}, by the word in each kernel thread's TLS."""
        found, by_tid = {}, {}
        offset = number(self.has["at.self"])
        before = gdb.selected_thread()
        for k in gdb.selected_inferior().threads():
            by_tid[k.ptid[1]] = k
            try:
                k.switch()
                found[number(offset + thread_pointer() & (1 << 64) - 1)] = k
            except gdb.error:
                continue
        if before:
            before.switch()
        for at, tid in self.tid.items():
            if tid in by_tid:
                found.setdefault(at, by_tid[tid])
        return found

    def by_lock_id(self, lock_id):
        """The thread that glibc's locks know by this number."""
        if self.owners is None:
            at = number(self.has["at.pt"]) + self.has["pt.id"]
            self.owners = {}
            for t in self.threads.values():
                if t.tp and t.is_green():
                    self.owners[number(t.tp + at & (1 << 64) - 1, 4)] = t
        return self.owners.get(lock_id)

    def fd(self, entry):
        has = self.has
        chunks = number(has["at.fds"])
        for i in range(has["fd.chunks"] if chunks else 0):
            at = number(chunks + 8 * i)
            if at and 0 <= entry - at < has["fd.in_chunk"] * has["fd.bytes"]:
                return i * has["fd.in_chunk"] + (entry - at) // has["fd.bytes"]
        return None

    def find(self, text):
        try:
            wanted = int(text, 0)
        except ValueError:
            raise gdb.GdbError(f"{text} is no thread's number")
        for t in self.threads.values():
            if wanted in (t.slot, t.id):
                return t
        raise gdb.GdbError(f"there is no thread {text}: info weft threads")


class Thread:
    def __init__(self, runtime, at, raw):
        def field(name, count=8):
            return int.from_bytes(raw[has[name]:has[name] + count], "little")
        has = runtime.has
        self.runtime, self.at = runtime, at
        self.slot, self.gen = field("thread.slot", 4), field("thread.gen", 4)
        self.id = self.gen << 32 | self.slot
        self.sp, self.tp, self.cold = map(field, ("thread.sp", "thread.tp", "thread.cold"))
        bits = field("thread.bits", 1)
        self.kind, self.light = bits & has["bits.kind"], bool(bits & has["bits.light"])
        self.object = field("thread.waits_for")
        self.why = runtime.why.get(field("thread.why", 1), "")
        self.state = self.judge(field, bits & has["bits.keep"])

    def judge(self, field, keeps):
        """As observe/view.c."""
        has = self.runtime.has
        if self.at in self.runtime.on_vcpu:
            return "running"
        if field("thread.wait") & has["wait.phase"] == has["wait.parked"]:
            return "parked"
        if self.kind == has["kind.foreign"]:
            return "unseated"
        if not self.cold or keeps and \
                field("thread.join") == self.gen << 2 | has["join.done"]:
            return "ended"
        return "unseated" if field("thread.attention", 4) else "ready"

    def is_green(self):
        return self.kind in (self.runtime.has["kind.green"], self.runtime.has["kind.main"])

    def has_frame(self):
        """Is the context that of a thread which does not run?"""
        return self.is_green() and self.state in ("parked", "ready") and self.sp

    def name(self):
        has = self.runtime.has
        words = has["name.bytes"] // 4
        line = self.runtime.dense(number(has["at.names"]), 8 * words, self.slot)
        if line:
            parts = struct.unpack(f"<{words}Q", read(line, 8 * words))
            if parts[0] >> 32 == self.gen:
                return text_of(b"".join(struct.pack(
                    "<I", p & 0xffffffff if p >> 32 == self.gen else 0) for p in parts))
        return text_of(read(self.cold + has["cold.name"], has["name.bytes"])) \
            if self.cold else ""

    def title(self):
        name = self.name()
        return f"thread {self.slot}" + (f' "{name}"' if name else "")

    def carrier(self):
        """gdb's thread on which it runs."""
        k = self.runtime.carriers.get(self.at)
        if not k and self.state == "unseated" and self.cold:
            tid = number(self.cold + self.runtime.has["cold.carrier_tid"], 4)
            k = next((k for k in gdb.selected_inferior().threads() if k.ptid[1] == tid),
                     None)
        return k

    def lock(self):
        """The object that it waits for. In the preload library, writers wait beside it."""
        is_rwlock = self.why in ("why.read_lock", "why.write_lock")
        return self.object & ~7 if is_rwlock and "at.pt" in self.runtime.has \
            else self.object

    def owner(self):
        """What keeps it from going on: a thread, a number that names none, or None."""
        if self.state != "parked" or not self.object:
            return None
        has, threads = self.runtime.has, self.runtime.threads
        if self.why == "why.join":
            return threads.get(self.object)
        rwlock = self.why in ("why.read_lock", "why.write_lock")
        if self.why != "why.mutex" and not rwlock and \
                (self.why != "why.once" or "at.pt" in has):
            return None
        try:
            if "at.pt" in has:
                at = has["pthread.rwlock_writer" if rwlock else "pthread.mutex_owner"]
                lock_id = number(self.lock() + at, 4)
                return self.runtime.by_lock_id(lock_id) or lock_id or None
            at = has["mutex.owner" if self.why == "why.mutex" else "list.owner"]
            return threads.get(number(self.object + at))
        except gdb.MemoryError:
            return None

    def wait(self):
        text = PHRASES.get(self.why, "is about to go on")
        if self.why == "why.join" and not self.object:
            return text + " all others"
        owner = self.owner()
        if self.why == "why.join":
            return text + " " + (owner.title() if owner else "a thread that is no more")
        if self.why == "why.descriptor" and self.runtime.fd(self.object) is not None:
            return f"{text} {self.runtime.fd(self.object)}"
        if self.object and self.why not in WITHOUT_OBJECT:
            text += f" {self.lock():#x}"
        if owner:
            text += f", {'run' if self.why == 'why.once' else 'owned'} by {told(owner)}"
        return text

    def describe(self):
        if self.state == "parked":
            return "parked, " + self.wait()
        if self.state in ("ready", "ended"):
            return {"ready": "ready", "ended": "ended, not joined yet"}[self.state]
        k = self.carrier()
        where = f" on LWP {k.ptid[1]}" if k else ""
        vcpu = self.runtime.on_vcpu.get(self.at)
        return "running or blocked" + where if vcpu is None else \
            f"running{where}, VCPU {vcpu}"


def told(owner):
    return owner.title() if isinstance(owner, Thread) else f"the kernel thread {owner}"


def thread_pointer():
    frame = gdb.newest_frame()
    for name in POINTERS:
        try:
            return int(frame.read_register(name))
        except (ValueError, gdb.error):
            continue
    raise gdb.error("no thread pointer")


def register(frame, names):
    for name in names:
        try:
            return name, int(frame.read_register(name)) & (1 << 64) - 1
        except ValueError:
            continue
    raise gdb.GdbError("a CPU that weft does not know")


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class Parked(Unwinder):
    """The caller of the selected kernel thread's frame 0 is the chosen thread's frame."""

    def __init__(self):
        super().__init__("weft")
        self.chosen = None

    def choose(self, t):
        """None: no thread."""
        self.chosen = None
        gdb.invalidate_cached_frames()
        gdb.frame_filters["weft"].enabled = t is not None
        if t is None:
            return
        has = t.runtime.has
        frame = gdb.newest_frame()
        sp_name, sp = register(frame, SP)
        pc = register(frame, PC)[1]
        saved = {name[4:]: number(t.sp + at) for name, at in has.items()
                 if name.startswith("reg.")}
        saved[sp_name] = t.sp + has["frame.bytes"]
        self.chosen = (gdb.selected_thread().ptid, sp, pc, t.sp, saved)
        gdb.invalidate_cached_frames()

    def __call__(self, frame):
        if not self.chosen:
            return None
        ptid, sp, pc, at, saved = self.chosen
        if gdb.selected_thread().ptid != ptid or register(frame, SP)[1] != sp or \
                register(frame, PC)[1] != pc:
            return None
        word = frame.read_register(register(frame, SP)[0]).type
        value = lambda n: gdb.Value(n).cast(word)
        info = frame.create_unwind_info(FrameId(value(at), value(pc)))
        for name, n in saved.items():
            info.add_saved_register(name, value(n))
        return info


class WithoutLender:
    """bt does not show the frame that a kernel thread has lent."""

    def __init__(self):
        self.name, self.enabled, self.priority = "weft", False, 100
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        chosen = PARKED.chosen
        lent = chosen and gdb.selected_thread().ptid == chosen[0]
        return (f for f in frames if not lent or f.inferior_frame().older() is None or
                f.inferior_frame() != gdb.newest_frame())


PARKED = Parked()
register_unwinder(None, PARKED, replace=True)
WithoutLender()


def end_choice(_=None):
    PARKED.chosen = None
    gdb.frame_filters["weft"].enabled = False


gdb.events.cont.connect(end_choice)


def look_at(t):
    """gdb's commands mean this thread from now on. Returns why not, or None."""
    PARKED.choose(None)
    if t.has_frame():
        PARKED.choose(t)
        gdb.execute("frame 1", to_string=True)
        return None
    k = t.carrier()
    if t.state == "ended" or not k:
        return "it has no stack" if t.state == "ended" else \
            "its kernel thread is not known"
    k.switch()
    return None


class Command(gdb.Command):
    def __init__(self, name, run, prefix=False):
        super().__init__(name, gdb.COMMAND_STATUS, prefix=prefix)
        self.run = run

    def invoke(self, argument, from_tty):
        if not gdb.selected_inferior().threads():
            raise gdb.GdbError("there is no process, and no core file")
        self.dont_repeat()
        self.run(argument.split())


def info_threads(_):
    for t in Runtime().threads.values():
        kind = "light, " if t.light else "" if t.is_green() else "foreign, "
        print(f"{t.slot:>5}  {t.id:<14}  {t.name():<16} {kind}{t.describe()}")


def thread(words):
    if len(words) != 1:
        raise gdb.GdbError("weft thread N, or weft thread none")
    if words[0] == "none":
        PARKED.choose(None)
        return
    t = Runtime().find(words[0])
    why = look_at(t)
    print(f"{t.title()}: {t.describe()}" + (f"; {why}" if why else ""))
    if not why:
        gdb.execute("frame")


def apply(words):
    if len(words) < 2:
        raise gdb.GdbError("weft apply all COMMAND, or weft apply N COMMAND")
    runtime, before = Runtime(), gdb.selected_thread()
    chosen = list(runtime.threads.values()) if words[0] == "all" else \
        [runtime.find(words[0])]
    try:
        for t in chosen:
            print(f"\n{t.title()} (id {t.id}): {t.describe()}")
            why = look_at(t)
            if why:
                print(why)
                continue
            try:
                gdb.execute(" ".join(words[1:]))
            except gdb.error as error:
                print(error)
            PARKED.choose(None)
            before.switch()
    finally:
        PARKED.choose(None)
        before.switch()


def locks(_):
    waited = {}
    for t in Runtime().threads.values():
        if t.state == "parked" and t.object and t.why not in WITHOUT_OBJECT + ("why.join",):
            waited.setdefault((t.lock(), t.why.replace("read_", "").replace("write_", "")),
                              []).append(t)
    for (at, why), threads in sorted(waited.items()):
        first = threads[0]
        what = f"descriptor {first.runtime.fd(at)}" if why == "why.descriptor" else \
            f"{PHRASES.get(first.why, '').split()[-1]} {at:#x}"
        owner = first.owner()
        print(what + (f": owned by {told(owner)}" if owner else "") + f": {len(threads)} wait")
        for t in threads:
            print(f"    {t.title()}: {PHRASES.get(t.why, '')}")
    if not waited:
        print("no thread waits for an object")


def why(words):
    if len(words) != 1:
        raise gdb.GdbError("weft why N")
    t, seen = Runtime().find(words[0]), set()
    while True:
        print(f"{'  ' * len(seen)}{t.title()}: {t.describe()}")
        seen.add(t.at)
        owner = t.owner()
        if not isinstance(owner, Thread):
            return
        if owner.at in seen:
            print(f"{'  ' * len(seen)}{owner.title()}: see above; the circle is closed, "
                  "and none of them goes on")
            return
        t = owner


def usage(_):
    raise gdb.GdbError("weft thread, weft apply, weft locks, weft why; info weft threads")


Command("info weft", usage, prefix=True)
Command("info weft threads", info_threads)
Command("weft", usage, prefix=True)
Command("weft thread", thread)
Command("weft apply", apply)
Command("weft locks", locks)
Command("weft why", why)
