// Memory resources and buffers between Python and the core: a Python object for each core resource, and a core resource
// for each resource that is written in Python.
#pragma once

#include <memory>
#include <mutex>

#include "cucore/buffer.hpp"
#include "cucore/memory.hpp"
#include "python/bindings/wrappers.hpp"

namespace cucore::python {

/// A memory resource as Python sees it. A class derived in Python has no core resource: its methods are Python's.
struct PyMemoryResource {
  std::shared_ptr<MemoryResource> resource;
  ~PyMemoryResource() {
    if (resource == nullptr) return;
    const WithoutGil released;
    resource.reset();
  }
};

struct PyPoolMemoryResource : PyMemoryResource {
  PoolMemoryResource& pool() const { return static_cast<PoolMemoryResource&>(*resource); }
};
struct PyDeviceMemoryResource : PyPoolMemoryResource {};
struct PyPinnedMemoryResource : PyPoolMemoryResource {};
struct PyLegacyPinnedMemoryResource : PyMemoryResource {};
struct PySynchronousMemoryResource : PyMemoryResource {};

/// A resource written in Python, as the core calls it: deallocate() runs the Python method under the GIL. Once the
/// interpreter finalizes it is not called any more, on purpose.
class PythonResource final : public MemoryResource {
 public:
  explicit PythonResource(nb::handle object);
  ~PythonResource() override;
  Buffer allocate(std::size_t size, const Stream& stream) override;
  void deallocate(DevicePointer address, std::size_t size, const Stream& stream) override;
  bool is_device_accessible() const noexcept override { return device_accessible_; }
  bool is_host_accessible() const noexcept override { return !device_accessible_; }
  PyObject* object() const noexcept { return object_; }

 private:
  PyObject* object_;
  bool device_accessible_ = true;  // only decides whether a default stream needs a current context
};

/// A buffer, its resource as a Python object, and what it keeps alive. `resource` is empty if the core's buffer holds
/// the resource itself (PythonResource); `owner` is borrowed from the core's buffer.
struct PyBuffer {
  explicit PyBuffer(Buffer wrapped) : address(wrapped.handle()), buffer(std::move(wrapped)) {}
  PyBuffer(PyBuffer&&) noexcept = default;

  DevicePointer address;  ///< as long as it is open
  Owned<Buffer> buffer;   ///< by itself for the garbage collector only
  nb::object resource;
  [[no_unique_address]] mutable Exclusion exclusion;

  bool is_open() const noexcept {
    const std::lock_guard lock(exclusion);
    return static_cast<bool>(*buffer);
  }
  Reference<Buffer> value() const noexcept {
    const std::lock_guard lock(exclusion);
    return Reference<Buffer>(*buffer);
  }
  /// Closes it and gives the value away.
  Buffer take() noexcept {
    const std::lock_guard lock(exclusion);
    return std::move(*buffer);
  }
  /// A reference of the caller's own. Throws what Buffer::share() throws of a closed one.
  Buffer share() const {
    const std::lock_guard lock(exclusion);
    return buffer->share();
  }
  /// The resource as a Python object; None without one and when closed.
  nb::object resource_object() const;
  PyObject* owner() const noexcept;

  template <class Call>
  decltype(auto) use(Call&& call) const {
    Buffer copy = share();
    const WithoutGil released;
    const struct Drop {
      Buffer& reference;
      ~Drop() { reference = Buffer(); }
    } drop{copy};
    return call(static_cast<const Buffer&>(copy));
  }
};

/// Keeps a Python object alive from C++. Released on any thread; leaked on purpose once the interpreter finalizes.
std::shared_ptr<const void> keep_alive(nb::handle object);

/// The Python options class `name` applied to `options` (an instance, a dict or None).
nb::object accept_options(const char* name, nb::handle options);

/// An int-like object as an unsigned number. Throws TypeError, OverflowError.
std::uint64_t unsigned_number(nb::handle object, const char* what);

/// DLPack export of a buffer's bytes (buffer_export.cpp).
void bind_buffer_exports(nb::class_<PyBuffer>& cls);
/// Slots for the buffer protocol (buffer_export.cpp).
extern PyType_Slot buffer_slots[];

}  // namespace cucore::python
