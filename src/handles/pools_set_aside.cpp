// PoolsSetAside: one list for the process.
#include "src/handles/pools_set_aside.hpp"

#include <atomic>
#include <list>
#include <mutex>
#include <new>
#include <utility>

namespace cucore::detail {
namespace {

struct SetAside {
  OwnedPool pool;
  std::uint64_t since;
};

struct PoolsSetAside {
  std::mutex mutex;
  std::list<SetAside> pools;
  std::uint64_t time = 0;  // counts what is set aside
  std::atomic<bool> is_empty = true;
};

// Never destroyed: static objects may drop pools at the end of the process, whose driver takes back what is left.
PoolsSetAside& all_pools() {
  static auto* const all = new PoolsSetAside;
  return *all;
}

bool are_alike(const driver::CUmemPoolProps& a, const driver::CUmemPoolProps& b) noexcept {
  return a.allocType == b.allocType && a.handleTypes == b.handleTypes && a.location.type == b.location.type &&
         a.location.id == b.location.id && a.maxSize == b.maxSize;
}

/// The first of those set aside that `is_meant`; an empty one if there is none.
template <class Predicate>
OwnedPool take(Predicate&& is_meant) noexcept {
  PoolsSetAside& all = all_pools();
  if (all.is_empty) return {};
  const std::lock_guard lock(all.mutex);
  for (auto found = all.pools.begin(); found != all.pools.end(); ++found) {
    if (!is_meant(found->pool)) continue;
    OwnedPool taken = std::move(found->pool);
    all.pools.erase(found);
    all.is_empty = all.pools.empty();
    return taken;
  }
  return {};
}

}  // namespace

void set_aside(OwnedPool pool) noexcept {
  if (pool.freed_in.empty() || driver::table_for_release() == nullptr || !driver::is_gpu()) return;
  PoolsSetAside& all = all_pools();
  try {
    const std::lock_guard lock(all.mutex);
    all.pools.push_back({std::move(pool), ++all.time});
    all.is_empty = false;
  } catch (const std::bad_alloc&) {
    // Destroyed with the argument, which the documentation allows.
  }
}

OwnedPool take_set_aside(const driver::CUmemPoolProps& properties) noexcept {
  if (properties.handleTypes != driver::CU_MEM_HANDLE_TYPE_NONE) return {};
  return take([&](const OwnedPool& pool) { return are_alike(pool.properties, properties); });
}

OwnedPool take_set_aside(driver::CUmemoryPool handle) noexcept {
  return take([&](const OwnedPool& pool) { return pool.handle.get() == handle; });
}

DestroyPoolsAfterWait::DestroyPoolsAfterWait() noexcept : begun_(0) {
  PoolsSetAside& all = all_pools();
  if (all.is_empty) return;
  const std::lock_guard lock(all.mutex);
  begun_ = all.time;
}

void DestroyPoolsAfterWait::waited_for(ContextHandle context) const noexcept {
  PoolsSetAside& all = all_pools();
  if (begun_ == 0 || all.is_empty) return;
  const std::lock_guard lock(all.mutex);
  all.pools.remove_if([&](SetAside& one) {
    if (one.since > begun_) return false;
    std::erase(one.pool.freed_in, context);
    return one.pool.freed_in.empty();
  });
  all.is_empty = all.pools.empty();
}

void trim_pools_set_aside() noexcept {
  PoolsSetAside& all = all_pools();
  const driver::Table* table = driver::table_for_release();
  if (all.is_empty || table == nullptr) return;
  const std::lock_guard lock(all.mutex);
  for (const SetAside& one : all.pools) table->cuMemPoolTrimTo(one.pool.handle.get(), 0);
}

}  // namespace cucore::detail
