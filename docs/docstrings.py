"""The package's docstrings as reStructuredText: they are plain text with `code`, and lists of `name: what it is`."""

import re

ITEM = re.compile(r"^( *)(\w+(?:, \w+)*): (.*)")
LITERAL = re.compile(r"(``.+?``)")


def escaped(text):
    """What would be markup and is none: underscores at the ends of words, stars, single backquotes."""
    parts = LITERAL.split(text)
    for index in range(0, len(parts), 2):
        parts[index] = re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", parts[index])
    parts = LITERAL.split("".join(parts))
    for index in range(0, len(parts), 2):
        parts[index] = parts[index].replace("*", r"\*").replace("|", r"\|")
        parts[index] = re.sub(r"(\w)_(?!\w)", r"\1\\_", parts[index])
    return "".join(parts)


def as_rst(_app, _what, _name, _object, _options, lines):
    """Rewrites the lines in place, as autodoc-process-docstring wants it."""
    result, item_indent, in_code = [], None, None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if in_code is not None and (not line.strip() or indent > in_code):
            result.append(line)
            continue
        in_code = None
        item = ITEM.match(line)
        begins = not result or not result[-1].strip() or result[-1].endswith(":")
        if item and (indent == item_indent or begins):
            if item_indent is None and result and result[-1].strip():
                result.append("")
            item_indent = len(item[1])
            result.append(f"{item[1]}* ``{item[2]}``: {escaped(item[3])}")
        elif item_indent is not None and indent > item_indent:
            result.append(" " * (item_indent + 2) + escaped(line.strip()))
        else:
            if item_indent is not None and line.strip():
                item_indent = None
                if result[-1]:
                    result.append("")
            result.append(escaped(line))
            if line.rstrip().endswith("::"):
                in_code = indent
    lines[:] = result
