// VirtualMemoryResource, and its options between Python and the core.
#include "cucore/virtual_memory.hpp"

#include "cucore/device.hpp"
#include "python/bindings/memory/core_resources.hpp"

namespace cucore::python {
namespace {

struct PyVirtualMemoryResource : PyMemoryResource {
  nb::object config;
  bool refused = false;  ///< `config` cannot be: allocations say why, as with cuda.core
  VirtualMemoryResource& core() const { return static_cast<VirtualMemoryResource&>(*resource); }
};

bool is(nb::handle config, const char* field, const char* value) {
  return nb::cast<bool>(nb::bool_(config.attr(field).equal(nb::str(value))));
}

VirtualMemoryAccess access_of(nb::handle config, const char* field) {
  if (config.attr(field).is_none()) return VirtualMemoryAccess::none;
  return is(config, field, "r") ? VirtualMemoryAccess::read : VirtualMemoryAccess::read_write;
}

VirtualMemoryHandle handle_type(nb::handle config) {
  if (config.attr("handle_type").is_none()) return VirtualMemoryHandle::none;
  if (is(config, "handle_type", "win32_kmt")) return VirtualMemoryHandle::win32_kmt;
  return is(config, "handle_type", "fabric") ? VirtualMemoryHandle::fabric : VirtualMemoryHandle::posix_fd;
}

VirtualMemoryResourceOptions options_of(nb::handle config, int device) {
  config.attr("_check")();
  VirtualMemoryResourceOptions options;
  if (is(config, "allocation_type", "managed")) options.allocation_type = VirtualMemoryAllocation::managed;
  options.location = memory_location(config.attr("_location")(device_object(device)));
  options.handle_type = handle_type(config);
  if (is(config, "granularity", "minimum")) options.granularity = VirtualMemoryGranularity::minimum;
  options.gpu_direct_rdma = truth_of(config.attr("gpu_direct_rdma"));
  const nb::object hint = config.attr("addr_hint");
  const nb::object align = config.attr("addr_align");
  if (!hint.is_none()) options.addr_hint = unsigned_number(hint, "addr_hint");
  if (!align.is_none()) options.addr_align = unsigned_number(align, "addr_align");
  if ((options.addr_align & (options.addr_align - 1)) != 0) {
    raise(from_package(Package::CUDAInvalidValueError),
          "CUDA_ERROR_INVALID_VALUE: addr_align is " + std::to_string(options.addr_align) + ", not a power of two");
  }
  for (const nb::handle peer : config.attr("peers")) options.peers.push_back(device_ordinal(peer));
  options.self_access = access_of(config, "self_access");
  options.peer_access = access_of(config, "peer_access");
  return options;
}

// Options that can be, if they can.
std::optional<VirtualMemoryResourceOptions> possible_options(nb::handle config, int device) {
  try {
    return options_of(config, device);
  } catch (const nb::python_error&) {
    return std::nullopt;
  } catch (const nb::builtin_exception&) {
    return std::nullopt;
  }
}

// Throws what is wrong with the options of the resource, if they were refused.
void require_options(const PyVirtualMemoryResource& self) {
  if (!self.refused) return;
  options_of(self.config, self.core().device());
  throw nb::value_error("the options could not be when the resource was made: make another");
}

void make(PyVirtualMemoryResource* self, nb::handle device_id, nb::handle config) {
  const int ordinal = device_or_current(device_id);
  const nb::object accepted = accept_options(Package::VirtualMemoryResourceOptions, config);
  const auto options = possible_options(accepted, ordinal);
  auto made = without_gil(
      [&] { return VirtualMemoryResource::create(Device(ordinal), options.value_or(VirtualMemoryResourceOptions{})); });
  new (self) PyVirtualMemoryResource{{std::move(made)}, accepted, !options.has_value()};
}

// A buffer that grows is a new object, as with cuda.core, also where its address stays: the old one is closed.
nb::object modify_allocation(nb::handle self, nb::handle object, nb::handle size, nb::handle config) {
  const auto& resource = nb::cast<const PyVirtualMemoryResource&>(self);
  PyBuffer* wrapped = nullptr;
  if (!nb::try_cast<PyBuffer*>(object, wrapped) || wrapped == nullptr) {
    throw nb::type_error((std::string("buf must be a Buffer, not ") + Py_TYPE(object.ptr())->tp_name).c_str());
  }
  // cuda.core finds these out by attributes that are not there.
  if (!config.is_none() && !PyDict_Check(config.ptr()) &&
      PyObject_IsInstance(config.ptr(), from_package(Package::VirtualMemoryResourceOptions).ptr()) != 1) {
    raise(from_package(Package::AttributeTypeError),
          std::string("config must be VirtualMemoryResourceOptions, a dict of its fields or None, not ") +
              Py_TYPE(config.ptr())->tp_name);
  }
  if (!wrapped->is_open()) raise(PyExc_RuntimeError, "the buffer has been closed");
  if (!wrapped->resource_object().is(self)) {
    raise(from_package(Package::CUDAInvalidValueError),
          "CUDA_ERROR_INVALID_VALUE: the buffer is not an allocation of this resource");
  }
  const bool negative = PyLong_Check(size.ptr()) && PyObject_RichCompareBool(size.ptr(), nb::int_(0).ptr(), Py_LT) == 1;
  const std::uint64_t new_size = negative ? 0 : unsigned_number(size, "new_size");  // none is shorter than it is
  nb::object accepted;
  std::optional<VirtualMemoryResourceOptions> options;
  if (!config.is_none()) {
    accepted = accept_options(Package::VirtualMemoryResourceOptions, config);
    options = options_of(accepted, resource.core().device());
  }
  const std::shared_ptr<MemoryResource> kept = resource.resource;
  Buffer buffer = wrapped->share();
  const std::size_t size_before = buffer.size();
  without_gil([&] {
    auto& core = static_cast<VirtualMemoryResource&>(*kept);
    options ? core.modify_allocation(buffer, new_size, *options) : core.modify_allocation(buffer, new_size);
  });
  if (options) {
    const nb::ft_object_guard guard(self);
    nb::cast<PyVirtualMemoryResource&>(self).config = std::move(accepted);
  }
  if (buffer.size() == size_before) {
    const WithoutGil released;
    buffer = Buffer();
    return nb::borrow(object);
  }
  auto grown = std::make_unique<PyBuffer>(std::move(buffer));
  grown->resource = nb::borrow(self);
  {
    Buffer old = wrapped->take();
    const WithoutGil released;
    old = Buffer();
  }
  return nb::cast(grown.release(), nb::rv_policy::take_ownership);
}

// A size that cannot be is the driver's to refuse, as the other arguments of an allocation are.
PyBuffer* allocate_virtual(nb::handle self, nb::handle size, nb::handle stream) {
  if (PyLong_Check(size.ptr()) && PyObject_RichCompareBool(size.ptr(), nb::int_(0).ptr(), Py_LT) == 1) {
    raise(from_package(Package::CUDAInvalidValueError),
          std::string("CUDA_ERROR_INVALID_VALUE: there are no buffers of ") + nb::str(size).c_str() + " bytes");
  }
  if (PyIndex_Check(size.ptr()) == 0 || is_array(size)) {
    throw nb::type_error((std::string("size must be an int, not ") + Py_TYPE(size.ptr())->tp_name).c_str());
  }
  require_options(nb::cast<const PyVirtualMemoryResource&>(self));
  return allocate_at_once<PyVirtualMemoryResource>(self, size, stream);
}

}  // namespace

void bind_virtual_memory(nb::module_& module) {
  auto cls = nb::class_<PyVirtualMemoryResource, PyMemoryResource>(
      module, "VirtualMemoryResource", nb::is_weak_referenceable(), nb::dynamic_attr(),
      "Memory that is mapped piece by piece, so that its buffers can grow (modify_allocation).");
  bind_core_resource<PyVirtualMemoryResource>(cls);
  cls.def("allocate", allocate_virtual, nb::arg("size"), nb::kw_only(), nb::arg("stream") = nb::none(),
          "Memory that is usable at once; `stream` is not waited for.")
      .def("deallocate", deallocate_at_once<PyVirtualMemoryResource>, nb::arg("ptr").none(), nb::arg("size"),
           nb::kw_only(), nb::arg("stream") = nb::none(), "Waits for `stream`, if given, and frees.");
  cls.def("__init__", make, nb::arg("device_id").none(), nb::arg("config") = nb::none())
      .def_prop_ro(
          "device", [](const PyVirtualMemoryResource& self) { return device_object(self.core().device()); },
          "The Device it was made for.")
      .def_prop_ro(
          "config", [](const PyVirtualMemoryResource& self) { return self.config; }, nb::lock_self(),
          "The VirtualMemoryResourceOptions it was made with, or that modify_allocation was given since.")
      .def("modify_allocation", modify_allocation, nb::arg("buf").none(), nb::arg("new_size"),
           nb::arg("config") = nb::none(),
           "Makes `buf` at least `new_size` bytes long and keeps what is in it. Returns a new Buffer, at the same "
           "address "
           "where there is room behind it, and closes `buf`. One that is as long already is returned as it is, with "
           "the access rights given anew. `config`, if given, is the resource's from now on.")
      .def("__reduce__",
           [](nb::handle self) {
             return nb::make_tuple(self.type(), nb::make_tuple(self.attr("device"), self.attr("config")));
           })
      .def("__repr__", [](const PyVirtualMemoryResource& self) {
        return std::string("<VirtualMemoryResource device=") + nb::repr(device_object(self.core().device())).c_str() +
               ">";
      });
}

}  // namespace cucore::python
