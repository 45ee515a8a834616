# SPDX-License-Identifier: MIT
"""c_code.py - reads C as weft writes it: structs, objects, functions, expressions

No preprocessor and no grammar of all of C: enough to tell which declared word
an expression as "&v->ring.word" names. Tokens of macros' definitions are not
read; both branches of an #if are.
"""
import re

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"|' r"'(?:\\.|[^'\\\n])*'")
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
QUALIFIER = re.compile(
    r"\b(?:static|extern|const|volatile|inline|_Thread_local|register|"
    r"restrict|typedef|TABLE)\b|\b_?[aA]lignas\s*\([^()]*(?:\([^()]*\))?[^()]*\)|"
    r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
ATOMIC_OF = re.compile(r"\b_Atomic\s*\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)")
TYPE = re.compile(r"\s*(?:struct|union|enum|_Atomic|const|volatile|void|char|"
                  r"int|unsigned|long|short|u?int\d+_t|u?intptr_t|size_t)\b")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def bare(text):
    """The text without comments, strings and directives; lines stay."""
    def other(match):
        if match.group(0)[0] == "/":
            return blank(match)
        return match.group(0)[0] + " " * (len(match.group(0)) - 2) + \
            match.group(0)[0]
    both = re.compile(COMMENT.pattern + "|" + STRING.pattern, re.S)
    return DIRECTIVE.sub(blank, both.sub(other, text))


ALIAS = re.compile(r"^#define\s+(\w+)\s+(wefti_\w+)\s*$", re.M)


def without_aliases(text):
    """Each name that stands for an object of ours is replaced by that."""
    for name, stands_for in ALIAS.findall(text):
        text = re.sub(rf"\b(?<!#define\s){name}\b", stands_for, text)
    return text


def closing(text, at):
    """Behind the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        if text[i] in "([{":
            depth += 1
        elif text[i] in ")]}":
            depth -= 1
            if depth == 0:
                return i + 1
    return len(text)


def parts(text, separator):
    """Split where no bracket is open."""
    found, depth, begin = [], 0, 0
    for i, c in enumerate(text):
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == separator and depth == 0:
            found.append(text[begin:i])
            begin = i + 1
    return found + [text[begin:]]


class Variable:
    """A field, object, local variable or parameter."""

    def __init__(self, name, struct, atomic, pointer, value=""):
        self.name, self.struct, self.value = name, struct, value
        self.atomic, self.pointer = atomic, pointer


def declared(text, own_struct=None):
    """The variables of one declaration, without its semicolon."""
    text = QUALIFIER.sub(" ", text)
    atomic = "_Atomic" in text
    struct = own_struct
    match = re.search(r"\b(?:struct|union)\s+(\w+)", text)
    if match and not own_struct:
        struct = match.group(1)
    text = ATOMIC_OF.sub(" int ", text).replace("_Atomic", " ")
    text = re.sub(r"\b(struct|union|enum)\s+\w+", " int ", text, count=1)
    found = []
    for number, part in enumerate(parts(text, ",")):
        head, _, value = part.partition("=")
        name = re.match(r"\s*(?:\w+\s+)*?[\s*]*\(\s*\*\s*(\w+)", head) or \
            re.match(r"(?:.*?\b)?(\w+)\s*(?:\[.*\]\s*)*(?::\s*\w+\s*)?$",
                     head.strip(), re.S)
        if not name or (number == 0 and not own_struct and
                        not re.search(r"\w[\s*]+\w", head)):
            continue
        found.append(Variable(name.group(1), struct, atomic, "*" in head,
                              value.strip()))
    return found


class Function:
    def __init__(self, source, name, head, arguments, body, line):
        self.source, self.name, self.line = source, name, line
        self.body, self.static = body, "static" in head
        self.returns = declared(head + " result")
        self.parameters = []
        for argument in parts(arguments, ","):
            self.parameters += declared(argument)[:1] or [None]
        self.locals = {p.name: p for p in self.parameters if p}
        self.values = {}	# of local variables: expressions
        for statement in re.split(r"[;{}]", body):
            statement = re.sub(r"^\s*for\s*\(", " ", statement)
            if TYPE.match(QUALIFIER.sub(" ", statement)):
                for variable in declared(statement):
                    self.locals[variable.name] = variable
                    self.note(variable.name, variable.value)
        for match in re.finditer(r"(?<![\w.>])(\w+)\s*=(?!=)", body):
            end = re.compile(r"[;]").search(body, match.end())
            self.note(match.group(1), body[match.end():end.start()]
                      if end else "")

    def note(self, name, value):
        value = parts(value, ",")[0]
        while value.count(")") > value.count("("):
            value = value[:value.rindex(")")]
        if value.strip():
            self.values.setdefault(name, []).append(value)

    def calls(self):
        """(name, arguments, offset) of all that looks like a call."""
        for match in re.finditer(r"\b([A-Za-z_]\w*)\s*\(", self.body):
            end = closing(self.body, match.end() - 1)
            yield (match.group(1),
                   parts(self.body[match.end():end - 1], ","), match.start())

    def line_of(self, offset):
        return self.line + self.body.count("\n", 0, offset)


class Source:
    """What a file declares."""

    def __init__(self, name, text):
        self.name, self.code = name, bare(without_aliases(text))
        self.structs, self.objects, self.functions = {}, {}, []
        self.returns = {}	# of functions that are only declared
        self.read()

    def read(self):
        code, at, begin = self.code, 0, 0
        while at < len(code):
            c = code[at]
            if c == "(" or c == "[":
                at = closing(code, at)
                continue
            if c == ";":
                self.item(code[begin:at])
                begin = at = at + 1
            elif c == "{":
                head, end = code[begin:at], closing(code, at)
                if re.search(r"\)\s*(?:[A-Z_]+\s*)*$", head) and \
                        not re.search(r"=\s*", head.split("(")[0]):
                    self.function(head, code[at:end], at)
                    begin = end
                elif re.search(r'"C"\s*$|extern\s+"\s*"\s*$', head):
                    begin = end = at + 1
                elif "=" in head:
                    pass	# an initializer; its item ends at the ;
                at = end
                continue
            else:
                at += 1

    def function(self, head, body, at):
        head = re.sub(r"\)\s*(?:[A-Z_]+\s*)*$", ")", head)
        match = re.search(r"\b([A-Za-z_]\w*)\s*\($", head[:self.opening(head)])
        if not match:
            return
        name = match.group(1)
        arguments = head[match.end():head.rstrip().rindex(")")]
        if name.isupper():	# a macro's: the type, the name, the parameters
            words = parts(arguments, ",")
            name, arguments = words[1].strip(), ",".join(words[2:])
        self.functions.append(Function(
            self, name, head[:match.start()], arguments, body,
            self.code.count("\n", 0, at) + 1))

    @staticmethod
    def opening(head):
        """Behind the bracket that opens the arguments."""
        depth = 0
        for i in range(len(head) - 1, -1, -1):
            depth += (head[i] == ")") - (head[i] == "(")
            if head[i] == "(" and depth == 0:
                return i + 1
        return 0

    def item(self, text):
        match = re.match(r"\s*(?:(?:static|extern|typedef|const|"
                         r"_?[aA]lignas\s*\(\w+\))\s+)*"
                         r"(?:struct|union)\s*(\w*)\s*(?:[A-Z_]+\s*)*\{", text)
        if match:
            end = closing(text, match.end() - 1)
            rest = text[end:]
            name = match.group(1) or \
                ".".join(v.name for v in declared(rest, "?")[:1])
            self.struct(name, text[match.end():end - 1])
            self.add(declared("int " + rest, name) if rest.strip() else [])
        elif "(" not in QUALIFIER.sub("", ATOMIC_OF.sub("", text)).split("=")[0]:
            self.add(declared(text))
        else:
            match = re.match(r"(.*?)\b(\w+)\s*\(", ATOMIC_OF.sub(" int ", text),
                             re.S)
            result = declared(match.group(1) + " result") if match else []
            if result:
                self.returns.setdefault(match.group(2), result[0])

    def add(self, variables):
        for variable in variables:
            self.objects.setdefault(variable.name, variable)

    def struct(self, name, body):
        fields = self.structs.setdefault(name, {})
        for field in parts(body, ";"):
            match = re.match(r"\s*(?:_?[aA]lignas\s*\(\w+\)\s*)?(?:struct|union)"
                             r"\s*(\w*)\s*\{", field)
            if not match:
                for variable in declared(field):
                    fields[variable.name] = variable
                continue
            end = closing(field, match.end() - 1)
            names = [v for v in declared("int " + field[end:], "?")
                     if field[end:].strip()]
            inner = match.group(1) or (
                f"{name}.{names[0].name}" if names else name)
            self.struct(inner, field[match.end():end - 1])
            for variable in names:
                variable.struct = inner
                fields[variable.name] = variable
