"""Which folder may include which: the table, its checks, and its picture in docs/architecture.md (for lint.py)."""

import functools
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs/architecture.md"
CPP = (".cpp", ".hpp", ".h", ".def")

# Folder -> the folders whose files it includes. All of them stand above it here, so there is no circle. An
# edge that is not here is an error, and so is one that no file has any more.
ROOMS = {
    "include/cucore/detail": "",
    "include/cucore": "include/cucore/detail",
    "include/cucore/bindings": "include/cucore/detail include/cucore",
    # The library. A public header belongs to the folder that implements it, and is included from there downwards only.
    "src/settings": "",
    "src/error": "include/cucore",
    "src/formats": "include/cucore",
    "src/files": "include/cucore src/formats",
    "src/driver": "include/cucore src/settings src/error src/formats",
    "src/handles": "include/cucore/detail include/cucore src/error src/driver",
    "src/toolkit": "include/cucore src/settings src/formats src/files",
    "src/device": "include/cucore include/cucore/bindings src/settings src/error src/driver src/handles",
    "src/memory": "include/cucore src/error src/driver src/handles src/device",
    "src/link": "include/cucore src/formats src/driver src/handles src/toolkit src/device",
    "src/code": "include/cucore include/cucore/bindings src/error src/formats src/files src/driver src/handles "
    "src/toolkit src/device src/link",
    "src/compile": "include/cucore/detail include/cucore src/settings src/error src/formats src/files src/driver "
    "src/toolkit src/link src/code",
    "src/store": "include/cucore src/settings src/formats src/files",
    "src/redis": "include/cucore",
    "src/graph": "include/cucore src/error src/driver src/handles src/device src/memory src/code",
    # The CPU device: from PTX to host code
    "cpu/error": "",
    "cpu/ptx/tree": "",
    "cpu/ptx/syntax": "cpu/ptx/tree",
    "cpu/ptx/rewrites": "cpu/ptx/tree",
    "cpu/ptx/checks": "cpu/error cpu/ptx/tree",
    "cpu/ptx": "cpu/ptx/tree cpu/ptx/syntax cpu/ptx/rewrites cpu/ptx/checks",
    "cpu/image": "cpu/error",
    "cpu/abi": "cpu/error cpu/ptx/tree",
    "cpu/linker": "cpu/error cpu/ptx/syntax cpu/image cpu/abi",
    "cpu/analysis/flow": "cpu/ptx/tree cpu/abi",
    "cpu/analysis/lanes": "cpu/ptx/tree cpu/analysis/flow",
    "cpu/analysis/layout": "cpu/ptx/tree cpu/abi cpu/analysis/flow",
    "cpu/analysis/instructions": "cpu/error cpu/ptx/tree cpu/ptx/checks cpu/abi",
    "cpu/analysis": "cpu/error cpu/ptx/tree cpu/abi cpu/analysis/flow cpu/analysis/lanes cpu/analysis/layout "
    "cpu/analysis/instructions",
    "cpu/compiler/cost": "",
    "cpu/compiler/ir": "",
    "cpu/compiler/debug": "cpu/ptx/tree cpu/abi cpu/compiler/ir",
    "cpu/compiler/emitters": "cpu/error cpu/ptx/tree cpu/abi cpu/analysis/flow cpu/analysis/layout "
    "cpu/analysis/instructions cpu/compiler/cost cpu/compiler/ir cpu/compiler/debug",
    "cpu/compiler/checks": "cpu/abi cpu/analysis/flow cpu/analysis/instructions cpu/compiler/cost cpu/compiler/ir "
    "cpu/compiler/emitters",
    "cpu/device_library": "cpu/abi cpu/analysis/instructions",
    "cpu/compiler/instructions": "cpu/abi cpu/analysis/instructions cpu/compiler/ir cpu/compiler/emitters "
    "cpu/compiler/checks",
    "cpu/compiler/passes": "cpu/abi cpu/compiler/cost cpu/compiler/checks",
    "cpu/compiler/vector/analysis": "cpu/error cpu/abi cpu/compiler/cost cpu/compiler/ir cpu/compiler/checks",
    "cpu/compiler/vector/steps": "cpu/error cpu/abi cpu/compiler/cost cpu/compiler/ir cpu/compiler/emitters "
    "cpu/compiler/checks cpu/compiler/vector/analysis",
    "cpu/compiler/vector/state": "cpu/compiler/ir cpu/compiler/emitters cpu/compiler/checks "
    "cpu/compiler/vector/analysis",
    "cpu/compiler/vector/operations": "cpu/error cpu/abi cpu/compiler/cost cpu/compiler/checks "
    "cpu/compiler/vector/analysis cpu/compiler/vector/state",
    "cpu/compiler/vector/emission": "cpu/error cpu/abi cpu/compiler/cost cpu/compiler/debug cpu/compiler/emitters "
    "cpu/compiler/checks cpu/compiler/vector/analysis cpu/compiler/vector/state cpu/compiler/vector/operations",
    "cpu/compiler/vector": "cpu/error cpu/abi cpu/analysis cpu/compiler/cost cpu/compiler/emitters "
    "cpu/compiler/vector/analysis cpu/compiler/vector/steps cpu/compiler/vector/emission",
    "cpu/loader/cache": "cpu/ptx/tree cpu/abi",
    "cpu/loader": "cpu/error cpu/ptx/tree cpu/ptx/syntax cpu/abi cpu/analysis/flow cpu/analysis/layout "
    "cpu/analysis/instructions cpu/analysis cpu/device_library cpu/loader/cache",
    "cpu/compiler": "cpu/error cpu/abi cpu/analysis/flow cpu/analysis/layout cpu/analysis cpu/compiler/cost "
    "cpu/compiler/ir cpu/compiler/emitters cpu/compiler/checks cpu/compiler/instructions cpu/compiler/passes "
    "cpu/compiler/vector",
    # and running it
    "cpu/runtime/process": "cpu/error cpu/abi",
    "cpu/runtime/threads": "cpu/abi",
    "cpu/runtime/address_space": "cpu/abi cpu/runtime/process cpu/runtime/threads",
    "cpu/runtime/objects": "cpu/error cpu/runtime/process cpu/runtime/threads",
    "cpu/runtime/memory": "cpu/error cpu/abi cpu/runtime/process cpu/runtime/threads cpu/runtime/address_space "
    "cpu/runtime/objects",
    "cpu/runtime/texture": "cpu/error cpu/abi cpu/device_library cpu/runtime/process cpu/runtime/address_space "
    "cpu/runtime/memory",
    "cpu/runtime/loading/forms": "cpu/error cpu/ptx/tree cpu/abi cpu/analysis/flow cpu/analysis/layout cpu/analysis "
    "cpu/loader/cache cpu/loader cpu/runtime/process cpu/runtime/threads",
    "cpu/runtime/loading": "cpu/error cpu/ptx/tree cpu/ptx cpu/image cpu/abi cpu/linker cpu/analysis/flow "
    "cpu/analysis/layout cpu/analysis cpu/loader/cache cpu/loader cpu/runtime/process "
    "cpu/runtime/loading/forms cpu/runtime/objects cpu/runtime/memory",
    "cpu/runtime/grid": "cpu/error cpu/ptx/tree cpu/abi cpu/loader cpu/runtime/process cpu/runtime/threads "
    "cpu/runtime/address_space cpu/runtime/objects cpu/runtime/memory cpu/runtime/texture",
    "cpu/runtime/checker": "cpu/ptx/tree cpu/abi cpu/analysis/instructions cpu/loader cpu/runtime/process "
    "cpu/runtime/threads cpu/runtime/address_space "
    "cpu/runtime/objects "
    "cpu/runtime/memory cpu/runtime/grid",
    "cpu/runtime/blocks": "cpu/abi cpu/runtime/process cpu/runtime/threads cpu/runtime/address_space cpu/runtime/grid "
    "cpu/runtime/checker",
    "cpu/runtime/execution": "cpu/error cpu/abi cpu/device_library cpu/runtime/process cpu/runtime/threads "
    "cpu/runtime/objects cpu/runtime/memory cpu/runtime/texture cpu/runtime/loading/forms cpu/runtime/loading "
    "cpu/runtime/grid cpu/runtime/checker cpu/runtime/blocks",
    "cpu/runtime/graph": "cpu/error cpu/runtime/process cpu/runtime/objects cpu/runtime/memory cpu/runtime/texture "
    "cpu/runtime/loading cpu/runtime/execution",
    "cpu/runtime/start": "cpu/error cpu/abi cpu/runtime/process cpu/runtime/threads cpu/runtime/address_space "
    "cpu/runtime/objects cpu/runtime/memory cpu/runtime/loading cpu/runtime/grid cpu/runtime/graph",
    "cpu/api": "cpu/analysis cpu/runtime/process cpu/runtime/objects cpu/runtime/loading/forms cpu/runtime/loading "
    "cpu/runtime/graph cpu/runtime/start",
    "cpu/api/export_tables": "cpu/runtime/process cpu/runtime/objects cpu/api",
    "cpu/api/device": "cpu/runtime/process cpu/runtime/objects cpu/runtime/memory cpu/api",
    "cpu/api/memory": "cpu/runtime/objects cpu/runtime/memory cpu/runtime/texture cpu/api",
    "cpu/api/code": "cpu/runtime/objects cpu/runtime/texture cpu/runtime/loading cpu/runtime/execution cpu/api",
    "cpu/api/graph": "cpu/runtime/objects cpu/runtime/memory cpu/runtime/loading cpu/runtime/graph cpu/api",
    "cpu/nvml": "cpu/runtime/process",
    "cpu/toolkit_shims": "cpu/error cpu/ptx cpu/image cpu/linker cpu/runtime/process",
    "cpu/fuzz": "cpu/ptx cpu/image",
    # What stands on the public headers
    "python/bindings": "include/cucore",
    "python/bindings/memory": "include/cucore python/bindings",
    "python/bindings/code": "include/cucore include/cucore/bindings python/bindings python/bindings/memory",
    "python/bindings/compile": "include/cucore/detail include/cucore python/bindings python/bindings/code",
    "python/bindings/graph": "include/cucore python/bindings python/bindings/memory python/bindings/code",
    "python/bindings/device": "include/cucore include/cucore/bindings python/bindings python/bindings/memory "
    "python/bindings/graph",
    "cli": "include/cucore cpu/api",
    "cli/embed": "include/cucore",
    "examples": "include/cucore",
}

# (file, what it includes) -> why it may go against the table.
EXCEPTIONS = {
    (
        "include/cucore/device.hpp",
        "include/cucore/buffer.hpp",
    ): "Device allocates: a convenience that users know from cuda.core",
    (
        "include/cucore/device.hpp",
        "include/cucore/memory.hpp",
    ): "Device allocates: a convenience that users know from cuda.core",
}

# The folders of headers from outside: who may include them.
OUTSIDE = {
    "llvm/": ("cpu/compiler",),
    "cuda.h": ("cpu/api", "cpu/nvml", "cpu/runtime"),
    "boost/": ("cpu/runtime/threads",),
    "lz4.h": ("cpu/image",),
    "zstd.h": ("cpu/image",),
    "CLI/": ("cli",),
    "nanobind/": ("python/bindings",),
    "Python.h": ("python/bindings",),
}

# Folders with more files than a reader can keep in mind, and why.
MOST_FILES = 30
FULLER = {
    "include/cucore": "one header per noun, which programs include by these paths",
    "examples": "a folder each, of two or three",
}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)
PRODUCT = ("src/", "include/", "cpu/", "python/bindings/", "cli/", "examples/")


def tracked(suffixes):
    """Files of ours that git knows; those of others (third_party) follow rules of their own."""
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    ours = [name for name in names if not name.startswith("third_party/")]
    return [ROOT / name for name in ours if name.endswith(suffixes) and (ROOT / name).is_file()]


@functools.cache
def product_files():
    """The product's C++ files, by their paths from the root."""
    names = [str(path.relative_to(ROOT)) for path in tracked(CPP)]
    return [name for name in names if name.startswith(PRODUCT) and not name.startswith("cpu/tests/")]


def folder_of(name):
    """The room of a file: its folder. The examples, a folder each, are one."""
    return "examples" if name.startswith("examples/") else str(Path(name).parent)


@functools.cache
def includes():
    """(file, the file of the tree or header from outside that it includes) of every #include in the product."""
    found = []
    for name in product_files():
        for quote, written in INCLUDE.findall((ROOT / name).read_text()):
            inside = next((p for p in (written, f"include/{written}") if (ROOT / p).is_file()), None)
            found.append((name, inside or written, inside is not None, quote))
    return found


@functools.cache
def home_of(header):
    """The folder of src that implements a public header; None for those that no folder implements."""
    stem = Path(header).stem
    for folder in ROOMS:
        if folder.startswith("src/"):
            names = [stem, stem.removeprefix(Path(folder).name + "_")]
            if any((ROOT / folder / f"{name}.cpp").is_file() for name in names):
                return folder
    return None


def below(folder, other):
    order = list(ROOMS)
    return order.index(other) < order.index(folder)


def is_in(folder, rooms):
    return any(folder == room or folder.startswith(room + "/") for room in rooms)


def check_rooms(problems):
    allowed = {folder: line.split() for folder, line in ROOMS.items()}
    for folder, others in allowed.items():
        for other in others:
            if other not in ROOMS or not below(folder, other):
                problems.append(f"tools/rooms.py: {folder} may include {other} only if that stands above it")
    used, excused, unknown = set(), set(), set()
    for name, target, is_ours, _ in includes():
        folder = folder_of(name)
        if folder not in ROOMS:
            unknown.add(folder)
            continue
        if not is_ours:
            rooms = next((rooms for key, rooms in OUTSIDE.items() if target == key or target.startswith(key)), None)
            if rooms is not None and not is_in(folder, rooms):
                problems.append(f"{name}: {target} may be included in {' and '.join(rooms)} only")
            continue
        other = folder_of(target)
        is_upward = other != folder and other not in allowed[folder]
        if other == "include/cucore":
            # A header stands where it is implemented.
            at, home = (home_of(name) if folder == "include/cucore" else folder), home_of(target)
            is_upward |= bool(home and at and at.startswith("src/") and below(home, at))
        if is_upward and (name, target) in EXCEPTIONS:
            excused.add((name, target))
        elif is_upward:
            problems.append(f"{name}: `{folder}` may not include {target} (tools/rooms.py)")
        elif other != folder:
            used.add((folder, other))
    problems += [f"{folder}: the table in tools/rooms.py does not know it" for folder in sorted(unknown)]
    for folder, others in allowed.items():
        for other in others:
            if (folder, other) not in used:
                problems.append(f"tools/rooms.py: no file of {folder} includes one of {other} any more")
    for edge in EXCEPTIONS.keys() - excused:
        problems.append(f"tools/rooms.py: there is no longer a reason for the exception {edge}")


NAMESPACE = re.compile(r"^namespace (cucore[\w:]*) \{", re.MULTILINE)


def check_namespaces(problems):
    """The namespace of a room of `cpu` is named for its folder; what all of them agree on stands in cucore::cpu."""
    for name in product_files():
        area, _, rest = name.partition("/")
        room = f"cucore::cpu::{rest.partition('/')[0]}"
        for found in NAMESPACE.findall((ROOT / name).read_text()) if area == "cpu" else ():
            if found != "cucore::cpu" and found != room and not found.startswith(room + "::"):
                problems.append(f"{name}: namespace {found} is not that of the room, {room}")


SAID_ABOVE = {
    "include/cucore",
    "include/cucore/bindings",
    "include/cucore/detail",
}  # their parents' READMEs speak for them
MAY_INCLUDE = "- May include: "


def may_include(folder):
    """The line of a folder's README."""
    inside = [f"`{other}`" for other in ROOMS[folder].split()]
    outside = [f"`{key.rstrip('/')}`" for key, rooms in OUTSIDE.items() if is_in(folder, rooms)]
    return MAY_INCLUDE + ", ".join([*inside, *outside, "the standard library"]) + ".\n"


def check_readmes(problems):
    """A folder says what comes in, what goes out, and what it may include, in at most ten lines."""
    for folder in ROOMS.keys() - SAID_ABOVE:
        path = ROOT / folder / "README.md"
        lines = path.read_text().splitlines(keepends=True) if path.is_file() else []
        if not lines:
            problems.append(f"{folder}: no README.md")
        elif len(lines) > 10:
            problems.append(f"{folder}/README.md: {len(lines)} lines, more than ten")
        if may_include(folder) not in lines:
            problems.append(
                f"{folder}/README.md: not what the table says it may include; tools/lint.py --draw mends it"
            )


# ---- the picture --------------------------------------------------------------------------------------------------

AREAS = {"src": "include/cucore", "cpu": "", "python": "include/cucore"}


def arrows(area):
    """The table's edges in an area, but those that others lead to anyway."""
    allowed = {a: set(line.split()) for a, line in ROOMS.items() if a.startswith(area + "/")}

    def reached(folder):
        return {x for b in allowed.get(folder, ()) for x in {b, *reached(b)}}

    for folder, others in allowed.items():
        others = {b for b in others if b.startswith(area + "/")}
        implied = set().union(*(reached(b) for b in others))
        for other in sorted(others - implied):
            yield folder, other


def picture():
    lines = []
    for area in AREAS:
        lines += ["```mermaid", "graph TD"]
        prefix = f"{area}/" if area != "python" else "python/bindings"
        for folder, other in arrows(area):
            a, b = (name.removeprefix(prefix).strip("/") or "bindings" for name in (folder, other))
            lines.append(f"  {area}.{a.replace('/', '.')}[{a}] --> {area}.{b.replace('/', '.')}[{b}]")
        lines += ["```", ""]
    return "\n".join(lines)


BEGIN, END = "<!-- tools/lint.py --graph -->\n", "<!-- end -->"


def check_picture(problems):
    text = PICTURE.read_text()
    if BEGIN not in text or text.partition(BEGIN)[2].partition(END)[0] != picture():
        problems.append(
            f"{PICTURE.relative_to(ROOT)}: the picture is not that of the table; tools/lint.py --draw puts it there"
        )


def draw():
    """Writes what the table says into the documents."""
    for folder in ROOMS.keys() - SAID_ABOVE:
        path = ROOT / folder / "README.md"
        if path.is_file():
            lines = [line for line in path.read_text().splitlines() if not line.startswith(MAY_INCLUDE)]
            text = "\n".join(lines).rstrip()
            is_list = text.rpartition("\n")[2].startswith(("- ", "  "))
            path.write_text(f"{text}\n" + ("" if is_list else "\n") + may_include(folder))
    head, _, rest = PICTURE.read_text().partition(BEGIN)
    PICTURE.write_text(head + BEGIN + picture() + END + rest.partition(END)[2])


# ---- how large things are -----------------------------------------------------------------------------------------

CLASS = re.compile(
    r"^(?:template .*\n)?(?:class|struct) (?:CUCORE_API )?(\w+)[^;{]*\{\n(.*?)^\};", re.MULTILINE | re.DOTALL
)


def members_of(body):
    """How many members a class declares, by the lines that a declaration begins on: as deep as the class's own."""
    return len(re.findall(r"^  (?! )(?!//|public:|private:|protected:|friend|using|\}|#)[^\n]*", body, re.MULTILINE))


def check_fullness(problems):
    folders = [folder_of(name) for name in product_files()]
    for folder in sorted(set(folders)):
        count = folders.count(folder)
        if count > MOST_FILES and folder not in FULLER:
            problems.append(f"{folder}: {count} files, more than {MOST_FILES}: make folders of it")
        elif count <= MOST_FILES and folder in FULLER:
            problems.append(f"tools/rooms.py: there is no longer a reason for {folder} in FULLER")


def largest():
    """The fullest folder, the longest file and the widest interface."""
    names = product_files()
    folders = [folder_of(name) for name in names]
    folder = max(set(folders), key=folders.count)
    length = {name: (ROOT / name).read_text().count("\n") for name in names}
    longest = max(length, key=length.get)
    classes = [
        (members_of(body), found, name)
        for name in names
        if name.endswith(".hpp")
        for found, body in CLASS.findall((ROOT / name).read_text())
    ]
    members, widest, header = max(classes)
    return (
        f"fullest folder: {folder} ({folders.count(folder)} files)\n"
        f"longest file: {longest} ({length[longest]} lines)\n"
        f"widest interface: {widest} in {header} ({members} members)"
    )
