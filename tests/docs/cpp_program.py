"""One program of the C++ of all pages, since what costs is the compile: a function a page, its blocks in order.

Lines that begin with # and the headers that every block may count on stand before the functions.
"""

import shutil
import subprocess

from snippets import ROOT, blocks_of

HEADERS = ["cucore/cucore.hpp", "cstdio", "filesystem", "functional", "iostream", "numeric", "string", "vector"]
MARK = "\x1e"


def parts_of(page):
    return [block for block in blocks_of(page) if block.language == "cpp" and block.is_run]


def source_of(pages):
    """The program, and by page its blocks' number."""
    directives = dict.fromkeys(f"#include <{header}>" for header in HEADERS)
    functions, calls = [], []
    for number, page in enumerate(pages):
        body = []
        for block in parts_of(page):
            body += ["mark();", f'#line {block.line} "{block.page}"']
            for line in block.text.splitlines():
                if line.startswith("#"):
                    directives[line] = None
                    body.append("")
                else:
                    body.append(line)
        if body:
            functions.append(f"static void page_{number}() {{\n" + "\n".join(body) + "\n}\n")
            calls.append(f"  if (std::stoi(arguments[1]) == {number}) page_{number}();")
    mark = f'static void mark() {{ std::fputs("{MARK}", stdout); }}\n'
    main = "int main(int, char** arguments) {\n" + "\n".join(calls) + "\n}\n"
    return "\n".join([*directives, mark, *functions, main])


def outputs(pages, folder, environment):
    """What each block of each page printed: {page: [text]}."""
    wanted = {number: page for number, page in enumerate(pages) if parts_of(page)}
    printed = {page: [] for page in pages}
    if not wanted:
        return printed
    (folder / "pages.cpp").write_text(source_of(pages))
    compiler = [*(["ccache"] if shutil.which("ccache") else []), "c++", "-std=c++20", "-w", f"-I{ROOT}/include"]
    for command in (
        [*compiler, "-c", "pages.cpp", "-o", "pages.o"],
        ["c++", "pages.o", ROOT / "build/src/libcucore.a", "-o", "pages"],
    ):
        subprocess.run(command, cwd=folder, check=True)
    for number, page in wanted.items():
        done = subprocess.run(
            [folder / "pages", str(number)], cwd=folder, env=environment, capture_output=True, text=True, timeout=120
        )
        if done.returncode:
            raise RuntimeError(f"the C++ of {page} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        printed[page] = done.stdout.split(MARK)[1:]
    return printed
