# SPDX-License-Identifier: MIT
"""headers.py - reads the entries and the definitions of the public headers

An entry is a comment that begins "name - what" or "name, name - what" and the
declarations of those functions below it. make-man makes pages of the entries,
check-api compares them with what the library exports, check-manual looks at what
the pages show.

A block is a paragraph of structs and macros, with the comment above it. A page shows
each block that defines a name which the page uses.
"""
import os
import re

# The fields of an entry, in the order in which they stand.
FIELDS = ("Blocks", "Orders", "Progress", "Fairness", "Not for", "See",
          "Source", "Since")
# Those that name other functions and papers.
OUTSIDE = ("See", "Source", "Since")

COMMENT = re.compile(r"^/\*\n(.*?)^ \*/\n", re.M | re.S)
TITLE = re.compile(r"^(weft_\w+(?:, weft_\w+)*) - (.+)$")
DECLARATION = re.compile(r"^WEFT_API\b(.*?);", re.M | re.S)
FIRST_COMMENT = re.compile(r"/\*.*?\*/\n", re.S)
DEFINED = re.compile(r"^(?:#define (WEFT_\w*[A-Z0-9])\b|(struct weft_\w+)(?: \{|;))",
                     re.M)
USED = re.compile(r"\bWEFT_\w*[A-Z0-9]\b|\bstruct weft_\w+")


class HeaderError(Exception):
    pass


class Function:
    """One declaration: type, name, arguments."""

    def __init__(self, text):
        text = " ".join(text.split())
        text = re.sub(r"\bWEFT_MUST_USE\b|__attribute__\(\(.*?\)\)", "", text)
        match = re.match(r"\s*(.*?)\s*\b(weft_\w+)\s*\((.*)\)\s*$", text)
        if not match:
            raise HeaderError(f"declaration not understood: {text}")
        self.type, self.name, arguments = match.groups()
        self.arguments = self.split(arguments)

    @staticmethod
    def split(text):
        parts, depth, begin = [], 0, 0
        for at, c in enumerate(text):
            depth += (c == "(") - (c == ")")
            if c == "," and depth == 0:
                parts.append(text[begin:at].strip())
                begin = at + 1
        return parts + [text[begin:].strip()]


class Entry:
    """One comment with its functions. `body` is the text before the fields."""

    def __init__(self, header, line, names, what, body, fields):
        self.header, self.line = header, line
        self.names, self.what = names, what
        self.body, self.fields = body, fields
        self.functions = []

    def where(self):
        return f"{self.header}:{self.line}"

    def has_deadline(self):
        return any("int64_t deadline" in f.arguments for f in self.functions)


class Block:
    """A paragraph of definitions: the names, the code, the text of a long comment."""

    def __init__(self, header, text, names):
        self.header, self.names, self.text = header, names, []
        comment = FIRST_COMMENT.match(text)
        if comment and comment.group().startswith("/*\n"):
            self.text = comment_lines(comment.group()[3:].rsplit(" */", 1)[0])
            text = text[comment.end():]
        # What a macro with arguments becomes is no concern of its user.
        text = re.sub(r"^(#define \w+\([^)]*\)).*?[^\\]$", r"\1\t...", text,
                      flags=re.M | re.S)
        text = re.sub(r"^#define \w+_\b.*\n", "", text, flags=re.M)
        self.code = text.rstrip("\n").split("\n")

    def uses(self):
        return used_names("\n".join(self.code + self.text))


def used_names(text):
    """Macros, and structs as "struct weft_x", that a text names."""
    return set(USED.findall(" ".join(text.split())))


class Example:
    """A program of examples/manual: its lines without the licence, what it calls."""

    def __init__(self, folder, name):
        self.name = name
        with open(os.path.join(folder, name)) as file:
            self.lines = file.read().rstrip("\n").split("\n")[1:]
        code = re.sub(r"/\*.*?\*/", "", "\n".join(self.lines), flags=re.S)
        self.calls = set(re.findall(r"\b(weft_\w+)\(", code))


def read_examples(root):
    folder = os.path.join(root, "examples/manual")
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return [Example(folder, name) for name in sorted(names) if name.endswith(".c")]


def example_of(entry, examples):
    """The program of its header that calls most of the entry's functions."""
    stem = os.path.basename(entry.header)[:-2]
    ours = [e for e in examples
            if re.fullmatch(re.escape(stem) + r"(_\w+)?\.c", e.name)
            and e.calls & set(entry.names)]
    if not ours:
        raise HeaderError(f"{entry.where()}: no examples/manual/{stem}*.c calls "
                          f"{' or '.join(entry.names)}")
    return max(ours, key=lambda e: len(e.calls & set(entry.names)))


def initialiser_of(struct):
    """A pattern for the macros that initialise a struct."""
    return re.compile(re.escape(struct.split()[1].upper()) + r"_(\w+_)?INIT$")


def blocks_of_page(entry, header, tree):
    """The blocks that the page of an entry shows: its own header's first."""
    wanted = used_names("\n".join(
        [f.type + "," + ",".join(f.arguments) for f in entry.functions] +
        entry.body + [entry.what] + header.about +
        [text for name, text in entry.fields.items() if name not in OUTSIDE]))
    blocks = {}  # a struct that two headers declare in the same words is shown once
    for other in [header] + [h for h in tree if h is not header]:
        for block in other.blocks:
            blocks.setdefault("\n".join(block.code), block)
    blocks = list(blocks.values())
    shown = []
    while True:
        new = [b for b in blocks if b not in shown and
               (b.names & wanted or
                any(initialiser_of(s).match(name) for name in b.names
                    for s in wanted if s.startswith("struct ")))]
        if not new:
            return [b for b in blocks if b in shown]
        shown += new
        for block in new:
            wanted |= block.uses()


def comment_lines(text):
    """The text of a comment, without the stars."""
    return [re.sub(r"^ \*( |$)", "", line).rstrip()
            for line in text.split("\n")[:-1]]


def read_fields(lines):
    """Splits an entry's lines into its body and its fields."""
    body, fields, current = [], {}, None
    start = re.compile("(" + "|".join(FIELDS) + r")(?: {2,}| *$)(.*)")
    for line in lines:
        match = start.match(line)
        if match:
            current = match.group(1)
            fields[current] = [match.group(2).strip()]
        elif current and line.startswith(" "):
            fields[current].append(line.strip())
        elif line or not current:
            current = None
            body.append(line)
    while body and not body[-1]:
        body.pop()
    while body and not body[0]:
        body.pop(0)
    return body, {name: " ".join(text) for name, text in fields.items()}


class Header:
    def __init__(self, root, name):
        self.name = name
        with open(os.path.join(root, "include", name)) as file:
            text = file.read()
        self.entries = []
        self.about = []
        self.blocks = []
        self.read(text)
        self.read_blocks(text)

    def read(self, text):
        comments = list(COMMENT.finditer(text))
        for number, match in enumerate(comments):
            lines = comment_lines(match.group(1))
            line = text.count("\n", 0, match.start()) + 1
            if number == 0 and lines[0].startswith(self.name):
                self.about = lines[2:]
            title = TITLE.match(lines[0])
            if not title:
                continue
            body, fields = read_fields(lines[1:])
            self.entries.append(Entry(
                self.name, line, title.group(1).split(", "), title.group(2),
                body, fields))
            end = (comments[number + 1].start()
                   if number + 1 < len(comments) else len(text))
            self.read_functions(text[match.end():end])
        declared = len(DECLARATION.findall(text))
        found = sum(len(e.functions) for e in self.entries)
        if declared != found:
            raise HeaderError(f"{self.name}: {declared - found} functions "
                              "have no entry above them")

    def read_blocks(self, text):
        for paragraph in text.split("\n\n"):
            code = FIRST_COMMENT.sub("", paragraph, count=1) \
                if paragraph.startswith("/*") else paragraph
            if code.startswith(("#define WEFT_", "struct weft_")):
                names = {a or b for a, b in DEFINED.findall(code)}
                if names:
                    self.blocks.append(Block(self.name, paragraph + "\n", names))

    def read_functions(self, text):
        entry = self.entries[-1]
        entry.functions = [Function(m.group(1))
                           for m in DECLARATION.finditer(text)]
        have = [f.name for f in entry.functions]
        if have != entry.names:
            raise HeaderError(f"{entry.where()}: the entry names "
                              f"{', '.join(entry.names)}; declared are "
                              f"{', '.join(have) or 'none'}")


def read_headers(root):
    names = sorted("weft/" + n
                   for n in os.listdir(os.path.join(root, "include/weft"))
                   if n.endswith(".h"))
    return [Header(root, name) for name in names]
