"""First launches of many public kernels on the CPU device: processor time, memory, and which are refused or too slow.

A library is a name and files or folders: images (PTX, cubins, fat binaries), shared objects with fat binaries in them,
wheels. Of all its kernels that have PTX some are picked at random, for all libraries about --count together, each
library the same share as far as it has so many. Each is measured in a process of its own with limits and with no
compiled kernel on disk: the first launch in the default form, from cuModuleLoadData to the return of cuLaunchKernel,
which makes the code. Of those that begin in the scalar form, what is compiled beside it once they have run for long is
measured, too (auto-at-once). Nothing runs: the stream is kept waiting, so arguments do not matter.

Usage: corpus.py --driver FOLDER [--count N] [--seed N] [--output FILE] [--details FILE] LIBRARY=PATH[,PATH...] ...
"""

import argparse
import ctypes
import json
import mmap
import os
import platform
import random
import resource
import signal
import struct
import sys
import tempfile
import zipfile
from pathlib import Path

BLOCKS = 64
THREADS = 256
SECONDS = 60  # of a processor, for one kernel in one form
BYTES = 6 << 30
FORMS = ("auto", "auto-at-once")
TOO_LONG = 5.0

FAT_BINARY = 0xBA55ED50
PTX_ENTRY = 1
SUCCESS, INVALID_VALUE = 0, 1


# ---- images --------------------------------------------------------------------------------------------------------


def sections(elf):
    """Contents of the sections of an ELF file that hold fat binaries."""
    (table,) = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    headers = [struct.unpack_from("<IIQQQQ", elf, table + n * size) for n in range(count)]
    if names >= count:
        return
    at = headers[names][4]
    for name, kind, _, _, offset, length in headers:
        end = elf.find(b"\0", at + name)
        if kind == 1 and elf[at + name : end] in (b".nv_fatbin", b"__nv_relfatbin"):
            yield elf[offset : offset + length]


def fat_binaries(section):
    """The fat binaries in a section that have PTX."""
    at = 0
    while at + 16 <= len(section):
        magic, _, header, length = struct.unpack_from("<IHHQ", section, at)
        if magic != FAT_BINARY:
            at += 8
            continue
        end, entry, has_ptx = at + header + length, at + header, False
        while entry + 16 <= end:
            kind, _, entry_header, entry_length = struct.unpack_from("<HHIQ", section, entry)
            has_ptx = has_ptx or kind == PTX_ENTRY
            entry += entry_header + entry_length
            if entry_header == 0:
                break
        if has_ptx:
            yield section[at:end]
        at = end + -end % 8


def images_in(data, name):
    if data[:4] == b"\x7fELF" and data[18:20] != b"\xbe\x00":  # of the host
        for section in sections(data):
            yield from fat_binaries(section)
    elif data[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(name) as wheel:
            for member in wheel.namelist():
                if ".so" in member or member.endswith((".ptx", ".cubin", ".fatbin")):
                    yield from images_in(wheel.read(member), member)
    elif data[:4] in (b"\x7fELF", struct.pack("<I", FAT_BINARY)) or b".version" in data[:20000]:
        yield data


def images_of(paths, folder):
    """The images in files and folders, each in a file of its own in `folder`; the same one once."""
    seen = set()
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if not file.is_file() or file.stat().st_size < 64:
                continue
            for image in images_in(file.read_bytes(), file):
                if hash(image) not in seen:
                    seen.add(hash(image))
                    made = folder / f"{len(seen)}.image"
                    made.write_bytes(image if image[-1:] == b"\0" else image + b"\0")
                    yield made


# ---- in a process of its own ---------------------------------------------------------------------------------------


class RefusedError(Exception):
    pass


class Driver:
    """The driver, with a context, in a process that has none yet."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)

    def report(self):
        words = ctypes.create_string_buffer(600)
        self.library.cucore_cpu_last_report(words, ctypes.c_size_t(len(words)))
        return words.value.decode(errors="replace").strip()

    def call(self, name, *arguments):
        result = getattr(self.library, name)(*arguments)
        if result != SUCCESS:
            raise RefusedError(f"{name}: {result}: {self.report()}")

    def load(self, image):
        with open(image, "rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE)
        self.kept = (ctypes.c_char * len(mapped)).from_buffer(mapped)
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), self.kept)
        return module


def kernels_in(image):
    driver = Driver()
    module, count = driver.load(image), ctypes.c_uint()
    driver.call("cuModuleGetFunctionCount", ctypes.byref(count), module)
    if count.value == 0:
        return []
    functions = (ctypes.c_void_p * count.value)()
    driver.call("cuModuleEnumerateFunctions", functions, count, module)
    name, names = ctypes.c_char_p(), []
    for function in functions:
        driver.call("cuFuncGetName", ctypes.byref(name), ctypes.c_void_p(function))
        names.append(name.value.decode())
    return names


def blocks_to_try(driver, function):
    """Shapes of a block: the usual one, then what a kernel may insist on."""
    most = ctypes.c_int()
    driver.call("cuFuncGetAttribute", ctypes.byref(most), 0, function)  # MAX_THREADS_PER_BLOCK
    yield min(THREADS, most.value), 1, 1
    yield most.value, 1, 1
    for x in (1, 2, 4, 8, 16, 32, 64, 128):
        for y in (1, 2, 4, 8, 16, 32):
            if most.value % (x * y) == 0:
                yield x, y, most.value // (x * y)


def first_launch(image, name):
    """What the launch needed beyond what the process had before it loaded the module."""
    driver = Driver()
    stream, function, never = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
    driver.call("cuStreamCreate", ctypes.byref(stream), 1)
    driver.call("cuMemAlloc_v2", ctypes.byref(never), ctypes.c_size_t(8))
    driver.call("cuMemsetD32_v2", never, 0, ctypes.c_size_t(2))
    driver.call("cuStreamWaitValue32_v2", stream, never, 1, 0)  # nobody writes it
    parameters = (ctypes.c_char * 32768)()
    size = ctypes.c_size_t(len(parameters))
    extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(parameters), 2, ctypes.addressof(size), 0)
    before = resource.getrusage(resource.RUSAGE_SELF)
    module = driver.load(image)
    driver.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
    for block in blocks_to_try(driver, function):
        result = driver.library.cuLaunchKernel(function, BLOCKS, 1, 1, *block, 0, stream, None, extra)
        if result != INVALID_VALUE:
            break
    after = resource.getrusage(resource.RUSAGE_SELF)
    if result != SUCCESS:
        raise RefusedError(f"cuLaunchKernel: {result}: {driver.report()}")
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": seconds, "mib": (after.ru_maxrss - before.ru_maxrss) / 1024}


def with_reports(work):
    """What `work` returns, and whether the driver said that other code comes later. It writes to standard error."""
    said = os.memfd_create("reports")
    os.dup2(said, 2)
    answer = work()
    answer["comes_later"] = b"until it has run" in os.pread(said, 1 << 20, 0)
    return answer


def in_a_process(work, form="auto"):
    """What `work` returns, or {"failed": why}. The process is forked, so this one may not use the driver."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.environ["CUCORE_CPU_FORM"] = form
        os.environ["CUCORE_CPU_REPORT"] = "forms"
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            answer = work()
        except (RefusedError, OSError) as error:
            answer = {"failed": str(error)}
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(json.dumps(answer).encode())
        os._exit(0)  # the launch is left waiting
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    _, status, _ = os.wait4(child, 0)
    if text:
        return json.loads(text)
    ended = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"status {os.WEXITSTATUS(status)}"
    return {"failed": f"over {SECONDS} s" if ended == "SIGXCPU" else f"ended by {ended}"}


# ---- the table -----------------------------------------------------------------------------------------------------


def share_out(sizes, count):
    """How many of each library: the same, but no more than it has."""
    left, given = count, dict.fromkeys(sizes, 0)
    for n, name in enumerate(sorted(sizes, key=sizes.get)):
        given[name] = min(sizes[name], left // (len(sizes) - n))
        left -= given[name]
    return given


def at(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def first_line(text):
    return (text.splitlines() or [""])[0]


def table(rows, found):
    shares = ", ".join(f"{name} {taken} of {all_of_it}" for name, (taken, all_of_it) in found.items())
    lines = [f"{len(rows)} kernels of {len(found)} libraries: {shares}"]
    lines.append(
        f"{'':<54}{'kernels':>8}" + "".join(f"{each:>9}" for each in ("median", "90 %", "99 %", "worst", "sum"))
    )
    for form, words in zip(FORMS, ("first launch", "the form that comes later"), strict=True):
        for key, unit, factor in (("seconds", "processor time, ms", 1000), ("mib", "memory, MiB", 1)):
            values = [row[form][key] * factor for row in rows if key in row.get(form, {})]
            quantiles = "".join(f"{at(values, share):9.1f}" for share in (0.5, 0.9, 0.99, 1)) if values else ""
            lines.append(f"{f'{words}: {unit}':<54}{len(values):>8}{quantiles}{sum(values):9.0f}")
    for form in FORMS:
        slow = [row for row in rows if row.get(form, {}).get("seconds", 0) > TOO_LONG]
        failed = [row for row in rows if "failed" in row.get(form, {})]
        lines.append(f"{form}: {len(slow)} took more than {TOO_LONG:g} s, {len(failed)} failed")
        for row in failed:
            lines.append(f"  {row['library']} {row['name'][:100]}: {first_line(row[form]['failed'])[:200]}")
    for form in FORMS:
        lines.append(f"the most processor time, {form}, s:")
        for row in sorted(rows, key=lambda row: -row.get(form, {}).get("seconds", 0))[:12]:
            if "seconds" in row.get(form, {}):
                lines.append(f"  {row[form]['seconds']:7.2f}  {row['library']} {row['name'][:110]}")
    return lines


def kernels_of(library, paths, folder):
    """Every kernel of a library once, with an image that has it."""
    found = {}
    for image in images_of(paths, folder):
        names = in_a_process(lambda image=image: kernels_in(image))
        if isinstance(names, dict):
            print(f"{library}: an image of {image.stat().st_size} bytes: {names['failed'][:300]}", file=sys.stderr)
            continue
        for name in names:
            found.setdefault(name, image)
        if not names:
            image.unlink()
    return sorted(found.items())


def measure(row):
    first, later = FORMS
    image, name = row["image"], row["name"]
    row[first] = in_a_process(lambda: with_reports(lambda: first_launch(image, name)), first)
    if row[first].get("comes_later"):
        row[later] = in_a_process(lambda: with_reports(lambda: first_launch(image, name)), later)


def known_rows(details):
    """What an earlier run has found."""
    if not details or not details.exists():
        return {}
    rows = [json.loads(line) for line in details.read_text(encoding="utf-8").splitlines()]
    return {(row["library"], row["name"]): row for row in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--driver", required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path)
    parser.add_argument(
        "--details", type=Path, help="each kernel's answer, as JSON lines; those in it are not measured again"
    )
    parser.add_argument("--folder", type=Path, help="for the images that are taken out of files; else a temporary one")
    parser.add_argument("libraries", nargs="+")
    options = parser.parse_args()
    if options.driver not in os.environ.get("LD_LIBRARY_PATH", "").split(":"):  # the loader reads it once
        paths = ":".join(filter(None, (options.driver, os.environ.get("LD_LIBRARY_PATH"))))
        settings = {"LD_LIBRARY_PATH": paths, "CUCORE_CPU_CACHE": "0", "CUCORE_CPU_COMPANIONS": "0"}
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | settings)
    draw = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as temporary:
        kernels = {}
        for each in options.libraries:
            library, paths = each.split("=", 1)
            folder = (options.folder or Path(temporary)) / library
            folder.mkdir(parents=True, exist_ok=True)
            kernels[library] = kernels_of(library, [Path(path) for path in paths.split(",")], folder)
            print(f"{library}: {len(kernels[library])} kernels", file=sys.stderr, flush=True)
        given = share_out({library: len(all_of_it) for library, all_of_it in kernels.items()}, options.count)
        rows = [
            {"library": library, "name": name, "image": str(image)}
            for library, all_of_it in kernels.items()
            for name, image in draw.sample(all_of_it, given[library])
        ]
        draw.shuffle(rows)  # so that a run that is stopped says something of all
        known = known_rows(options.details)
        for row in rows:
            if (before := known.get((row["library"], row["name"]))) is not None:
                row.update(before)
                continue
            measure(row)
            if options.details:
                with options.details.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
    lines = [f"{os.cpu_count()} cores, {platform.platform()}, {platform.machine()}; seed {options.seed}"]
    lines += table(rows, {library: (given[library], len(all_of_it)) for library, all_of_it in kernels.items()})
    print(*lines, sep="\n")
    if options.output:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
