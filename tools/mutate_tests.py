# SPDX-License-Identifier: MIT
"""mutate_tests.py - runs the quick tests of a file on changed sources

In a copy of the tree, with static libraries: a change of one file is compiled in
seconds, one of a header that all include in a minute. Which tests are a file's
follows from its name, and from the table below. A test that does not end is stopped
by its watchdog, which counts as killed.
"""
import os
import re
import shutil
import subprocess

# For all files of a folder.
OF_FOLDER = {
    "sched": ["tests/stall/test_stall", "tests/stall/test_stall_last",
              "tests/unit/sched/test_idle", "tests/unit/life/test_cancel"],
    "thread": ["tests/stall/test_stall", "tests/unit/life/test_cancel"],
    "sync": ["tests/stall/test_stall_sync"],
    "chan": ["tests/stall/test_stall_chan", "tests/stall/test_stall_rendezvous",
             "tests/unit/chan/test_net"],
    "lockfree": ["tests/stall/test_stall_queue"],
    "life": ["tests/unit/life/test_cancel", "tests/unit/life/test_join"],
}
# For files that have more.
OF_FILE = {
    "sched/timer": ["tests/stall/test_stall_timer",
                    "tests/unit/life/test_ticker"],
    "sched/idle": ["tests/stall/test_stall_keeper"],
    "sched/poller": ["tests/stall/test_stall_keeper",
                     "tests/unit/io/test_fd_wait"],
    "sched/spare": ["tests/unit/sched/test_seat", "tests/unit/life/test_block"],
    "sync/waiters": ["tests/unit/chan/test_waiters_stall",
                     "tests/stall/test_stall_chan"],
    "sync/segment": ["tests/unit/chan/test_waiters_stall"],
    "sync/waitlist": ["tests/unit/sync/test_sem", "tests/unit/sync/test_cond"],
    "sync/node": ["tests/unit/sync/test_sem", "tests/unit/sync/test_mutex"],
    "thread/wait": ["tests/unit/sync/test_mutex", "tests/unit/sched/test_park"],
    "io/side": ["tests/unit/io/test_side_stall"],
}
SECONDS = 60


class Tests:
    def __init__(self, top, work, jobs):
        self.top, self.jobs = top, jobs
        self.source = os.path.join(work, "tests/source")
        self.build = os.path.join(work, "tests/build")

    def prepare(self):
        """The copy follows the tree; what did not change is not made again."""
        os.makedirs(self.build, exist_ok=True)
        for folder, folders, files in os.walk(self.top):
            if folder == self.top:
                folders[:] = [f for f in folders
                              if f not in (".git", "build", "autom4te.cache")]
            to = os.path.join(self.source, os.path.relpath(folder, self.top))
            os.makedirs(to, exist_ok=True)
            for name in files:
                self.copy(os.path.join(folder, name), os.path.join(to, name))
        if not os.path.exists(os.path.join(self.build, "Makefile")):
            subprocess.run([os.path.join(self.source, "configure"), "-q",
                            "--disable-shared"], cwd=self.build, check=True)

    @staticmethod
    def copy(this, to):
        if not os.path.isfile(this) or os.path.islink(this):
            return
        if os.path.exists(to):
            with open(this, "rb") as a, open(to, "rb") as b:
                if a.read() == b.read():
                    return
        shutil.copy2(this, to)
        os.utime(to)

    def of(self, file):
        """The programs for a file of runtime/."""
        match = re.fullmatch(r"runtime/((\w+)/(\w+))\.[ch]", file)
        if not match:
            return []
        path, folder, name = match.groups()
        tests = [f"tests/unit/{folder}/test_{name}"] + OF_FILE.get(path, []) + \
            OF_FOLDER.get(folder, [])
        return [t for t in dict.fromkeys(tests)
                if os.path.exists(os.path.join(self.top, t + ".c"))]

    def make(self, programs):
        run = subprocess.run(["make", "-s", f"-j{self.jobs}", *programs],
                             cwd=self.build, capture_output=True, text=True)
        return None if run.returncode == 0 else run.stderr

    def passes(self, program):
        environment = {**os.environ, "WEFT_VCPUS": "2",
                       "WEFT_TEST_SCALE": "0.1",
                       "WEFT_TEST_WATCHDOG": str(SECONDS // 2)}
        try:
            run = subprocess.run([os.path.join(self.build, program)],
                                 cwd=self.build, env=environment,
                                 stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, timeout=SECONDS)
            return run.returncode in (0, 77)
        except subprocess.TimeoutExpired:
            return False

    def judge(self, mutant):
        """(killed, survived or error; which test)"""
        programs = self.of(mutant.site.file)
        path = os.path.join(self.source, mutant.site.file)
        with open(path) as file:
            text = file.read()
        try:
            with open(path, "w") as file:
                file.write(mutant.apply(text))
            error = self.make(programs)
            if error:
                return "error", error.strip().split("\n")[0]
            for program in programs:
                if not self.passes(program):
                    return "killed", program
            return "survived", ""
        finally:
            with open(path, "w") as file:
                file.write(text)
