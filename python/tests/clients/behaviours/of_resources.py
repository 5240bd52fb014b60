"""Shares of a device: multiprocessors, work queues, and contexts that are made of them."""

from common import each, lines

SM = "coscheduled_alignment flags handle min_partition_size sm_count"
QUEUE = "concurrency_limit device handle sharing_scope"
SM_OPTIONS = """count coscheduled_sm_count preferred_coscheduled_sm_count backfill"""
VALUES = ["None", "0", "8", "-1", "'x'", "(8, 8)", "[8]", "1.5", "True", "(8, None)", "()"]

BEHAVIOURS = [
    *each("kind(device.resources.sm.{name})", name=SM),
    *each("device.resources.sm.{name}", name="coscheduled_alignment flags min_partition_size sm_count none"),
    *each("device.resources.sm.{name} = 5", name=SM),
    *each("device.resources.{name} = 5", name="sm workqueue"),
    *each("kind(device.resources.workqueue.{name})", name=QUEUE),
    *each("device.resources.workqueue.{name} = 5", name=QUEUE),
    *each("device.resources.workqueue.{name}", name="concurrency_limit sharing_scope none device"),
    *each("core.SMResourceOptions({field}={value}).{field}", field=SM_OPTIONS, value=VALUES),
    *each(
        "len(device.resources.sm.split({options})[0])",
        options=[
            "core.SMResourceOptions(count=8)",
            "core.SMResourceOptions(count=(8, 8))",
            "core.SMResourceOptions()",
            "core.SMResourceOptions(count=None)",
            "core.SMResourceOptions(count=9999)",
            "core.SMResourceOptions(count=0)",
            "core.SMResourceOptions(count=-1)",
            "core.SMResourceOptions(count='x')",
            "None",
            "{}",
            "{'count': 8}",
            "5",
            "",
            "core.SMResourceOptions(count=8), dry_run=True",
            "core.SMResourceOptions(count=(8, 8), coscheduled_sm_count=8)",
            "core.SMResourceOptions(count=(8, 8), coscheduled_sm_count=(8,))",
            "core.SMResourceOptions(count=8, coscheduled_sm_count=2)",
            "core.SMResourceOptions(count=8, preferred_coscheduled_sm_count=8)",
            "core.SMResourceOptions(count=8, backfill=True)",
            "core.SMResourceOptions(count=1)",
            "options=core.SMResourceOptions(count=8)",
        ],
    ),
    *each(
        "[one.sm_count for one in device.resources.sm.split({options})[0]]",
        options=[
            "core.SMResourceOptions(count=8)",
            "core.SMResourceOptions(count=(8, 8))",
            "core.SMResourceOptions(count=1)",
            "core.SMResourceOptions(count=9)",
        ],
    ),
    *each(
        "core.WorkqueueResourceOptions({field}={value}).{field}",
        field="concurrency_limit sharing_scope",
        value=[
            "None",
            "1",
            "0",
            "-1",
            "'x'",
            "'device_ctx'",
            "'green_ctx_balanced'",
            "typing.WorkqueueSharingScopeType.DEVICE_CTX",
            "1.5",
        ],
    ),
    *each(
        "device.resources.workqueue.configure({options})",
        options=[
            "core.WorkqueueResourceOptions()",
            "core.WorkqueueResourceOptions(concurrency_limit=4)",
            "core.WorkqueueResourceOptions(sharing_scope='green_ctx_balanced')",
            "core.WorkqueueResourceOptions(sharing_scope='none')",
            "None",
            "{}",
            "5",
            "",
            "core.WorkqueueResourceOptions(concurrency_limit=0)",
            "core.WorkqueueResourceOptions(concurrency_limit=99999)",
        ],
    ),
    *each(
        "{call}(core.{options}())",
        options="SMResourceOptions WorkqueueResourceOptions",
        call="repr hash bool len dataclasses.asdict copy.copy",
    ),
    *each(
        "[one.name for one in dataclasses.fields(core.{options})]",
        options="SMResourceOptions WorkqueueResourceOptions ContextOptions",
    ),
    *each("core.{kind}({arguments})", kind="SMResource WorkqueueResource DeviceResources", arguments=["", "5"]),
    *each(
        "green().{name}",
        name=[
            "is_green",
            "is_closed",
            "create_stream().is_nonblocking",
            "create_stream().device",
            "resources.sm.sm_count",
            "create_stream().context.is_green",
            "create_stream().record().sync()",
            "create_stream(5)",
            "none",
        ],
    ),
    *each(
        "closed(green()).{name}", name=["is_closed", "is_green", "close()", "create_stream()", "resources", "handle"]
    ),
    *each(
        "g = green(); {call}",
        call=[
            "g == g",
            "hash(g) == hash(g)",
            "s = g.create_stream(); core.launch(s, one, none_); s.sync()",
            "device.set_current(g); device.set_current()",
            "s = g.create_stream(); s.context == g",
            "shape(repr(g))",
            "weakref.ref(g)() is g",
            "copy.copy(g)",
        ],
    ),
    *each(
        "device.create_context({options})",
        options=[
            "core.ContextOptions(resources=[])",
            "core.ContextOptions(resources=None)",
            "core.ContextOptions(resources=[5])",
            "core.ContextOptions(resources=device.resources.sm)",
            "core.ContextOptions(resources=[device.resources.sm])",
            "None",
            "{}",
            "5",
            "core.ContextOptions(resources=(device.resources.sm,))",
        ],
    ),
    *each("core.WorkqueueResource.{name} is not None", name=QUEUE + " configure"),
    *lines("""
        shape(repr(device.resources))
        shape(repr(device.resources.sm))
        device.resources == device.resources
        device.resources.sm is device.resources.sm
        device.resources.sm == device.resources.sm
        hash(device.resources.sm) == hash(device.resources.sm)
        device.resources.none
        kind(device.resources.sm.split(core.SMResourceOptions(count=8)))
        len(device.resources.sm.split(core.SMResourceOptions(count=8)))
        device.resources.sm.split(core.SMResourceOptions(count=8))[1].sm_count
        core.SMResourceOptions(8).count
        core.SMResourceOptions(8, 8, 8, True, 5)
        core.SMResourceOptions(none=1)
        core.SMResourceOptions(8) == core.SMResourceOptions(8)
        options = core.SMResourceOptions(); options.count = 8; options.count
        options = core.SMResourceOptions(); options.none = 8
        core.WorkqueueResourceOptions() == core.WorkqueueResourceOptions()
        core.WorkqueueResourceOptions(none=1)
    """),
]


def names(shared):
    core, device = shared.core, shared.device

    def green():
        groups, _ = device.resources.sm.split(core.SMResourceOptions(count=8))
        return device.create_context(core.ContextOptions(resources=groups[:1]))

    return {"green": green, "none_": shared.cubin.get_kernel("none")}
