// LibraryState: code that is loaded in the driver. ObjectCode makes one at first need and shares it with its kernels;
// the library is unloaded when the last of them goes.
//
// Context-independent (cuLibraryLoadData), so opening needs no current context. Thread-safety: every member may be
// called concurrently; the caller makes sure that an object opens its image only once.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cucore/driver_types.hpp"
#include "cucore/kernel.hpp"
#include "cucore/object_code.hpp"
#include "src/handles/owning_handle.hpp"

namespace cucore::detail {

struct LoadRequest {
  /// PTX text, cubin or fat binary. Need not be NUL-terminated: PTX is copied and terminated.
  std::string_view image;
  /// What is being loaded, for errors: "ObjectCode 'saxpy' (cubin)".
  std::string description;
  /// The PTX of the same code where it is known; parameter tables are read from it. May be null.
  std::shared_ptr<const std::string> ptx;
  /// Which image this is, if that is known.
  std::optional<CodeImage> used;
  /// Advice for the error, if the caller knows more than can be seen in the code.
  std::string hint;
};

struct KernelState;

class LibraryState : public std::enable_shared_from_this<LibraryState> {
 public:
  ~LibraryState();
  /// Loads. @throws DriverError with the JIT log and the description
  static std::shared_ptr<LibraryState> open(const LoadRequest& request);

  LibraryHandle handle() const noexcept { return handle_.get(); }
  /// By symbol, or by the C++ name ("ns::fill<int>") if only one kernel has it. @throws DriverError
  /// CUDA_ERROR_NOT_FOUND, listing what there is
  Kernel get_kernel(std::string_view name);
  /// The same if it has been asked for before, else nothing. Makes no driver call.
  Kernel known_kernel(std::string_view name) const;
  /// The kernel with this handle if an open library has given it out, else nothing. Makes no driver call.
  static Kernel kernel_of_handle(KernelHandle handle);
  /// Address and size in the current context's device, by symbol or C++ name. @throws DriverError as get_kernel
  GlobalVariable get_global(const std::string& name);
  /// Symbol names of all kernels; empty if neither the PTX nor the driver (before 12.4) tells.
  std::vector<std::string> kernel_names() const;
  /// Symbol names of all variables that other code can see; empty if there is no PTX to read them from.
  std::vector<std::string> variable_names() const;
  const std::optional<CodeImage>& used() const noexcept { return used_; }
  const std::string& description() const noexcept { return description_; }
  const std::shared_ptr<const std::string>& ptx() const noexcept { return ptx_; }
  /// What the driver's JIT compiler said while loading, possibly nothing.
  const std::string& info_log() const noexcept { return info_log_; }

 private:
  struct Jit;
  explicit LibraryState(const LoadRequest& request);

  std::string description_;
  std::shared_ptr<const std::string> ptx_;
  std::optional<CodeImage> used_;
  std::string info_log_;
  std::unique_ptr<Jit> jit_;
  // The kernels by the names asked for, so that what is found out about one serves all who ask for it. Kernels share
  // ownership of the library.
  mutable std::mutex kernels_mutex_;
  std::map<std::string, std::shared_ptr<KernelState>, std::less<>> kernels_;
  OwningHandle<LibraryTraits> handle_;  // last member: destroyed before what the driver may write to
};

}  // namespace cucore::detail
