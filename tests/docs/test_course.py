"""The exercises of the course: as given each is wrong, and its solution prints what it says with nothing to find."""

import re
import shutil
import subprocess

import pytest
import snippets

COURSE = snippets.ROOT / "docs/tutorials/course"
NAMES = sorted(path.name for path in (COURSE / "solutions").glob("*.cu"))
FOUND_BY_CHECKER = {"4-errors-and-the-checker.cu", "5-shared-memory-and-barriers.cu", "6-reductions-and-atomics.cu"}
FOUND_BY_CHECKER |= {"8-matrix-product.cu"}


def run(folder, name):
    """What the program prints, and how many errors the checker counts."""
    environment = snippets.environment_for(COURSE)
    assert shutil.which("nvcc", path=environment["PATH"]), "no nvcc: `make setup-test` installs pip's in .setup/nvcc"
    command = ["cucore", "run", "--check", "all", COURSE / folder / name]
    command[0] = shutil.which("cucore", path=environment["PATH"])
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    count = re.search(r"CHECK SUMMARY: (\d+) error", done.stderr)
    assert count, done.stderr
    return done.stdout, int(count[1])


def expected(name):
    """The lines of the comment at the top that follow `Prints:`."""
    comment = []
    for line in (COURSE / "solutions" / name).read_text().splitlines():
        if not line.startswith("// "):
            break
        comment.append(line[3:])
    start = next(index for index, line in enumerate(comment) if line.endswith("Prints:"))
    return "\n".join(comment[start + 1 :]) + "\n"


@pytest.mark.parametrize("name", NAMES)
def test_the_solution_is_right(name):
    assert run("solutions", name) == (expected(name), 0)


@pytest.mark.parametrize("name", NAMES)
def test_the_exercise_is_not(name):
    printed, errors = run("exercises", name)
    assert printed != expected(name) or errors
    assert (errors > 0) == (name in FOUND_BY_CHECKER) or name.startswith("3-"), (
        errors
    )  # 3 also reads memory before it is written
