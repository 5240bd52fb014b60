"""What one process does: compiles batches of programs, launches them through cucore and hashes what they wrote.

As a program: answers one batch a line (JSON in, JSON out), so that whoever feeds it survives its death. It can
also leave the driver alone and let the interpreter run them.
"""

import functools
import hashlib
import json
import os
import random
import struct
import sys

from cuda_writer import write_source
from interpreter import interpret
from operations import KINDS
from program import ACCUMULATORS, INITIAL_ACCUMULATORS, REGION_BYTES, make_program
from ptx_writer import write_module
from reference.values import edges, random_bits

SEED_OF_INPUTS = "cucore differential inputs"
N = 41  # the kernels' last argument
TYPES = {"r": "u32", "d": "u64", "h": "u16", "p": "u32"}


@functools.cache
def make_inputs():
    """A region for each kind of variable: the edges of its type, and random values."""
    random_ = random.Random(SEED_OF_INPUTS)
    out = bytearray()
    for letter, kind in KINDS.items():
        type_name = kind.format or TYPES[letter]
        size = max(4, kind.width // 8) if letter == "p" else kind.width // 8
        chosen = edges(type_name)
        for _ in range(REGION_BYTES // size):
            bits = random_.choice(chosen) if random_.random() < 0.2 else random_bits(random_, type_name)
            out += bits.to_bytes(size, "little")
    return bytes(out)


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def text_of(program):
    return write_module([program]) if program.language == "ptx" else write_source([program])


class Launcher:
    """The current device with buffers for a batch."""

    def __init__(self, most_bytes):
        import cucore

        self.cucore = cucore
        self.device = cucore.Device()
        self.device.set_current()
        self.stream = self.device.create_stream()
        self.inputs = self.device.allocate(len(make_inputs()), stream=self.stream)
        self.outputs = self.device.allocate(most_bytes, stream=self.stream)
        pinned = cucore.LegacyPinnedMemoryResource()
        self.host = pinned.allocate(most_bytes)
        self.view = memoryview(self.host).cast("B")
        staged = pinned.allocate(len(make_inputs()))
        memoryview(staged).cast("B")[: len(make_inputs())] = make_inputs()
        self.inputs.copy_from(staged, stream=self.stream)
        self.stream.sync()

    def kernels(self, programs):
        """Their kernels, from at most one module of PTX and one of CUDA C++."""
        cucore, found = self.cucore, {}
        for language in ("ptx", "cuda"):
            some = [program for program in programs if program.language == language]
            if not some:
                continue
            if language == "ptx":
                code = cucore.ObjectCode.from_ptx(write_module(some).encode())
            else:
                options = cucore.ProgramOptions(arch="compute_90", fma=False, std="c++17")
                code = cucore.Program(write_source(some), "c++", options).compile("ptx")
                code = cucore.ObjectCode.from_ptx(bytes(code.code))
            found |= {program.seed: code.get_kernel(program.name) for program in some}
        return found

    def outputs_of(self, programs):
        """What each program wrote."""
        kernels = self.kernels(programs)
        sizes = [4 * program.output_words for program in programs]
        starts = [sum(sizes[:n]) for n in range(len(sizes))]
        self.view[: sum(sizes)] = bytes(sum(sizes))
        for start, size in zip(starts, sizes):
            accumulators = struct.pack(f"<{ACCUMULATORS}Q", *INITIAL_ACCUMULATORS)
            self.view[start + size - len(accumulators) : start + size] = accumulators
        self.outputs.copy_from(self.host, stream=self.stream)
        for program, start in zip(programs, starts):
            config = self.cucore.LaunchConfig(grid=program.grid, block=program.block)
            out = int(self.outputs.handle) + start
            self.cucore.launch(self.stream, config, kernels[program.seed], int(self.inputs.handle), out, N)
        self.host.copy_from(self.outputs, stream=self.stream)
        self.stream.sync()
        return [bytes(self.view[start : start + size]) for start, size in zip(starts, sizes)]


def serve():
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    launcher = None
    for line in sys.stdin:
        job = json.loads(line)
        programs = [make_program(seed) for seed in job["seeds"]]
        try:
            if job["interpret"]:
                outputs = [interpret(program, make_inputs(), N) for program in programs]
            else:
                launcher = launcher or Launcher(1 << 22)
                outputs = launcher.outputs_of(programs)
        except Exception as error:  # whatever it is, it is the answer
            print(json.dumps({"failure": f"{type(error).__name__}: {error}"}), file=answers)
            continue
        rows = [
            [program.seed, program.language, digest(text_of(program).encode()), digest(output)]
            for program, output in zip(programs, outputs)
        ]
        kept = {p.seed: o.hex() for p, o in zip(programs, outputs) if p.seed in job["keep"]}
        print(json.dumps({"rows": rows, "kept": kept}), file=answers)


if __name__ == "__main__":
    serve()
