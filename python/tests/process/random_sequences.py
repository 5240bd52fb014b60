"""Random programs over all classes, in a process of its own, from eight threads at once.

    python random_sequences.py FOLDER SEED [THREADS [SEQUENCES]]

Thread t runs the sequences of the seeds SEED + 1000 * t + i; one alone is SEED 1 1. FOLDER keeps the compile caches.
Whatever the order in which objects are made, used, closed and dropped, a call answers or raises an error that says why.
The last sequence of each thread leaves its objects to the interpreter's end.
"""

import gc
import pickle
import random
import sys
import threading
from functools import partial

import cucore

PTX = b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n  ret;\n}\n"
SOURCE = 'extern "C" __global__ void k(int* p) {{ if (p == nullptr) return; *p = {}; }}'
STEPS = 40
left = []


class Foreign:
    """A stream of somebody else's that knows its wrapper: a cycle through the driver's object."""

    def __cuda_stream__(self):
        return 0, 2


def in_a_cycle(*things):
    """Leaves them to the garbage collector."""
    cycle = [*things]
    cycle.append(cycle)


class Sequence:
    """A random program over all classes; the same seed gives the same program."""

    def __init__(self, seed, folder):
        self.random = random.Random(seed)
        devices = cucore.Device.get_all_devices()
        self.device, self.other = self.random.choice(devices), self.random.choice(devices)
        self.other.set_current()
        self.device.set_current()
        self.folder = folder
        self.pool = cucore.EventPool(self.device, capacity=2)
        self.objects = []
        self.makers = [
            lambda: self.device.create_stream(options={"nonblocking": self.coin()}),
            lambda: self.device.create_event({"timing_enabled": self.coin(), "blocking_sync": self.coin()}),
            lambda: self.pool.get({"timing_enabled": self.coin()}),
            lambda: self.device.event_pool.get(),
            lambda: cucore.EventPool(self.device, capacity=1),
            lambda: self.device.allocate(self.random.choice((0, 1, 4096, 1 << 20)), stream=self.stream()),
            lambda: self.of(cucore.DeviceMemoryResource, None).allocate(4096, stream=self.stream()),
            lambda: cucore.LegacyPinnedMemoryResource().allocate(64),
            lambda: cucore.DeviceMemoryResource(self.device, cucore.DeviceMemoryResourceOptions()),
            lambda: cucore.PinnedMemoryResource(),
            lambda: cucore.ObjectCode.from_ptx(PTX),
            lambda: self.of(cucore.ObjectCode, None).get_kernel("k"),
            lambda: cucore.ObjectCode.from_ptx(PTX).get_kernel("k"),
            lambda: self.stream().context,
            lambda: self.device.partition([self.device.resources.sm.min_partition_size])[0],
            lambda: self.of(cucore.Context, None).create_stream(),
            lambda: self.other.context,
            lambda: self.stream().record(options={"timing_enabled": self.coin()}),
            lambda: self.again(self.stream()),
            lambda: self.cycle(Foreign()),
            lambda: self.stream().timer(),
            lambda: cucore.LaunchConfig(grid=self.random.choice((1, 2)), block=32, shmem_size=64 * self.coin()),
            lambda: self.of(cucore.Kernel, None).launcher(self.of(cucore.LaunchConfig, None)),
            lambda: cucore.Program(SOURCE.format(self.random.randrange(3)), "c++", {"arch": f"sm_{self.device.arch}"}),
            lambda: cucore.ProgramCache(self.folder, shared=True),
            lambda: cucore.Linker(self.of(cucore.ObjectCode, None), options={"arch": f"sm_{self.device.arch}"}),
            lambda: self.of(cucore.Event, None).future(),
        ]
        self.uses = [
            lambda a, b: self.of(cucore.Stream, a).record(self.of(cucore.Event, b)),
            lambda a, b: self.of(cucore.Stream, a).wait(self.of(cucore.Event, b)),
            lambda a, b: self.of(cucore.Stream, a).wait(self.of(cucore.Stream, b)),
            lambda a, b: self.of(cucore.Stream, a).sync(),
            lambda a, b: self.of(cucore.Event, a).sync(),
            lambda a, b: self.of(cucore.Event, a) - self.of(cucore.Event, b),
            lambda a, b: self.of(cucore.Event, a).is_done,
            lambda a, b: self.of(cucore.Event, a).future().result(timeout=60),
            lambda a, b: self.of(cucore.Buffer, a).fill(7, stream=self.of(cucore.Stream, b)),
            lambda a, b: cucore.launch(
                self.of(cucore.Stream, a), self.of(cucore.LaunchConfig, None), self.of(cucore.Kernel, b), 0
            ),
            lambda a, b: self.of(cucore.Launcher, a)(self.of(cucore.Stream, b), 0),
            lambda a, b: self.of(cucore.DeviceMemoryResource, a).allocate(512, stream=self.stream()).close(),
            lambda a, b: self.pool.put(self.of(cucore.Event, a)),
            lambda a, b: self.of(cucore.EventPool, a).get().record(self.of(cucore.Stream, b)),
            lambda a, b: self.timed(self.of(cucore.Timer, a)),
            lambda a, b: self.scoped(self.of(cucore.Context, a)),
            lambda a, b: self.compiled(self.of(cucore.Program, a), self.of(cucore.ProgramCache, b)),
            lambda a, b: self.linked(self.of(cucore.Linker, a), self.of(cucore.ProgramCache, b)),
            lambda a, b: self.objects.append(pickle.loads(pickle.dumps(self.of(cucore.ObjectCode, a)))),
            lambda a, b: in_a_cycle(self.of(cucore.Stream, a), b),
            lambda a, b: repr(a) + repr(b),
            lambda a, b: (a == b, hash(a)),
        ]

    def coin(self):
        return self.random.random() < 0.5

    def stream(self):
        open_streams = [o for o in self.objects if isinstance(o, cucore.Stream) and o]
        return self.random.choice(open_streams) if open_streams else self.device.create_stream()

    @staticmethod
    def again(stream):
        """Another object of the same stream, made while the first still owns it."""
        return cucore.Stream.from_handle(int(stream.handle))

    def cycle(self, foreign):
        foreign.wrapped = self.device.create_stream(foreign)
        return foreign.wrapped

    @staticmethod
    def timed(timer):
        with timer:
            pass
        return timer.ms

    def scoped(self, context):
        """Another context current for a while, and the closing of one that is not."""
        with context.current():
            stream = context.device.create_stream()
        if self.coin():
            context.close()
        stream.sync()

    def compiled(self, program, cache):
        self.objects.append(program.compile("ptx", cache=cache))

    def linked(self, linker, cache):
        self.objects.append(linker.link("cubin", cache=cache))

    def of(self, kind, preferred):
        if isinstance(preferred, kind):
            return preferred
        found = [o for o in self.objects if isinstance(o, kind)]
        if not found:
            raise LookupError(kind)
        return self.random.choice(found)

    def run(self, steps, drop):
        for _ in range(steps):
            step = self.random.random()
            if step < 0.45 or not self.objects:
                made = self.attempt(self.random.choice(self.makers))
                if made is not None:
                    self.objects.append(made)
            elif step < 0.8:
                a, b = self.random.choice(self.objects), self.random.choice(self.objects)
                self.attempt(partial(self.random.choice(self.uses), a, b))
            elif step < 0.9:
                chosen = self.random.choice(self.objects)
                if hasattr(chosen, "close"):
                    self.attempt(chosen.close)
                    self.attempt(chosen.close)
            else:
                self.objects.pop(self.random.randrange(len(self.objects)))
        self.random.shuffle(self.objects)
        while drop and self.objects:
            self.objects.pop()

    def attempt(self, call):
        """What is refused, is refused with a Python error that says why."""
        try:
            return call()
        except (RuntimeError, ValueError, TypeError, LookupError, cucore.CUDAError) as error:
            assert str(error)
            return None


def main(folder, seed, threads=8, sequences=125):
    failures = []

    def work(thread):
        for number in range(sequences):
            own = seed + 1000 * thread + number
            try:
                sequence = Sequence(own, folder)
                last = number + 1 == sequences
                sequence.run(STEPS, drop=not last)
                if last:
                    left.append(sequence)
            except BaseException as error:
                failures.append((own, repr(error)))
                return

    workers = [threading.Thread(target=work, args=(thread,)) for thread in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    gc.collect()
    print(failures or "all well")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
