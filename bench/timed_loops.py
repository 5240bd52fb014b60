"""What the benches of Python calls share: a statement in a loop, and a kernel that does nothing."""

import time

BATCH = 256  # operations between synchronisations, so that the driver's queue never fills


def kernel_ptx(parameters):
    names = ", ".join(f".param .u64 p{i}" for i in range(parameters))
    return f".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry empty({names})\n{{\n  ret;\n}}\n"


def timed(sync, statement, **names):
    """A pyperf time function: `loops` times a statement over `names`, synchronising outside the measured time after
    each batch. As in timeit the statement stands in the loop itself, so that no call of a function is measured."""
    source = f"""
def batch(rounds, clock, {", ".join(names)}):
    start = clock()
    for _ in rounds:
        {statement}
    return clock() - start
"""
    scope = {}
    exec(source, scope)

    def run(loops):
        total = 0.0
        for first in range(0, loops, BATCH):
            total += scope["batch"](range(min(BATCH, loops - first)), time.perf_counter, **names)
            sync()
        return total

    return run
