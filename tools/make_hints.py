"""Writes docs/reference/hints.md from the source: every hint of an error, with what the error says and its class.

A hint is the field `.hint` of an ErrorInfo, the last argument of a function called refuse..., what a function with
`hint` in its name returns, or, of NVML's errors, the last argument of `@_of`. An ellipsis stands for what only the
running program knows.
"""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reference/hints.md"
AREAS = (
    ("compile", "Compiling and linking"),
    ("store", "Shared stores and archives"),
    ("redis", "Shared stores in Redis"),
    ("toolkit", "NVIDIA's compilers"),
    ("link", "NVIDIA's compilers"),
    ("code", "Compiled code, kernels and launches"),
    ("formats", "Compiled code, kernels and launches"),
    ("files", "Compiled code, kernels and launches"),
    ("device", "Devices, streams and events"),
    ("memory", "Memory, arrays and textures"),
    ("graph", "Graphs"),
    ("driver", "The driver"),
    ("handles", "The driver"),
    ("settings", "The driver"),
    ("error", "Objects that are closed"),
)
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|\w+|::|->|[^\s\w]', re.DOTALL)
OPEN, CLOSE = "([{", ")]}"
PAIR = dict(zip(OPEN, CLOSE, strict=True))
UNKNOWN = "…"
INTRODUCTION = f"""# Every hint

Made from the source by `tools/make_hints.py`.

What stands after `hint:` in an error is one of these; `{UNKNOWN}` is what only the running program knows. Names are
those of C++: `Device::count()` is `Device.count()` or its like in Python. What the classes mean, with examples, and
what Python calls them is in [errors](errors.md). Rows with no class serve several; a name such as
`CUDA_ERROR_NO_DEVICE` is the code of the library that failed.
"""


def tokens_of(text):
    return [token for token in TOKEN.findall(text) if not token.startswith(("//", "/*"))]


def end_of(tokens, start):
    """The place of the bracket that closes the one at `start`."""
    depth = 0
    for place in range(start, len(tokens)):
        depth += (tokens[place] in PAIR) - (tokens[place] in CLOSE)
        if depth == 0:
            return place
    raise ValueError("a bracket is not closed")


def start_of(tokens, inside):
    """The place of the bracket that is open around `inside`."""
    depth = 0
    for place in range(inside, -1, -1):
        depth += (tokens[place] in CLOSE) - (tokens[place] in PAIR and place != inside)
        if depth < 0:
            return place
    raise ValueError("no bracket is open")


def split(tokens, separator):
    """The parts between separators that are in no bracket."""
    parts, depth = [[]], 0
    for token in tokens:
        depth += (token in PAIR) - (token in CLOSE)
        if token == separator and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def literal(token):
    return ast.literal_eval(token) if token.startswith('"') else None


def texts(tokens, constants):
    """What an expression may be as text: one for each branch of a conditional."""
    condition, *branches = split(tokens, "?")
    if branches:
        rest = [token for branch in branches for token in ["?", *branch]][1:]
        depth, colon = 1, 0  # of this conditional, which others may stand in
        while depth := depth + (rest[colon] == "?") - (rest[colon] == ":"):
            colon += 1
        return [*texts(rest[:colon], constants), *texts(rest[colon + 1 :], constants)]
    found = [""]
    for part in split(tokens, "+"):
        while len(part) > 2 and part[0] == "(" and end_of(part, 0) == len(part) - 1:
            part = part[1:-1]
        if split(part, "?")[1:]:
            choices = texts(part, constants)
        elif len(part) > 3 and part[-1] == ")" and part[-2].startswith('"') and part[-4] == "string":
            choices = [literal(part[-2])]  # std::string("...")
        elif all(token.startswith('"') for token in part) and part:
            choices = ["".join(map(literal, part))]
        elif len(part) == 1 and part[0] in constants:
            choices = [constants[part[0]]]
        else:
            choices = [UNKNOWN] if part else [""]
        found = [text + choice for text in found for choice in choices]
    return [re.sub(f"{UNKNOWN}(?:[ .]?{UNKNOWN})+", UNKNOWN, text) for text in found]


def is_hint(text):
    return " " in text.strip(f"{UNKNOWN} ;,.")


def constants_of(tokens):
    """Names of texts."""
    found = {}
    for place, token in enumerate(tokens):
        if token == "=" and place > 2 and tokens[place - 3 : place - 1] in (["char", "*"], ["string_view", "*"]):
            stop = tokens.index(";", place)
            if all(part.startswith('"') for part in tokens[place + 1 : stop]):
                found[tokens[place - 1]] = "".join(map(literal, tokens[place + 1 : stop]))
    return found


def of_fields(tokens, constants):
    """From initialisers with a field `.hint`: class, messages, hints."""
    for place, token in enumerate(tokens):
        if token != "hint" or tokens[place - 1] != "." or tokens[place - 2] not in ("{", ","):
            continue
        start = start_of(tokens, place - 1)
        fields = {}
        for part in split(tokens[start + 1 : end_of(tokens, start)], ","):
            if len(part) > 2 and part[0] == ".":
                fields[part[1]] = part[3:]
        kind = next((name for name in reversed(tokens[max(0, start - 3) : start]) if name.endswith("Error")), "")
        yield kind, texts(fields.get("message", []), constants), texts(fields["hint"], constants)


def of_assignments(tokens, constants):
    """From what is assigned to a variable or member called hint."""
    for place, token in enumerate(tokens):
        if token != "hint" or tokens[place + 1] != "=" or tokens[place - 2 : place] in (["{", "."], [",", "."]):
            continue
        value = split(tokens[place + 2 : place + 2 + tokens[place + 2 :].index(";")], ",")[0]
        soon = tokens[place + 1 : place + 200]
        grows = any(soon[at : at + 3] == ["hint", "+", "="] for at in range(len(soon)))
        yield "", [UNKNOWN], [f"{text} {UNKNOWN}" if grows else text for text in texts(value, constants)]


def thrown_by(name, tokens):
    """The class that a function throws, as the file or src/error/refuse.hpp defines it."""
    for place, token in enumerate(tokens):
        if token == name and tokens[place - 1] in ("void", "auto"):
            kinds = [word for word in tokens[place : place + 120] if re.fullmatch(r"[A-Z]\w+Error", word)]
            if kinds:
                return kinds[0]
    return "InvalidValueError" if name == "refuse_as_driver" else "ValueError"


def of_refusals(tokens, constants):
    """From calls of refuse and its kin: their last argument, if the one before it is not the name of a call."""
    for place, token in enumerate(tokens):
        if not token.startswith("refuse") or tokens[place + 1] != "(" or tokens[place - 1] in ("void", "auto"):
            continue
        arguments = split(tokens[place + 2 : end_of(tokens, place + 1)], ",")
        if len(arguments) < 2:
            continue
        messages = texts(arguments[-2], constants)
        if all(" " in message for message in messages):
            yield thrown_by(token, tokens), messages, texts(arguments[-1], constants)


def of_functions(tokens, constants):
    """From functions that return hints: what they return, and the case that it is of."""
    for place, token in enumerate(tokens):
        if "hint" not in token or tokens[place + 1] != "(" or not token.isidentifier():
            continue
        body = end_of(tokens, place + 1) + 1
        if body >= len(tokens) or tokens[body] != "{":
            continue
        cases, fresh = [], True
        inside = tokens[body : end_of(tokens, body)]
        for at, word in enumerate(inside):
            if word == "case":
                name = inside[inside.index(":", at) - 1]
                cases = [*([] if fresh else cases), name]
                fresh = False
            elif word == "default":
                cases, fresh = [], True
            elif word == "return":
                stop = inside.index(";", at)
                yield "", [", ".join(cases)], texts(inside[at + 1 : stop], constants)
                fresh = True


def rows_of(path):
    tokens = tokens_of(path.read_text())
    constants = constants_of(tokens)
    for finder in (of_fields, of_assignments, of_refusals, of_functions):
        for kind, messages, hints in finder(tokens, constants):
            for hint in filter(is_hint, hints):
                yield kind, " / ".join(dict.fromkeys(m for m in messages if m.strip(UNKNOWN))) or UNKNOWN, hint


def nvml_rows():
    """The classes of cucore.system, by their decorators."""
    tree = ast.parse((ROOT / "python/cucore/system/exceptions.py").read_text())
    names = {
        node.targets[0].id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    }
    for node in tree.body:
        for call in node.decorator_list if isinstance(node, ast.ClassDef) else ():
            _, name, text, hint = call.args
            hint = names[hint.id] if isinstance(hint, ast.Name) else ast.literal_eval(hint)
            yield node.name, f"NVML_ERROR_{ast.literal_eval(name)}: {ast.literal_eval(text)}", hint


def cell(text):
    return " ".join(text.split()).replace("|", "\\|").replace("<", "\\<").replace("*", "\\*").replace("_", "\\_")


def page():
    sections = {title: {} for _, title in AREAS}
    titles = dict(AREAS)
    for path in sorted((ROOT / "src").rglob("*.[ch]pp")):
        title = titles[path.relative_to(ROOT / "src").parts[0]]
        for row in rows_of(path):
            sections[title][row] = None
    sections["NVML (cucore.system)"] = dict.fromkeys(nvml_rows())
    text = INTRODUCTION
    for title, rows in sections.items():
        if rows:
            text += f"\n## {title}\n\n| class | what is said | what to do |\n|---|---|---|\n"
            for kind, message, hint in sorted(rows, key=lambda row: (row[1].lower(), row[2])):
                text += f"| {f'`{kind}`' if kind else ''} | {cell(message)} | {cell(hint)} |\n"
    return text


def stale():
    """The page, if it is not what the source says."""
    return [] if PAGE.exists() and PAGE.read_text() == page() else [str(PAGE.relative_to(ROOT))]


def main():
    PAGE.write_text(page())


if __name__ == "__main__":
    sys.exit(main())
