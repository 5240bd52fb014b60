// DLPack's C exchange API of StridedMemoryView: the table of functions by which libraries written in C exchange tensors
// with it, without a call of Python's __dlpack__(). What a view says of itself is asked of the Python class. Nothing
// synchronizes: cucore has no current stream, so the caller orders.
#include "python/bindings/memory/dlpack.hpp"

#include <utility>

#include "cucore/strided_layout.hpp"
#include "python/bindings/package.hpp"

namespace cucore::python {
namespace {

// A failure is a Python error and -1, as the table's functions say.
template <class Call>
int guarded(Call&& call) noexcept {
  try {
    std::forward<Call>(call)();
    return 0;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_BufferError, error.what());
  }
  return -1;
}

nb::handle view_of(void* object) {
  const nb::handle view(static_cast<PyObject*>(object));
  const int is_view = PyObject_IsInstance(view.ptr(), from_package(Package::StridedMemoryView).ptr());
  if (is_view < 0) throw nb::python_error();
  if (is_view == 0) {
    PyErr_Format(PyExc_TypeError, "expected a StridedMemoryView, not %s", Py_TYPE(view.ptr())->tp_name);
    throw nb::python_error();
  }
  return view;
}

int managed_tensor_from_view(void* object, DLManagedTensorVersioned** out) noexcept {
  return guarded([&] {
    using Kind = dlpack::Capsule<DLManagedTensorVersioned>;
    const nb::object newest = nb::make_tuple(DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION);
    const nb::object capsule = view_of(object).attr("__dlpack__")(nb::arg("max_version") = newest);
    auto* const managed = static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule.ptr(), Kind::name));
    if (managed == nullptr || PyCapsule_SetName(capsule.ptr(), Kind::used_name) != 0) throw nb::python_error();
    *out = managed;
  });
}

// Shape and strides are the view's own: it is immutable, and the caller holds it.
int tensor_from_view(void* object, DLTensor* out) noexcept {
  return guarded([&] {
    const nb::object described = view_of(object).attr("_exported")();
    const auto& layout = nb::cast<const StridedLayout&>(described[1]);
    const auto numbers = [](const StridedLayout::Numbers& of) {
      return of.empty() ? nullptr : const_cast<std::int64_t*>(of.data());
    };
    const auto address = nb::cast<std::uintptr_t>(described[0]);
    *out = {.data = layout.volume() == 0 ? nullptr : reinterpret_cast<void*>(address),
            .device = {static_cast<DLDeviceType>(nb::cast<int>(described[2][0])), nb::cast<int>(described[2][1])},
            .ndim = static_cast<std::int32_t>(layout.rank()),
            .dtype = {.code = nb::cast<std::uint8_t>(described[3][0]),
                      .bits = nb::cast<std::uint8_t>(described[3][1]),
                      .lanes = 1},
            .shape = numbers(layout.shape()),
            .strides = numbers(layout.strides()),
            .byte_offset = 0};
  });
}

int view_from_managed_tensor(DLManagedTensorVersioned* managed, void** out) noexcept {
  return guarded([&] {
    const nb::object capsule = dlpack::make_capsule(managed);  // from here on it is deleted if nobody takes it
    *out = from_package(Package::StridedMemoryView).attr("_of_capsule")(capsule).release().ptr();
  });
}

int current_work_stream(DLDeviceType /*type*/, std::int32_t /*device*/, void** out) noexcept {
  *out = nullptr;
  return 0;
}

int refuse_to_allocate(DLTensor* /*prototype*/, DLManagedTensorVersioned** /*out*/, void* error_context,
                       void (*set_error)(void*, const char*, const char*)) noexcept {
  const char* const why = "a StridedMemoryView views memory and allocates none: allocate from a MemoryResource";
  if (set_error != nullptr) set_error(error_context, "NotImplementedError", why);
  PyErr_SetString(PyExc_NotImplementedError, why);
  return -1;
}

const DLPackExchangeAPI exchange_api{.header = {.version = dlpack::newest_version, .prev_api = nullptr},
                                     .managed_tensor_allocator = refuse_to_allocate,
                                     .managed_tensor_from_py_object_no_sync = managed_tensor_from_view,
                                     .managed_tensor_to_py_object_no_sync = view_from_managed_tensor,
                                     .dltensor_from_py_object_no_sync = tensor_from_view,
                                     .current_work_stream = current_work_stream};

}  // namespace

void bind_dlpack_exchange(nb::module_& module) {
  auto capsule =
      nb::steal(PyCapsule_New(const_cast<DLPackExchangeAPI*>(&exchange_api), "dlpack_exchange_api", nullptr));
  if (!capsule.is_valid()) throw nb::python_error();
  module.attr("_dlpack_exchange_api") = capsule;
}

}  // namespace cucore::python
