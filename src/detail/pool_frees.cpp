// PoolFrees: events tell which frees have happened; nothing waits.
#include "src/detail/pool_frees.hpp"

#include <algorithm>
#include <atomic>
#include <list>
#include <new>
#include <utility>

namespace cucore::detail {
namespace {

struct SetAside {
  SetAside(PoolFrees pending, OwningHandle<PoolTraits> owned) : frees(std::move(pending)), pool(std::move(owned)) {}
  PoolFrees frees;
  OwningHandle<PoolTraits> pool;
};

struct PoolsSetAside {
  std::mutex mutex;
  std::list<SetAside> pools;
  std::atomic<std::size_t> count = 0;  ///< of pools
};

// Never destroyed: pools may be dropped by static objects at the end of the process, whose driver takes the rest back.
PoolsSetAside& pools_set_aside() {
  static auto* const all = new PoolsSetAside;
  return *all;
}

}  // namespace

// Failures here are those of a context that somebody destroyed, with all that was in it.
bool PoolFrees::forget_happened(const driver::Table& table) noexcept {
  std::erase_if(last_, [&](const Last& free) {
    const ReleaseScope scope(table, free.context);
    if (table.cuEventQuery(free.event) == driver::CUDA_ERROR_NOT_READY) return false;
    table.cuEventDestroy(free.event);
    return true;
  });
  return last_.empty();
}

PoolFrees::~PoolFrees() {
  const driver::Table* table = driver::table_for_release();
  if (table == nullptr) return;
  for (const Last& free : last_) {
    const ReleaseScope scope(*table, free.context);
    table->cuEventDestroy(free.event);
  }
}

bool PoolFrees::happened() noexcept {
  const driver::Table* table = driver::table_for_release();
  const std::lock_guard lock(mutex_);
  return table == nullptr || forget_happened(*table);
}

void PoolFrees::note(const StreamState& stream) noexcept {
  const driver::Table* table = driver::table_for_release();
  if (table == nullptr || !driver::is_gpu()) return;
  const std::uint64_t id = stream.id.load(std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  const auto same = std::find_if(last_.begin(), last_.end(), [&](const Last& free) { return free.stream == id; });
  if (id != StreamState::unknown_id && same != last_.end()) {
    table->cuEventRecord(same->event, stream.handle);
    return;
  }
  forget_happened(*table);
  Last free{id, nullptr, nullptr};
  if (table->cuCtxGetCurrent(&free.context) != driver::CUDA_SUCCESS) return;
  if (table->cuEventCreate(&free.event, driver::CU_EVENT_DISABLE_TIMING) != driver::CUDA_SUCCESS) return;
  try {
    last_.push_back(free);
    table->cuEventRecord(free.event, stream.handle);
  } catch (const std::bad_alloc&) {
    table->cuEventDestroy(free.event);
  }
}

void destroy_after(PoolFrees frees, OwningHandle<PoolTraits> pool) noexcept {
  if (frees.happened()) return;  // the arguments go: the pool is destroyed
  PoolsSetAside& all = pools_set_aside();
  try {
    const std::lock_guard lock(all.mutex);
    all.pools.emplace_back(std::move(frees), std::move(pool));
    all.count = all.pools.size();
  } catch (const std::bad_alloc&) {
    // As above, on the driver's word that it may.
  }
}

void destroy_pools_set_aside() noexcept {
  PoolsSetAside& all = pools_set_aside();
  if (all.count.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(all.mutex);
  all.pools.remove_if([](SetAside& one) { return one.frees.happened(); });
  all.count = all.pools.size();
}

}  // namespace cucore::detail
