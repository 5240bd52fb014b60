#!/usr/bin/env python3
"""Writes one .ptx and one .tsv per instruction spelling, from the models in reference/.

    make_tests.py            write what is missing or different, delete what is no longer generated
    make_tests.py --check    write nothing; fail if a committed file is not what would be written
    make_tests.py --ptxas P  assemble every kernel with P for its own target or a later one, and write nothing

The expected values come from the models alone. Cells that no model can know are `?` until `run_tests.py record` has filled
them on a GPU; those recorded cells are kept.
"""

import argparse
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from reference import (
    addresses,
    approximate,
    asynchronous,
    atomic,
    bits,
    bulk_reduction,
    calls,
    cluster,
    comparison,
    control,
    conversion,
    exited_lanes,
    floating,
    integer,
    matrix,
    matrix_rows,
    mbarrier,
    memory,
    old_isa,
    sparse_matrix,
    subnormal_atomic,
    synchronization,
    video,
    warp,
    warpgroup,
    wide_atomic,
)
from table import Table

HERE = Path(__file__).resolve().parent
CHAPTERS = (
    integer,
    bits,
    bulk_reduction,
    floating,
    approximate,
    conversion,
    comparison,
    memory,
    addresses,
    asynchronous,
    atomic,
    warp,
    exited_lanes,
    warpgroup,
    control,
    calls,
    cluster,
    synchronization,
    matrix,
    matrix_rows,
    sparse_matrix,
    wide_atomic,
    subnormal_atomic,
    mbarrier,
    video,
    old_isa,
)


def all_cases():
    seen = {}
    for chapter in CHAPTERS:
        for case in chapter.cases():
            if case.path in seen:
                raise ValueError(f"two cases called {case.path}")
            seen[case.path] = case
    return seen


def keep_recorded(table, path):
    """Fills `?` cells from the file already there, where its inputs are the same."""
    if not path.exists() or not any("?" in row.expected for row in table.rows):
        return table
    old = Table.parse(path.read_text())
    for row, before in zip(table.rows, old.rows):
        if row.inputs == before.inputs:
            row.expected = [b if e == "?" else e for e, b in zip(row.expected, before.expected)]
    return table


def generated_files():
    files = {}
    for path, case in all_cases().items():
        files[HERE / f"{path}.ptx"] = case.ptx()
        files[HERE / f"{path}.tsv"] = keep_recorded(case.table(), HERE / f"{path}.tsv").text()
    return files


def existing_files():
    return {p for suffix in ("ptx", "tsv") for p in HERE.glob(f"*/*.{suffix}")}


def differences(files):
    """Paths whose committed text is not the generated one, and committed paths that nothing generates."""
    changed = [p for p, text in files.items() if not p.exists() or p.read_text() != text]
    return changed, sorted(existing_files() - set(files))


def assemble(ptxas, files):
    def one(path):
        if path.suffix != ".ptx":
            return ""
        target = files[path].split(".target ")[1].split("\n")[0]
        target = "sm_90" if int(target.strip("sm_a")) < 75 else target  # what ptxas makes no code for any more
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as source:
            source.write(files[path])
            source.flush()
            done = subprocess.run(
                [ptxas, "-arch", target, source.name, "-o", "/dev/null"], capture_output=True, text=True
            )
        return f"{path.relative_to(HERE)}: {(done.stderr or done.stdout).strip()}" if done.returncode else ""

    with ThreadPoolExecutor(2) as pool:
        return [message for message in pool.map(one, files) if message]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--ptxas")
    options = parser.parse_args()
    files = generated_files()
    if options.ptxas:
        failures = assemble(options.ptxas, files)
        print("\n".join(failures))
        print(f"{len(files) // 2 - len(failures)} assembled, {len(failures)} refused")
        return 1 if failures else 0
    changed, orphaned = differences(files)
    if options.check:
        for path in [*changed, *orphaned]:
            print(f"differs from what make_tests.py writes: {path.relative_to(HERE)}")
        return 1 if changed or orphaned else 0
    for path in changed:
        path.parent.mkdir(exist_ok=True)
        path.write_text(files[path])
    for path in orphaned:
        path.unlink()
    print(f"{len(files) // 2} tests; {len(changed)} files written, {len(orphaned)} deleted")
    return 0


if __name__ == "__main__":
    sys.exit(main())
