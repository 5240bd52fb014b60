// Resources written in Python, and the references that C++ keeps to Python objects.
#include "cucore/error.hpp"
#include "python/bindings/memory/memory.hpp"

namespace cucore::python {
std::shared_ptr<const void> keep_alive(nb::handle object) {
  object.inc_ref();
  return {object.ptr(), [](const void* kept) { drop_reference(static_cast<PyObject*>(const_cast<void*>(kept))); }};
}

PythonResource::PythonResource(nb::handle object) : object_(object.inc_ref().ptr()) {
  try {
    device_accessible_ = truth_of(object.attr("is_device_accessible"));
  } catch (nb::python_error&) {
    device_accessible_ = true;  // a resource that does not say is taken for the common kind
  }
}

PythonResource::~PythonResource() { drop_reference(object_); }

Buffer PythonResource::allocate(std::size_t, const Stream&) {
  throw StateError(
      {.call = "MemoryResource.allocate", .message = "a memory resource written in Python allocates from Python only"});
}

void PythonResource::deallocate(DevicePointer address, std::size_t size, const Stream& stream) {
  if (finalizing()) return;
  const WithGil gil;
  const nb::error_scope handled;
  const nb::object on = nb::cast(new PyStream(stream.share()), nb::rv_policy::take_ownership);
  try {
    nb::handle(object_).attr("deallocate")(address, size, nb::arg("stream") = on);
  } catch (nb::python_error& error) {
    throw PythonFailure(std::move(error));
  }
}

}  // namespace cucore::python
