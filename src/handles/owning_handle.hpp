// OwningHandle: the only owner of driver handles.
//
// Releases exactly once, through the driver table, in the context the handle belongs to where that matters; never
// throws from the destructor, never calls the driver once the process is exiting or in a forked child, stays silent
// when the driver has shut down already, and reports every other failure to the release failure handler with the call
// and the handle.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include "src/driver/table.hpp"
#include "src/handles/context_scope.hpp"
#include "src/handles/release_report.hpp"

namespace cucore::detail {

/// `Traits`: Handle, `call` (the release function's name), `release(table, handle)`, and `anywhere`: whether the driver
/// releases it whatever context is current and whatever is being captured.
template <class Traits>
class OwningHandle {
 public:
  using Handle = typename Traits::Handle;

  OwningHandle() noexcept = default;
  /// Owns `handle`, to be released in `context` (null: in any).
  explicit OwningHandle(Handle handle, ContextHandle context = nullptr) noexcept : handle_(handle), context_(context) {
    if (handle != Handle{}) live_.fetch_add(1, std::memory_order_relaxed);
  }
  OwningHandle(OwningHandle&& other) noexcept
      : handle_(std::exchange(other.handle_, Handle{})), context_(other.context_) {}
  OwningHandle& operator=(OwningHandle&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, Handle{});
      context_ = other.context_;
    }
    return *this;
  }
  ~OwningHandle() { reset(); }

  Handle get() const noexcept { return handle_; }
  /// Gives up ownership.
  Handle release() noexcept {
    if (handle_ != Handle{}) live_.fetch_sub(1, std::memory_order_relaxed);
    return std::exchange(handle_, Handle{});
  }

  /// How many handles of this kind are owned at this moment.
  static std::size_t live() noexcept { return live_.load(std::memory_order_relaxed); }

  /// Releases now and returns the driver's answer, for callers that throw it.
  driver::CUresult close() noexcept {
    const Handle handle = release();
    if (handle == Handle{}) return driver::CUDA_SUCCESS;
    const driver::Table* table = driver::table_for_release();
    if (table == nullptr) return driver::CUDA_SUCCESS;
    const auto in_context = [&] {
      const ReleaseScope scope(*table, context_);
      return Traits::release(*table, handle);
    };
    const driver::CUresult code = Traits::anywhere ? Traits::release(*table, handle) : in_context();
    return code == driver::CUDA_ERROR_DEINITIALIZED ? driver::CUDA_SUCCESS : code;
  }

  /// Releases now and reports a failure.
  void reset() noexcept {
    const Handle handle = handle_;
    const driver::CUresult code = close();
    if (code != driver::CUDA_SUCCESS) report_release_failure(code, Traits::call, handle);
  }

 private:
  inline static std::atomic<std::size_t> live_{0};

  Handle handle_{};
  ContextHandle context_ = nullptr;
};

/// Traits of a handle that one driver function releases; what derives from it adds that function's name.
template <auto function, bool anywhere_ = false>
struct ReleasedBy;
template <class HandleType, driver::CUresult (*driver::Table::*function)(HandleType), bool anywhere_>
struct ReleasedBy<function, anywhere_> {
  using Handle = HandleType;
  static constexpr bool anywhere = anywhere_;
  static driver::CUresult release(const driver::Table& table, Handle handle) { return (table.*function)(handle); }
};

struct StreamTraits : ReleasedBy<&driver::Table::cuStreamDestroy, /*anywhere=*/true> {
  static constexpr const char* call = "cuStreamDestroy";
};

struct EventTraits : ReleasedBy<&driver::Table::cuEventDestroy, /*anywhere=*/true> {
  static constexpr const char* call = "cuEventDestroy";
};

struct PoolTraits : ReleasedBy<&driver::Table::cuMemPoolDestroy> {
  static constexpr const char* call = "cuMemPoolDestroy";
};

struct ArrayTraits : ReleasedBy<&driver::Table::cuArrayDestroy> {
  static constexpr const char* call = "cuArrayDestroy";
};

struct MipmappedArrayTraits : ReleasedBy<&driver::Table::cuMipmappedArrayDestroy> {
  static constexpr const char* call = "cuMipmappedArrayDestroy";
};

struct TextureTraits : ReleasedBy<&driver::Table::cuTexObjectDestroy> {
  static constexpr const char* call = "cuTexObjectDestroy";
};

struct SurfaceTraits : ReleasedBy<&driver::Table::cuSurfObjectDestroy> {
  static constexpr const char* call = "cuSurfObjectDestroy";
};

struct LibraryTraits : ReleasedBy<&driver::Table::cuLibraryUnload> {
  static constexpr const char* call = "cuLibraryUnload";
};

struct GreenContextTraits : ReleasedBy<&driver::Table::cuGreenCtxDestroy> {
  static constexpr const char* call = "cuGreenCtxDestroy";
  // A thread must not be left with a destroyed context as the current one.
  static driver::CUresult release(const driver::Table& table, Handle handle) {
    driver::CUcontext own = nullptr;
    driver::CUcontext current = nullptr;
    if (table.cuCtxFromGreenCtx(&own, handle) == driver::CUDA_SUCCESS &&
        table.cuCtxGetCurrent(&current) == driver::CUDA_SUCCESS && current == own) {
      table.cuCtxSetCurrent(nullptr);
    }
    return ReleasedBy::release(table, handle);
  }
};

}  // namespace cucore::detail
