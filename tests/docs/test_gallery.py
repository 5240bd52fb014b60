"""The gallery shows every example as it is, and the C++ of each prints what the page shows of its Python.

test_snippets.py runs the Python, with every other block of the page.
"""

import re
import subprocess

import pytest
import snippets
from snippets import ROOT

PAGE = ROOT / "docs/gallery.md"
EXAMPLES = sorted(path.name for path in (ROOT / "examples").iterdir() if path.is_dir())
WITH_BOTH = [
    name for name in EXAMPLES if all((ROOT / "examples" / name / f"main.{kind}").exists() for kind in ("py", "cpp"))
]
LONG = {"image_pipeline"}  # the suite `demo` runs it in both


def section_of(name):
    """The text under the heading of an example, which links to its files."""
    sections = re.split(r"^###? ", PAGE.read_text(), flags=re.MULTILINE)
    found = [section for section in sections if f"](../examples/{name}/" in section]
    assert len(found) == 1, f"{len(found)} sections of docs/gallery.md link to examples/{name}"
    return found[0]


def without_indents(text):
    return re.sub(r"^ +", "", text, flags=re.MULTILINE)


def test_there_are_enough():
    assert len(EXAMPLES) >= 24


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_page_shows_the_example_as_it_is(name):
    section = section_of(name)
    files = [path for path in (ROOT / "examples" / name).iterdir() if path.is_file()]
    text = without_indents("\n".join(path.read_text() for path in files))
    for code in re.findall(r"^```(?:cuda|\w+ not-run: a part of \S+)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL):
        for part in code.strip("\n").split("\n\n"):
            assert without_indents(part) in text
    for path in files:
        if path.name.startswith("main.") or path.suffix in (".cu", ".ptx"):
            assert f"](../examples/{name}/{path.name})" in section


@pytest.mark.parametrize("name", [name for name in WITH_BOTH if name not in LONG])
def test_the_cpp_prints_the_same(name, tmp_path):
    shown = re.search(rf"^\$ .*examples/{name}/main\.py\n(.*?)^```$", section_of(name), re.MULTILINE | re.DOTALL)[1]
    environment = {**snippets.environment_for(tmp_path), "CUCORE_CPU_DEVICES": "2" if name == "devices" else "1"}
    done = subprocess.run(
        [ROOT / "build/examples" / name], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert snippets.agrees(shown, done.stdout), done.stdout + done.stderr
