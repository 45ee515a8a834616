# SPDX-License-Identifier: MIT
"""mutate_models.py - runs the scenarios of tests/model on changed sources

What a scenario is made of is asked of tests/model/run (--list, --tree and
--checker). Scenarios with the same sources and marks are a group: its objects are
compiled once, and a mutant compiles those again that its file is part of. Which
lines a scenario executes is counted once, by gcov.
"""
import fcntl
import gzip
import hashlib
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import threading

import mutants
from c_code import COMMENT

ARCH = os.uname().machine
PAIR = "runtime/lockfree/pair.h"


def digest(*texts):
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:20]


class Scenario:
    def __init__(self, fields):
        (self.name, self.wanted, self.object, self.scenario, self.bound,
         self.file, sources, marks, self.edit) = fields
        self.sources, self.marks = sources.split(), marks.split()
        self.group = None
        self.seconds = 0.0		# that it takes unchanged
        self.covered = {}		# file: {line: executed}
        self.lock = threading.Lock()	# of its run without a change

    def reaches(self, site):
        """Whether the site is executed."""
        lines = self.covered.get(site.file, {})
        if site.line + 1 in lines:
            return lines[site.line + 1]
        return any(lines.get(n + 1)
                   for n in range(site.lines[0], site.lines[1] + 1))

    def group_key(self):
        return self.object, tuple(self.sources), tuple(self.marks)


class Group:
    """The objects that scenarios of the same sources share."""

    def __init__(self, models, key, number):
        self.models, (self.object, self.sources, self.marks) = models, key
        self.dir = os.path.join(models.work, f"group-{number}")
        self.depends = {}	# source: set of files of the tree
        self.lock = threading.Lock()
        self.ready, self.object_unchanged = False, None

    def units(self):
        """(source, object) below the tree."""
        paths = [f"model/{self.object}.c"] + [
            os.path.normpath(f"runtime/{s}") for s in self.sources]
        return [(p, re.sub(r"\W", "_", p) + ".o") for p in paths]

    def look(self, tree, flags):
        """What each object is made of, in a tree without the marks."""
        for source, _ in self.units():
            run = subprocess.run(["gcc", *flags, "-MM",
                                  os.path.join(tree, source)],
                                 capture_output=True, text=True)
            if run.returncode:
                raise SystemExit(f"mutate: {run.stderr}")
            self.depends[source] = {
                os.path.relpath(p, tree)
                for p in run.stdout.replace("\\\n", " ").split()[1:]}

    def prepare(self):
        """The tree with the marks."""
        tree = os.path.join(self.dir, "tree")
        subprocess.run(["rm", "-rf", self.dir], check=True)
        os.makedirs(self.dir)
        self.flags = self.models.make_tree(tree)
        for mark in self.marks:
            file, _, edit = mark.partition(":")
            subprocess.run(["sed", "-i", "-e", edit, os.path.join(tree, file)],
                           check=True)

    def make(self):
        """The objects without a change, once."""
        with self.lock:
            if self.ready:
                return
            for source, name in self.units():
                error = self.compile(os.path.join(self.dir, "tree", source),
                                     os.path.join(self.dir, name), self.flags)
                if error:
                    raise SystemExit(f"mutate: {error}")
            self.ready = True

    @staticmethod
    def compile(source, target, flags):
        """None, or what the compiler says."""
        run = subprocess.run(["gcc", *flags, "-c", "-o", target, source],
                             capture_output=True, text=True)
        return run.stderr if run.returncode else None

    def files(self):
        """All files that the objects are made of."""
        return set().union(*self.depends.values()) if self.depends else set()

    def key(self):
        """What the result of a run depends on, but for the mutant."""
        texts = [" ".join(self.flags).replace(self.dir, "")]
        for file in sorted(self.files()):
            with open(os.path.join(self.dir, "tree", file)) as text:
                code = COMMENT.sub(" ", text.read())
                texts += [file, *code.split()]
        return digest(self.models.checker_key, *texts)

    def mutated(self, mutant, dir):
        """The shared object with the mutant: (path, None) or (None, why)."""
        self.make()
        tree, over = os.path.join(self.dir, "tree"), os.path.join(dir, "over")
        subprocess.run(["rm", "-rf", dir], check=True)
        changed = {mutant.site.file: mutant.apply}
        if "pair_" in mutant.new:
            changed[PAIR] = mutants.with_weaker_pairs
        for file, change in changed.items():
            with open(os.path.join(tree, file)) as text:
                text = change(text.read())
            if text is None:
                return None, "a mark hides the site"
            os.makedirs(os.path.dirname(os.path.join(over, file)),
                        exist_ok=True)
            with open(os.path.join(over, file), "w") as out:
                out.write(text)
        # The changed files are found before the tree's.
        before = []
        for flag in self.flags:
            if flag.startswith(f"-I{tree}/") and not flag.endswith("/model"):
                before.append(flag.replace(tree, over, 1))
        first = next(i for i, f in enumerate(self.flags)
                     if f.startswith("-I") and not f.endswith("/model"))
        flags = self.flags[:first] + before + [f"-I{over}"] + \
            self.flags[first:]
        objects = []
        for source, name in self.units():
            if not self.depends[source] & set(changed):
                objects.append(os.path.join(self.dir, name))
                continue
            own = os.path.join(over, source)
            error = self.compile(
                own if source in changed else os.path.join(tree, source),
                os.path.join(dir, name), flags)
            if error:
                return None, error
            objects.append(os.path.join(dir, name))
        return self.link(objects, os.path.join(dir, "object.so"))

    def unchanged(self):
        """The shared object without a change, as mutated()."""
        self.make()
        with self.lock:
            if not self.object_unchanged:
                self.object_unchanged = self.link(
                    [os.path.join(self.dir, name) for _, name in self.units()],
                    os.path.join(self.dir, "object.so"))
            return self.object_unchanged

    @staticmethod
    def link(objects, target, *flags):
        run = subprocess.run(["gcc", "-shared", *flags, "-o", target,
                              *objects], capture_output=True, text=True)
        return (None, run.stderr) if run.returncode else (target, None)


class Models:
    def __init__(self, top, work):
        self.top, self.work = top, work
        self.run = os.path.join(top, "tests/model/run")
        self.checker = subprocess.run([self.run, "--checker"],
                                      capture_output=True,
                                      text=True).stdout.strip().split("\n")[-1]
        if not os.access(self.checker, os.X_OK):
            raise SystemExit("mutate: the checker cannot be built: cargo and "
                             "the loom crate are needed")
        with open(os.path.join(top, "tests/model/loom/src/main.rs")) as file:
            self.checker_key = file.read()
        os.makedirs(work, exist_ok=True)
        self.one = open(os.path.join(work, "lock"), "w")
        try:
            fcntl.flock(self.one, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit(f"mutate: another one works in {work}") from None
        # A run in another tree may build its own meanwhile.
        self.checker = shutil.copy2(self.checker, os.path.join(work, "checker"))
        listed = subprocess.run([self.run, "--list", "loom/*"], check=True,
                                capture_output=True, text=True).stdout
        lines = [line.split("\t", 8) for line in listed.split("\n") if line]
        self.scenarios = [s for s in map(Scenario, lines)
                          if s.wanted == "holds"]
        groups = {}
        for scenario in self.scenarios:
            key = scenario.group_key()
            scenario.group = groups.setdefault(
                key, Group(self, key, len(groups)))
        self.groups = list(groups.values())
        tree = os.path.join(work, "tree")
        subprocess.run(["rm", "-rf", tree], check=True)
        flags = self.make_tree(tree)
        for group in self.groups:
            group.look(tree, flags)

    def make_tree(self, tree):
        run = subprocess.run([self.run, "--tree", tree], check=True,
                             capture_output=True, text=True)
        return shlex.split(run.stdout)

    # Runs.

    def check(self, object, scenario, bound, seconds):
        """(killed, survived, undecided or hang; CPU seconds; the checker's words)

        With each thread first, for so many CPU seconds. The machine's load changes
        nothing of it.
        """
        environment = {**os.environ, "WEFT_MODEL_TURNS": "1",
                       "WEFT_MODEL_SECONDS": str(seconds)}
        command = [self.checker, object, scenario.scenario]
        with subprocess.Popen(command + ([] if bound == "-" else [bound]),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, env=environment) as run:
            # The checker looks at its time between two executions.
            endless = int(seconds) + 20
            resource.prlimit(run.pid, resource.RLIMIT_CPU, (endless, resource.RLIM_INFINITY))
            words = run.stdout.read().strip().split("\n")[0]
            _, status, usage = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(status)
        took = usage.ru_utime + usage.ru_stime
        if run.returncode in (0, 4):
            return ("undecided" if run.returncode else "survived"), took, words
        if run.returncode == -signal.SIGXCPU:
            return "hang", took, "an execution has no end"
        if run.returncode in (1, 3, -signal.SIGSEGV, -signal.SIGABRT,
                              -signal.SIGBUS, -signal.SIGFPE, -signal.SIGILL):
            return "killed", took, words or "the checker died"
        return "error", took, f"{words} ({run.returncode})"

    def cover(self, group, seconds):
        """Which lines each scenario of the group executes, and how long it is."""
        tree, dir = os.path.join(group.dir, "tree"), group.dir + "-cover"
        scenarios = [s for s in self.scenarios if s.group is group]
        texts = [s.name + s.bound for s in scenarios]
        for file in sorted(group.files()):	# with the places of the lines
            with open(os.path.join(tree, file)) as text:
                texts.append(text.read())
        kept = os.path.join(self.work, "cover-" + digest(*texts) + ".json")
        if not os.path.exists(kept):
            subprocess.run(["rm", "-rf", dir], check=True)
            os.makedirs(dir)
            flags = group.flags + ["--coverage"]
            objects = []
            for source, name in group.units():
                error = group.compile(os.path.join(tree, source),
                                      os.path.join(dir, name), flags)
                if error:
                    raise SystemExit(f"mutate: {error}")
                objects.append(os.path.join(dir, name))
            object, error = group.link(objects, os.path.join(dir, "cover.so"),
                                       "--coverage")
            if error:
                raise SystemExit(f"mutate: {error}")
            found = {}
            absent = []
            for scenario in scenarios:
                # All of one preemption, and some of what more of them reach.
                took, words = self.check(object, scenario, "1", seconds)[1:]
                # What only code that is not executed names; the compiler has
                # left that out of the scenario, but not of this.
                while re.search(r"undefined symbol: (\w+)", words):
                    name = re.search(r"undefined symbol: (\w+)", words)[1]
                    absent.append(f"-Wl,--defsym={name}=0")
                    group.link(objects, object, "--coverage", *absent)
                    took, words = self.check(object, scenario, "1", seconds)[1:]
                self.check(object, scenario, scenario.bound, seconds)
                covered = self.lines(dir, tree)
                if not any(f.startswith("model/") for f in covered):
                    raise SystemExit(f"mutate: {scenario.name}: gcov has "
                                     f"counted nothing ({words})")
                found[scenario.name] = [took, words, covered]
            with open(kept, "w") as file:
                json.dump(found, file)
        with open(kept) as file:
            found = json.load(file)
        for scenario in scenarios:
            scenario.seconds, scenario.words, covered = found[scenario.name]
            scenario.covered = {f: dict(l) for f, l in covered.items()}

    @staticmethod
    def lines(dir, tree):
        """{file of the tree: [line, whether executed]}; then counts begin again.
        """
        counts = [f for f in os.listdir(dir) if f.endswith(".gcda")]
        covered = {}
        for count in counts:
            subprocess.run(["gcov", "-j", "-o", dir, count], cwd=dir,
                           capture_output=True)
            os.remove(os.path.join(dir, count))
        for name in os.listdir(dir):
            if not name.endswith(".gcov.json.gz"):
                continue
            with gzip.open(os.path.join(dir, name)) as file:
                counted = json.load(file)
                for entry in counted["files"]:
                    path = os.path.join(counted["current_working_directory"],
                                        entry["file"])
                    lines = covered.setdefault(os.path.relpath(path, tree), {})
                    for line in entry["lines"]:
                        number = line["line_number"]
                        lines[number] = lines.get(number) or line["count"] > 0
            os.remove(os.path.join(dir, name))
        return {f: sorted(l.items()) for f, l in covered.items()}
