"""Compiles through a cache that outlives the process."""

import tempfile

from cuda.core import Device, Program, ProgramOptions
from cuda.core.utils import FileStreamProgramCache, InMemoryProgramCache, make_program_cache_key

SOURCE = """extern "C" __global__ void none() {}"""

device = Device()
device.set_current()
options = ProgramOptions(arch=f"sm_{device.arch}")
with FileStreamProgramCache(tempfile.mkdtemp()) as cache:
    for _ in range(2):
        code = Program(SOURCE, "c++", options).compile("cubin", cache=cache)
    print(len(cache), code.code_type, code.get_kernel("none").num_arguments)
key = make_program_cache_key(code=SOURCE, code_type="c++", options=options, target_type="cubin")
memory = InMemoryProgramCache(max_size_bytes=1 << 20)
memory[key] = code
print(len(key), memory.get(key) == code.code, memory.get("none"))
