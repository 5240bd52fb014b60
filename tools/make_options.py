"""Writes what is made from program_options.def and linker_options.def: the members of the C++ structs, and
the text and fields of the Python classes. `--check` only compares; `make lint` does that.

A made part is what stands between two lines that are kept: of a struct, its first and that of operator==; of a Python
class, the last line of the introduction ("The fields of ...") and its first method.
"""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import tables

ROOT = Path(__file__).resolve().parent.parent
TABLES = ROOT / "include/cucore/detail"
WIDTH = 120

# kind -> its type in C++, and in Python where it is not None
KINDS = {
    "toggle": ("std::optional<bool>", "bool"),
    "boolean": ("std::optional<bool>", "bool"),
    "number": ("std::optional<int>", "int"),
    "numbers": ("std::vector<int>", "int | Sequence[int]"),
    "text": ("std::optional<std::string>", "str"),
    "texts": ("std::vector<std::string>", "str | Sequence[str]"),
    "paths": ("std::vector<std::string>", "str | Sequence[str]"),
    "path": ("std::optional<std::string>", "str | PathLike[str]"),
    "path_or_true": ("std::optional<std::variant<bool, std::string>>", "str | PathLike[str] | bool"),
    "macros": ("std::vector<std::string>", "str | tuple[str, str] | Sequence[str | tuple[str, str]]"),
    "architecture": ("std::optional<std::string>", "str | Sequence[str]"),
    "architectures": ("std::vector<std::string>", None),  # in Python a sequence for the option before
    "modules": (
        "std::vector<std::pair<std::string, std::string>>",
        "Sequence[tuple[str, str | bytes | bytearray]]",
    ),
    "headers": ("std::vector<std::pair<std::string, std::string>>", "Mapping[str, str]"),
}


class Option:
    def __init__(self, member, kind, columns, since, what):
        self.member = member
        self.kind = kind
        self.columns = columns  # of the back ends
        self.since = since
        self.what = what


def read(name, backends):
    """The name's default and documentation, and the options, of one table."""
    options = []
    for macro, parts in tables.lines(TABLES / name):
        if macro == "NAME":
            default, what = tables.text(parts[0]), tables.text(parts[1])
            continue
        member, kind, _check, *columns, since, _key, literals = parts
        if len(columns) != len(backends) or kind not in KINDS:
            raise SystemExit(f"{name}: the line of {member} has another form than the others")
        version = re.fullmatch(r"since\((\d+), (\d+)\)", since)
        options.append(
            Option(
                member,
                kind,
                dict(zip(backends, columns)),
                f"{version[1]}.{version[2]}" if version else None,
                tables.text(literals),
            )
        )
    return default, what, options


def sentence(what, *remarks):
    """The documentation with remarks in brackets behind it, before a full stop."""
    stop = "." if what.endswith(".") else ""
    return what.removesuffix(".") + "".join(f" ({remark})" for remark in remarks if remark) + stop


def wrap(what, first, others):
    return textwrap.wrap(what, WIDTH, initial_indent=first, subsequent_indent=others, break_on_hyphens=False)


def comment(declaration, what):
    """A member with its comment: behind it where that fits, else above."""
    line = f"  {declaration};  ///< {what}"
    if len(line) <= WIDTH and not what.endswith("."):
        return [line]
    return [*wrap(what, "  /// ", "  /// "), f"  {declaration};"]


def cpp_members(table, remarks, header):
    default, what, options = table
    lines = comment(f'std::string name = "{default}"', what)
    for option in options:
        lines += comment(f"{KINDS[option.kind][0]} {option.member} = {{}}", remarks(option))
    formatted = subprocess.run(
        ["clang-format-19", f"--assume-filename={ROOT / header}"],
        input="struct Made {\n" + "\n".join(lines) + "\n};\n",
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    ).stdout
    return formatted.removeprefix("struct Made {\n").removesuffix("};\n") + "\n"


def in_python(what):
    return re.sub(r"\b(true|false)\b", lambda match: match[1].capitalize(), what)


def python_documentation(table, remarks):
    _, what, options = table
    lines = wrap(f"name: {what}", "    ", "        ")
    for option in options:
        if KINDS[option.kind][1] is not None:
            lines += wrap(f"{option.member}: {in_python(remarks(option))}", "    ", "        ")
    return "\n".join(lines) + '\n    """\n'


def python_fields(table):
    default, _, options = table
    lines = [f'    name: str | None = "{default}"']
    lines += [
        f"    {option.member}: {KINDS[option.kind][1]} | None = None"
        for option in options
        if KINDS[option.kind][1] is not None
    ]
    return "\n".join(lines) + "\n"


def program_remarks(option):
    return sentence(option.what, option.since and f"NVRTC {option.since} or newer")


def linker_marks(option):
    """C++: n or i as the header explains them, and the flag."""
    column = option.columns["driver"]
    mark = "(n) " if column.startswith("refused") else "(i) " if column.startswith("ignored") else ""
    flag = re.match(r'(?:flag|glued)\("(.*?)"\)', option.columns["nvjitlink"])
    what = sentence(option.what, option.since and f"nvJitLink {option.since} or newer")
    return mark + (f"[{flag[1]}] " if flag else "") + what


def linker_remarks(option):
    """Python: in words."""
    column = option.columns["driver"]
    refused = "nvJitLink only" if column.startswith("refused") else None
    taken = not option.columns["nvjitlink"].startswith("ignored")
    ignored = "the driver's linker ignores it" if taken and column.startswith("ignored") else None
    return sentence(option.what, refused, ignored, option.since and f"nvJitLink {option.since} or newer")


def replaced(source, begin, end, made, path):
    """`source` with what is between `begin` and the next `end`, both kept, made anew."""
    at = source.find(begin)
    stop = source.find(end, at + len(begin))
    if at < 0 or stop < 0:
        raise SystemExit(f"{path}: no place for what is made from the tables, between {begin!r} and {end!r}")
    return source[: at + len(begin)] + made + source[stop:]


def outputs():
    """(file, contents) of everything that has a made part."""
    program = read("program_options.def", ("nvrtc", "linker", "nvvm"))
    linker = read("linker_options.def", ("nvjitlink", "driver"))
    classes = (
        ("ProgramOptions", program, program_remarks, "include/cucore/program_options.hpp", "python/cucore/_options.py"),
        ("LinkerOptions", linker, linker_marks, "include/cucore/linker.hpp", "python/cucore/_linker.py"),
    )
    made = {}
    for name, table, marks, header, module in classes:
        remarks = linker_remarks if table is linker else program_remarks
        members = cpp_members(table, marks, header)
        made[header] = replaced(
            (ROOT / header).read_text(), f"struct {name} {{\n", "  friend bool operator==", members, header
        )
        source = (ROOT / module).read_text()
        intro = f"    The fields of {name}:\n\n"
        fields = python_documentation(table, remarks) + "\n" + python_fields(table) + "\n"
        made[module] = replaced(source, intro, "    def ", fields, module)
    return made


def stale():
    """The files whose made part is not what the tables say."""
    return [path for path, contents in outputs().items() if (ROOT / path).read_text() != contents]


def main():
    if "--check" in sys.argv[1:]:
        old = stale()
        for path in old:
            print(f"{path}: is not what the option tables say: run tools/make_options.py")
        return 1 if old else 0
    for path, contents in outputs().items():
        if (ROOT / path).read_text() != contents:
            (ROOT / path).write_text(contents)
            print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
