// Contexts: what a thread's calls act on. Context objects are never freed (a destroyed one only says so), so a pointer
// to one is always safe to hold. Thread-safe.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "cpu/error/result.hpp"
#include "cpu/runtime/objects/context_storage.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/objects/printf_buffer.hpp"
#include "cpu/runtime/process/handle_table.hpp"

namespace cucore::cpu::runtime {

class Device;
class Stream;

class Context {
 public:
  static std::unique_ptr<Context> make_primary(Device& device);
  static Result<CUcontext> create(Device& device, unsigned int flags);
  /// The context of a green context: streams and events of its own; memory, code and faults are the primary context's,
  /// which it retains. It does not become current.
  static Result<CUcontext> create_green(Device& device);
  ~Context();

  CUcontext handle() const { return handle_; }
  Device& device() const { return device_; }
  bool is_primary() const { return is_primary_; }
  /// Where memory, code and faults are: the context itself, or the primary context for a green one.
  Context& home() const { return *home_; }
  std::uint64_t id() const { return id_; }
  bool is_active() const { return active_.load(std::memory_order_acquire); }

  /// First retain of a primary context.
  void activate();
  /// Waits for the context's work, then ends every handle and frees all memory made in it.
  void tear_down();
  Result<void> destroy();

  /// The first error of a kernel in this context, if there was one: every later call answers it.
  Result<void> error() const {
    const ErrorCode code = home_->error_.load(std::memory_order_acquire);
    return code == no_error ? Result<void>() : code;
  }
  void set_error(ErrorCode error);

  unsigned int flags() const { return flags_.load(); }
  Result<void> set_flags(unsigned int flags);
  Result<std::size_t> limit(CUlimit limit) const;
  Result<void> set_limit(CUlimit limit, std::size_t value);
  std::size_t stack_limit() const { return stack_limit_.load(); }
  CUfunc_cache cache_config = CU_FUNC_CACHE_PREFER_NONE;
  CUsharedconfig shared_config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;

  Stream& legacy_stream() const { return *legacy_; }
  std::shared_ptr<Stream> legacy_stream_shared() const { return legacy_; }
  /// The calling thread's own default stream, made at first use.
  std::shared_ptr<Stream> per_thread_stream();
  void add_stream(const std::shared_ptr<Stream>& stream);
  /// All live streams, default ones included.
  std::vector<std::shared_ptr<Stream>> streams() const;
  /// Waits for everything enqueued so far, then writes out what kernels printed.
  void wait();
  /// The same, and then answers error().
  Result<void> synchronize();

  Result<void> enable_peer(Context& peer);
  Result<void> disable_peer(Context& peer);

  PrintfBuffer printf_buffer;
  ContextStorage storage;

 private:
  Context(Device& device, Context* home, bool is_primary, unsigned int flags);
  bool is_green() const { return home_ != this; }
  static void keep(std::unique_ptr<Context> context);

  Device& device_;
  Context* const home_;
  const bool is_primary_;
  const std::uint64_t id_;
  CUcontext handle_ = nullptr;
  std::atomic<bool> active_{false};
  static constexpr ErrorCode no_error{};  // which is none of them
  std::atomic<ErrorCode> error_{no_error};
  std::atomic<unsigned int> flags_;
  std::atomic<std::size_t> stack_limit_{1024};
  std::atomic<std::size_t> heap_limit_{8u << 20};
  std::atomic<std::size_t> pending_launches_{2048};
  std::atomic<std::size_t> fetch_granularity_{64};
  std::atomic<std::size_t> persisting_l2_{3 * persisting_l2_step};
  std::shared_ptr<Stream> legacy_;
  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<Stream>> streams_;
  std::map<std::uint64_t, std::shared_ptr<Stream>> per_thread_;
  std::set<Context*> peers_;
  std::set<Context*> green_;  ///< the live green contexts of a primary one
};

/// `end` is called at the end of every context that has memory and code of its own, which is not a green one, when its
/// work is done and its streams and events are gone. Before there are contexts; several run in the order given here.
void at_end_of_contexts(void (*end)(const Context&));

/// The live context behind a handle; null for anything else. A destroyed primary context is still found: its handle
/// comes back to life at the next retain.
Context* find_context(CUcontext handle);

/// The calling thread's stack of current contexts.
Context* current_context();
Result<void> push_current(Context& context);
Result<Context*> pop_current();
Result<void> set_current(Context* context);  ///< null: pops

}  // namespace cucore::cpu::runtime
