"""Every number of the performance page is, rounded, one of the files in bench/results that the page names."""

import re

from snippets import ROOT

PAGE = ROOT / "docs/reference/performance.md"
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w/])")
UNITS = (1, 1e-3, 1e-6)  # a file in nanoseconds, the page in micro- or milliseconds


def test_the_numbers_are_in_the_results():
    text = PAGE.read_text()
    files = sorted(set(re.findall(r"bench/results/([\w.-]+\.txt)", text)))
    results = "\n".join((ROOT / "bench/results" / file).read_text() for file in files)
    known = [float(number) for number in re.findall(r"(?<![\w.])\d+(?:\.\d+)?", results)]
    assert len(files) > 3
    prose = re.sub(r"\([^)]*\)|`[^`]*`", "", text)  # no links, no code
    for line in prose.splitlines():
        for number in NUMBER.findall(line):
            half = 0.5 * 10 ** -len(number.partition(".")[2]) + 1e-9
            assert any(abs(value * unit - float(number)) <= half for value in known for unit in UNITS), (
                f"{number}: {line}"
            )
