# SPDX-License-Identifier: MIT
"""mutants.py - the sites of a file that tools/mutate changes, and the changes

A site is an atomic operation, fence or membarrier in a function's body. Its label
is that of tools/check-pairs. A mutant is one change of one site; its name has no
line in it, so that it stays the same while code around it changes.
"""
import importlib.machinery
import importlib.util
import os
import re
import sys

from c_code import Source, closing

HERE = os.path.dirname(os.path.abspath(__file__))


def read_check_pairs():
    loader = importlib.machinery.SourceFileLoader(
        "check_pairs", os.path.join(HERE, "check-pairs"))
    spec = importlib.util.spec_from_loader("check_pairs", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


check_pairs = read_check_pairs()

# An order, and those that are one step weaker. A checker that takes seq_cst
# accesses for acquire and release sees no change of seq_cst to these.
WEAKER = {"acquire": ("relaxed",), "release": ("relaxed",),
          "acq_rel": ("acquire", "release"), "seq_cst": ("relaxed",)}


class Mutant:
    def __init__(self, site, what, old, new):
        self.site, self.what = site, what
        self.old, self.new = old, new	# texts on the site's line
        self.name = f"{site.file} {site.function}: {site.text} {what}"

    def apply(self, text):
        """The file with the change, or None if its line is another's now."""
        lines = text.split("\n")
        if self.site.line >= len(lines):
            return None
        at = -1
        for _ in range(self.site.number + 1):
            at = lines[self.site.line].find(self.site.operation + "(", at + 1)
            if at < 0:
                return None
        begin = sum(len(line) + 1 for line in lines[:self.site.line]) + at
        end = closing(text, text.index("(", begin))
        call = text[begin:end]
        return text[:begin] + self.change(call) + text[end:]

    def change(self, call):
        if self.what == "dropped":
            return "(void)0"
        if self.what == "never fails":
            return f"({call}, 1)"
        return self.new + call[len(self.old):]


class Site:
    """One operation."""

    def __init__(self, file, function, line, number, operation, argument):
        self.file, self.function, self.line = file, function, line
        self.number = number		# of those of its name on its line
        self.operation = operation
        self.text = f"{operation}({argument})"
        self.labels = []
        self.is_used = True		# its result
        self.lines = (line, line)	# of its statement

    def mutants(self):
        found = []
        if self.operation.startswith("fence") or \
                "membarrier" in self.operation:
            return [Mutant(self, "dropped", "", "")]
        match = re.match(r"(.*)_(relaxed|acquire|release|acq_rel|seq_cst)$",
                         self.operation)
        for order in WEAKER.get(match.group(2), ()):
            found.append(Mutant(self, f"-> {order}", self.operation,
                                f"{match.group(1)}_{order}"))
        if re.match(r"(pair_)?(hi_)?cas", self.operation) and self.is_used:
            found.append(Mutant(self, "never fails", "", ""))
        return found


def sites_of(name, text):
    """The sites of a file, in order."""
    code = Source(name, text)
    pairs = check_pairs.File(name)
    found, seen = [], {}
    for function in code.functions:
        for operation, arguments, at in function.calls():
            if not re.fullmatch(check_pairs.OPERATION.pattern, operation + "("):
                continue
            line = function.line_of(at) - 1
            before = function.body[function.body.rfind("\n", 0, at) + 1:at]
            site = Site(name, function.name, line,
                        len(re.findall(rf"\b{operation}\s*\(", before)),
                        operation, " ".join(arguments[0].split()))
            end = closing(function.body, function.body.index("(", at))
            site.is_used = not (
                re.search(r"[;{})]\s*$|\b(?:else|do)\s*$", function.body[:at]) and
                function.body[end:].lstrip().startswith(";"))
            first, last = check_pairs.statement_of(pairs.code, line)
            site.lines = (first, last)
            site.labels = pairs.labels_of(
                check_pairs.Operation(line, operation, ""))
            # Two alike in one function: the second is #2.
            key = (site.function, site.text)
            seen[key] = seen.get(key, 0) + 1
            if seen[key] > 1:
                site.text += f" #{seen[key]}"
            found.append(site)
    return found


def is_labelled(mutant):
    """A fence, a CAS's failure, or an order that a pair names."""
    return mutant.what == "never fails" or bool(mutant.site.labels) or \
        mutant.what == "dropped"


PAIR_CAS = re.compile(r"^static inline int pair_(?:hi_)?cas_acq_rel\(.*?^\}\n",
                      re.M | re.S)


def with_weaker_pairs(text):
    """lockfree/pair.h with what its CAS is weakened to."""
    more = ""
    for function in PAIR_CAS.findall(text)[:2]:	# those for a checker
        for order in ("acquire", "release"):
            more += function.replace("acq_rel", order)
    at = text.index("static inline void pair_init")
    return text[:at] + more + text[at:]


def main():
    """mutants.py FILE... - each mutant and its line, as tools/mutate has them"""
    for name in sys.argv[1:]:
        with open(name) as file:
            text = file.read()
        for site in sites_of(name, text):
            for mutant in filter(is_labelled, site.mutants()):
                changed = mutant.apply(text)
                print(f"{mutant.name}\n\t" +
                      changed.split("\n")[site.line].strip())


if __name__ == "__main__":
    main()
