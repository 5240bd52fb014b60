"""Compiles cpu/tests/corpus/sources/*.cu with NVRTC into cpu/tests/corpus/*.ptx, the corpus of the PTX parser's tests.

The .ptx files are committed: the tests need no compiler. Run this again after adding a source:

    .venv/bin/python tools/make_ptx_corpus.py [name ...]
"""

import ctypes
import os
import pathlib
import re
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
CORPUS = REPOSITORY / "cpu" / "tests" / "corpus"

# Sources that are not compiled as plain sm_80: name -> [(suffix of the output, options)].
PLAIN = [("sm_80", ["-arch=sm_80"])]
VARIANTS = {
    "elementwise": PLAIN
    + [("sm_90", ["-arch=sm_90"]), ("debug", ["-arch=sm_80", "-G"]), ("lineinfo", ["-arch=sm_90", "-lineinfo"])],
    "calls": PLAIN + [("debug", ["-arch=sm_90", "-G"]), ("relocatable", ["-arch=sm_80", "-rdc=true"])],
    "cooperative": PLAIN + [("sm_90", ["-arch=sm_90", "-lineinfo"])],
    "small_floats": PLAIN + [("sm_90", ["-arch=sm_90"])],
    "mathematics": PLAIN + [("fast", ["-arch=sm_90", "-use_fast_math"])],
    "inline_assembly": PLAIN + [("sm_100", ["-arch=sm_100"])],
    "clusters": [("sm_90a", ["-arch=sm_90a"])],
}


def check(library, code):
    if code != 0:
        library.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise RuntimeError(library.nvrtcGetErrorString(code).decode())


def compile_to_ptx(library, source, name, options):
    program = ctypes.c_void_p()
    check(library, library.nvrtcCreateProgram(ctypes.byref(program), source, name, 0, None, None))
    arguments = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    code = library.nvrtcCompileProgram(program, len(options), arguments)
    size = ctypes.c_size_t()
    if code != 0:
        check(library, library.nvrtcGetProgramLogSize(program, ctypes.byref(size)))
        log = ctypes.create_string_buffer(size.value)
        check(library, library.nvrtcGetProgramLog(program, log))
        raise RuntimeError(log.value.decode())
    check(library, library.nvrtcGetPTXSize(program, ctypes.byref(size)))
    text = ctypes.create_string_buffer(size.value)
    check(library, library.nvrtcGetPTX(program, text))
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return text.value.decode()


def main():
    toolkit = next(pathlib.Path(sys.prefix).glob("lib/python*/site-packages/nvidia/cu13"))
    library = ctypes.CDLL(str(toolkit / "lib" / "libnvrtc.so.13"))
    os.chdir("/")  # Debug information names the working directory, as text and as bytes.
    includes = [f"-I{toolkit / 'include'}", f"-I{toolkit / 'include' / 'cccl'}"]
    for path in sorted((CORPUS / "sources").glob("*.cu")):
        if len(sys.argv) > 1 and path.stem not in sys.argv[1:]:
            continue
        for suffix, options in VARIANTS.get(path.stem, PLAIN):
            text = compile_to_ptx(library, path.read_bytes(), path.name.encode(), options + includes)
            # Paths of this machine's headers do not belong in the repository.
            text = re.sub(re.escape(str(toolkit)), "/toolkit", text)
            output = CORPUS / f"{path.stem}.{suffix}.ptx"
            output.write_text(text)
            print(f"{output.relative_to(REPOSITORY)}: {len(text)} bytes")


if __name__ == "__main__":
    main()
