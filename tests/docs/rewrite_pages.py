"""`rewrite_pages.py [PAGE ...]` runs what pages show (snippets.py) and writes into them what was printed."""

import sys
import tempfile
from pathlib import Path

from cpp_program import outputs
from snippets import environment_for, folder_of, install_library, pages, run_page


def write_back(page, outcomes):
    """Puts what was printed where the page shows something else."""
    lines = page.read_text().splitlines()
    for outcome in reversed(outcomes):
        block = outcome.block
        if outcome.replacement:
            new = [(block.indent + line).rstrip() for line in outcome.replacement.rstrip("\n").splitlines()]
            start = block.line - 1
            lines[start : start + len(block.text.splitlines())] = new
    page.write_text("\n".join(lines) + "\n")


def main(names):
    install_library()
    chosen = [Path(name).resolve() for name in names] or pages()
    with tempfile.TemporaryDirectory() as folder:
        printed = outputs(chosen, Path(folder), environment_for(folder))
    for page in chosen:
        folder = folder_of(page)
        outcomes = run_page(page, folder, environment_for(folder), printed[page])
        for outcome in outcomes:
            print(f"== {outcome.block.where}: {outcome.problem}")
        write_back(page, outcomes)


if __name__ == "__main__":
    main(sys.argv[1:])
