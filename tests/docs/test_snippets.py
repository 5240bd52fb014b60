"""Every block of every page of the site and of the README runs, and prints what the page shows."""

import shutil
from pathlib import Path

import cpp_program
import pytest
import snippets
from snippets import ROOT, RUN, SHOWN, blocks_of, pages

LIBRARY = ROOT / "build/src/libcucore.a"


def name_of(page):
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="module")
def cpp_outputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cpp")
    snippets.install_library()
    return cpp_program.outputs(pages(), folder, snippets.environment_for(folder))


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_page_runs_and_prints_what_it_shows(page, cpp_outputs):
    folder = snippets.folder_of(page)
    environment = snippets.environment_for(folder)
    if any("cucore run" in block.text and block.is_run for block in blocks_of(page)) and not shutil.which(
        "nvcc", path=environment["PATH"]
    ):
        pytest.fail("no nvcc: `make setup-test` installs pip's in .setup/nvcc")
    problems = snippets.run_page(page, folder, environment, cpp_outputs[page])
    assert not problems, "\n".join(f"{problem.block.where}: {problem.problem}" for problem in problems)


def test_every_block_is_run_or_says_why_not():
    """A block in a language that can be run is run, is a file, or says `not-run: ` and why."""
    wrong = []
    for page in pages():
        for block in blocks_of(page):
            if block.is_left_out:
                if len(block.words) < len(snippets.NOT_RUN) + 5:
                    wrong.append(f"{block.where}: says not-run and not why")
            elif block.language not in RUN | SHOWN:
                wrong.append(f"{block.where}: the language {block.language!r} is neither run nor known as only shown")
            elif not block.language:
                wrong.append(f"{block.where}: names no language")
    assert not wrong, "\n".join(wrong)


def write(folder, text):
    page = folder / "page.md"
    page.write_text(text)
    return page


@pytest.mark.parametrize(
    "text",
    [
        "```python\nprint(1)\n```\n```output\n2\n```\n",
        "```python\n1 / 0\n```\n",
        "```python\nimport os; os._exit(3)\n```\n",
        "```console\n$ echo one\ntwo\n```\n",
        "```console\n$ false\n```\n",
        "```output\nnobody printed this\n```\n",
    ],
)
def test_a_page_that_is_wrong_is_found(tmp_path, monkeypatch, text):
    monkeypatch.setattr(snippets, "ROOT", tmp_path)
    assert snippets.run_page(write(tmp_path, text), tmp_path, snippets.environment_for(tmp_path), [])


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("took 1.5 ms", "took 22 ms", True),
        ("took 1.5 ms", "took 22 s", False),
        ("at 0x7f00aa001234: 4 bytes", "at 0x7f11bb: 4 bytes", True),
        ("at 0x7f00aa001234: 4 bytes", "at 0x7f11bb: 8 bytes", False),
        ("first\n...\nlast", "first\nsecond\nthird\nlast", True),
        ("first\n...\nlast", "first\nlast one", False),
        ("3 errors", "4 errors", False),
    ],
)
def test_what_may_differ_from_run_to_run(shown, printed, same):
    assert snippets.agrees(shown, printed) is same


def test_files_and_what_is_not_run(tmp_path, monkeypatch):
    monkeypatch.setattr(snippets, "ROOT", tmp_path)
    text = (
        "```text a/b.txt\nhello\n```\n```console\n$ cat a/b.txt\nhello\n```\n```python not-run: no reason\n1 / 0\n```\n"
    )
    assert not snippets.run_page(write(tmp_path, text), tmp_path, snippets.environment_for(tmp_path), [])
    assert Path(tmp_path / "a/b.txt").exists()
