"""Reading the project's .def tables, which are lines of C preprocessor calls: NAME(argument, argument, "text")."""

import re


def lines(path):
    """(macro, arguments as they are written) for each line of a table."""
    kept = [line for line in path.read_text().splitlines() if not line.startswith(("//", "#"))]
    calls = re.findall(r"^([A-Z_]+)\((.*?)\)\n(?=[A-Z_]+\(|\Z)", "\n".join(kept) + "\n", re.MULTILINE | re.DOTALL)
    return [(macro, split(arguments)) for macro, arguments in calls]


def split(arguments):
    """The parts between commas outside brackets and strings."""
    parts, depth, start, quoted, at = [], 0, 0, False, 0
    while at < len(arguments):
        char = arguments[at]
        if quoted and char == "\\":
            at += 1
        elif char == '"':
            quoted = not quoted
        elif not quoted and char in "([{":
            depth += 1
        elif not quoted and char in ")]}":
            depth -= 1
        elif not quoted and char == "," and depth == 0:
            parts.append(arguments[start:at].strip())
            start = at + 1
        at += 1
    return [*parts, arguments[start:].strip()]


def text(literals):
    """Adjacent C strings as one text."""
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"', literals)
    return "".join(parts).replace('\\"', '"')
