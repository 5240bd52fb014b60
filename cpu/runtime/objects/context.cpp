// Contexts: see context.hpp.
#include "cpu/runtime/objects/context.hpp"

#include <algorithm>

#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/objects/event.hpp"
#include "cpu/runtime/objects/stream.hpp"
#include "cpu/runtime/process/process.hpp"

namespace cucore::cpu::runtime {

namespace {

constexpr int kDeepestStack = 256;

/// Plain data, so that calls from thread_local and static destructors still find it.
struct CurrentStack {
  Context* contexts[kDeepestStack];
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

/// Shares nothing: contexts are never freed by the table.
std::shared_ptr<Context> unowned(Context* context) { return {std::shared_ptr<Context>{}, context}; }

}  // namespace

Context::Context(Device& device, Context* home, bool is_primary, unsigned int flags)
    : device_(device),
      home_(home ? home : this),
      is_primary_(is_primary),
      id_(next_context_id.fetch_add(1)),
      flags_(flags) {
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

CUresult Context::create(Device& device, unsigned int flags, CUcontext* handle) {
  if ((flags & ~static_cast<unsigned int>(CU_CTX_FLAGS_MASK)) != 0) return CUDA_ERROR_INVALID_VALUE;
  std::unique_ptr<Context> context(new Context(device, nullptr, false, flags));
  context->activate();
  if (const CUresult pushed = push_current(*context); pushed != CUDA_SUCCESS) {
    contexts().remove(context->handle());
    return pushed;
  }
  *handle = context->handle();
  keep(std::move(context));
  return CUDA_SUCCESS;
}

CUresult Context::create_green(Device& device, CUcontext* handle) {
  CUcontext primary = nullptr;
  if (const CUresult result = device.retain_primary(&primary); result != CUDA_SUCCESS) return result;
  Context& home = device.primary_context();
  std::unique_ptr<Context> context(new Context(device, &home, false, home.flags()));
  context->active_.store(true, std::memory_order_release);
  *handle = context->handle();
  {
    const std::lock_guard lock(home.mutex_);
    home.green_.insert(context.get());
  }
  keep(std::move(context));
  return CUDA_SUCCESS;
}

void Context::activate() {
  error_.store(CUDA_SUCCESS);
  active_.store(true, std::memory_order_release);
}

void Context::tear_down() {
  synchronize();
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
    error_.store(CUDA_SUCCESS);
  }
  if (is_green()) {
    {
      const std::lock_guard lock(home_->mutex_);
      home_->green_.erase(this);
    }
    device_.release_primary();
  }
}

CUresult Context::destroy() {
  if (is_primary_) return CUDA_ERROR_INVALID_CONTEXT;  // released, never destroyed
  if (!contexts().remove(handle_)) return CUDA_ERROR_INVALID_CONTEXT;
  // Popped if current here; elsewhere it stays current and answers CUDA_ERROR_CONTEXT_IS_DESTROYED.
  if (current_context() == this) {
    Context* popped = nullptr;
    pop_current(&popped);
  }
  tear_down();
  return CUDA_SUCCESS;
}

void Context::set_error(CUresult error) {
  CUresult none = CUDA_SUCCESS;
  home_->error_.compare_exchange_strong(none, error);
}

CUresult Context::set_flags(unsigned int flags) {
  const unsigned int schedule = flags & CU_CTX_SCHED_MASK;
  if ((flags & ~static_cast<unsigned int>(CU_CTX_FLAGS_MASK)) != 0 || (schedule & (schedule - 1)) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  flags_.store(flags);
  return CUDA_SUCCESS;
}

CUresult Context::limit(CUlimit limit, std::size_t* value) const {
  if (is_green()) return home_->limit(limit, value);
  switch (limit) {
    case CU_LIMIT_STACK_SIZE:
      *value = stack_limit_.load();
      return CUDA_SUCCESS;
    case CU_LIMIT_PRINTF_FIFO_SIZE:
      *value = printf_buffer.capacity();
      return CUDA_SUCCESS;
    case CU_LIMIT_MALLOC_HEAP_SIZE:
      *value = heap_limit_.load();
      return CUDA_SUCCESS;
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
      *value = pending_launches_.load();
      return CUDA_SUCCESS;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
      *value = fetch_granularity_.load();
      return CUDA_SUCCESS;
    case CU_LIMIT_SHMEM_SIZE:
      *value = kSharedPerBlockOptIn;
      return CUDA_SUCCESS;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
    case CU_LIMIT_CIG_ENABLED:
      *value = 0;
      return CUDA_SUCCESS;
    case CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH:
    case CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED:
      return CUDA_ERROR_UNSUPPORTED_LIMIT;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult Context::set_limit(CUlimit limit, std::size_t value) {
  if (is_green()) return home_->set_limit(limit, value);
  constexpr std::size_t kLargestStack = 1u << 20;
  switch (limit) {
    case CU_LIMIT_STACK_SIZE:
      if (value > kLargestStack) return CUDA_ERROR_INVALID_VALUE;
      stack_limit_.store((value + 15) & ~std::size_t{15});
      return CUDA_SUCCESS;
    case CU_LIMIT_PRINTF_FIFO_SIZE:
      printf_buffer.set_capacity(value);
      return CUDA_SUCCESS;
    case CU_LIMIT_MALLOC_HEAP_SIZE:
      heap_limit_.store(value);
      return CUDA_SUCCESS;
    // Hints, of which the first two are remembered.
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
      pending_launches_.store(std::max<std::size_t>(value, 32));
      return CUDA_SUCCESS;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
      if (value > 128) return CUDA_ERROR_INVALID_VALUE;
      fetch_granularity_.store(value);
      return CUDA_SUCCESS;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
      return CUDA_SUCCESS;
    case CU_LIMIT_SHMEM_SIZE:
    case CU_LIMIT_CIG_ENABLED:
      return CUDA_ERROR_NOT_PERMITTED;  // facts, no wishes
    case CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH:
    case CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED:
      return CUDA_ERROR_UNSUPPORTED_LIMIT;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

std::shared_ptr<Stream> Context::per_thread_stream() {
  constexpr std::size_t kPruneAbove = 256;
  const std::uint64_t serial = thread_serial();
  const std::lock_guard lock(mutex_);
  const auto found = per_thread_.find(serial);
  if (found != per_thread_.end()) return found->second;
  // Threads that ended left streams behind; an idle one carries no state, so any of them may be made anew later.
  if (per_thread_.size() > kPruneAbove)
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

CUresult Context::synchronize() {
  for (const auto& stream : streams()) stream->wait_until_done();
  std::set<Context*> green;
  {
    const std::lock_guard lock(mutex_);
    green = green_;
  }
  for (Context* const each : green) each->synchronize();  // a context is never freed
  home_->printf_buffer.flush();
  return error();
}

CUresult Context::enable_peer(Context& peer) {
  if (&peer.device() == &device_) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  const std::lock_guard lock(mutex_);
  return peers_.insert(&peer).second ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

CUresult Context::disable_peer(Context& peer) {
  const std::lock_guard lock(mutex_);
  return peers_.erase(&peer) ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

void at_end_of_contexts(EndOfContext end) { ends_of_contexts().push_back(end); }

Context* find_context(CUcontext handle) { return contexts().find(handle).get(); }

Context* current_context() {
  return current_stack.depth > 0 ? current_stack.contexts[current_stack.depth - 1] : nullptr;
}

CUresult push_current(Context& context) {
  if (current_stack.depth == kDeepestStack) return CUDA_ERROR_OUT_OF_MEMORY;
  current_stack.contexts[current_stack.depth++] = &context;
  return CUDA_SUCCESS;
}

CUresult pop_current(Context** context) {
  if (current_stack.depth == 0) return CUDA_ERROR_INVALID_CONTEXT;
  *context = current_stack.contexts[--current_stack.depth];
  return CUDA_SUCCESS;
}

CUresult set_current(Context* context) {
  if (current_stack.depth > 0) --current_stack.depth;
  return context ? push_current(*context) : CUDA_SUCCESS;
}

}  // namespace cucore::cpu::runtime
