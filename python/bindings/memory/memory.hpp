// Memory resources and buffers between Python and the core: a Python object for each core resource, and a core resource
// for each resource that is written in Python.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>

#include "cucore/buffer.hpp"
#include "cucore/error.hpp"
#include "cucore/managed_memory.hpp"
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
  nb::object attributes = {};  ///< once asked for, as long as it is open: the same object each time
  [[no_unique_address]] mutable Exclusion exclusion = {};
  PoolMemoryResource& pool() const { return static_cast<PoolMemoryResource&>(*resource); }
};
struct PyDeviceMemoryResource : PyPoolMemoryResource {};
struct PyPinnedMemoryResource : PyPoolMemoryResource {};
struct PyManagedMemoryResource : PyPoolMemoryResource {};
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
  /// Answers about memory that has a resource, which do not change while the buffer is open; -1: not asked yet.
  struct Answers {
    std::int8_t device_accessible = -1;
    std::int8_t host_accessible = -1;
    std::int8_t managed = -1;
    std::int8_t mapped = -1;
    std::optional<int> device_id = std::nullopt;
  };
  mutable Answers answers;
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

struct PyManagedBuffer : PyBuffer {
  explicit PyManagedBuffer(PyBuffer made) : PyBuffer(std::move(made)) {}
  /// Calls `call` with the core's ManagedBuffer, as use().
  template <class Call>
  decltype(auto) use_managed(Call&& call) const {
    return use([&](const Buffer& plain) {
      const ManagedBuffer managed(plain.share());
      return call(managed);
    });
  }
};

/// Where the memory of a buffer is. Throws RuntimeError if it has been closed.
bool is_device_accessible(const PyBuffer& self);
bool is_host_accessible(const PyBuffer& self);
bool is_managed_memory(const PyBuffer& self);
nb::object device_id_of(const PyBuffer& self);

/// Buffer.from_handle: what it makes, by value.
PyBuffer buffer_from_handle(nb::handle ptr, std::uint64_t size, nb::handle resource, nb::handle owner,
                            nb::handle stream);

/// A Device or a Host of Python as the core's location; empty for anything else.
std::optional<MemoryLocation> memory_location(nb::handle object);
/// And back; None for none.
nb::object memory_location_object(const std::optional<MemoryLocation>& location);
/// The same, for the argument of a call. Throws ValueError for None and TypeError for what is no location.
MemoryLocation required_location(nb::handle object);

/// Calls a function that a driver may lack: UnavailableError becomes NotImplementedError in Python.
template <class Call>
decltype(auto) if_implemented(Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (const UnavailableError& error) {
    PyErr_SetString(PyExc_NotImplementedError, error.what());
    throw nb::python_error();
  }
}

/// Keeps a Python object alive from C++. Released on any thread; leaked on purpose once the interpreter finalizes.
std::shared_ptr<const void> keep_alive(nb::handle object);

/// A fill value: an int of one byte, or an object with 1, 2 or 4 bytes. Throws OverflowError, ValueError, TypeError.
class FillElement {
 public:
  explicit FillElement(nb::handle value);
  std::span<const std::byte> bytes() const noexcept { return {bytes_.data(), width_}; }

 private:
  std::array<std::byte, 4> bytes_{};
  std::size_t width_ = 0;
};

/// DLPack export of a buffer's bytes (buffer_export.cpp).
void bind_buffer_exports(nb::class_<PyBuffer>& cls);
/// Type slots of Buffer and the classes derived from it in C++, for the garbage collector and the buffer protocol.
PyType_Slot* buffer_type_slots() noexcept;
/// Slots for the buffer protocol (buffer_export.cpp).
extern PyType_Slot buffer_slots[];

}  // namespace cucore::python
