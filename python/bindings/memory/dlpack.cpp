// DLPack tensors of any shape: taken from the capsules of other libraries, and exported for StridedMemoryView.
#include "python/bindings/memory/dlpack.hpp"

#include <nanobind/stl/pair.h>

#include <memory>
#include <utility>

namespace cucore::python {
namespace dlpack {

void raise_buffer_error(const char* message) {
  PyErr_SetString(PyExc_BufferError, message);
  throw nb::python_error();
}

bool wants_version_1(nb::handle max_version) {
  if (max_version.is_none()) return false;
  if (!PyTuple_Check(max_version.ptr())) throw nb::type_error("max_version must be a pair (major, minor)");
  if (PyTuple_GET_SIZE(max_version.ptr()) != 2) raise_buffer_error("max_version must be a pair (major, minor)");
  int major = 0;
  if (!nb::try_cast<int>(max_version[0], major)) throw nb::type_error("max_version must be a pair of ints");
  return major >= 1;
}

void check_request(nb::handle stream, nb::handle device, nb::handle copy) {
  const auto require = [](bool is_so, const char* otherwise) {
    if (!is_so) throw nb::type_error(otherwise);
  };
  require(stream.is_none() || PyLong_Check(stream.ptr()), "stream must be an int or None");
  require(device.is_none() || PyTuple_Check(device.ptr()), "dl_device must be a pair (type, id) or None");
  require(copy.is_none() || PyBool_Check(copy.ptr()), "copy must be a bool or None");
  if (copy.is(Py_True)) raise_buffer_error("exporting a copy is not supported");
}

}  // namespace dlpack

namespace {

using Numbers = StridedLayout::Numbers;

// A tensor of another library, in its capsule: that is consumed, and from now on gives the tensor back when it goes.
struct TakenTensor {
  const DLTensor* tensor = nullptr;
  bool readonly = false;
};

template <class Managed>
bool take_from(nb::handle capsule, TakenTensor& taken) {
  using Kind = dlpack::Capsule<Managed>;
  if (PyCapsule_IsValid(capsule.ptr(), Kind::name) == 0) return false;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), Kind::name));
  if constexpr (requires { managed->version; }) {
    // Of another major version only the version itself may be read: the capsule keeps it.
    if (managed->version.major != dlpack::newest_version.major) {
      dlpack::raise_buffer_error("the DLPack capsule is of a major version other than 1");
    }
    taken.readonly = (managed->flags & std::uint64_t{DLPACK_FLAG_BITMASK_READ_ONLY}) != 0;
  }
  const auto give_back = [](PyObject* consumed) {
    const nb::error_scope handled;  // the producer may run Python
    auto* left = static_cast<Managed*>(PyCapsule_GetPointer(consumed, Kind::used_name));
    if (left != nullptr && left->deleter != nullptr) left->deleter(left);
    PyErr_Clear();
  };
  if (PyCapsule_SetName(capsule.ptr(), Kind::used_name) != 0 || PyCapsule_SetDestructor(capsule.ptr(), give_back) != 0)
    throw nb::python_error();
  taken.tensor = &managed->dl_tensor;
  return true;
}

int bits_of_element(const DLTensor& tensor) { return tensor.dtype.bits * tensor.dtype.lanes; }

StridedLayout layout_of(const DLTensor& tensor) {
  const int bits = bits_of_element(tensor);
  const auto numbers = [&](const std::int64_t* from) {
    return from == nullptr ? Numbers() : Numbers(from, from + tensor.ndim);
  };
  if (tensor.strides == nullptr) return StridedLayout(numbers(tensor.shape), bits / 8);
  return StridedLayout(numbers(tensor.shape), numbers(tensor.strides), bits / 8);
}

// Whether there is surely a layout of it.
bool is_sound(const DLTensor& tensor) {
  if (bits_of_element(tensor) < 8 || tensor.ndim < 0 || tensor.ndim > static_cast<int>(StridedLayout::max_rank)) {
    return false;
  }
  std::int64_t volume = 1;
  for (int i = 0; i < tensor.ndim; ++i) {
    if (tensor.shape[i] < 1 || __builtin_mul_overflow(volume, tensor.shape[i], &volume)) return false;
  }
  return true;
}

// One exported tensor, what it points to, and the Python object that keeps the memory.
template <class Managed>
struct Export {
  Managed managed{};
  Numbers shape;
  Numbers strides;
  PyObject* owner = nullptr;

  static void release(Managed* managed) {
    const std::unique_ptr<Export> self(static_cast<Export*>(managed->manager_ctx));
    drop_reference(self->owner);
  }
};

template <class Managed>
nb::object capsule_of(nb::handle owner, const DLTensor& described, const StridedLayout& layout, bool readonly) {
  auto exported = std::make_unique<Export<Managed>>();
  exported->shape = layout.shape();
  exported->strides = layout.strides();
  exported->managed.dl_tensor = described;
  exported->managed.dl_tensor.shape = exported->shape.data();
  exported->managed.dl_tensor.strides = exported->strides.data();
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = Export<Managed>::release;
  if constexpr (requires { exported->managed.version; }) {
    exported->managed.version = dlpack::newest_version;
    exported->managed.flags = readonly ? std::uint64_t{DLPACK_FLAG_BITMASK_READ_ONLY} : 0;
  }
  nb::object capsule = dlpack::make_capsule(&exported->managed);
  exported.release()->owner = owner.inc_ref().ptr();
  return capsule;
}

nb::object export_tensor(nb::handle owner, std::uint64_t address, const StridedLayout& layout,
                         std::pair<int, int> device, std::pair<int, int> type, bool readonly, nb::handle max_version) {
  const DLTensor described{
      .data = layout.volume() == 0 ? nullptr : reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)),
      .device = {static_cast<DLDeviceType>(device.first), device.second},
      .ndim = static_cast<std::int32_t>(layout.rank()),
      .dtype = {.code = static_cast<std::uint8_t>(type.first),
                .bits = static_cast<std::uint8_t>(type.second),
                .lanes = 1},
      .shape = nullptr,
      .strides = nullptr,
      .byte_offset = 0};
  return dlpack::wants_version_1(max_version) ? capsule_of<DLManagedTensorVersioned>(owner, described, layout, readonly)
                                              : capsule_of<DLManagedTensor>(owner, described, layout, readonly);
}

}  // namespace

dlpack::Taken dlpack::take(nb::handle capsule) {
  TakenTensor taken;
  if (!take_from<DLManagedTensorVersioned>(capsule, taken) && !take_from<DLManagedTensor>(capsule, taken)) {
    dlpack::raise_buffer_error("__dlpack__() returned no DLPack capsule, or one that was consumed already");
  }
  if (bits_of_element(*taken.tensor) % 8 != 0) {
    throw nb::value_error("a DLPack tensor of elements that are no whole bytes is not supported");
  }
  if (!is_sound(*taken.tensor)) layout_of(*taken.tensor);  // which says what is wrong
  return {nb::borrow(capsule), *taken.tensor, taken.readonly};
}

StridedLayout dlpack::layout_of_taken(nb::handle capsule) {
  const char* const name = PyCapsule_GetName(capsule.ptr());
  if (name == nullptr) throw nb::python_error();
  void* const managed = PyCapsule_GetPointer(capsule.ptr(), name);
  if (std::string_view(name) == Capsule<DLManagedTensorVersioned>::used_name) {
    return layout_of(static_cast<DLManagedTensorVersioned*>(managed)->dl_tensor);
  }
  return layout_of(static_cast<DLManagedTensor*>(managed)->dl_tensor);
}

void bind_dlpack(nb::module_& module) {
  module.def("_check_dlpack_request", dlpack::check_request, nb::arg("stream").none(), nb::arg("dl_device").none(),
             nb::arg("copy").none(), "Raises what __dlpack__() raises for arguments like these.");
  module.def("_export_dlpack", export_tensor, nb::arg("owner"), nb::arg("address"), nb::arg("layout"),
             nb::arg("device"), nb::arg("type"), nb::arg("readonly"), nb::arg("max_version").none(),
             "A capsule; `device` is (type, id) and `type` (code, bits), as DLPack numbers them. It keeps `owner`.");
}

}  // namespace cucore::python
