"""Programs are compiled once, and come out of caches of three kinds after that."""

import tempfile

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode, Program, ProgramOptions, launch
from cuda.core.utils import (
    FileStreamProgramCache,
    InMemoryProgramCache,
    ProgramCacheResource,
    make_program_cache_key,
)

SOURCE = 'extern "C" __global__ void put(double* out) { *out = VALUE; }'
device = Device()
device.set_current()
stream = device.create_stream()
memory = LegacyPinnedMemoryResource().allocate(8)


class Dictionary(ProgramCacheResource):
    def __init__(self):
        self.all, self.told = {}, []

    def __getitem__(self, key):
        self.told.append("get")
        return self.all[key]

    def __setitem__(self, key, value):
        self.told.append(f"set {type(value).__name__}")
        self.all[key] = value if isinstance(value, bytes) else bytes(value.code)

    def __delitem__(self, key):
        del self.all[key]

    def __len__(self):
        return len(self.all)

    def __contains__(self, key):
        return key in self.all

    def clear(self):
        self.all.clear()


def run(cache, value, target="cubin"):
    options = ProgramOptions(arch=f"sm_{device.arch}", define_macro=("VALUE", str(value)))
    code = Program(SOURCE, "c++", options).compile(target, cache=cache)
    launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel("put"), memory)
    stream.sync()
    return float(np.from_dlpack(memory).view(np.float64)[0]), code.code_type


with tempfile.TemporaryDirectory() as folder:
    mine = Dictionary()
    with (
        FileStreamProgramCache(folder, max_size_bytes=1 << 20) as files,
        InMemoryProgramCache(max_size_bytes=1 << 20) as kept,
    ):
        for cache in (files, kept, mine):
            print(type(cache).__name__, [run(cache, value) for value in (1, 2, 1)])
            print(
                run(cache, 1, "ptx"),
                len(cache) if hasattr(cache, "__len__") else "",
                isinstance(cache, ProgramCacheResource),
            )
        options = ProgramOptions(arch="sm_90")
        key = make_program_cache_key(code=SOURCE, code_type="c++", options=options, target_type="cubin")
        other = make_program_cache_key(
            code=SOURCE, code_type="c++", options=options, target_type="cubin", extra_digest=b"1"
        )
        again = make_program_cache_key(
            code=SOURCE, code_type="c++", options=ProgramOptions(arch="sm_90"), target_type="cubin"
        )
        print(type(key).__name__, len(key), key == again, key == other)
        for cache in (files, kept):
            print(cache.get(key), cache.get(key, "none"))
            cache[key] = b"bytes"
            cache[other] = ObjectCode.from_cubin(b"code", name="named")
            print(cache[key], cache[other], cache.get(key))
            cache.update({"text": b"1", b"raw": b"2"})
            print(cache["text"], cache[b"raw"], cache["raw"], len(cache) > 3)
            del cache[key]
            for wrong in (
                lambda: cache[key],
                lambda: cache.__delitem__(key),
                lambda: cache.__setitem__(5, b""),
                lambda: cache.__setitem__("k", 5),
                lambda: cache[None],
            ):
                try:
                    print("taken", wrong())
                except Exception as error:
                    print(type(error).__name__)
            cache.clear()
            print(len(cache), cache.get(key))
    print(mine.told)
    with FileStreamProgramCache(folder) as files:
        print(len(files), run(files, 7), len(files))
for wrong in (
    lambda: make_program_cache_key(code=5, code_type="c++", options=options, target_type="cubin"),
    lambda: make_program_cache_key(code="", code_type="none", options=options, target_type="cubin"),
    lambda: make_program_cache_key(code="", code_type="c++", options=options, target_type="none"),
    lambda: make_program_cache_key(
        code="", code_type="c++", options=ProgramOptions(arch="sm_90", include_path="/x"), target_type="ptx"
    ),
    lambda: InMemoryProgramCache(max_size_bytes=-1),
    lambda: FileStreamProgramCache(max_size_bytes="x"),
    lambda: ProgramCacheResource(),
):
    try:
        print("taken", type(wrong()).__name__)
    except Exception as error:
        print(type(error).__name__)
