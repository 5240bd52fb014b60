"""Compares two files of digests by seed. Usage: compare.py A B

A file has a line for each program, `seed language text output`: the digests of the program's text and of what it wrote,
or `failed: why` in place of the latter. Lines with `#` describe the run. Files that end in .gz are compressed.
"""

import gzip
import sys
from pathlib import Path


def read(path):
    """The rows of a file: seed -> (language, text, output)."""
    data = Path(path).read_bytes()
    if str(path).endswith(".gz"):
        data = gzip.decompress(data)
    rows = {}
    for line in data.decode().splitlines():
        if line and not line.startswith("#"):
            seed, language, text, output = line.split(" ", 3)
            rows[int(seed)] = (language, text, output)
    return rows


def write(path, description, rows):
    text = "".join(f"# {line}\n" for line in description)
    text += "".join(f"{seed} {' '.join(row)}\n" for seed, row in sorted(rows.items()))
    if str(path).endswith(".gz"):
        Path(path).write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    else:
        Path(path).write_text(text)


def differences(a, b):
    """(seed, language, what) for each seed in both that differs or failed in either."""
    found = []
    for seed in sorted(a.keys() & b.keys()):
        (language, text, output), (_, other_text, other_output) = a[seed], b[seed]
        failures = [o for o in (output, other_output) if o.startswith("failed")]
        if text != other_text:
            found.append((seed, language, "the programs differ: the files come from different generators"))
        elif failures:
            found.append((seed, language, failures[0]))
        elif output != other_output:
            found.append((seed, language, f"{output} against {other_output}"))
    return found


def report(a, b):
    """Prints what differs and a closing line; returns the seeds that do."""
    found = differences(a, b)
    for seed, language, what in found:
        print(f"seed {seed} ({language}): {what}")
    both = a.keys() & b.keys()
    alone = len(a.keys() ^ b.keys())
    print(f"{len(both)} programs compared, {len(found)} differ" + (f"; {alone} are in one file only" if alone else ""))
    return [seed for seed, _, _ in found]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    a, b = read(sys.argv[1]), read(sys.argv[2])
    if not a.keys() & b.keys():
        sys.exit("the files have no seed in common")
    sys.exit(1 if report(a, b) else 0)


if __name__ == "__main__":
    main()
