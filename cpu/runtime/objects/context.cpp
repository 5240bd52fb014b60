// Contexts: see context.hpp.
#include "cpu/runtime/objects/context.hpp"

#include <algorithm>

#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/objects/event.hpp"
#include "cpu/runtime/objects/stream.hpp"
#include "cpu/runtime/process/process.hpp"

namespace cucore::cpu::runtime {

namespace {

constexpr int deepest_stack = 256;

/// Trivially destructible, so that calls from thread_local and static destructors can still use it.
struct CurrentStack {
  Context* contexts[deepest_stack];
  int depth;
};
thread_local CurrentStack current_stack{};

std::atomic<std::uint64_t> next_context_id{1};
std::atomic<std::uint64_t> next_thread_serial{1};

std::uint64_t thread_serial() {
  thread_local std::uint64_t serial = 0;
  if (serial == 0) serial = next_thread_serial.fetch_add(1);
  return serial;
}

using ContextTable = HandleTable<Context, HandleKind::Context>;
ContextTable& contexts() {
  static auto* table = new ContextTable;
  return *table;
}

using EndOfContext = void (*)(const Context&);
std::vector<EndOfContext>& ends_of_contexts() {
  static auto* all = new std::vector<EndOfContext>;
  return *all;
}

/// As an H100's driver has it: of the ways to wait at most one.
bool are_flags(unsigned int flags) {
  const unsigned int schedule = flags & CU_CTX_SCHED_MASK;
  return (flags & ~static_cast<unsigned int>(CU_CTX_FLAGS_MASK)) == 0 && (schedule & (schedule - 1)) == 0;
}

/// Shares nothing: contexts are never freed by the table.
std::shared_ptr<Context> unowned(Context* context) { return {std::shared_ptr<Context>{}, context}; }

}  // namespace

namespace {
constexpr std::size_t printf_bytes = 8'650'752;  // as an H100 has them
}

Context::Context(Device& device, Context* home, bool is_primary, unsigned int flags)
    : device_(device),
      home_(home ? home : this),
      is_primary_(is_primary),
      id_(next_context_id.fetch_add(1)),
      flags_(flags) {
  printf_buffer.set_capacity(printf_bytes);
  legacy_ = Stream::make_default(*this);
  handle_ = reinterpret_cast<CUcontext>(is_primary ? contexts().insert_uncounted(unowned(this))
                                                   : contexts().insert(unowned(this)));
}

Context::~Context() = default;

std::unique_ptr<Context> Context::make_primary(Device& device) {
  return std::unique_ptr<Context>(new Context(device, nullptr, true, 0));
}

void Context::keep(std::unique_ptr<Context> context) {
  static auto* kept = new std::vector<std::unique_ptr<Context>>;
  static auto* kept_mutex = new std::mutex;
  const std::lock_guard lock(*kept_mutex);
  kept->push_back(std::move(context));
}

Result<CUcontext> Context::create(Device& device, unsigned int flags) {
  if (!are_flags(flags)) return ErrorCode::InvalidValue;
  std::unique_ptr<Context> context(new Context(device, nullptr, false, flags));
  context->activate();
  const CUcontext handle = context->handle();
  if (Result<void> pushed = push_current(*context); !pushed) {
    contexts().remove(handle);
    return std::move(pushed).failure();
  }
  keep(std::move(context));
  return handle;
}

Result<CUcontext> Context::create_green(Device& device) {
  device.retain_primary();
  Context& home = device.primary_context();
  std::unique_ptr<Context> context(new Context(device, &home, false, home.flags()));
  context->active_.store(true, std::memory_order_release);
  const CUcontext handle = context->handle();
  {
    const std::lock_guard lock(home.mutex_);
    home.green_.insert(context.get());
  }
  keep(std::move(context));
  return handle;
}

void Context::activate() {
  error_.store(no_error);
  active_.store(true, std::memory_order_release);
}

void Context::tear_down() {
  wait();
  storage.end(handle_);
  active_.store(false, std::memory_order_release);
  remove_streams_of(*this);
  remove_events_of(*this);
  if (!is_green())
    for (const EndOfContext end : ends_of_contexts()) end(*this);
  {
    const std::lock_guard lock(mutex_);
    streams_.clear();
    per_thread_.clear();
    peers_.clear();
    error_.store(no_error);
  }
  if (is_green()) {
    {
      const std::lock_guard lock(home_->mutex_);
      home_->green_.erase(this);
    }
    (void)device_.release_primary();
  }
}

Result<void> Context::destroy() {
  if (is_primary_) return ErrorCode::InvalidContext;  // released, never destroyed
  if (!contexts().remove(handle_)) return ErrorCode::InvalidContext;
  // Popped if current here; elsewhere it stays current and answers ContextIsDestroyed.
  if (current_context() == this) (void)pop_current();
  tear_down();
  return {};
}

void Context::set_error(ErrorCode error) {
  ErrorCode none = no_error;
  home_->error_.compare_exchange_strong(none, error);
}

Result<void> Context::set_flags(unsigned int flags) {
  if (!are_flags(flags)) return ErrorCode::InvalidValue;
  flags_.store(flags);
  return {};
}

Result<std::size_t> Context::limit(CUlimit limit) const {
  if (is_green()) return home_->limit(limit);
  switch (limit) {
    case CU_LIMIT_STACK_SIZE:
      return stack_limit_.load();
    case CU_LIMIT_PRINTF_FIFO_SIZE:
      return printf_buffer.capacity();
    case CU_LIMIT_MALLOC_HEAP_SIZE:
      return heap_limit_.load();
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
      return pending_launches_.load();
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
      return fetch_granularity_.load();
    case CU_LIMIT_SHMEM_SIZE:
      return shared_per_block_opt_in;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
      return persisting_l2_.load();
    case CU_LIMIT_CIG_ENABLED:
      return std::size_t{0};
    case CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH:
    case CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED:
      return ErrorCode::UnsupportedLimit;
    default:
      return ErrorCode::InvalidValue;
  }
}

Result<void> Context::set_limit(CUlimit limit, std::size_t value) {
  if (is_green()) return home_->set_limit(limit, value);
  constexpr std::size_t largest_stack = 1u << 20;
  constexpr std::size_t least_printf = std::size_t{512} << 10, least_heap = std::size_t{4} << 20;  // as on an H100
  const auto rounded_up = [](std::size_t bytes, std::size_t step) {
    return bytes > ~step ? bytes : (bytes + step - 1) / step * step;
  };
  switch (limit) {
    case CU_LIMIT_STACK_SIZE:
      if (value > largest_stack) return ErrorCode::InvalidValue;
      stack_limit_.store((value + 15) & ~std::size_t{15});
      return {};
    case CU_LIMIT_PRINTF_FIFO_SIZE:
      printf_buffer.set_capacity(std::max(least_printf, rounded_up(value, 64)));
      return {};
    case CU_LIMIT_MALLOC_HEAP_SIZE:
      heap_limit_.store(std::max(least_heap, rounded_up(value, std::size_t{64} << 10)));
      return {};
    // Hints, which are remembered.
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
      pending_launches_.store(std::max<std::size_t>(value, 32));
      return {};
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
      if (value > 128) return ErrorCode::InvalidValue;
      fetch_granularity_.store(value);
      return {};
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
      if (value > most_persisting_l2) return ErrorCode::InvalidValue;
      persisting_l2_.store((value + persisting_l2_step - 1) / persisting_l2_step * persisting_l2_step);
      return {};
    case CU_LIMIT_SHMEM_SIZE:
    case CU_LIMIT_CIG_ENABLED:
      return ErrorCode::NotPermitted;  // read-only facts
    case CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH:
    case CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED:
      return ErrorCode::UnsupportedLimit;
    default:
      return ErrorCode::InvalidValue;
  }
}

std::shared_ptr<Stream> Context::per_thread_stream() {
  constexpr std::size_t prune_above = 256;
  const std::uint64_t serial = thread_serial();
  const std::lock_guard lock(mutex_);
  const auto found = per_thread_.find(serial);
  if (found != per_thread_.end()) return found->second;
  // Threads that ended left streams behind; an idle one carries no state, so any of them may be made again later.
  if (per_thread_.size() > prune_above)
    std::erase_if(per_thread_, [](const auto& entry) { return entry.second->is_idle(); });
  std::shared_ptr<Stream> stream = Stream::make_per_thread(*this);
  per_thread_.emplace(serial, stream);
  streams_.push_back(stream);
  return stream;
}

void Context::add_stream(const std::shared_ptr<Stream>& stream) {
  const std::lock_guard lock(mutex_);
  std::erase_if(streams_, [](const auto& entry) { return entry.expired(); });
  streams_.push_back(stream);
}

std::vector<std::shared_ptr<Stream>> Context::streams() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Stream>> live;
  live.reserve(streams_.size() + 1);
  live.push_back(legacy_);
  for (const auto& entry : streams_)
    if (auto stream = entry.lock()) live.push_back(std::move(stream));
  return live;
}

Result<void> Context::synchronize() {
  wait();
  return error();
}

void Context::wait() {
  for (const auto& stream : streams()) stream->wait_until_done();
  std::set<Context*> green;
  {
    const std::lock_guard lock(mutex_);
    green = green_;
  }
  for (Context* const each : green) each->wait();  // a context is never freed
  home_->printf_buffer.flush();
}

Result<void> Context::enable_peer(Context& peer) {
  if (&peer.device() == &device_) return ErrorCode::PeerAccessUnsupported;
  const std::lock_guard lock(mutex_);
  return peers_.insert(&peer).second ? Result<void>() : ErrorCode::PeerAccessAlreadyEnabled;
}

Result<void> Context::disable_peer(Context& peer) {
  const std::lock_guard lock(mutex_);
  return peers_.erase(&peer) ? Result<void>() : ErrorCode::PeerAccessNotEnabled;
}

void at_end_of_contexts(EndOfContext end) { ends_of_contexts().push_back(end); }

Context* find_context(CUcontext handle) { return contexts().find(handle).get(); }

Context* current_context() {
  return current_stack.depth > 0 ? current_stack.contexts[current_stack.depth - 1] : nullptr;
}

Result<void> push_current(Context& context) {
  if (current_stack.depth == deepest_stack) return ErrorCode::OutOfMemory;
  current_stack.contexts[current_stack.depth++] = &context;
  return {};
}

Result<Context*> pop_current() {
  if (current_stack.depth == 0) return ErrorCode::InvalidContext;
  return current_stack.contexts[--current_stack.depth];
}

Result<void> set_current(Context* context) {
  if (current_stack.depth > 0) --current_stack.depth;
  return context ? push_current(*context) : Result<void>();
}

}  // namespace cucore::cpu::runtime
