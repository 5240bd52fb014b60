"""Two green contexts with a share of the multiprocessors each, and work in both."""

import numpy as np
from cuda.core import (
    ContextOptions,
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    SMResourceOptions,
    StreamOptions,
    WorkqueueResourceOptions,
    launch,
)

device = Device()
device.set_current()
resources = device.resources
print(
    type(resources).__name__, resources.sm.sm_count, resources.sm.min_partition_size, resources.sm.coscheduled_alignment
)
groups, rest = resources.sm.split(SMResourceOptions(count=(8, 16)))
print([group.sm_count for group in groups], rest.sm_count if rest else rest)
planned, left = resources.sm.split(SMResourceOptions(count=8), dry_run=True)
print([group.sm_count for group in planned], left.sm_count if left else left)
queue = resources.workqueue
queue.configure(WorkqueueResourceOptions(sharing_scope="green_ctx_balanced", concurrency_limit=4))
print(queue.sharing_scope, queue.concurrency_limit, queue.device == device)
contexts = [device.create_context(ContextOptions(resources=[group, queue])) for group in groups]
kernel = (
    Program(
        'extern "C" __global__ void where(int* x, int v) { atomicAdd(x + blockIdx.x, v); }',
        "c++",
        ProgramOptions(arch=f"sm_{device.arch}"),
    )
    .compile("cubin")
    .get_kernel("where")
)
memory = LegacyPinnedMemoryResource().allocate(4 * 64)
values = np.from_dlpack(memory).view(np.int32)
values[:] = 0
for number, context in enumerate(contexts):
    stream = context.create_stream(StreamOptions(priority=0))
    launch(stream, LaunchConfig(grid=32 * (number + 1), block=32), kernel, memory, number + 1)
    event = stream.record()
    stream.sync()
    print(context.is_green, context.resources.sm.sm_count, stream.resources.sm.sm_count, stream.device == device)
    print(event.context == context, stream.context == context, event.context == device.context, stream.context.is_green)
    stream.close()
print(values[[0, 31, 32, 63]].tolist())
previous = device.set_current(contexts[0])
print(previous.is_green, device.context == contexts[0], device.resources.sm.sm_count)
here = device.create_stream()
print(here.context == contexts[0], here.resources.sm.sm_count)
here.close()
back = device.set_current(previous)
print(back == contexts[0], device.context.is_green)
for context in contexts:
    context.close()
print([context.is_closed for context in contexts], device.context.is_closed)
for wrong in (
    lambda: device.create_context(ContextOptions(resources=[])),
    lambda: device.create_context(ContextOptions(resources=[5])),
    lambda: device.create_context(None),
    lambda: device.context.create_stream(),
    lambda: contexts[0].create_stream(),
    lambda: resources.sm.split(SMResourceOptions(count=(8, 8), coscheduled_sm_count=(8,))),
    lambda: resources.sm.split(SMResourceOptions(count=-1)),
    lambda: resources.sm.split(SMResourceOptions(count=10000)),
    lambda: queue.configure(WorkqueueResourceOptions(concurrency_limit=0)),
):
    try:
        print("taken", wrong())
    except Exception as error:
        print(
            [
                kind.__name__
                for kind in type(error).__mro__
                if kind in (ValueError, TypeError, RuntimeError) or kind.__name__ == "CUDAError"
            ][:1]
        )
