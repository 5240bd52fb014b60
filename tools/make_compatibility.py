"""Writes docs/compatibility.md from bench/results/clients and the list of exceptions; `--check` only compares (`make
lint` does)."""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/compatibility.md"
RESULTS = ROOT / "bench/results/clients"
sys.path.insert(0, str(ROOT / "tests/clients"))
import suites  # noqa: E402

HEAD = """# Compatibility

Made by `tools/make_compatibility.py` from what `make test-clients` wrote into `bench/results/clients`: clients of
others, unmodified, at these versions, on the CPU device. Numba-CUDA and Warp bring their own test-suites; for the rest
there are programs of ours (`tests/clients/suites/programs`). What is skipped is skipped by the client.
[clients.md](clients.md) says what each needs.

| client | version | what | modules run | tests run | passed | failed | skipped |
|---|---|---|---|---|---|---|---|
"""


def cell(text):
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def total(record):
    modules = record["modules"].values()
    passed, failed = sum(m["passed"] for m in modules), sum(len(m["failed"]) for m in modules)
    return passed, failed, sum(sum(m["skipped"].values()) for m in modules)


def row(client, record):
    passed, failed, skipped = total(record)
    what = "its own suite" if client.tests else "programs of ours"
    run, whole = len(record["modules"]), len(record["modules"]) + len(record["remaining"])
    return (
        f"| {client.title} | {record['version']} | {what} | {run} of {whole} | {passed + failed} | {passed} | {failed} "
        f"| {skipped} |\n"
    )


def exceptions_of(client, record, known):
    """Every test that failed, those first whose reasons are known."""
    failed = {test: said for module in record["modules"].values() for test, said in module["failed"].items()}
    listed = {test: why for test, why in known.items() if test in failed or why.sometimes}
    if not listed and not failed:
        return "No test failed.\n"
    text = "| test | why |\n|---|---|\n"
    for test, why in sorted(listed.items()):
        note = " (at times)" if why.sometimes else ""
        text += f"| `{cell(test.removeprefix(client.tests + '.'))}` | {cell(why.reason)}{note} |\n"
    for test, said in sorted(failed.items()):
        if test not in known:
            text += f"| `{cell(test.removeprefix(client.tests + '.'))}` | not explained; it said: {cell(said)} |\n"
    return text


def section(client, record, known):
    text = f"\n## {client.title} {record['version']}\n\n{exceptions_of(client, record, known)}"
    reasons = {}
    for module in record["modules"].values():
        for reason, count in module["skipped"].items():
            reasons[reason] = reasons.get(reason, 0) + count
    if reasons:
        listed = "".join(
            f"- {count}: {cell(reason) or 'no reason given'}\n" for reason, count in sorted(reasons.items())
        )
        text += f"\nSkipped by the client, with its reasons:\n\n{listed}"
    if client.not_run:
        text += "\nLeft out:\n\n" + "".join(f"- `{name}`: {why}\n" for name, why in sorted(client.not_run.items()))
    if client.leave_out:
        endings = ", ".join(f"`{ending}`" for ending in client.leave_out)
        text += f"\nTests whose names end with {endings} do not use CUDA and were not run.\n"
    if record["remaining"]:
        names = ", ".join(f"`{name.removeprefix(client.tests + '.')}`" for name in record["remaining"])
        text += f"\nModules of the suite that have not been run yet: {names}.\n"
    return text


def page():
    known, text, sections = suites.exceptions(), HEAD, ""
    for name, client in suites.clients().items():
        path = RESULTS / f"{name}.json"
        if not path.exists():
            text += f"| {client.title} | | | not run yet | | | | |\n"
            continue
        record = json.loads(path.read_text())
        text += row(client, record)
        sections += section(client, record, known.get(name, {}))
    return text + sections


def stale():
    """The page, if it is not what the results say."""
    return [] if PAGE.exists() and PAGE.read_text() == page() else [str(PAGE.relative_to(ROOT))]


def main():
    if "--check" in sys.argv[1:]:
        for path in stale():
            print(f"{path}: is not what the results say: run tools/make_compatibility.py")
        return 1 if stale() else 0
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
