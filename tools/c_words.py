# SPDX-License-Identifier: MIT
"""c_words.py - which shared word an expression names, and which functions write
   each

A word is a tuple: ("field", file or "", struct, field), ("object", file or "",
name), ("parameter", file, function, name), ("result", file, function) or
("memory", file, expression). The last is what no declaration of ours names, and
a cast makes atomic. The file is "" for what a header declares.
"""
import os
import re
from collections import defaultdict

from c_code import ATOMIC_OF, Source, TYPE, closing, parts

WRITE = re.compile(
    r"(?:store|cas(?:_weak)?|xchg|fetch_[a-z]+|pair_(?:hi_)?cas)_"
    r"(?:relaxed|acquire|release|acq_rel|seq_cst)$")
LOAD = re.compile(r"(?:load|xchg)_(?:relaxed|acquire|release|acq_rel|seq_cst)$")
# Their fields change by operations of their own.
ATOMIC_STRUCTS = ("wefti_pair",)


class Place:
    """What an expression names: a word, if it is one, and its struct."""

    def __init__(self, word=None, struct=None, file=""):
        self.word, self.struct, self.file = word, struct, file


class Tree:
    """All files together."""

    def __init__(self, names, locks, definitions):
        self.locks = locks
        self.sources = {}
        for name in names:
            if not name.endswith(definitions):
                with open(name) as file:
                    self.sources[name] = Source(name, file.read())
        self.structs, self.objects = {}, {}
        self.header = {}		# of an object that one declares
        self.functions = defaultdict(list)
        self.declared = {}		# functions: what they return
        for name, source in self.sources.items():
            home = "" if name.endswith(".h") else name
            for struct, fields in source.structs.items():
                if fields:
                    self.structs.setdefault((home, struct), {}).update(fields)
            for variable in source.objects.values():
                self.objects[home, variable.name] = variable
                if not home:
                    self.header[variable.name] = name
            self.declared.update(source.returns)
            for function in source.functions:
                self.functions[function.name].append(function)
        self.writers = defaultdict(set)		# word: {(file, function)}
        self.handed = set()	# parameters whose words are known at calls
        self.unknown = []			# (file, line, expression)
        self.find_writers()

    # What names stand for.

    def struct_home(self, file, struct):
        """The file whose struct of that name is meant, or None."""
        for home in (file, ""):
            if (home, struct) in self.structs:
                return home
        return None

    def object(self, file, name):
        for home in ("", file):
            if (home, name) in self.objects:
                return home, self.objects[home, name]
        return None

    def function(self, file, name):
        """The function that a call in `file` means, or None."""
        fits = self.functions.get(name, [])
        own = [f for f in fits if f.source.name == file]
        return (own or [f for f in fits if not f.static or
                        f.source.name.endswith(".h")] or [None])[0]

    def of_variable(self, variable, word, file):
        shared = variable.atomic or variable.struct in ATOMIC_STRUCTS
        return Place(word if shared else None, variable.struct, file)

    def field(self, place, name):
        home = self.struct_home(place.file, place.struct)
        if home is None:
            return None
        variable = self.structs[home, place.struct].get(name)
        if not variable:
            return None
        return self.of_variable(
            variable, ("field", home, place.struct, name), place.file)

    def name(self, function, name, seen):
        """The places of an identifier in a function."""
        file = function.source.name
        variable = function.locals.get(name)
        if not variable:
            found = self.object(file, name)
            if not found:
                return []
            return [self.of_variable(found[1], ("object", found[0], name),
                                     file)]
        parameter = variable in function.parameters
        places = []
        if parameter:
            word = ("parameter", file, function.name, name)
            places.append(Place(word, variable.struct, file))
        elif not variable.pointer:
            return [self.of_variable(variable, ("object", file, name), file)]
        if (variable.atomic or not variable.struct or
                variable.struct in ATOMIC_STRUCTS) and name not in seen:
            for value in function.values.get(name, []):
                places += self.resolve(function, value, seen | {name})
        return places or [Place(None, variable.struct, file)]

    def call(self, function, name, arguments, seen):
        """The places that a call gives a pointer to, or the value of."""
        file = function.source.name
        if LOAD.match(name):
            return [Place(None, p.struct, p.file)
                    for p in self.resolve(function, arguments[0], seen)]
        callee = self.function(file, name)
        if not callee and name in self.declared:
            return [Place(None, self.declared[name].struct, file)]
        if not callee or callee in seen:
            match = re.search(r"\b(?:struct|union) (\w+)\s*$",
                              arguments[1] if len(arguments) > 1 else "")
            return [Place(None, match.group(1), file)] if match else []
        returned = (callee.returns or [None])[0]
        if not returned:
            return []
        home = callee.source.name
        if not returned.atomic and returned.struct not in ATOMIC_STRUCTS:
            return [Place(None, returned.struct, home)]
        places = []
        for value in re.findall(r"\breturn\b([^;]*);", callee.body):
            places += [p for p in self.resolve(callee, value, seen | {callee})
                       if p.word and p.word[0] in ("field", "object")]
        return places or [Place(("result", home, name), returned.struct, home)]

    # Expressions.

    def resolve(self, function, text, seen=frozenset()):
        """All places that the expression may name."""
        text = text.strip()
        question = parts(text, "?")
        if len(question) > 1:
            return [p for arm in parts("?".join(question[1:]), ":")
                    for p in self.resolve(function, arm, seen)]
        cast = None
        while text:
            if text[0] in "&*":
                text = text[1:].lstrip()
                continue
            end = closing(text, 0) if text[0] == "(" else 0
            inside = text[1:end - 1] if end else ""
            if end and (TYPE.match(inside) or inside == "T *") and \
                    text[end:].strip():
                text = text[end:].strip()
                cast = cast or inside
                continue
            break
        places = self.primary(function, text, seen)
        if cast:
            self.apply(cast, places, function, text)
        return places

    @staticmethod
    def apply(cast, places, function, text):
        """What a cast changes: the struct; memory of others becomes a word."""
        match = re.match(r"\s*(?:const\s+)?struct\s+(\w+)", cast)
        for place in places if match else []:
            place.struct, place.file = match.group(1), function.source.name
        if "_Atomic" in cast and not any(p.word for p in places):
            text = re.sub(r"\s+", " ", text)
            places.append(Place(("memory", function.source.name, text)))

    def primary(self, function, text, seen):
        """An expression without casts and operators in front."""
        if text[:1] == "(":
            end = closing(text, 0)
            places = self.resolve(function, text[1:end - 1], seen)
        else:
            match = re.match(r"[A-Za-z_]\w*", text)
            if not match:
                return []
            end = match.end()
            if text[end:].lstrip()[:1] == "(":
                begin = text.index("(", end)
                end = closing(text, begin)
                places = self.call(function, match.group(0),
                                   parts(text[begin + 1:end - 1], ","), seen)
            else:
                places = self.name(function, match.group(0), seen)
        return self.behind(places, text[end:])

    def behind(self, places, text):
        """Fields and indices that follow."""
        while True:
            text = text.lstrip()
            if text[:1] == "[":
                text = text[closing(text, 0):]
                continue
            match = re.match(r"(?:->|\.)\s*(\w+)", text)
            if not match:
                return places
            places = [p for p in (self.field(place, match.group(1))
                                  for place in places) if p]
            text = text[match.end():]

    # Writers.

    def find_writers(self):
        functions = [f for fits in self.functions.values() for f in fits]
        calls = {f: list(f.calls()) for f in functions}
        for function in functions:
            for name, arguments, at in calls[function]:
                if WRITE.match(name):
                    self.written(function, arguments[0], at)
        # A function that hands a word's address to a writer writes it, too.
        done = set()
        while True:
            words = [w for w in self.writers
                     if w[0] == "parameter" and w not in done and
                     w[2] not in self.locks]
            if not words:
                break
            for word in words:
                done.add(word)
                self.hand_on(word, functions, calls)

    def hand_on(self, word, functions, calls):
        _, file, name, parameter = word
        for function in functions:
            for called, arguments, at in calls[function]:
                if called != name:
                    continue
                callee = self.function(function.source.name, called)
                if not callee or callee.source.name != file:
                    continue
                number = [p and p.name for p in callee.parameters].index(
                    parameter)
                if number >= len(arguments):
                    continue
                words = self.written(function, arguments[number], at, False)
                for to in words:
                    self.writers[to] |= self.writers[word]
                if words:
                    self.handed.add(word)

    def written(self, function, expression, at, must=True):
        words = {p.word for p in self.resolve(function, expression) if p.word}
        for word in words:
            self.writers[word].add((function.source.name, function.name))
        if not words and must:
            self.unknown.append((function.source.name, function.line_of(at),
                                 expression.strip()))
        return words
