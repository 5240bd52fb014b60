"""The one spelling of constants and enumerators (for lint.py).

Constants are lower_case everywhere, and so are enumerators of the library, which are names of the public API; those of
`cpu` are CamelCase. Names that C headers of CUDA have stay theirs.
"""

import re

from rooms import ROOT, tracked

LOWER = re.compile(r"[a-z][a-z0-9_]*")
CAMEL = re.compile(r"[A-Z][A-Za-z0-9]*")
OF_CUDA = re.compile(r"(CU|CUDA|NVML|NVRTC|NVVM)_[A-Z0-9_]+")
APART = re.compile(
    r"R\"\(.*?\)\"|//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)+'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
    re.M | re.S,
)
CONSTANT = re.compile(r"\bconstexpr\b([^;]*);")
INSIDE = re.compile(r"\([^()]*\)|\{[^{}]*\}|\[[^\[\]]*\]|<[^<>()=;]*>")
NAME = re.compile(r"(\w+)\s*$")
ENUM = re.compile(r"\benum\b(?:\s+(?:class|struct))?\s*\w*\s*(?::[^{;]+)?\{([^}]*)\}")
WORDS_OF_TABLES = {"cpu/runtime/process/settings.cpp"}  # enumerators that a .def file spells


def constants(code):
    """The names that constexpr declarations of variables give; functions have their parameters before any `=`."""
    for declaration in CONSTANT.finditer(code):
        text = declaration[1]
        head = re.split(r"[={]", text, maxsplit=1)[0]
        if "(" in head or "=" not in text and "{" not in text:
            continue
        while (plain := INSIDE.sub("", text)) != text:
            text = plain
        for declarator in text.split(","):
            if name := NAME.search(declarator.partition("=")[0]):
                yield declaration.start(), name[1]


def enumerators(code):
    for found in ENUM.finditer(code):
        for enumerator in found[1].split(","):
            if name := re.match(r"\s*(\w+)", enumerator):
                yield found.start(), name[1]


def check_spellings(problems):
    for path in tracked((".cpp", ".hpp", ".h")):
        name = path.relative_to(ROOT)
        code = APART.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), path.read_text())
        found = [(at, word, LOWER) for at, word in constants(code)]
        if str(name) not in WORDS_OF_TABLES:
            found += [(at, word, CAMEL if name.parts[0] == "cpu" else LOWER) for at, word in enumerators(code)]
        for at, word, spelling in found:
            if not spelling.fullmatch(word) and not OF_CUDA.fullmatch(word):
                line = code.count("\n", 0, at) + 1
                problems.append(f"{name}:{line}: {word} should be {'lower_case' if spelling is LOWER else 'CamelCase'}")
