"""Device: the devices of the driver in use, one object for each in each thread."""

from operator import index

from cucore import _seam
from cucore._checked import whole
from cucore._errors import CUDAError, ValueTypeError
from cucore._tuples import ComputeCapability, MemoryInfo, PriorityRange


class CurrentScope:
    """Makes a context current while a ``with`` block runs, and the one before again afterwards."""

    __slots__ = ("_context", "_previous")

    def __init__(self, context):
        self._context = context
        self._previous = []

    def __enter__(self):
        previous = _seam.current_context()
        self._context._set_current()
        self._previous.append(previous)
        return self._context

    def __exit__(self, *exception):
        previous = self._previous.pop()
        if previous is None:
            _seam.set_no_context()
        else:
            previous._set_current()


def stream_in(context, options):
    """A new stream in ``context``, as StreamOptions, a dict or None say."""
    if options is None:
        return context._create_stream(True, None)
    from cucore._options import StreamOptions, accept

    options = accept(StreamOptions, options)
    priority = options.priority
    if priority is not None:
        priority = index(priority)
        device = context.device
        lowest, highest = device.priority_range
        if not highest <= priority <= lowest:
            raise ValueError(
                f"the stream priority {priority} is out of range: device {device.device_id} has priorities from "
                f"{highest} (highest) to {lowest} (lowest)"
            )
    return context._create_stream(bool(options.nonblocking), priority)


class Limits:
    """What kernels may use of a context's resources: numbers that can be read and set, sizes in bytes.

    The driver may round up what is set. A limit that the device does not have is a CUDAError.
    """

    __slots__ = ("_context",)

    def __init__(self, context):
        self._context = context

    def __repr__(self):
        return f"<Limits of {self._context!r}>"


def _limit(number, what):
    return property(
        lambda self: self._context._limit(number),
        lambda self, value: self._context._set_limit(number, index(value)),
        doc=what,
    )


for _number, (_name, _what) in enumerate(
    (
        ("stack_size", "The stack of each thread."),
        ("printf_fifo_size", "What kernels may print between two synchronizations."),
        ("malloc_heap_size", "The heap of malloc() in kernels."),
        ("dev_runtime_sync_depth", "How many nested launches may wait."),
        ("dev_runtime_pending_launch_count", "How many launches by kernels may wait for their turn."),
        ("max_l2_fetch_granularity", "0 to 128; a hint."),
        ("persisting_l2_cache_size", "L2 cache set aside for persisting accesses."),
    )
):
    setattr(Limits, _name, _limit(_number, _what))


class Device:
    """A GPU, or the CPU device.

    ``Device(n)`` is the n-th device the driver shows, the same object each time in one thread; ``Device()`` is the
    current one. Making one creates no context; ``set_current()`` does, and what creates streams, events or memory needs
    that first, in every thread.
    """

    __slots__ = (
        "__weakref__",
        "_compute_capability",
        "_context",
        "_event_pool",
        "_memory_resource",
        "_ordinal",
        "_primary",
        "_properties",
        "_resources",
        "_uuid",
    )

    initializes_on_demand = False
    """Whether a Device that was never made current uses its primary context, in every thread, instead of raising
    CUDAError: set it once, ``Device.initializes_on_demand = True``. Nothing becomes current by it."""

    def __new__(cls, device_id=None):
        if isinstance(device_id, Device):
            return device_id
        ordinal = _seam.current_device() if device_id is None else whole("device_id", device_id, ValueTypeError)
        count = _seam.device_count()
        if not -(1 << 31) <= ordinal < 1 << 31:
            raise OverflowError(f"device_id {ordinal} does not fit into 32 bits")
        if not 0 <= ordinal < count:
            raise ValueError(f"there is no device {ordinal}: the driver shows {count} (device_id 0 to {count - 1})")
        devices = _seam.devices_of_this_thread(count)
        if devices[ordinal] is not None:
            return devices[ordinal]
        self = super().__new__(cls)
        self._ordinal = ordinal
        self._context = None
        self._primary = None
        self._memory_resource = None
        self._properties = None
        self._resources = None
        self._uuid = None
        self._compute_capability = None
        self._event_pool = None
        devices[ordinal] = self
        return self

    @staticmethod
    def get_all_devices():
        """All devices the driver shows, as a tuple."""
        return _seam.known_devices() or tuple(Device(ordinal) for ordinal in range(_seam.device_count()))

    @staticmethod
    def from_uuid(uuid):
        """The device with this UUID, as ``uuid`` writes it; hyphens and case do not count."""
        return Device(_seam.device_from_uuid(uuid))

    @staticmethod
    def from_pci_bus_id(pci_bus_id):
        """The device with this bus address, for example "0000:3b:00.0"."""
        return Device(_seam.device_from_pci_bus_id(pci_bus_id))

    def to_system_device(self):
        """Its ``cucore.system.Device``, which NVML describes: the one with the same UUID. RuntimeError if there is
        none."""
        return _seam.find("SystemDevice")._of_cuda_uuid(self.uuid)

    @staticmethod
    def wait_all(streams):
        """Waits until everything submitted so far to each of ``streams`` has completed."""
        for stream in streams:
            stream.sync()

    @property
    def device_id(self):
        """The ordinal."""
        return self._ordinal

    def __int__(self):
        return self._ordinal

    @property
    def name(self):
        """The driver's name for it."""
        return _seam.device_name(self._ordinal)

    @property
    def uuid(self):
        """Lower-case hexadecimal, 8-4-4-4-12; for a MIG instance, the instance's own."""
        if self._uuid is None:
            self._uuid = _seam.device_uuid(self._ordinal)
        return self._uuid

    @property
    def pci_bus_id(self):
        """``dddd:bb:dd.f``."""
        return _seam.device_pci_bus_id(self._ordinal)

    @property
    def compute_capability(self):
        """(major, minor)."""
        if self._compute_capability is None:
            self._compute_capability = ComputeCapability(*_seam.device_compute_capability(self._ordinal))
        return self._compute_capability

    @property
    def arch(self):
        """The compute capability as digits: "75", "90", "100"."""
        major, minor = self.compute_capability
        return f"{major}{minor}"

    @property
    def total_memory(self):
        """Bytes of device memory."""
        return _seam.device_total_memory(self._ordinal)

    @property
    def properties(self):
        """The device's attributes by name."""
        if self._properties is None:
            self._properties = _seam.device_properties(self._ordinal)
        return self._properties

    @property
    def memory_info(self):
        """(free, total) bytes of its memory; needs the device's context, and makes it."""
        return MemoryInfo(*_seam.device_memory_info(self._ordinal))

    @property
    def limits(self):
        """The Limits of the device's primary context, for example ``device.limits.stack_size``; makes the context."""
        return Limits(self._primary_context())

    def enable_peer_access(self, peer):
        """Lets kernels of this device access memory of ``peer`` that is not from a pool; calling it again is allowed.

        Access to a pool's memory is granted apart: DeviceMemoryResource.peer_accessible_by.
        """
        self._primary_context()._enable_peer_access(Device(peer)._primary_context())

    def disable_peer_access(self, peer):
        """Revokes ``enable_peer_access``; calling it again is allowed."""
        self._primary_context()._disable_peer_access(Device(peer)._primary_context())

    @property
    def priority_range(self):
        """(lowest, highest) priority of its streams; a lower number is a higher priority."""
        return PriorityRange(*_seam.device_priority_range(self._ordinal))

    def can_access_peer(self, peer):
        """Whether kernels on this device can access memory of ``peer`` (None: the current device); True for itself."""
        other = Device(peer)._ordinal
        return other == self._ordinal or _seam.device_can_access_peer(self._ordinal, other)

    def _bound_context(self):
        context = self._context
        if context is None and Device.initializes_on_demand:
            context = self._context = self._primary_context()
        if context is None:
            raise CUDAError(
                f"device {self._ordinal} is not yet initialized in this thread: call Device({self._ordinal})"
                ".set_current() first"
            )
        if context.is_closed:
            raise RuntimeError(f"the context of device {self._ordinal} has been closed: call set_current() again")
        return context

    def _primary_context(self):
        if self._primary is None or self._primary.is_closed:
            self._primary = _seam.primary_context(self._ordinal)
        return self._primary

    @property
    def context(self):
        """The Context that the last set_current() on this object made current."""
        return self._bound_context()

    def set_current(self, ctx=None):
        """Makes the device's primary context current in this thread, or ``ctx``, and returns the one that was.

        Without ``ctx`` it returns None.
        """
        if ctx is None:
            primary = self._primary_context()
            primary._set_current()
            self._context = primary
            return None
        if not isinstance(ctx, _seam.Context):
            raise TypeError(f"ctx must be a Context or None, not {type(ctx).__name__}")
        if ctx.device is not self:
            raise RuntimeError(f"the context is of device {ctx.device.device_id}, not of device {self.device_id}")
        previous = _seam.current_context()
        ctx._set_current()
        bound, self._context = self._context, ctx
        return bound if previous is not None and bound == previous else previous

    def current(self):
        """``with device.current():`` makes its primary context current, and the one before again afterwards."""
        primary = self._primary_context()
        if self._context is None:
            self._context = primary
        return CurrentScope(primary)

    @property
    def memory_resource(self):
        """Where ``allocate`` gets memory: the device's default pool until another resource is set."""
        if self._memory_resource is None:
            if self.properties.memory_pools_supported:
                self._memory_resource = _seam.DeviceMemoryResource(self._ordinal)
            else:
                self._memory_resource = _seam.SynchronousMemoryResource(self._ordinal)
        return self._memory_resource

    @memory_resource.setter
    def memory_resource(self, resource):
        if not isinstance(resource, _seam.MemoryResource):
            raise TypeError(f"memory_resource must be a MemoryResource, not {type(resource).__name__}")
        self._memory_resource = resource

    @property
    def default_stream(self):
        """LEGACY_DEFAULT_STREAM, or PER_THREAD_DEFAULT_STREAM if the environment variable
        CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM begins with a number other than 0.
        """
        per_thread = _seam.default_stream_is_per_thread()
        return _seam.PER_THREAD_DEFAULT_STREAM if per_thread else _seam.LEGACY_DEFAULT_STREAM

    @property
    def resources(self):
        """The resources of the whole device: multiprocessors and work queues, to be divided among green contexts."""
        if self._resources is None:
            self._resources = _seam.device_resources(self._ordinal)
        return self._resources

    def create_context(self, options=None):
        """A green context, which runs on ``options.resources`` only. It does not become current."""
        from cucore._resources import create_context

        return create_context(self._ordinal, options)

    def partition(self, shares):
        """Green contexts, one for each share of the device: numbers of multiprocessors, or fractions (floats)."""
        from cucore._resources import partition

        return partition(self, shares)

    # create_stream() and create_event() themselves are C (bindings/device/device.cpp), and come here when there are
    # arguments.
    def _create_stream(self, obj=None, options=None):
        context = self._bound_context()
        if obj is not None:
            if options is not None:
                raise ValueError("options belong to a new stream: pass obj or options, not both")
            return _seam.stream_from_protocol(obj)
        return stream_in(context, options)

    def _create_event(self, options=None):
        context = self._bound_context()
        if options is None:
            return context._create_event(False, False, False)
        from cucore._options import EventOptions, accept

        options = accept(EventOptions, options)
        if options.ipc_enabled:
            raise TypeError(
                "an IPC event is bound to the stream it is recorded on: make it with "
                'Stream.record(options={"ipc_enabled": True})'
            )
        return context._create_event(bool(options.timing_enabled), bool(options.blocking_sync), False)

    def create_graph_builder(self):
        """A GraphBuilder on a stream of its own."""
        return _seam.create_graph_builder(self.create_stream())

    @property
    def event_pool(self):
        """The device's EventPool: ``with device.event_pool.get() as event: ...``. All threads share its events."""
        self._bound_context()
        if self._event_pool is None or self._event_pool.is_closed:
            self._event_pool = _seam.device_event_pool(self._ordinal)
        return self._event_pool

    def allocate(self, size, *, stream):
        """A Buffer of ``size`` bytes from ``memory_resource``, usable in the order of ``stream``."""
        self._bound_context()
        return self.memory_resource.allocate(size, stream=stream)

    def sync(self):
        """Waits for everything submitted to the device's context."""
        self._bound_context()._sync()

    def create_opaque_array(self, options):
        """An OpaqueArray, as OpaqueArrayOptions or a dict of its fields say."""
        from cucore.texture import _create_opaque_array

        return _create_opaque_array(self._bound_context(), options)

    def create_mipmapped_array(self, options):
        """A MipmappedArray, as MipmappedArrayOptions or a dict of its fields say."""
        from cucore.texture import _create_mipmapped_array

        return _create_mipmapped_array(self._bound_context(), options)

    def create_texture_object(self, *, resource, options=None):
        """A TextureObject: the memory of ``resource``, a ResourceDescriptor, read as TextureObjectOptions say."""
        from cucore.texture import _create_texture_object

        return _create_texture_object(self._bound_context(), resource, options)

    def create_surface_object(self, *, resource):
        """A SurfaceObject of the OpaqueArray behind ``resource``, a ResourceDescriptor."""
        from cucore.texture import _create_surface_object

        return _create_surface_object(self._bound_context(), resource)

    def __eq__(self, other):
        if not isinstance(other, Device):
            return NotImplemented
        return self._ordinal == other._ordinal

    def __hash__(self):
        return hash(self.uuid)

    def __repr__(self):
        return f"<Device {self._ordinal} ({self.name})>"

    def _repr_html_(self):
        from cucore._notebook import table

        major, minor = self.compute_capability
        facts = {
            "name": self.name,
            "compute capability": f"{major}.{minor}",
            "multiprocessors": self.properties.multiprocessor_count,
            "UUID": self.uuid,
            "PCI": self.pci_bus_id,
        }
        return table(f"Device {self._ordinal}", facts)

    def __reduce__(self):
        return unpickled, (self._ordinal,)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


def unpickled(ordinal):
    """The Device of the loading thread."""
    return Device(ordinal)


# The function of _pickling, whose path pickles name.
unpickled.__module__, unpickled.__qualname__, unpickled.__name__ = "cucore._pickling", "device", "device"
Device.__module__ = "cucore"
_seam.set_device_class(Device)
